"""Seven Bridge: ghosts, exposed cards, and playing without ghosts (SB-R13, SB-R14, SB-R23)."""

from heptalog.replay.errors import Code
from heptalog.replay.seven_bridge.events import SevenBridge
from heptalog.replay.seven_bridge.outcomes import ExposedCardPlayed, GhostMade, TokenSpent, TurnWaited
from heptalog.replay.seven_bridge.scoring import penalty_of
from heptalog.replay.seven_bridge.state import State, is_ghost
from tests.support.seven_bridge_positions import (
    advance,
    advance_with_outcomes,
    mask,
    moves,
    passes,
    places,
    play,
    position,
    refusal,
)


def before_the_ghost_of_V7() -> State:
    hands = ["QD 3S", "7S 4D 7H", "JD KC 2H", "10D 8C"]
    return position(hands, "D5-9 C7-7", turn=1, tokens=[1, 2, 0, 1])


def test_SB_V7_SB_R13_SB_D7_SB_I5_the_fourth_pass_makes_a_ghost() -> None:
    state = advance(before_the_ghost_of_V7(), play(1, "4D"))
    assert state.border == mask("3D 10D 6C 8C 7S 7H")
    assert (state.to_act, moves(state)) == ((2,), ["pass"])
    state, outcomes = advance_with_outcomes(state, passes(2))
    assert outcomes == (GhostMade(2, ("KC", "JD", "2H"), 26),)
    assert (state.exposed, state.hands[2], state.to_act) == (mask("JD KC 2H"), 0, (3,))
    assert is_ghost(state, 2)


def test_SB_V8_SB_R14_SB_D9_SB_D11_SB_D12_an_exposed_card_is_played_as_a_turn_and_still_counts() -> None:
    state = advance(before_the_ghost_of_V7(), play(1, "4D"), passes(2), play(3, "TD"))
    assert moves(state) == ["JD", "pass"]
    state, outcomes = advance_with_outcomes(state, play(0, "JD"))
    assert outcomes == (ExposedCardPlayed(0, "JD", 2),)
    assert state.filled == places("D4-11 C7-7")
    assert (state.exposed, state.hands[0]) == (mask("KC 2H"), mask("QD 3S"))
    assert penalty_of(state.hands[2] | state.shown[2], state.terms) == 26
    assert state.to_act == (1,)
    state = advance(state, passes(1))
    assert state.to_act == (3,)
    refused = refusal(state, passes(2))
    assert (refused.code, refused.rule) == (Code.NOT_YOUR_TURN, "SB-R14")
    assert refusal(state, play(2, "KC")).code is Code.NOT_YOUR_TURN


def test_SB_V9_SB_D10_who_has_no_token_must_play_the_exposed_card() -> None:
    hands, ghosts = ["QD 3S", "7S 7H", "", "8C"], {2: "JD KC 2H"}
    broke = position(hands, "D4-10 C7-7", ghosts=ghosts, tokens=[0, 2, 0, 1])
    assert moves(broke) == ["JD"]
    assert refusal(broke, passes(0)).code is Code.MUST_PLAY
    richer = position(hands, "D4-10 C7-7", ghosts=ghosts, tokens=[1, 2, 0, 1])
    assert moves(richer) == ["JD", "pass"]
    assert advance(richer, passes(0)).tokens == (0, 2, 0, 1)


def test_SB_V10_SB_D7_several_become_ghosts_in_a_row_one_recorded_pass_each() -> None:
    state = position(["6D 2C", "3C", "2S", "9H"], "D7-7", tokens=[1, 0, 0, 1])
    state = advance(state, play(0, "6D"))
    state, outcomes = advance_with_outcomes(state, passes(1), passes(2))
    assert outcomes == (GhostMade(1, ("3C",), 3), GhostMade(2, ("2S",), 2))
    assert (state.to_act, moves(state)) == ((3,), ["pass"])
    state, outcomes = advance_with_outcomes(state, passes(3))
    assert outcomes == (TokenSpent(3, 0),)
    assert state.to_act == (0,)


def test_SB_V11_SB_D12_SB_D13_SB_D14_SB_I7_SB_B2_the_last_active_player_plays_on() -> None:
    ghosts = {1: "QD", 2: "KS"}
    state = position(["KD QS", "", ""], "D1-11 S1-11 H1-13 C1-13", ghosts=ghosts, tokens=[0, 0, 0])
    assert moves(state) == ["QD", "QS"]
    state = advance(state, play(0, "QD"))
    assert (state.to_act, moves(state)) == ((0,), ["KD", "QS"])
    state = advance(state, play(0, "KD"), play(0, "QS"))
    assert state.scores == (0, 12, 13)
    assert state.exposed == mask("KS")


