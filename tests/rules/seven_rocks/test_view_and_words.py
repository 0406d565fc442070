"""What viewers of Seven Rocks may see, and how the game is told."""

from random import Random

import msgspec
import pytest

from heptalog.replay.errors import Code, Refused
from heptalog.replay.events import UNSET, Draw, Lot, OpenerDrawn, TurnPassed
from heptalog.replay.rules import ARBITER, PUBLIC, Viewer
from heptalog.replay.seven_rocks import SEVEN_ROCKS
from heptalog.replay.seven_rocks.events import TilePlayed, TilesDealt
from heptalog.replay.seven_rocks.outcomes import HandSettled
from heptalog.replay.seven_rocks.view import ArbiterView, EndView, PublicView, SeatView, TableView
from tests.support.seven_rocks_positions import DOWN, LEFT, NAMES, RIGHT, UP, Table, filled, steps

WORDS = SEVEN_ROCKS.words


def branched() -> Table:
    table = Table.with_round(filled("5-5 0-1", "5-0", "5-2", "5-3"))
    for tile, arm in (("5-5", UNSET), ("5-0", RIGHT), ("5-2", LEFT), ("5-3", UP), ("0-1", RIGHT)):
        table.play(tile, arm)
    return table


def public(table: Table) -> TableView:
    seen = SEVEN_ROCKS.view(table.state, PUBLIC)
    assert isinstance(seen, PublicView)
    return seen.table


def end(arm: str, value: int, counts: int) -> EndView:
    return EndView(arm=arm, value=value, counts=counts)


def test_the_line_reads_from_left_to_right() -> None:
    line = public(branched()).line
    assert line.row == ("2-5", "5-5", "5-0", "0-1")
    assert (line.up, line.down, line.spinner, line.sum) == (("5-3",), (), "5-5", 2 + 1 + 3)
    assert line.ends == (end("LEFT", 2, 2), end("RIGHT", 1, 1), end("UP", 3, 3), end("DOWN", 5, 0))


def test_a_lone_double_is_open_on_two_sides_and_counts_once() -> None:
    table = Table.with_round(filled("5-5"))
    table.play("5-5")
    assert public(table).line.ends == (end("LEFT", 5, 10), end("RIGHT", 5, 0))


def test_C_5_a_seat_sees_its_own_hand_and_counts() -> None:
    table = branched()
    seen = SEVEN_ROCKS.view(table.state, Viewer(1))
    assert isinstance(seen, SeatView)
    assert seen.hand is not None
    assert "5-0" not in seen.hand
    assert len(seen.hand) == 6
    assert seen.table == public(table)
    assert seen.table.tile_counts == (5, 6, 6, 6)


def test_C_5_other_hands_do_not_change_what_is_seen() -> None:
    # The same line and the same own hand, with the other hands dealt anew: the view may not differ in a byte.
    random = Random(1)
    for state, _, _, _ in steps(3, limit=120):
        if not state.to_act:
            continue
        hidden = [bit for seat in (1, 2, 3) for bit in bits(state.dealt[seat] & ~state.laid)]
        random.shuffle(hidden)
        counts = [(state.dealt[seat] & ~state.laid).bit_count() for seat in (1, 2, 3)]
        dealt = [state.dealt[0]]
        for seat, count in zip((1, 2, 3), counts, strict=True):
            dealt.append(sum(hidden[:count]) | state.dealt[seat] & state.laid)
            del hidden[:count]
        other = msgspec.structs.replace(state, dealt=tuple(dealt))
        for viewer in (Viewer(0), PUBLIC):
            seen = msgspec.json.encode(SEVEN_ROCKS.view(state, viewer))
            assert seen == msgspec.json.encode(SEVEN_ROCKS.view(other, viewer))


def bits(mask: int) -> list[int]:
    return [1 << index for index in range(28) if mask >> index & 1]


def test_the_arbiter_sees_every_hand() -> None:
    seen = SEVEN_ROCKS.view(branched().state, ARBITER)
    assert isinstance(seen, ArbiterView)
    assert [len(hand) for hand in seen.hands] == [5, 6, 6, 6]


def test_SR_D30_hands_are_shown_at_the_settlement_until_the_next_deal() -> None:
    table = Table.with_position("1-2", "1-1", "2-3", "4-4", ends=["0", "0"], turn=0)
    assert public(table).hands_left == ()
    table.knock(4)
    assert public(table).hands_left == (("2-1",), ("1-1",), ("3-2",), ("4-4",))
    assert public(table.take(filled())).hands_left == ()


def test_SR_D30_hands_stay_private_after_a_win_in_the_round() -> None:
    table = Table.with_position("5-1 6-0", "6-6", "4-4", "3-3", ends=["5", "2-2", "3", "2"], turn=0, scores=(240, 0))
    table.play("5-1")
    seen = public(table)
    assert (seen.phase, seen.winners, seen.hands_left) == ("OVER", (0, 2), ())


