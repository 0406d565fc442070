"""Each view against its oracle: the same answer from the fold, in a few lines of Python."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest
from msgspec.json import decode

from heptalog.analytics.views import VIEWS, install, statement_of
from heptalog.replay.events import GameStarted
from heptalog.replay.fold import Closed
from heptalog.replay.gamefile import options_given, read_events
from heptalog.replay.registry import GAMES, rules_of
from heptalog.service.store import Entry, Head
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.migrate import open_database
from tests.support.recording import batches_of, entries_of, fold_of, recorded_game

SHARED = Path(__file__).parents[3] / "shared" / "games"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Row = dict[str, Any]


@cache
def generated() -> list[list[Entry]]:
    """Games that are running, won, closed and reopened, in and out of tournaments."""
    return [
        recorded_game(
            rules,
            seed,
            tournament=("", "Seven Days")[seed % 2],
            table=("", "one", "two")[seed % 3],
            event_count_max=(2_000, 2_000, 40)[seed % 3],
            ruling_rate=(0.0, 0.02)[seed // 3 % 2],
        )
        for rules in GAMES
        for seed in range(12)
    ]


@cache
def shared() -> list[list[Entry]]:
    """The recorded games that lie beside the project, where they do."""
    files = sorted(file for folder in ("", "rulings", "rare") for file in (SHARED / folder).glob("*.jsonl"))
    games = []
    for file in files:
        if not file.name.endswith(".expected.jsonl"):
            bodies = [event.body for event in read_events(file.read_bytes().splitlines(keepends=True))]
            games.append(entries_of(bodies, str(file.relative_to(SHARED)), Random(file.name)))
    return games


@pytest.fixture(params=["generated", "shared"])
def games(request: pytest.FixtureRequest) -> list[list[Entry]]:
    """Recorded games from one source or the other."""
    if request.param == "generated":
        return generated()
    if not SHARED.exists():
        pytest.skip("no recorded games beside the project")
    return shared()


@pytest.fixture
def connection(tmp_path: Path, games: list[list[Entry]]) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection, for reading only, to a database of these games, with the views on it."""
    store = DuckStore(tmp_path / "log.duckdb")
    answers = store.append([batch for entries in games for batch in batches_of(entries)])
    assert all(isinstance(answer, Head) for answer in answers)
    store.close()
    connection = open_database(tmp_path / "log.duckdb", is_read_only=True)
    install(connection)
    yield connection
    connection.close()


def test_games(connection: duckdb.DuckDBPyConnection, games: list[list[Entry]]) -> None:
    rows = _rows(connection, "SELECT * FROM games ORDER BY created_at, game_id")
    for row in rows:
        row["options"] = decode(row["options"])
    right = [_game(entries) for entries in games]
    assert rows == sorted(right, key=lambda row: (row["created_at"], row["game_id"]))
    assert {row["status"] for row in rows} >= {"WON", "CLOSED"}


def test_results(connection: duckdb.DuckDBPyConnection, games: list[list[Entry]]) -> None:
    rows = _rows(connection, "SELECT * FROM results ORDER BY game_id, seat")
    right = [row for entries in games for row in _results(entries)]
    assert rows == sorted(right, key=lambda row: (row["game_id"], row["seat"]))


def test_both_views_agree(connection: duckdb.DuckDBPyConnection, games: list[list[Entry]]) -> None:
    rows = _rows(
        connection,
        """
        SELECT games.game_id, winner_ids, coalesce(list(player_id ORDER BY seat) FILTER (has_won), []) AS of_results
        FROM games JOIN results USING (game_id) GROUP BY ALL
        """,
    )
    assert len(rows) == sum(fold_of(entries).state.over for entries in games)
    assert [row for row in rows if row["winner_ids"] != row["of_results"]] == []


@pytest.mark.parametrize("games", [[]])
@pytest.mark.usefixtures("games")
def test_views_of_an_empty_log_are_empty(connection: duckdb.DuckDBPyConnection) -> None:
    for view in VIEWS:
        assert _rows(connection, f"SELECT * FROM {view.name}") == []


@pytest.mark.parametrize("games", [[]])
@pytest.mark.usefixtures("games")
def test_views_can_be_installed_again_and_in_a_read_only_transaction(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("BEGIN TRANSACTION READ ONLY")
    install(connection)
    for view in VIEWS:
        assert _rows(connection, f"SELECT * FROM {view.name}") == []


@pytest.mark.parametrize("games", [[]])
@pytest.mark.usefixtures("games")
def test_every_view_and_column_is_described(connection: duckdb.DuckDBPyConnection) -> None:
    columns = connection.execute("""
        SELECT table_name, column_name, comment FROM duckdb_columns() WHERE database_name = 'temp'
    """).fetchall()
    views = connection.execute("""
        SELECT view_name, comment FROM duckdb_views() WHERE database_name = 'temp' AND NOT internal
    """).fetchall()
    assert {name for name, *_ in columns} == {view.name for view in VIEWS}
    assert [column for column in columns if not column[2]] == []
    assert sorted(views) == sorted((view.name, view.meaning) for view in VIEWS)


def test_views_stand_in_the_order_of_their_needs() -> None:
    names = [view.name for view in VIEWS]
    for place, view in enumerate(VIEWS):
        assert set(view.depends_on) <= set(names[:place])
        assert len(statement_of(view).splitlines()) <= 80


def _game(entries: Sequence[Entry]) -> Row:
    fold = fold_of(entries)
    first, last = entries[0].event, entries[-1].event
    started = fold.started
    return {
        "game_id": first.game_id,
        "ruleset": fold.rules.key,
        "rules_version": fold.rules.version,
        "tournament": started.tournament or None,
        "table_name": started.table or None,
        "players": [{"id": player.id, "name": player.name} for player in started.players],
        "player_count": len(started.players),
        "options": options_given(started.rules),
        "created_at": _time(first.recorded_at),
        "last_recorded_at": _time(last.recorded_at),
        "events": len(entries),
        "status": _status(fold.state),
        "winners": list(fold.state.winners),
        "winner_ids": [started.players[seat].id for seat in fold.state.winners],
    }


def _results(entries: Sequence[Entry]) -> Iterator[Row]:
    fold = fold_of(entries)
    if not fold.state.over:
        return
    started = entries[0].event.body
    assert isinstance(started, GameStarted)
    # Remarks may follow the end; what ended it is where the state last became this one.
    ended = max(sequence for sequence, state in enumerate(fold.states) if not state.over or sequence == 0) + 1
    for seat, player in enumerate(started.players):
        side = seat % len(fold.state.scores)
        yield {
            "game_id": entries[0].event.game_id,
            "ruleset": rules_of(started).key,
            "tournament": started.tournament or None,
            "table_name": started.table or None,
            "seat": seat,
            "player_id": player.id,
            "player_name": player.name,
            "side": side,
            "score": fold.state.scores[side],
            "has_won": seat in fold.state.winners,
            "status": _status(fold.state),
            "ended_at": _time(entries[ended].event.recorded_at),
        }


def _status(state: Any) -> str:
    if not state.over:
        return "RUNNING"
    return "CLOSED" if isinstance(state, Closed) else "WON"


def _time(nanoseconds: int) -> datetime:
    return EPOCH + timedelta(microseconds=nanoseconds // 1000)


def _rows(connection: duckdb.DuckDBPyConnection, question: str) -> list[Row]:
    answer = connection.execute(question)
    names = [column[0] for column in answer.description or []]
    return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]
