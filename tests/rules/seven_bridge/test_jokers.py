"""Seven Bridge: jokers (SB-R25, SB-D20)."""

import pytest

from heptalog.replay.errors import Code
from heptalog.replay.outcomes import RoundEnded, RoundEndedBy
from heptalog.replay.seven_bridge.events import Scoring, SevenBridge
from heptalog.replay.seven_bridge.outcomes import (
    ColumnCompleted,
    ColumnOpened,
    ExposedCardPlayed,
    GhostMade,
    JokerCovered,
    PenaltyBooked,
)
from heptalog.replay.seven_bridge.tables import DECK
from tests.support.seven_bridge_positions import (
    advance,
    advance_with_outcomes,
    dealt,
    mask,
    moves,
    passes,
    places,
    play,
    position,
    refusal,
)

JOKERS = SevenBridge(jokers=2)
FULL = "C1-13 D1-13 H1-13 S1-13"


@pytest.mark.parametrize("place", ["TS", "6S", "7H", "7C", "7D"])
def test_SB_V19_SB_D20b_a_joker_fills_an_empty_border_place(place: str) -> None:
    state = position(["X1 AC", "KC", "KD"], "S7-9", options=JOKERS)
    state = advance(state, play(0, "X1", place))
    assert state.filled == places("S7-9") | mask(place)
    assert (state.stand_ins, state.joker_places) == (mask(place), (mask(place), 0))
    assert state.hands[0] == mask("AC")


@pytest.mark.parametrize("place", ["QS", "8S", "8H", "AC"])
def test_SB_V19_SB_D20b_a_joker_goes_nowhere_else(place: str) -> None:
    state = position(["X1 AC", "KC", "KD"], "S7-9", options=JOKERS)
    refused = refusal(state, play(0, "X1", place))
    assert (refused.code, refused.rule) == (Code.ILLEGAL_MOVE, "SB-D20b")


def test_SB_D20b_the_player_names_a_real_card() -> None:
    state = position(["X1 AC", "KC", "KD"], "S7-9", options=JOKERS)
    assert refusal(state, play(0, "X1")).code is Code.ILLEGAL_MOVE
    for place in ("X2", "X1", "1Z", "10S"):
        assert refusal(state, play(0, "X1", place)).code is Code.CARD_UNKNOWN
    assert refusal(state, play(0, "X2", "TS")).code is Code.NOT_HELD


def test_SB_D20b_a_joker_never_opens() -> None:
    options = SevenBridge(jokers=2, pass_tokens=0)
    rest = [card for card in DECK if card not in ("7D", "X1", "X2")]
    state = dealt(
        3, [" ".join(["7D", "X1", "X2", *rest[:15]]), " ".join(rest[15:33]), " ".join(rest[33:])], options=options
    )
    assert moves(state) == ["7D"]
    for place in ("7D", "7H", "6D"):
        assert refusal(state, play(0, "X1", place)).code is Code.ILLEGAL_MOVE
    assert refusal(state, passes(0)).code is Code.MUST_PLAY
    assert refusal(state, play(0, "7D", "7D")).code is Code.ILLEGAL_MOVE


def test_SB_V20_SB_D20c_the_real_card_is_later_laid_on_the_joker() -> None:
    state = position(["X1 2C", "10S 3C", "JS 4C"], "S7-9", options=JOKERS)
    state = advance(state, play(0, "X1", "TS"), passes(1))
    assert moves(state) == ["JS", "pass"]
    state = advance(state, play(2, "JS"), passes(0))
    border, filled = state.border, state.filled
    assert moves(state) == ["TS", "pass"]
    state, outcomes = advance_with_outcomes(state, play(1, "TS"))
    assert outcomes == (JokerCovered(1, "TS"),)
    assert (state.border, state.filled, state.stand_ins) == (border, filled, 0)
    assert (state.to_act, state.hands[1]) == ((2,), mask("3C"))
    assert state.joker_places == (mask("TS"), 0)