def test_C_5_nobody_at_the_table_sees_nothing() -> None:
    for seat in (-3, 4, 4294967295):
        with pytest.raises(Refused) as refused:
            SEVEN_ROCKS.view(branched().state, Viewer(seat))
        assert (refused.value.code, refused.value.rule) == (Code.SEAT_UNKNOWN, "C-5")


def test_views_are_written_in_camel_case() -> None:
    seen = msgspec.json.decode(msgspec.json.encode(SEVEN_ROCKS.view(branched().state, Viewer(2))))
    assert seen["table"]["toAct"] == [1]
    assert seen["table"]["tileCounts"] == [5, 6, 6, 6]


def test_events_in_words() -> None:
    lots = (Lot((Draw(0, 6), Draw(1, 6), Draw(2, 2), Draw(3, 1))), Lot((Draw(0, 3), Draw(1, 5))))
    assert [
        WORDS.event(body, NAMES)
        for body in (
            TilesDealt(),
            OpenerDrawn(2),
            OpenerDrawn(1, lots),
            TilePlayed(0, "6-4"),
            TilePlayed(1, "4-0", LEFT),
            TilePlayed(2, "4-0", DOWN),
            TurnPassed(3),
            TurnPassed(4294967295),
        )
    ] == [
        "The tiles are dealt",
        "Chie is drawn to open",
        "Bo is drawn to open (Ana 6, Bo 6, Chie 2, Dag 1; then Ana 3, Bo 5)",
        "Ana plays 6-4",
        "Bo plays 4-0 to the left",
        "Chie plays 4-0 to the lower branch",
        "Dag knocks",
        "seat 4294967295 knocks",
    ]


def told(table: Table) -> list[str]:
    return [WORDS.outcome(outcome, NAMES) for outcome in table.outcomes]


def test_outcomes_in_words() -> None:
    table = Table.with_round(filled("5-5", "5-0", "5-2"))
    table.play("5-5")
    assert told(table) == [
        "the ends make 10",
        "5-5 is the double that branches",
        "Ana and Chie score 10 and have 10",
    ]
    table.play("5-0", LEFT)
    table.play("5-2")
    assert told(table) == ["the ends make 0 + 2 = 2", "the branches of 5-5 are open"]


def test_the_end_of_a_round_in_words() -> None:
    table = Table.with_position("1-0", "6-6", "", "4-4", ends=["1", "5"], turn=0)
    table.play("1-0")
    assert told(table) == [
        "the ends make 0 + 5 = 5",
        "Ana and Chie score 5 and have 5",
        "Ana is out, and round 1 ends",
        "Ana is left with nothing: Ana and Chie lose 0 and have 5",
        "Bo is left with 6-6, 12 pips: Bo and Dag lose 10 and have -10",
        "Chie is left with nothing: Ana and Chie lose 0 and have 5",
        "Dag is left with 4-4, 8 pips: Bo and Dag lose 10 and have -20",
    ]
    table = Table.with_position("1-2", "1-1", "2-3", "4-4", ends=["0", "0"], turn=0)
    assert told(table.knock(4))[0] == "nobody can play, and round 1 ends blocked"


def test_a_win_in_words() -> None:
    table = Table.with_position("5-1 6-0", "6-6", "4-4", "3-3", ends=["5", "2-2", "3", "2"], turn=0, scores=(240, 0))
    table.play("5-1")
    assert told(table)[-1] == "Ana and Chie win the match"


def test_every_outcome_and_event_has_words() -> None:
    kinds = set()
    for _, body, state, outcomes in steps(11, target=100, limit=3_000):
        assert WORDS.event(body, NAMES)
        assert all(WORDS.table(state, NAMES))
        for outcome in outcomes:
            kinds.add(type(outcome))
            assert WORDS.outcome(outcome, NAMES)
    assert kinds == set(SEVEN_ROCKS.outcomes)
    assert HandSettled in kinds


def test_the_table_as_text() -> None:
    assert WORDS.table(branched().state, NAMES) == [
        "Round 1 of a match to 250: Ana and Chie 10, Bo and Dag 15; Bo to play",
        "Line  2-5 *5-5* 5-0 0-1",
        "Up    5-3",
        "Ends  2 + 1 + 3 = 6",
        "Open  2 left, 1 right, 3 up, 5 down",
        "Ana   0-0 1-1 2-0 2-1 2-2",
        "Bo    3-0 3-1 3-2 3-3 4-0 4-1",
        "Chie  4-2 4-3 4-4 5-1 5-4 6-0",
        "Dag   6-1 6-2 6-3 6-4 6-5 6-6",
    ]


def test_the_table_before_the_deal_and_with_both_branches() -> None:
    assert WORDS.table(Table.before_deal().state, NAMES) == [
        "Round 0 of a match to 250: Ana and Chie 0, Bo and Dag 0; tiles to be dealt"
    ]
    table = branched()
    assert RIGHT in table.offers("4-1")
    assert UP in table.offers("3-0")
