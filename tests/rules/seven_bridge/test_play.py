"""Seven Bridge: opening, playing and passing (SB-R7 to SB-R12)."""

import pytest

from heptalog.replay.errors import Code
from heptalog.replay.events import CardPlayed, TurnPassed
from heptalog.replay.seven_bridge.events import SevenBridge
from heptalog.replay.seven_bridge.outcomes import ColumnOpened, TokenSpent
from heptalog.replay.seven_bridge.state import Phase, State
from heptalog.replay.seven_bridge.tables import NATURALS
from tests.support.seven_bridge_positions import (
    DEFAULTS,
    advance,
    advance_with_outcomes,
    border_of,
    dealt,
    mask,
    moves,
    passes,
    places,
    play,
    position,
    refusal,
    split_deck,
)


def opening_by_seat_2(options: SevenBridge = DEFAULTS) -> State:
    """Three players; seat 2 holds all sevens."""
    sevens = [card for card in NATURALS if card[0] == "7"]
    others = [card for card in NATURALS if card[0] != "7"]
    hands = [" ".join(others[:18]), " ".join(others[18:35]), " ".join(others[35:] + sevens)]
    return dealt(3, hands, options=options)


def test_SB_V2_SB_R7_SB_D5_the_holder_of_the_opening_seven_opens_with_it() -> None:
    state = opening_by_seat_2()
    assert (state.to_act, moves(state)) == ((2,), ["7D"])
    assert refusal(state, play(2, "7S")).code is Code.ILLEGAL_MOVE
    assert refusal(state, passes(2)).code is Code.MUST_PLAY
    assert refusal(state, play(0, "AC")).code is Code.NOT_YOUR_TURN
    state = advance(state, play(2, "7D"))
    assert (state.filled, state.to_act) == (places("D7-7"), (0,))


def test_SB_B5_the_opener_without_tokens_may_not_pass_either() -> None:
    state = opening_by_seat_2(SevenBridge(pass_tokens=0))
    assert refusal(state, passes(2)).code is Code.MUST_PLAY


def test_SB_V18_SB_R24_SB_D24_with_hearts_opening_7D_is_an_ordinary_seven() -> None:
    state = opening_by_seat_2(SevenBridge(opening_seven="7H"))
    assert moves(state) == ["7H"]
    assert refusal(state, play(2, "7D")).code is Code.ILLEGAL_MOVE
    state = advance(state, play(2, "7H"), passes(0), passes(1))
    assert moves(state) == ["7C", "7D", "7S", "pass"]


def test_SB_R8_turns_go_clockwise_from_the_opener() -> None:
    state = advance(opening_by_seat_2(), play(2, "7D"))
    turns: list[int] = []
    for _ in range(4):
        turns += state.to_act
        state = advance(state, passes(state.turn))
    assert turns == [0, 1, 2, 0]


def test_SB_V3_SB_R10_legal_plays_are_at_the_borders() -> None:
    state = position(["3D 2D 10D JD 5D 6C 8C 7H 8H", "AC", "KC"], "D4-9 C7-7")
    assert moves(state) == ["3D", "6C", "7H", "8C", "TD", "pass"]
    for card in ("2D", "JD", "5D", "8H"):
        assert refusal(state, play(0, card)).code is Code.ILLEGAL_MOVE


def test_SB_V4_SB_R10_a_full_column_has_no_border() -> None:
    border = border_of(places("S1-13 H1-12"))
    assert border & places("S1-13") == 0
    assert border & places("H1-13") == mask("KH")


def test_SB_R10_the_border_is_kept_up_from_play_to_play() -> None:
    state = position(["3D AC", "10D 2C", "7H 3C"], "D4-9 C7-7")
    state = advance(state, play(0, "3D"), play(1, "TD"), play(2, "7H"))
    assert state.border == border_of(places("D3-10 C7-7 H7-7")) == mask("2D JD 6C 8C 6H 8H 7S")


def test_SB_R10a_a_seven_opens_its_column_whatever_lies() -> None:
    state, outcomes = advance_with_outcomes(position(["7S AC", "KC", "QC"], "D1-13 H7-7"), play(0, "7S"))
    assert outcomes == (ColumnOpened(0, "S"),)
    assert state.border & places("S1-13") == mask("6S 8S")


def test_SB_R10a_every_seven_can_be_played_once_the_opening_one_lies() -> None:
    state = advance(opening_by_seat_2(), play(2, "7D"), passes(0), passes(1))
    assert moves(state) == ["7C", "7H", "7S", "pass"]


