"""Seven Bridge: the golden deals, move by move as the rule book prints them."""

import re
from collections.abc import Iterator

import pytest

from heptalog.replay.events import Body, CardPlayed, DealerDrawn, TurnPassed
from heptalog.replay.outcomes import Outcome, RoundEnded, RoundEndedBy
from heptalog.replay.seven_bridge.events import SevenBridge
from heptalog.replay.seven_bridge.outcomes import ExposedCardPlayed, GhostMade
from heptalog.replay.seven_bridge.state import State
from tests.support.seven_bridge_positions import (
    DEFAULTS,
    advance,
    advance_with_outcomes,
    cards,
    hands_dealt,
    mask,
    moves,
    new_game,
)

G1_HANDS = (
    "AS 2S 3S 4S 5S 6S 2C 3C 4C 5C 6C 7C 8C 9C 10C JC QC KC",
    "7S 8S 9S 10S JS QS KS AH 2H 3H 4H 5H 6H 7H 8H 9H 10H",
    "JH QH KH AD 2D 3D 4D 5D 6D 7D 8D 9D 10D JD QD KD AC",
)
G1_MOVES = """
2 7D; 0 7C; 1 7S; 2 6D; 0 6S; 1 8S; 2 5D; 0 5S; 1 9S; 2 4D; 0 4S; 1 10S; 2 3D; 0 3S; 1 JS; 2 2D; 0 2S; 1 QS; 2 AD;
0 AS; 1 KS; 2 8D; 0 6C; 1 7H; 2 9D; 0 5C; 1 6H; 2 10D; 0 4C; 1 5H; 2 JD; 0 3C; 1 4H; 2 QD; 0 2C; 1 3H; 2 KD; 0 8C;
1 2H; 2 AC; 0 9C; 1 AH; 2 pass; 0 10C; 1 8H; 2 pass; 0 JC; 1 9H; 2 pass; 0 QC; 1 10H
"""

G2_HANDS = (
    "AS 3S 5S 7S 9S JS KS 10C QC",
    "AH 3H 5H 7H 9H JH KH 2D 4D",
    "5D 7D 9D JD KD 2C 4C 6C 8C",
    "2S 4S 6S 8S 10S QS 9C JC KC",
    "2H 4H 6H 8H 10H QH AD 3D",
    "6D 8D 10D QD AC 3C 5C 7C",
)
G2_MOVES = """
2 7D; 3 pass; 4 pass; 5 pass; 0 pass; 1 pass; 2 pass; 3 pass; 4 pass; 5 pass; 0 pass; 1 pass; 2 pass; 3 pass; 4 pass;
5 pass; 0 pass; 1 pass; 2 pass; 3 GHOST QS 10S 8S 6S 4S 2S KC JC 9C; 4 GHOST 3D AD QH 10H 8H 6H 4H 2H; 5 6D; 0 7S;
1 7H; 2 5D; 5 8D; 0 6S*; 1 4D; 2 9D; 5 10D; 0 5S; 1 4S*; 2 JD; 5 QD; 0 3S; 1 2S*; 2 KD; 5 7C; 0 AS; 1 8S*; 2 6C;
5 5C; 0 9S; 1 10S*; 2 4C; 5 3C; 0 JS; 1 QS*; 2 2C; 5 AC
"""


def body_of(step: str) -> Body:
    seat, what, *_ = step.replace("10", "T").rstrip("*").split()
    return TurnPassed(int(seat)) if what in ("pass", "GHOST") else CardPlayed(int(seat), what)


def steps(text: str) -> list[str]:
    return re.split(r";\s*", text.strip())


def played(hands: tuple[str, ...], text: str, options: SevenBridge) -> Iterator[tuple[str, State, tuple[Outcome, ...]]]:
    """Each step with the state and the outcomes after it; every move is among the legal ones."""
    state = advance(new_game(len(hands), options), DealerDrawn(0), hands_dealt(*hands))
    for step in steps(text):
        body = body_of(step)
        name = body.card if isinstance(body, CardPlayed) else "pass"
        assert name in moves(state), step
        assert state.to_act == (int(step[0]),), step
        state, outcomes = advance_with_outcomes(state, body)
        yield step, state, outcomes


def test_SB_G1_three_players() -> None:
    *_, (_, state, outcomes) = played(G1_HANDS, G1_MOVES, DEFAULTS)
    assert outcomes[0] == RoundEnded(1, RoundEndedBy.EMPTY_HAND, 1)
    assert (state.scores, state.tokens, state.exposed) == ((13, 0, 36), (3, 3, 0), 0)


def test_SB_G1_with_a_race_to_the_kings() -> None:
    *_, (_, state, _) = played(G1_HANDS, G1_MOVES, SevenBridge(kings_race=5))
    assert state.scores == (13, 0 - 5, 36 - 5)


def test_SB_G2_six_players_two_ghosts_six_exposed_cards() -> None:
    told = list(played(G2_HANDS, G2_MOVES, DEFAULTS))
    ghosts = [(step, outcomes) for step, _, outcomes in told if "GHOST" in step]
    for step, (ghost,) in ghosts:
        assert isinstance(ghost, GhostMade)
        assert set(ghost.cards) == set(cards(step.split("GHOST")[1]))
    starred = [step for step, _, _ in told if step.endswith("*")]
    assert starred == [step for step, _, outcomes in told if any(isinstance(x, ExposedCardPlayed) for x in outcomes)]
    assert (len(ghosts), len(starred)) == (2, 6)
    _, state, outcomes = told[-1]
    assert outcomes[0] == RoundEnded(1, RoundEndedBy.EMPTY_HAND, 5)
    assert (state.scores, state.tokens) == ((35, 44, 8, 75, 46, 0), (0,) * 6)
    assert state.exposed == mask("KC JC 9C 3D AD QH 10H 8H 6H 4H 2H")


@pytest.mark.parametrize("kings_race", [5, 100])
def test_SB_G2_nobody_completes_a_column(kings_race: int) -> None:
    *_, (_, state, _) = played(G2_HANDS, G2_MOVES, SevenBridge(kings_race=kings_race))
    assert state.scores == (35, 44, 8, 75, 46, 0)