def test_SB_V25_the_only_active_player_plays_again_at_once() -> None:
    state = position(["8D 9D", "", ""], "D7-7", ghosts={1: "AC", 2: "2C"})
    assert advance(state, play(0, "8D")).to_act == (0,)


def test_SB_D8_SB_B7_an_exposed_card_beside_the_layout_is_no_neighbour() -> None:
    state = position(["QD KD", "3S", ""], "D5-9 C7-7", ghosts={2: "JD KC"})
    assert moves(state) == ["pass"]
    assert refusal(state, play(0, "QD")).code is Code.ILLEGAL_MOVE
    assert refusal(state, play(0, "JD")).code is Code.ILLEGAL_MOVE


def test_SB_D8_exposed_cards_change_nothing_in_the_layout_and_anybody_may_play_them() -> None:
    state = position(["TD 3S", "JD QD 2H", "KD 4S"], "D5-9 C7-7", turn=1, tokens=[3, 0, 3])
    before = state
    state = advance(state, passes(1))
    assert (state.filled, state.border, state.exposed) == (before.filled, before.border, mask("JD QD 2H"))
    assert refusal(state, play(2, "KD")).code is Code.ILLEGAL_MOVE
    state = advance(state, passes(2), play(0, "TD"), play(2, "JD"), play(0, "QD"))
    assert (moves(state), state.exposed) == (["KD", "pass"], mask("2H"))


def test_SB_D9_a_placed_exposed_card_does_not_shorten_the_hand_of_the_mover() -> None:
    state = position(["QD", "3S", ""], "D5-10", ghosts={2: "JD KC"})
    state = advance(state, play(0, "JD"))
    assert (state.round, state.to_act) == (1, (1,))
    assert state.hands[0] == mask("QD")


def test_SB_D11_two_ghosts_may_expose_and_each_keeps_the_own_penalty() -> None:
    state = position(["2S", "", "", "AC"], "D5-10 S3-7", ghosts={1: "JD QD", 2: "KC KD"})
    state = advance(state, passes(0), play(3, "JD"), passes(0), play(3, "QD"), passes(0), play(3, "KD"), play(0, "2S"))
    assert state.scores == (0, 23, 26, 1)


def test_SB_V16_SB_R23_SB_D22_without_ghosts_a_player_waits_and_must_play_when_able() -> None:
    state = position(["6D 2C", "5D 3C", "7S"], "D7-7", turn=1, tokens=[3, 0, 3], options=SevenBridge(ghosts=False))
    assert moves(state) == ["pass"]
    state, outcomes = advance_with_outcomes(state, passes(1))
    assert outcomes == (TurnWaited(1),)
    assert (state.tokens, state.exposed, state.to_act) == ((3, 0, 3), 0, (2,))
    assert (state.hands[1], state.shown, state.scores) == (mask("5D 3C"), (0, 0, 0), (0, 0, 0))
    state = advance(state, passes(2), play(0, "6D"))
    assert moves(state) == ["5D"]
    assert refusal(state, passes(1)).code is Code.MUST_PLAY


def test_SB_V17_SB_R22_with_five_tokens_the_sixth_forced_pass_makes_the_ghost() -> None:
    state = position(["AC", "7S", "7H"], "D7-7", options=SevenBridge(pass_tokens=5))
    for left in (4, 3, 2, 1, 0):
        state = advance(state, passes(0))
        assert (state.tokens[0], is_ghost(state, 0)) == (left, False)
        state = advance(state, passes(1), passes(2))
    # The others hold sevens: after five passes they must play, and nothing reaches down to the ace.
    assert moves(state) == ["pass"]
    assert is_ghost(advance(state, passes(0)), 0)


def test_SB_R13_without_any_tokens_the_first_forced_pass_makes_the_ghost() -> None:
    state = position(["AC", "7S", "7H"], "D7-7", options=SevenBridge(pass_tokens=0))
    assert is_ghost(advance(state, passes(0)), 0)


def test_SB_R27_SB_D21_fan_tan_is_the_game_without_ghosts_and_keeps_the_tokens() -> None:
    state = position(["8D AC", "7S", "7H"], "D7-7", options=SevenBridge(ghosts=False))
    assert advance(state, passes(0)).tokens == (2, 3, 3)
