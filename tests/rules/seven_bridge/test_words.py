"""Seven Bridge: events, outcomes and the table as people read them."""

from heptalog.replay.events import Body, DealerDrawn, Draw, Lot
from heptalog.replay.seven_bridge.events import SevenBridge
from heptalog.replay.seven_bridge.state import State
from heptalog.replay.seven_bridge.tables import NATURALS
from heptalog.replay.seven_bridge.words import SevenBridgeWords
from tests.support.seven_bridge_positions import (
    NAMES,
    advance_with_outcomes,
    new_game,
    passes,
    play,
    position,
    split_deck,
)

WORDS = SevenBridgeWords()
JOKERS = SevenBridge(jokers=2)


def told(state: State, body: Body) -> list[str]:
    _, outcomes = advance_with_outcomes(state, body)
    return [WORDS.event(body, NAMES), *(WORDS.outcome(outcome, NAMES) for outcome in outcomes)]


def test_the_draw_and_the_deal_are_told() -> None:
    lots = (Lot((Draw(0, 4), Draw(1, 9), Draw(2, 9))), Lot((Draw(1, 2), Draw(2, 1))))
    state = new_game(3)
    assert told(state, DealerDrawn(1, lots)) == ["Bo deals first (drawn: Ana 4, Bo 9, Chie 9; then Bo 2, Chie 1)"]
    assert told(state, DealerDrawn(1)) == ["Bo deals first"]
    state, _ = advance_with_outcomes(state, DealerDrawn(1))
    opening = told(state, split_deck(NATURALS, seat_count=3, dealer=1))
    assert opening == ["Cards are dealt: 17 to Ana, 18 to Bo, 17 to Chie", "round 1 begins, Chie opens"]


def test_plays_and_passes_are_told() -> None:
    state = position(["7S X1 AC", "KC", "2C"], "D7-7", options=JOKERS)
    assert told(state, play(0, "7S")) == ["Ana plays 7S", "Ana opens spades"]
    assert told(state, play(0, "X1", "7H")) == ["Ana plays X1 as 7H", "Ana opens hearts"]
    assert told(state, passes(0)) == ["Ana passes", "Ana has 2 tokens left"]


def test_ghosts_and_exposed_cards_are_told() -> None:
    state = position(["QD 3S", "KC", "2H"], "D7-9", tokens=[0, 3, 3])
    assert told(state, passes(0)) == ["Ana passes", "Ana becomes a ghost and exposes QD 3S: 15 points"]
    state = position(["QD 3S", "KC", ""], "D7-9", ghosts={2: "TD"})
    assert told(state, play(0, "TD")) == ["Ana plays TD", "TD was exposed by Chie and still counts there"]
    state = position(["QD 3S", "KC", "2H"], "D7-9", tokens=[0, 3, 3], options=SevenBridge(ghosts=False))
    assert told(state, passes(0)) == ["Ana passes", "Ana cannot play and waits"]


def test_the_end_of_a_round_is_told() -> None:
    options = SevenBridge(kings_race=5, rounds=1)
    state = position(["KS", "AC", "2C 3C"], "S1-12", options=options)
    assert told(state, play(0, "KS")) == [
        "Ana plays KS",
        "Ana completes spades",
        "Ana has no card left and wins round 1",
        "Ana is charged 0 points",
        "Bo is charged 1 point for AC",
        "Chie is charged 5 points for 2C 3C",
        "Ana is relieved of 5 points for 1 column",
        "totals: Ana -5, Bo 1, Chie 5",
        "Ana wins the match",
    ]


def test_ties_and_exhausted_rounds_are_told() -> None:
    layout = "C2-13 D1-13 H1-13 S1-13"
    options = SevenBridge(jokers=2, rounds=1)
    state = position(["AC X1", "X2", ""], layout, ghosts={2: "KD QS"}, played="KD QS", options=options)
    texts = told(state, play(0, "AC"))
    assert "round 1 ends without a winner: only jokers are left" in texts
    assert texts[-1] == "Ana and Bo tie and play a deciding round, dealt by Bo"


def test_the_table_is_drawn() -> None:
    state = position(
        ["QD 3S", "7S 7H X2", ""],
        "D5-9 C6-7",
        ghosts={2: "JD TC"},
        jokers={"X1": "6C"},
        scores=[1, 20, 3],
        tokens=[1, 2, 0],
        options=JOKERS,
    )
    assert WORDS.table(state, NAMES[:3]) == [
        "Round 1, dealt by Ana; Ana is on turn",
        "C  . . . . . * 7 . . . . . .",
        "D  . . . . 5 6 7 8 9 . . . .",
        "H  . . . . . . . . . . . . .",
        "S  . . . . . . . . . . . . .",
        "Ana   1 point; 1 token; QD 3S",
        "Bo    20 points; 2 tokens; 7H 7S X2",
        "Chie  3 points; ghost, still exposed: TC JD",
    ]


def test_the_table_before_between_and_after_is_told() -> None:
    assert WORDS.table(new_game(3), NAMES[:3])[0] == "The first dealer is to be drawn"
    state, _ = advance_with_outcomes(position(["8D", "KS", "AC"], "D7-7"), play(0, "8D"))
    assert WORDS.table(state, NAMES[:3])[0] == "Round 1 is over; Bo deals"
    state, _ = advance_with_outcomes(position(["8D", "KS", "AC"], "D7-7", round_number=5), play(0, "8D"))
    assert WORDS.table(state, NAMES[:3])[0] == "Round 5 was the last; Ana won"
    state = position(["8D 9D", "KS", ""], "D7-7", seats=(0, 1), round_number=6)
    assert WORDS.table(state, NAMES[:3])[0] == "Deciding round 6, dealt by Ana; Ana is on turn"


def test_a_seat_without_a_name_is_called_by_its_number() -> None:
    assert WORDS.event(play(9, "7D"), NAMES[:3]) == "seat 9 plays 7D"
