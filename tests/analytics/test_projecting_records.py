"""What a record may leave out or have wrong, what was taken back, and what an older version recorded."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from heptalog.analytics.projecting.arrow import arrow_table, arrow_tables, refusal_row
from heptalog.analytics.projecting.game import GameProjection, month_of, project
from heptalog.analytics.projecting.games import GAME_ROWS
from heptalog.analytics.projecting.rows import Row
from heptalog.analytics.tables import TABLES, columns_of
from heptalog.replay.codec import content_of
from heptalog.replay.errors import Code, HeptalogError, Malformed, Redacted, Refused
from heptalog.replay.events import Body, CardPlayed, Event, GameClosed, GameStarted, MovesRetracted, NoteAdded, Player
from heptalog.replay.registry import GAMES, REGISTRY
from heptalog.replay.seven_bridge.events import SevenBridge
from heptalog.replay.seven_rocks.events import SevenRocks
from heptalog.replay.times import SECOND
from tests.analytics.given_games import Game, of_bodies
from tests.support.evidence import redact
from tests.support.play import play

ROOT = Path(__file__).parents[2]
NOW = 1_790_000_000 * SECOND


class Asked(NamedTuple):
    """A refused event, as a log has it."""

    game_id: str
    sequence: int
    refused_at: int
    recorded_by: str
    kind: str
    code: str
    rule: str
    content: bytes


def column(rows: Sequence[Row], table: str, name: str) -> list[Any]:
    """One column of a table's rows."""
    (columns,) = [columns_of(one) for one in TABLES if one.name == table]
    (place,) = [place for place, one in enumerate(columns) if one.name == name]
    return [row[place] for row in rows]


def of(game: GameProjection, table: str, name: str) -> list[Any]:
    """One column of the rows of a game."""
    return column(game.rows()[table], table, name)


def won() -> Game:
    """A short game of Seven Rocks that was won."""
    bodies = play(REGISTRY["seven_rocks", 1], 4, with_rulings=False, options=SevenRocks(30)).bodies
    return of_bodies(bodies)


def with_more(game: Game, *bodies: Body) -> Game:
    """The game with more events."""
    head = game[-1][1].sequence
    more = [Event(head + 1 + place, body, "a-game", "", NOW, NOW) for place, body in enumerate(bodies)]
    return [*game, *((game[-1][0] + event.sequence, event) for event in more)]