def test_SB_V5_SB_R12_SB_D4_one_may_pass_with_a_legal_play_while_a_token_is_left() -> None:
    state, outcomes = advance_with_outcomes(position(["8D", "AC", "2C"], "D7-7"), passes(0))
    assert (state.tokens, state.to_act) == ((2, 3, 3), (1,))
    assert outcomes == (TokenSpent(0, 2),)


def test_SB_D29_a_forced_pass_is_told_like_a_free_one() -> None:
    _, free = advance_with_outcomes(position(["8D", "AC", "2C"], "D7-7"), passes(0))
    _, forced = advance_with_outcomes(position(["KS", "AC", "2C"], "D7-7"), passes(0))
    assert free == forced


def test_SB_V6_SB_D6_without_tokens_one_must_play_if_able() -> None:
    state = position(["8D AC", "KC", "2C"], "D7-7", tokens=[0, 3, 3])
    refused = refusal(state, passes(0))
    assert (refused.code, refused.rule) == (Code.MUST_PLAY, "SB-D6")
    assert moves(state) == ["8D"]
    assert advance(state, play(0, "8D")).to_act == (1,)


def test_SB_V25_SB_R11_one_card_a_turn() -> None:
    state = advance(position(["8D 9D AC", "KC", "2C"], "D7-7"), play(0, "8D"))
    refused = refusal(state, play(0, "9D"))
    assert (refused.code, refused.rule, refused.facts) == (Code.NOT_YOUR_TURN, "SB-R8", {"seat": 0, "to_act": (1,)})


def test_SB_R9_SB_B4_a_card_must_be_held() -> None:
    state = position(["8D AC", "6D", "2C"], "D7-7")
    assert refusal(state, play(0, "6D")).code is Code.NOT_HELD
    assert refusal(state, play(0, "7D")).code is Code.NOT_HELD


def test_C_5_a_refusal_is_the_same_wherever_the_hidden_card_is() -> None:
    with_bo = position(["8D AC", "6D 3C", "2C 4C"], "D7-7")
    with_chie = position(["8D AC", "2C 3C", "6D 4C"], "D7-7")
    for body in (play(0, "6D"), play(0, "2C"), play(1, "6D")):
        assert str(refusal(with_bo, body)) == str(refusal(with_chie, body))


def test_SB_B9_only_a_joker_stands_for_another_card() -> None:
    state = position(["8D AC", "6D", "2C"], "D7-7")
    refused = refusal(state, play(0, "8D", "8D"))
    assert (refused.code, refused.rule) == (Code.ILLEGAL_MOVE, "SB-D20b")


@pytest.mark.parametrize("card", ["", "1Z", "7d", "10D", "8D ", "X1", "X3", "7", "é"])
def test_what_is_no_card_of_this_game_is_unknown(card: str) -> None:
    assert refusal(position(["8D", "6D", "2C"], "D7-7"), play(0, card)).code is Code.CARD_UNKNOWN


@pytest.mark.parametrize("seat", [3, 7, 4_294_967_295, -1, 1 << 70])
def test_a_seat_that_is_not_there_is_unknown(seat: int) -> None:
    state = position(["8D", "6D", "2C"], "D7-7")
    assert refusal(state, CardPlayed(seat, "8D")).code is Code.SEAT_UNKNOWN
    assert refusal(state, TurnPassed(seat)).code is Code.SEAT_UNKNOWN


@pytest.mark.parametrize("seat", [-1, 0, 2])
def test_nobody_plays_or_passes_while_the_table_is_to_deal(seat: int) -> None:
    state = advance(position(["8D", "6D", "2C"], "D7-7"), play(0, "8D"))
    assert state.phase is Phase.DEAL
    assert refusal(state, CardPlayed(seat, "6D")).code is Code.WRONG_PHASE
    assert refusal(state, TurnPassed(seat)).code is Code.WRONG_PHASE


def test_after_the_match_everything_is_refused() -> None:
    state = advance(position(["8D", "6D", "2C"], "D7-7", round_number=5), play(0, "8D"))
    assert (state.over, state.winners, state.to_act) == (True, (0,), ())
    deal = split_deck(NATURALS, seat_count=3, dealer=1)
    for body in (play(1, "6D"), passes(1), passes(-1), deal):
        assert refusal(state, body).code is Code.GAME_OVER


def test_SB_B3_SB_B6_C_3_a_refusal_changes_nothing_and_costs_no_turn() -> None:
    state = position(["8D QD", "6D", "2C"], "D7-7")
    before = repr(state)
    refusal(state, play(0, "QD"))
    assert repr(state) == before
    assert advance(state, play(0, "8D")).to_act == (1,)
