"""What each viewer may see (SU-R12, SU-D36, SU-D37, SU-D39, C-5)."""

import msgspec
import pytest

from heptalog.replay.errors import Code, Refused
from heptalog.replay.rules import ARBITER, PUBLIC, Viewer
from heptalog.replay.seven_up import SEVEN_UP
from heptalog.replay.seven_up.state import State
from heptalog.replay.seven_up.view import ArbiterView, PublicView, SeatView, view
from tests.support.seven_up_positions import (
    after,
    awaiting_deal,
    beg,
    dealt,
    discard,
    hand,
    in_play,
    plays,
    reject,
    run,
    stand,
    started,
)


def own(state: State, seat: int) -> tuple[str, ...] | None:
    """The hand that a seat sees as its own."""
    seen = view(state, Viewer(seat))
    assert isinstance(seen, SeatView)
    return seen.hand


def cards_seen(state: State, viewer: Viewer) -> set[str]:
    """Every card that stands anywhere in a view, as the wire would carry it."""
    text = msgspec.json.encode(view(state, viewer)).decode()
    return {rank + suit for rank in "23456789TJQKA" for suit in "CDHS" if f'"{rank}{suit}"' in text}


def test_SU_R12_SU_D36_SU_V23_only_elder_hand_and_dealer_look_before_trump_is_fixed() -> None:
    state = after(awaiting_deal(4), dealt(4, "5S"))
    assert own(state, 2) is None
    assert own(state, 3) is None
    assert set(own(state, 0) or ()) == hand(state, 0)
    assert set(own(state, 1) or ()) == hand(state, 1)
    assert cards_seen(state, Viewer(2)) == {"5S"}
    assert view(state, Viewer(2)).table.hand_counts == (6, 6, 6, 6)
    state = after(state, stand(1))
    assert [set(own(state, seat) or ()) for seat in range(4)] == [hand(state, seat) for seat in range(4)]


def test_SU_D36_the_others_look_before_the_discards() -> None:
    state = after(awaiting_deal(3), dealt(3, "5S"), beg(1), reject(0))
    state = after(state, run(state, "TH"))
    assert own(state, 2) is None
    assert set(own(after(state, stand(1)), 2) or ()) == hand(state, 2)


def test_SU_R12_two_players_always_look() -> None:
    state = after(awaiting_deal(2), dealt(2, "5S"))
    assert [set(own(state, seat) or ()) for seat in range(2)] == [hand(state, 0), hand(state, 1)]


@pytest.mark.parametrize("seat", range(4))
def test_SU_V23_SU_B6_a_view_has_no_card_that_is_not_ones_own_or_face_up(seat: int) -> None:
    state = after(awaiting_deal(4), dealt(4, "5S", keep="AC KC QC AD KD QD TH"), beg(1), reject(0))
    state = after(state, run(state, "TH", elder="AC KC QC", dealer="AD KD QD"), stand(1))
    state = after(state, discard(1, "AC KC QC"), discard(0, "AD KD QD"))
    discards = {0: {"AD", "KD", "QD"}, 1: {"AC", "KC", "QC"}}.get(seat, set())
    assert cards_seen(state, Viewer(seat)) == hand(state, seat) | discards | {"5S", "TH"}
    assert cards_seen(state, PUBLIC) == {"5S", "TH"}
    assert view(state, PUBLIC).table.discard_counts == (3, 3, 0, 0)


def test_SU_D39_captured_cards_are_only_counted() -> None:
    state = after(in_play("AS 2C", "9S 3C", trump="H", number=2), *plays("1 9S, 0 AS, 0 2C"))
    assert cards_seen(state, PUBLIC) == {"2C"}
    assert view(state, PUBLIC).table.captured_counts == (2, 0)


def test_SU_D37_hands_stay_hidden_after_the_end() -> None:
    state = after(awaiting_deal(4, scores=(6, 6)), dealt(4, "JC"))
    assert cards_seen(state, PUBLIC) == {"JC"}
    assert own(state, 2) is None
    assert view(state, PUBLIC).table.winners == (0, 2)


def test_SU_C5_the_arbiter_sees_all_hands_and_discards() -> None:
    state = after(awaiting_deal(2), dealt(2, "5S", keep="AC KC QC"), beg(1), reject(0))
    state = after(state, run(state, "TH", elder="AC KC QC"), stand(1), discard(1, "AC KC QC"))
    seen = view(state, ARBITER)
    assert isinstance(seen, ArbiterView)
    assert [set(cards) for cards in seen.hands] == [hand(state, 0), hand(state, 1)]
    assert set(seen.discards[1]) == {"AC", "KC", "QC"}


@pytest.mark.parametrize("seat", [2, 99, -3])
def test_SU_C5_a_seat_that_is_not_there_sees_nothing(seat: int) -> None:
    with pytest.raises(Refused) as caught:
        SEVEN_UP.view(awaiting_deal(2), Viewer(seat))
    assert (caught.value.code, caught.value.rule) == (Code.SEAT_UNKNOWN, "C-5")


def test_SU_C5_before_the_draw_there_is_nobody_to_deal() -> None:
    seen = view(SEVEN_UP.initial(started(3)), PUBLIC)
    assert isinstance(seen, PublicView)
    assert (seen.table.dealer, seen.table.elder, seen.table.trump) == (-1, -1, "")
