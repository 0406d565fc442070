"""Elder hand and dealer go down to six cards (SU-R13, SU-D17, SU-D18)."""

import pytest

from heptalog.replay.errors import Code
from heptalog.replay.rules import PUBLIC, Viewer
from heptalog.replay.seven_up import SEVEN_UP
from heptalog.replay.seven_up.events import CardsDiscarded
from heptalog.replay.seven_up.outcomes import GameCounted, HighScored, LowScored
from heptalog.replay.seven_up.state import Phase, State
from heptalog.replay.seven_up.view import PublicView, SeatView, view
from tests.support.seven_up_positions import (
    advance,
    after,
    awaiting_deal,
    beg,
    dealt,
    discard,
    hand,
    plays,
    refusal,
    reject,
    run,
    stand,
)


@pytest.fixture
def owing() -> State:
    """SU-V10: after one run elder hand holds AH KH 9H 2H 4S 5S 8D 9D TC, and hearts are trump."""
    state = after(awaiting_deal(2), dealt(2, "5C", {1: "AH KH 9H 2H 4S 5S", 0: "3H 2C 3C 4C 6C 7C"}), beg(1), reject(0))
    return after(state, run(state, "TH", elder="8D 9D TC", dealer="2D 3D 4D"), stand(1))


def test_SU_R13_both_owe_and_stand_in_to_act(owing: State) -> None:
    assert (owing.phase, owing.to_act) == (Phase.DISCARD, (0, 1))


def test_SU_R13_the_seats_that_owe_ascend_where_the_dealer_sits_last() -> None:
    state = after(awaiting_deal(4, dealer=3), dealt(4, "5C"), beg(0), reject(3))
    assert after(state, run(state, "TH"), stand(0)).to_act == (0, 3)


def test_SU_R13_SU_D18_SU_V10_exactly_three_cards_a_run(owing: State) -> None:
    assert refusal(owing, discard(1, "2H")).code is Code.DISCARD_INVALID
    assert refusal(owing, discard(1, "")).code is Code.DISCARD_INVALID
    assert refusal(owing, discard(1, "2H 4S 5S 8D")).code is Code.DISCARD_INVALID
    assert refusal(owing, discard(1, "2H 4S 4S")).code is Code.DISCARD_INVALID
    assert refusal(owing, discard(1, "2H 4S 6S")).code is Code.NOT_HELD
    assert refusal(owing, discard(1, "2H 4S X1")).code is Code.CARD_UNKNOWN
    assert refusal(owing, discard(2, "2H 4S 5S")).code is Code.SEAT_UNKNOWN
    state = after(owing, discard(1, "2H 4S 5S"))
    assert hand(state, 1) == {"AH", "KH", "9H", "8D", "9D", "TC"}
    assert (state.to_act, state.phase) == ((0,), Phase.DISCARD)


def test_SU_D18_either_order_comes_to_the_same(owing: State) -> None:
    elder, dealer = discard(1, "2H 4S 5S"), discard(0, "2D 3D 4D")
    assert after(owing, elder, dealer) == after(owing, dealer, elder)
    state = after(owing, dealer, elder)
    assert (state.phase, state.to_act, state.trick_number) == (Phase.PLAY, (1,), 1)


def test_SU_D18_nobody_discards_twice(owing: State) -> None:
    state = after(owing, discard(0, "2D 3D 4D"))
    assert refusal(state, discard(0, "2C 3C 4C")).code is Code.NOT_YOUR_TURN


def test_SU_D18_any_three_cards_may_go_trumps_too(owing: State) -> None:
    offered = [move for move in SEVEN_UP.legal(owing) if isinstance(move, CardsDiscarded)]
    assert [sum(move.seat == seat for move in offered) for seat in (0, 1)] == [84, 84]
    trumps = after(owing, discard(1, "AH KH 2H"))
    assert hand(trumps, 1) == {"9H", "4S", "5S", "8D", "9D", "TC"}


def test_SU_D18_a_discard_is_face_down_for_all_but_its_owner(owing: State) -> None:
    state = after(owing, discard(1, "2H 4S 5S"))
    owner, other = view(state, Viewer(1)), view(state, Viewer(0))
    assert isinstance(owner, SeatView)
    assert isinstance(other, SeatView)
    assert (set(owner.discards), other.discards) == ({"2H", "4S", "5S"}, ())
    assert owner.table == other.table
    assert view(state, PUBLIC) == PublicView(table=owner.table)


def test_SU_D18_without_a_run_nobody_discards() -> None:
    state = after(awaiting_deal(2), dealt(2, "5C"), stand(1))
    assert refusal(state, discard(1, "")).code is Code.WRONG_PHASE


def test_SU_D18_partners_keep_what_they_were_dealt() -> None:
    state = after(awaiting_deal(4), dealt(4, "5C"), beg(1), reject(0))
    state = after(state, run(state, "TH"), stand(1))
    assert refusal(state, discard(2, "2C 3C 4C")).code is Code.NOT_YOUR_TURN


def test_SU_R13_no_card_is_played_before_both_are_down_to_six(owing: State) -> None:
    state = after(owing, discard(1, "2H 4S 5S"))
    assert refusal(state, plays("1 AH")[0]).code is Code.WRONG_PHASE


def test_SU_I3_every_hand_has_six_cards_at_the_first_lead(owing: State) -> None:
    state = after(owing, discard(1, "2H 4S 5S"), discard(0, "2D 3D 4D"))
    assert [cards.bit_count() for cards in state.hands] == [6, 6]


def test_SU_D17_SU_V10_a_discarded_trump_counts_for_nobody(owing: State) -> None:
    _, outcomes = advance(
        owing,
        discard(1, "2H 4S 5S"),
        discard(0, "2D 3D 4D"),
        *plays("1 AH, 0 3H, 1 KH, 0 2C, 1 9H, 0 3C, 1 8D, 0 4C, 1 9D, 0 6C, 1 TC, 0 7C"),
    )
    assert HighScored(seat=1, side=1, card="AH", score=1) in outcomes
    assert LowScored(seat=0, side=0, card="3H", score=1) in outcomes


def test_SU_D17_what_was_discarded_counts_neither_as_a_trump_nor_for_game(owing: State) -> None:
    _, outcomes = advance(
        owing,
        discard(1, "AH KH 4S"),
        discard(0, "2D 3D 4D"),
        *plays("1 9H, 0 3H, 1 2H, 0 2C, 1 5S, 0 3C, 1 8D, 0 4C, 1 9D, 0 6C, 1 TC, 0 7C"),
    )
    assert HighScored(seat=1, side=1, card="9H", score=1) in outcomes
    assert GameCounted(pips=(0, 0), tied=True, side=1, score=3) in outcomes