def test_SB_D20c_the_displaced_card_must_be_played_without_tokens() -> None:
    state = position(["10S 3C", "2C", "4C"], "S7-10", jokers={"X1": "TS"}, tokens=[0, 3, 3], options=JOKERS)
    assert moves(state) == ["TS"]
    assert refusal(state, passes(0)).code is Code.MUST_PLAY


def test_SB_D20c_holds_for_an_exposed_card_and_counts_as_being_able_to_play() -> None:
    ghosts, jokers = {2: "TS KD"}, {"X2": "TS"}
    state = position(["3C", "2C", ""], "S7-10", ghosts=ghosts, jokers=jokers, tokens=[0, 3, 0], options=JOKERS)
    assert moves(state) == ["TS"]
    assert refusal(state, passes(0)).code is Code.MUST_PLAY
    border = state.border
    state, outcomes = advance_with_outcomes(state, play(0, "TS"))
    assert outcomes == (ExposedCardPlayed(0, "TS", 2), JokerCovered(0, "TS"))
    assert (state.border, state.exposed) == (border, mask("KD"))


def test_SB_V20_SB_D20c_the_displaced_card_counts_if_the_round_ends_before() -> None:
    state = position(["9H", "10S", "4C"], "S7-10 H7-8", jokers={"X1": "TS"}, options=JOKERS)
    assert advance(state, play(0, "9H")).scores == (0, 10, 4)


def test_SB_D20c_the_displaced_card_may_be_the_last_one() -> None:
    state = position(["10S", "KS", "4C"], "S7-10", jokers={"X1": "TS"}, options=JOKERS)
    assert advance(state, play(0, "TS")).scores == (0, 13, 4)


def test_SB_D20d_a_joker_may_stand_for_a_card_one_holds() -> None:
    state = position(["X2 10S AC", "KC", "KD"], "S7-9", options=JOKERS)
    state = advance(state, play(0, "X2", "TS"), passes(1), passes(2))
    assert "TS" in moves(state)


def test_SB_V21_SB_D20e_one_may_go_out_on_a_joker() -> None:
    state = position(["2C", "KC", "X1"], "D4-7", turn=2, options=JOKERS)
    assert advance(state, play(2, "X1", "3D")).scores == (2, 13, 0)


@pytest.mark.parametrize(
    ("options", "penalty"),
    [
        (JOKERS, 14),
        (SevenBridge(jokers=2, joker_penalty=20), 20),
        (SevenBridge(jokers=2, joker_penalty=0), 0),
        (SevenBridge(jokers=2, scoring=Scoring.COUNT), 1),
    ],
)
def test_SB_V21_SB_D20f_what_a_joker_left_in_hand_costs(options: SevenBridge, penalty: int) -> None:
    state = position(["8D", "X2", "AC"], "D7-7", options=options)
    assert advance(state, play(0, "8D")).scores == (0, penalty, 1)


def test_SB_D20g_without_tokens_a_joker_must_be_played() -> None:
    state = position(["X1 AC", "KC", "KD"], "S7-13 D6-8", tokens=[0, 3, 3], options=JOKERS)
    assert moves(state) == ["X1=5D", "X1=6S", "X1=7C", "X1=7H", "X1=9D"]
    assert refusal(state, passes(0)).code is Code.MUST_PLAY


def test_SB_D20g_one_becomes_a_ghost_with_a_joker_only_where_no_border_is_left() -> None:
    ghosts, jokers = {2: "KD"}, {"X1": "5D"}
    state = position(
        ["X2", "5D", ""], FULL, jokers=jokers, ghosts=ghosts, played="KD", tokens=[0, 3, 0], options=JOKERS
    )
    assert moves(state) == ["pass"]
    state, outcomes = advance_with_outcomes(state, passes(0))
    assert outcomes == (GhostMade(0, ("X2",), 14),)
    assert moves(state) == ["5D", "pass"]
    assert refusal(state, play(1, "X2", "5D")).code is Code.ILLEGAL_MOVE


