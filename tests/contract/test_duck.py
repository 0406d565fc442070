"""What only the store in a file promises: its tables, and that it comes back as it was."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest

from heptalog.replay.codec import decode
from heptalog.replay.events import camel_name
from heptalog.service.store import GameFilter, LogStore, duck_games, duck_writer, migrate
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.memory import MemoryStore
from heptalog.service.store.migrate import STORAGE_VERSION, Migration, migrations, open_database
from tests.contract.given import appended, as_stored, fill, game, refusals, whole_games, writer_of
from tests.support.recording import batch_of

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "name", ["log.duckdb", "main.db", "temp.db", "system.db", "heptalog", "a 'b' \"c\" é.x", "x.csv"]
)
def test_any_file_name_will_do(tmp_path: Path, name: str) -> None:
    store = DuckStore(tmp_path / name)
    appended(store, batch_of(game(1)))
    store.close()
    assert sorted(file.name for file in tmp_path.iterdir()) == [name, f"{name}.head"]
    store = DuckStore(tmp_path / name, is_read_only=True)
    assert list(store.read_game("game-1")) == as_stored(game(1))
    store.close()


@pytest.mark.parametrize("is_read_only", [False, True])
def test_reopening_gives_the_same(path: Path, *, is_read_only: bool) -> None:
    games = whole_games(ruling_rate=0.02)
    model = MemoryStore()
    fill(model, games)
    model.append([], refusals(3))
    store = DuckStore(path)
    fill(store, games)
    store.append([], refusals(3))
    assert _everything(store) == _everything(model)
    store.close()
    store = DuckStore(path, is_read_only=is_read_only)
    assert _everything(store) == _everything(model)
    store.close()


def test_going_on_after_reopening(path: Path) -> None:
    for start in range(0, 12, 3):
        store = DuckStore(path)
        appended(store, *(batch_of(game(number)[start : start + 3]) for number in range(4)))
        store.append([], refusals(1))
        store.close()
    store = DuckStore(path)
    assert store.position() == 48
    assert [stored.position for stored in store.read_all()] == list(range(1, 49))
    assert [entry.number for entry in store.games(GameFilter())] == [1, 2, 3, 4]
    assert len(list(store.refusals())) == 4
    store.close()


@pytest.mark.parametrize("at_once", [1, 2, 48])
def test_games_that_are_not_live_are_looked_up(path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr(duck_writer, "LIVE_MAX", 2)
    monkeypatch.setattr(duck_games, "NAMES_AT_ONCE", at_once)
    store, model = DuckStore(path), MemoryStore()
    games = [game(number) for number in range(7)]
    assert fill(store, games, size=2) == fill(model, games, size=2)
    assert _everything(store) == _everything(model)
    assert len(writer_of(store).live) == 2
    store.close()


def test_typed_columns_agree_with_the_bytes(path: Path) -> None:
    store = DuckStore(path)
    fill(store, whole_games(ruling_rate=0.02))
    store.close()
    connection = open_database(path, is_read_only=True)
    rows = connection.execute("""
        SELECT game_id, sequence, kind, seat, event_id, epoch_us(occurred_at), epoch_us(recorded_at), recorded_by, event
        FROM log.events JOIN log.games USING (game_number)
    """).fetchall()
    ((written_at,),) = connection.execute("SELECT min(recorded_at) FROM log.events").fetchall()
    connection.close()
    kinds = set()
    for *columns, record in rows:
        event, _ = decode(record)
        kinds.add(camel_name(type(event.body)))
        assert columns == [
            event.game_id,
            event.sequence,
            camel_name(type(event.body)),
            getattr(event.body, "seat", None),
            event.event_id,
            event.occurred_at // 1000,
            event.recorded_at // 1000,
            event.recorded_by,
        ]
    assert len(kinds) > 10
    first = min(entries[0].event.recorded_at for entries in whole_games(ruling_rate=0.02))
    assert written_at == EPOCH + timedelta(microseconds=first // 1000)


def test_records_lie_in_a_new_database_as_they_are(path: Path) -> None:
    """The others are as the engine has them; and it stays so when the database is opened again."""
    for number in range(2):
        store = DuckStore(path)
        fill(store, [game(number, length=200)], size=100)
        writer_of(store).connection.execute("CHECKPOINT")
        store.close()
    connection = open_database(path, is_read_only=True)
    found = connection.execute("""
        SELECT DISTINCT compression FROM pragma_storage_info('log.events')
        WHERE column_name = 'event' AND segment_type = 'BLOB'
    """).fetchall()
    ((count,),) = connection.execute("""
        SELECT count(DISTINCT column_name) FROM pragma_storage_info('log.events')
        WHERE segment_type != 'VALIDITY' AND compression != 'Uncompressed'
    """).fetchall()
    connection.close()
    assert found == [("Uncompressed",)]
    assert count > 5


def test_events_have_no_index_and_no_key(path: Path) -> None:
    DuckStore(path).close()
    connection = open_database(path, is_read_only=True)
    kinds = connection.execute("""
        SELECT DISTINCT constraint_type FROM duckdb_constraints() WHERE schema_name = 'log' AND table_name = 'events'
    """).fetchall()
    assert kinds == [("NOT NULL",)]
    assert connection.execute("SELECT index_name FROM duckdb_indexes() WHERE table_name = 'events'").fetchall() == []
    connection.close()


def test_every_table_and_column_is_described(path: Path) -> None:
    DuckStore(path).close()
    connection = open_database(path, is_read_only=True)
    tables = connection.execute("SELECT table_name, comment FROM duckdb_tables() WHERE schema_name = 'log'").fetchall()
    columns = connection.execute("""
        SELECT table_name, column_name, comment FROM duckdb_columns() WHERE schema_name = 'log'
    """).fetchall()
    connection.close()
    assert {name for name, _ in tables} == {
        "events",
        "games",
        "endings",
        "refusals",
        "migrations",
        "tree",
        "checkpoints",
        "incidents",
    }
    assert [name for *name, comment in [*tables, *columns] if not comment] == []


def test_an_older_engine_can_read_a_new_file(path: Path) -> None:
    DuckStore(path).close()
    connection = open_database(path, is_read_only=True)
    rows = connection.execute("""
        SELECT tags['storage_version'] FROM duckdb_databases() WHERE database_name = 'heptalog'
    """).fetchall()
    connection.close()
    assert rows[0][0].startswith(STORAGE_VERSION)


def test_nothing_is_fetched_from_anywhere(path: Path) -> None:
    DuckStore(path).close()
    connection = open_database(path, is_read_only=True)
    settings = connection.execute("""
        SELECT current_setting('autoinstall_known_extensions'), current_setting('autoload_known_extensions')
    """).fetchall()
    connection.close()
    assert settings == [(False, False)]


def test_migrations_run_once(path: Path) -> None:
    DuckStore(path).close()
    first = _applied(path)
    assert [row[:2] for row in first] == [(step.number, step.name) for step in migrations()]
    DuckStore(path).close()
    DuckStore(path, is_read_only=True).close()
    assert _applied(path) == first


def test_an_older_database_is_brought_up_to_date(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = DuckStore(path)
    appended(store, batch_of(game(1)))
    store.close()
    steps = (*migrations(), Migration(len(migrations()) + 1, "later.sql", "CREATE TABLE log.later (number INTEGER);"))
    monkeypatch.setattr(migrate, "migrations", lambda: steps)
    store = DuckStore(path)
    assert list(store.read_all()) == as_stored(game(1))
    store.close()
    assert [row[1] for row in _applied(path)] == [step.name for step in steps]


def test_a_step_that_fails_changes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    DuckStore(path).close()
    before = _applied(path)
    wrong = Migration(len(before) + 1, "wrong.sql", "CREATE TABLE log.later (number INTEGER); SELECT no_such_thing;")
    with monkeypatch.context() as patch:
        patch.setattr(migrate, "migrations", lambda: (*migrations(), wrong))
        with pytest.raises(Exception, match="BinderException"):
            DuckStore(path)
    assert _applied(path) == before
    connection = open_database(path, is_read_only=True)
    with pytest.raises(duckdb.CatalogException):
        connection.execute("SELECT * FROM log.later")
    connection.close()


def test_a_step_that_fails_leaves_no_new_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrate, "migrations", lambda: (Migration(1, "wrong.sql", "SELECT no_such_thing;"),))
    with pytest.raises(Exception, match="BinderException"):
        DuckStore(path)
    assert list(path.parent.iterdir()) == []


def _applied(path: Path) -> list[tuple[object, ...]]:
    connection = open_database(path, is_read_only=True)
    rows = connection.execute("SELECT number, name, applied_at FROM log.migrations ORDER BY number").fetchall()
    connection.close()
    return rows


def _everything(store: LogStore) -> list[object]:
    games = store.games(GameFilter(), limit=0)
    return [
        store.position(),
        list(store.read_all()),
        list(store.read_all(is_backwards=True)),
        list(store.heads()),
        games,
        [list(store.read_game(entry.game_id)) for entry in games],
        [list(store.endings(entry.game_id)) for entry in games],
        [(store.head(entry.game_id), store.game(entry.game_id)) for entry in games],
        list(store.refusals()),
        store.refusal_count(),
        store.tree_head(),
        store.tile(0, 0, min(store.position(), 256)),
    ]


def test_the_engine_keeps_no_more_in_memory_than_it_is_told(path: Path) -> None:
    for store, told in (
        (DuckStore(path), "1.0 GiB"),
        (DuckStore(path.with_name("b"), memory_bytes=1 << 26), "64.0 MiB"),
    ):
        assert store._database.connected().execute("SELECT current_setting('memory_limit')").fetchall() == [(told,)]
        store.close()