def test_a_win_that_was_taken_back_is_none_and_taken_back_again_it_is_the_same_win() -> None:
    game = won()
    (position, last) = game[-1]
    ended = (last.recorded_at // 1000, position)
    again = [
        (game, ("WON", *ended)),
        (with_more(game, NoteAdded("late")), ("WON", *ended)),
        (with_more(game, MovesRetracted(last.sequence - 1)), ("RUNNING", None, None)),
        (with_more(game, MovesRetracted(last.sequence - 1), MovesRetracted(last.sequence)), ("WON", *ended)),
    ]
    for events, right in again:
        projected = project(events)
        told = [of(projected, "games", name)[0] for name in ("status", "ended_at", "ended_position")]
        assert tuple(told) == right
        assert projected.ended_position == right[2]
        assert of(projected, "rounds", "ended_by")[-1] == ("MATCH_WON" if right[0] == "WON" else None)
        assert len(of(projected, "turns", "kind")) == len(of(project(game), "turns", "kind"))


def test_a_closing_ends_the_game_and_not_its_round() -> None:
    game = won()[:-1]
    closed = with_more(game, GameClosed("late", (1, 3)))
    projected = project(closed)
    assert of(projected, "games", "status") == ["CLOSED"]
    assert of(projected, "games", "winner_ids") == [("p1", "p3")]
    assert of(projected, "games", "ended_position") == [closed[-1][0]]
    assert of(projected, "seats", "has_won") == [False, True, False, True]
    assert (of(projected, "rounds", "ended_by")[-1], of(projected, "rounds", "last_sequence")[-1]) == (None, None)
    reopened = project(with_more(game, GameClosed("late", (1, 3)), MovesRetracted(len(game) - 1)))
    assert of(reopened, "games", "status") == ["RUNNING"]
    assert of(reopened, "rulings", "kind") == ["GAME_CLOSED", "MOVES_RETRACTED"]
    assert of(reopened, "rulings", "is_retracted") == [True, False]


def test_time_is_told_to_the_microsecond_and_not_where_it_is_unknown() -> None:
    moments = [(0, 0), (NOW, NOW + 1_999), (NOW + 2_500_500, 0), (0, NOW), (NOW, NOW), (NOW - 1, NOW), (NOW + 10, NOW)]
    bodies = [event.body for _, event in won()[: len(moments) + 2]]
    events = [
        Event(sequence, body, "g", "", occurred, recorded)
        for sequence, (body, (occurred, recorded)) in enumerate(zip(bodies, [(0, 0), (0, 0), *moments], strict=True))
    ]
    game = project(enumerate(events, start=1))
    said = dict(zip(of(game, "turns", "sequence"), of(game, "turns", "think_seconds"), strict=True))
    # After no time, 2.5005 ms later, no time, after no time, one that runs backwards by a nanosecond, 11 ns later.
    assert said == {3: None, 4: 0.0025, 5: None, 6: None, 7: None, 8: 0.000001}
    assert of(game, "turns", "recorded_at")[:2] == [NOW // 1000 + 1, None]
    assert of(game, "games", "started_at") == [None]
    assert (game.month, of(game, "games", "month")) == ("0000-00", ["0000-00"])


def test_a_month_is_that_of_the_first_event_in_utc() -> None:
    last_second_of_june = 1_782_863_999
    assert month_of(last_second_of_june * SECOND + SECOND - 1) == "2026-06"
    assert month_of((last_second_of_june + 1) * SECOND) == "2026-07"
    assert month_of(253_402_300_799 * SECOND) == "9999-12"
    assert month_of(0) == "0000-00"


def test_what_is_no_game_is_refused() -> None:
    (position, first), (_, second), *_ = won()
    for body, code in (
        (second.body, Code.NOT_STARTED),
        (GameStarted((Player("a"),), SevenRocks()), Code.PLAYERS_INVALID),
        (replace(first.body, rules_version=99), Code.RULESET_UNKNOWN),
    ):
        with pytest.raises(Refused) as refused:
            GameProjection(replace(first, body=body), position)
        assert refused.value.code is code
    with pytest.raises(Malformed) as empty:
        project([])
    assert empty.value.code is Code.GAME_EMPTY


def test_an_event_that_cannot_follow_changes_nothing() -> None:
    game = won()
    (position, deal) = game[1]
    projected = project(game[:1])
    before = projected.rows()
    wrong: list[tuple[Event, type[HeptalogError]]] = [
        (replace(deal, body=redact(deal.body)), Redacted),
        (replace(deal, sequence=2), Malformed),
        (replace(deal, body=CardPlayed(0, "7D")), Refused),
        (game[2][1], Malformed),
    ]
    for event, kind in wrong:
        with pytest.raises(kind):
            projected.advance(event, position)
        assert (projected.rows(), projected.event_count, projected.last_position) == (before, 1, game[0][0])
    projected.advance(deal, position)
    assert projected.event_count == 2


def test_a_game_without_tables_of_its_own_has_the_common_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    for rules in GAMES:
        game = of_bodies(play(rules, 3).bodies)
        whole = project(game).rows()
        with monkeypatch.context() as patched:
            patched.setattr("heptalog.analytics.projecting.game.GAME_ROWS", {})
            plain = project(game)
        rows = plain.rows()
        assert set(whole) - set(rows) == set(GAME_ROWS[rules.key].tables)
        assert {name: rows[name] for name in ("games", "seats", "turns", "rulings")} == {
            name: whole[name] for name in ("games", "seats", "turns", "rulings")
        }
        assert set(of(plain, "rounds", "dealer")) == {None}
        assert [table.num_rows for name, table in arrow_tables([plain]).items() if name in GAME_ROWS[rules.key].tables]


def test_a_refused_event_has_a_row() -> None:
    body = CardPlayed(4_000_000_000, "7D")
    asked = Asked("g", 3, NOW + 1_234, "", "cardPlayed", "SEAT_UNKNOWN", "SB-R9", content_of(Event(3, body, "g")))
    row = refusal_row(7, asked)
    assert row == (7, "g", 3, NOW // 1000 + 1, None, "cardPlayed", 4_000_000_000, "SEAT_UNKNOWN", "SB-R9")
    started = GameStarted((Player("a"),), SevenBridge())
    opening = asked._replace(kind="gameStarted", content=content_of(Event(0, started, "g")), recorded_by="table-1")
    assert refusal_row(8, opening)[4:7] == ("table-1", "gameStarted", None)
    # Of a newer version, whose body is not known here.
    assert refusal_row(9, asked._replace(content=b"\xff\xff"))[6] is None
    (table,) = [table for table in TABLES if table.name == "refusals"]
    assert arrow_table(table, [row]).to_pylist()[0]["seat"] == 4_000_000_000


def test_every_law_of_older_events_holds() -> None:
    command = [sys.executable, "-m", "tests.analytics.upcast_rows"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert len(result.stdout.split()) == 2
