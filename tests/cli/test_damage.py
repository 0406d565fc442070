"""Databases that somebody has changed: found by `verify`, told with the event, and no other game suffers."""

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from heptalog.cli.connections import Connections
from heptalog.cli.databases import Database
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.duck_kept import Kept, opened_kept
from heptalog.service.store.kept import KeptEvent
from tests.cli.given import UP, bare, copied, whole, write
from tests.cli.running import only, run
from tests.support.play import EVENT_COUNT_MAX

# A game to its very end, which is its only ending.
WON = whole(UP, 3, game_id="won", length=EVENT_COUNT_MAX)
LAST = len(WON) - 1


@pytest.fixture(scope="module")
def whole_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with a finished game between two others, that nobody changes."""
    # Not log.duckdb: opened by itself, a database has the name of its file, and that of the schema in it is log.
    folder = tmp_path_factory.mktemp("whole")
    files = [
        write(folder / "1.jsonl", bare()),
        write(folder / "2.jsonl", WON),
        write(folder / "3.jsonl", bare(length=9)),
    ]
    assert run("import", *files, "--into", folder / "games.duckdb").code == 0
    assert run("verify", folder / "games.duckdb").code == 0
    return folder / "games.duckdb"


@pytest.fixture
def log(whole_log: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return copied(whole_log, tmp_path / "games.duckdb")


def alter(log: Path, statement: str, *parameters: object) -> None:
    """Change a database behind our back."""
    with duckdb.connect(log) as connection:
        connection.execute(statement, parameters)


GAME = "game_number = (SELECT game_number FROM log.games WHERE game_id = 'won')"
RECORD = f"SELECT event FROM log.events WHERE sequence = 7 AND {GAME}"


def flip(log: Path, place: int) -> None:
    """Change one bit of one record."""
    with duckdb.connect(log) as connection:
        ((record,),) = connection.execute(RECORD).fetchall()
    changed = bytearray(record)
    changed[place] ^= 1
    alter(log, f"UPDATE log.events SET event = ? WHERE sequence = 7 AND {GAME}", bytes(changed))


def sets(table: str, column: str, value: str, where: str = "") -> Callable[[Path], None]:
    """Put another value into a column."""
    return lambda log: alter(log, f"UPDATE log.{table} SET {column} = {value} WHERE {where} {GAME}")


DAMAGES: dict[str, tuple[Callable[[Path], None], str, int | None]] = {
    "a hash": (lambda log: flip(log, 40), "CHAIN_BROKEN", 7),
    "a link": (lambda log: flip(log, 10), "CHAIN_BROKEN", 7),
    "a status that is none": (
        lambda log: alter(log, f"UPDATE log.endings SET status = 'SOLD' WHERE {GAME}"),
        "ENDINGS_DIFFER",
        LAST,
    ),
    "the form": (lambda log: flip(log, 0), "RECORD_DAMAGED", 7),
    "an ending left out": (lambda log: alter(log, f"DELETE FROM log.endings WHERE {GAME}"), "ENDINGS_DIFFER", LAST),
    "an ending changed": (
        lambda log: alter(log, f"UPDATE log.endings SET winners = [3] WHERE {GAME}"),
        "ENDINGS_DIFFER",
        LAST,
    ),
    "an ending made up": (
        lambda log: alter(
            log,
            f"INSERT INTO log.endings SELECT game_number, 4, 'WON', [1], [0], NULL FROM log.games WHERE {GAME}",
        ),
        "ENDINGS_DIFFER",
        4,
    ),
    "the time of an ending": (
        lambda log: alter(log, f"UPDATE log.endings SET recorded_at = now() WHERE {GAME}"),
        "ENDINGS_DIFFER",
        LAST,
    ),
    **{
        f"the {column} of an event": (sets("events", column, value, "sequence = 7 AND"), "COLUMNS_DIFFER", 7)
        for column, value in {
            "kind": "'noteAdded'",
            "seat": "-1",
            "event_id": "NULL",
            "occurred_at": "occurred_at + INTERVAL 1 MICROSECOND",
            "recorded_at": "'infinity'",
            "recorded_by": "'somebody'",
        }.items()
    },
    **{
        f"the {column} of a game": (sets("games", column, value), "COLUMNS_DIFFER", 0)
        for column, value in {
            "ruleset": "'seven_rocks'",
            "rules_version": "2",
            "tournament": "'another'",
            "table_name": "''",
            "players": "players[:1]",
            "options": "'{ }'",
            "tags": "[{name: 'a', value: 'b'}]",
            "created_at": "NULL",
            "created_at_nanoseconds": "created_at_nanoseconds + 1",
            "started": "started || '\\x00'::BLOB",
        }.items()
    },
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_change_is_found_where_it_is(name: str, log: Path) -> None:
    damage, code, sequence = DAMAGES[name]
    damage(log)
    ended = run("verify", log, "--format", "json")
    assert ended.code == 1
    whole, *verdicts = ended.document
    if name == "a hash":
        # It is a leaf of the tree over all events.
        assert (whole["source"], whole["code"]) == (str(log), "HEAD_DIFFERS")
    else:
        verdicts = [whole, *verdicts]
    assert [verdict["ok"] for verdict in verdicts] == [True, False, True]
    verdict = verdicts[1]
    assert (verdict["source"], verdict["code"], verdict["sequence"]) == (f"{log}#won", code, sequence)
    if code == "ENDINGS_DIFFER":
        assert "the list of endings is not what the rules say" in verdict["message"]
    else:
        assert verdict["events"] == sequence
    if code == "COLUMNS_DIFFER":
        _, column, _, _, table = name.split()
        assert f"table {table}s, column {column}" in verdict["message"]


# Whatever is wrong with a game, it is not taken at once; and what is read by columns is what is read by rows.


@pytest.mark.parametrize("name", [name for name in DAMAGES if not name.startswith(("a status", "an ending"))])
def test_a_changed_game_is_not_taken_at_once(name: str, log: Path) -> None:
    assert at_once(log) == [True, True, True]
    DAMAGES[name][0](log)
    assert at_once(log) == [True, False, True]


@pytest.mark.parametrize("column", ["seat", "event_id", "occurred_at", "recorded_at", "recorded_by"])
@pytest.mark.parametrize("where", ["sequence = 0 AND", ""])
def test_a_column_that_says_nothing_is_not_taken_at_once(column: str, where: str, log: Path) -> None:
    alter(log, f"UPDATE log.events SET {column} = NULL WHERE {where} {GAME}")
    if column == "seat" and where == "sequence = 0 AND":
        assert at_once(log) == [True, True, True]  # nobody's
    else:
        assert at_once(log) == [True, False, True]
    with closing(opened_kept(log)) as kept:
        assert by_columns(kept) == list(kept.events(1, 3))


def test_a_time_of_1970_is_not_none(log: Path) -> None:
    # The bare games have been given the time of their import, and nothing says when their events occurred.
    alter(log, "UPDATE log.events SET occurred_at = 'epoch' WHERE game_number = 1 AND sequence = 3")
    assert at_once(log) == [False, True, True]
    assert run("verify", log, "--format", "json").document[0]["code"] == "COLUMNS_DIFFER"


def test_rows_are_the_same_by_columns(log: Path) -> None:
    with closing(opened_kept(log)) as kept:
        rows = by_columns(kept)
        assert rows == list(kept.events(1, 3))
        assert {type(value) for row in rows for value in row} == {int, str, bytes, type(None)}
        assert list(kept.rows_of_games(7, 8)) == []
        ((number, last),) = kept.rows_of_games(1, 3, [2])
        assert (number, len(last), last[-1]) == (2, LAST + 1, rows[LAST + 60])
        assert (last.recorded_at(LAST), last.recorded_at(LAST + 1)) == (last[LAST].recorded_at, None)
        assert last.recorded_at(None) is last.recorded_at(-1) is None


def at_once(log: Path) -> list[bool]:
    with Connections() as connections:
        games = list(Database(log).games(connections))
        connections.read_ahead(log, [game.game_id for game in games])
        return [game.at_once(connections) is not None for game in games]


def by_columns(kept: Kept) -> list[KeptEvent]:
    return [row for _, rows in kept.rows_of_games(1, 3) for row in rows]


def test_a_damaged_game_is_replayed_up_to_the_damage(log: Path) -> None:
    flip(log, 40)
    ended = run("replay", f"{log}#won", "--format", "jsonl")
    assert (ended.code, len(ended.lines)) == (1, 7)
    assert "[CHAIN_BROKEN]" in ended.err


def test_records_exchanged_between_games_are_found(log: Path) -> None:
    other = "(SELECT event FROM log.events WHERE position = 3)"
    alter(log, f"UPDATE log.events SET event = {other} WHERE sequence = 7 AND {GAME}")
    whole, verdict = run("verify", f"{log}#won", "--format", "json").document
    assert whole["code"] == "HEAD_DIFFERS"
    assert (verdict["code"], verdict["sequence"]) == ("RECORD_DAMAGED", 7)


def test_a_gap_is_found(log: Path) -> None:
    alter(log, f"DELETE FROM log.events WHERE sequence = 7 AND {GAME}")
    whole, verdict = run("verify", f"{log}#won", "--format", "json").document
    assert whole["code"] == "POSITION_DAMAGED"
    assert not verdict["ok"]
    assert verdict["code"] in ("SEQUENCE_GAP", "RECORD_DAMAGED")


def test_a_damaged_game_takes_no_more_events(log: Path, tmp_path: Path) -> None:
    flip(log, 40)
    ended = run("import", write(tmp_path / "2.jsonl", WON), "--into", log, "--format", "json")
    assert ended.code == 1
    assert ended.err.endswith("[HEAD_DIFFERS]\n")


def test_a_status_that_is_none_hides_no_other_game_of_a_list(log: Path) -> None:
    alter(log, f"UPDATE log.endings SET status = 'SOLD' WHERE {GAME}")
    ended = run("games", log, "--format", "jsonl")
    assert (ended.code, len(ended.lines)) == (1, 2)
    assert f"{log}#won: " in ended.err
    assert "[RECORD_DAMAGED]" in ended.err


@pytest.mark.parametrize("method", ["games", "game"])
def test_whatever_a_store_raises_is_a_finding_of_that_game(
    method: str, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = getattr(DuckStore, method)

    def fail(store: DuckStore, *arguments: object, **options: object) -> object:
        if method == "games" or arguments == ("won",):
            raise ValueError("the queen of spades")
        return ask(store, *arguments, **options)

    def kept(kept: Kept, low: int, high: int, numbers: Sequence[int] | None = None) -> object:
        if numbers is None or 2 in numbers:
            raise ValueError("the queen of spades")
        return endings(kept, low, high, numbers)

    endings = Kept.endings
    monkeypatch.setattr(DuckStore, "games", fail if method == "games" else _page_that_fails)
    monkeypatch.setattr(DuckStore, method, fail)
    monkeypatch.setattr(Kept, "endings", kept)
    listed = run("games", log, "--format", "jsonl")
    assert (listed.code, len(listed.lines)) == ((0, 3) if method == "games" else (1, 2))
    verified = run("verify", log, "--format", "json")
    assert [verdict["ok"] for verdict in verified.document] == [True, False, True]
    assert (verified.code, verified.document[1]["code"]) == (1, "RECORD_DAMAGED")
    assert "ValueError" in verified.document[1]["message"]
    assert "spades" not in verified.out + listed.err


def _page_that_fails(store: DuckStore, *_: object, **__: object) -> object:
    raise ValueError("the queen of spades")


def test_a_database_cut_short_is_one_entry(log: Path) -> None:
    content = log.read_bytes()
    log.write_bytes(content[: len(content) // 2])
    verified = run("verify", log, "--format", "json")
    verdict = only(verified.document)
    assert (verified.code, verdict["source"], verdict["code"]) == (1, str(log), "RECORD_DAMAGED")
    for arguments in (
        ("games", log),
        ("sql", log, "SELECT max(octet_length(event)) FROM log.events"),
        ("replay", f"{log}#won"),
        ("serve", log, "--port", "0"),
        ("backup", log, log.with_name("backup")),
    ):
        ended = run(*arguments)
        assert (ended.code, ended.out, ended.err.count("\n")) == (1, "", 1)
        assert "`heptalog doctor` says what can be done, positions 1 to " in ended.err
        assert f"path {log} (evidence) [RECORD_DAMAGED]" in ended.err


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_database_that_breaks_on_the_way_is_told_of_once(
    jobs: int, log: Path, game: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if jobs == 2:
        monkeypatch.setattr("heptalog.cli.spreading.SMALL_SIZE", 1)
    alter(log, "DROP TABLE log.endings")
    ended = run("verify", log, game, "--format", "json", "--jobs", jobs)
    assert ended.code == 3
    assert [(verdict["source"], verdict["code"]) for verdict in ended.document] == [
        (str(log), "SOURCE_UNREADABLE"),
        (str(game), None),
    ]


def test_a_question_to_a_log_without_one_of_its_tables_is_told_in_one_line(log: Path) -> None:
    alter(log, "DROP TABLE log.events")
    ended = run("sql", log, "SELECT 1")
    assert (ended.code, ended.out, ended.err.count("\n")) == (3, "", 1)
    assert ended.err.endswith("[SOURCE_UNREADABLE]\n")
