"""Seven Bridge: what a seat, the public and the arbiter may see (C-5, SB-D32)."""

import pytest
from msgspec import json

from heptalog.replay.errors import Code, Refused
from heptalog.replay.rules import ARBITER, PUBLIC, Viewer
from heptalog.replay.seven_bridge.events import SevenBridge
from heptalog.replay.seven_bridge.state import State
from heptalog.replay.seven_bridge.view import ArbiterView, ColumnView, JokerView, PublicView, SeatView, view
from tests.support.seven_bridge_positions import advance, new_game, passes, play, position

JOKERS = SevenBridge(jokers=2)


def with_a_ghost() -> State:
    hands = ["QD 3S", "7S 7H X2", "", "8C"]
    ghosts, jokers = {2: "JD KC 2H"}, {"X1": "6C"}
    return position(hands, "D5-9 C6-7", ghosts=ghosts, jokers=jokers, tokens=[0, 2, 0, 1], options=JOKERS)


def test_C_5_a_seat_sees_its_own_hand_and_counts_of_the_others() -> None:
    seen = view(with_a_ghost(), Viewer(0))
    assert isinstance(seen, SeatView)
    assert seen.hand == ("QD", "3S")
    assert [seat.card_count for seat in seen.table.seats] == [2, 3, 0, 1]
    assert b"X2" not in json.encode(seen)


def test_C_5_the_public_sees_the_table_and_no_hand() -> None:
    seen = view(with_a_ghost(), PUBLIC)
    assert isinstance(seen, PublicView)
    assert not hasattr(seen, "hand")
    assert seen.table == view(with_a_ghost(), Viewer(1)).table
    assert [seat.shown for seat in seen.table.seats] == [(), (), ("KC", "JD", "2H"), ()]


def test_the_arbiter_sees_every_hand() -> None:
    seen = view(with_a_ghost(), ARBITER)
    assert isinstance(seen, ArbiterView)
    assert seen.hands == (("QD", "3S"), ("7H", "7S", "X2"), (), ("8C",))


def test_everybody_sees_layout_border_exposed_cards_and_jokers() -> None:
    table = view(with_a_ghost(), PUBLIC).table
    assert table.layout[1] == ColumnView(suit="D", places=("5D", "6D", "7D", "8D", "9D"))
    assert table.border == ("5C", "8C", "4D", "TD", "7H", "7S")
    assert table.exposed == ("KC", "JD", "2H")
    assert table.jokers == (JokerView(joker="X1", stands_for="6C", is_covered=False),)
    assert table.to_act == (0,)


def test_SB_D20c_a_covered_joker_is_still_shown() -> None:
    state = position(["6C 9S", "AC", "2C"], "C6-7", jokers={"X1": "6C"}, options=JOKERS)
    state = advance(state, play(0, "6C"))
    assert view(state, PUBLIC).table.jokers == (JokerView(joker="X1", stands_for="6C", is_covered=True),)


def test_a_view_is_camel_case_json() -> None:
    seen = json.decode(json.encode(view(with_a_ghost(), Viewer(3))))
    assert seen.keys() == {"table", "seat", "hand"}
    assert seen["table"]["jokers"] == [{"joker": "X1", "standsFor": "6C", "isCovered": False}]
    assert seen["table"]["seats"][3]["cardCount"] == 1


def test_SB_D32_every_hand_is_public_from_the_end_of_a_round_to_the_next_deal() -> None:
    state = position(["8D", "KS", "AC 2C"], "D7-7")
    assert [seat.shown for seat in view(state, PUBLIC).table.seats] == [(), (), ()]
    state = advance(state, play(0, "8D"))
    assert [seat.shown for seat in view(state, PUBLIC).table.seats] == [(), ("KS",), ("AC", "2C")]


def test_SB_R23_without_ghosts_nobody_ever_shows_a_hand() -> None:
    state = position(["AC", "KS", "2C"], "D7-7", tokens=[0, 0, 0], options=SevenBridge(ghosts=False))
    state = advance(state, passes(0), passes(1))
    assert [seat.shown for seat in view(state, PUBLIC).table.seats] == [(), (), ()]
    assert not any(seat.is_ghost for seat in view(state, PUBLIC).table.seats)


def test_who_watches_a_deciding_round_is_told_apart_from_a_ghost() -> None:
    state = position(["", "8D 2C", "KS 3C"], "D7-7", turn=1, seats=(1, 2))
    seats = view(state, PUBLIC).table.seats
    assert [(seat.is_playing, seat.is_ghost) for seat in seats] == [(False, False), (True, False), (True, False)]


def test_a_view_before_the_first_deal_is_empty() -> None:
    table = view(new_game(3), Viewer(2)).table
    assert (table.round, table.to_act, table.border) == (0, (), ())


@pytest.mark.parametrize("seat", [3, 99, -3])
def test_C_5_there_is_no_view_for_a_seat_that_is_not_there(seat: int) -> None:
    with pytest.raises(Refused) as caught:
        view(new_game(3), Viewer(seat))
    assert (caught.value.code, caught.value.rule) == (Code.SEAT_UNKNOWN, "C-5")