def test_SB_V22_SB_D20h_with_only_jokers_left_the_round_ends_without_a_winner() -> None:
    layout = "C2-13 D1-13 H1-13 S1-13"
    state = position(["AC X1", "X2", ""], layout, ghosts={2: "KD"}, played="KD", options=JOKERS)
    state, outcomes = advance_with_outcomes(state, play(0, "AC"))
    assert outcomes[0:3] == (
        ColumnCompleted(0, "C"),
        RoundEnded(1, RoundEndedBy.EXHAUSTED),
        PenaltyBooked(0, ("X1",), 14),
    )
    assert state.scores == (14, 14, 13)
    assert (state.round, state.to_act, state.dealer) == (1, (), 1)


def test_SB_D20h_an_exhausted_round_books_bonuses_and_counts_as_played() -> None:
    options = SevenBridge(jokers=2, kings_race=5, rounds=1)
    state = position(["AC X1", "X2", ""], "C2-13 D1-13 H1-13 S1-13", ghosts={2: "KD"}, played="KD", options=options)
    state = advance(state, play(0, "AC"))
    assert (state.scores, state.winners) == ((9, 14, 13), (0,))


def test_SB_D20h_a_displaced_card_keeps_the_round_going() -> None:
    ghosts, jokers = {1: "5D 9H", 2: "KD"}, {"X2": "5D"}
    layout = "C2-13 D1-13 H1-13 S1-13"
    state = position(["AC X1", "", ""], layout, jokers=jokers, ghosts=ghosts, played="9H KD", options=JOKERS)
    state = advance(state, play(0, "AC"))
    assert (state.to_act, moves(state)) == ((0,), ["5D", "pass"])
    state, outcomes = advance_with_outcomes(state, play(0, "5D"))
    assert RoundEnded(1, RoundEndedBy.EXHAUSTED) in outcomes
    assert state.scores == (14, 14, 13)


def test_SB_D14_SB_D20h_with_jokers_too_the_last_player_has_a_card_to_play() -> None:
    ghosts, jokers = {1: "5D", 2: "KD"}, {"X1": "5D"}
    state = position(["X2", "", ""], FULL, jokers=jokers, ghosts=ghosts, played="KD", tokens=[0, 0, 0], options=JOKERS)
    assert moves(state) == ["5D"]
    assert refusal(state, passes(0)).code is Code.MUST_PLAY
    _, outcomes = advance_with_outcomes(state, play(0, "5D"))
    assert RoundEnded(1, RoundEndedBy.EXHAUSTED) in outcomes


def test_SB_D20h_the_last_real_card_wins_where_it_is_the_last_of_its_hand() -> None:
    state = position(["AC", "X1", "X2"], "C2-13 D1-13 H1-13 S1-13", options=JOKERS)
    assert advance(state, play(0, "AC")).scores == (0, 14, 14)


def test_SB_D20i_a_joker_completes_a_column_and_covering_it_completes_nothing() -> None:
    options = SevenBridge(jokers=2, kings_race=5)
    state = position(["X1 2C", "KS 3C", "4C"], "S1-12", options=options)
    state, outcomes = advance_with_outcomes(state, play(0, "X1", "KS"))
    assert outcomes == (ColumnCompleted(0, "S"),)
    state, outcomes = advance_with_outcomes(state, play(1, "KS"))
    assert (outcomes, state.columns) == ((JokerCovered(1, "KS"),), (1, 0, 0))


def test_SB_D20b_a_joker_as_a_seven_opens_the_column() -> None:
    state = position(["X1 2C", "7H 3C", "8H"], "S7-7", options=JOKERS)
    state, outcomes = advance_with_outcomes(state, play(0, "X1", "7H"))
    assert outcomes == (ColumnOpened(0, "H"),)
    assert state.border & places("H1-13") == mask("6H 8H")
    state, outcomes = advance_with_outcomes(state, play(1, "7H"))
    assert outcomes == (JokerCovered(1, "7H"),)
    assert state.border & places("H1-13") == mask("6H 8H")


def test_SB_R3_without_jokers_none_may_be_named() -> None:
    state = position(["2C", "3C", "4C"], "S7-9")
    assert refusal(state, play(0, "X1", "TS")).code is Code.CARD_UNKNOWN
