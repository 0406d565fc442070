"""`heptalog export --parquet`, `--arrow`, `--csv`, and `heptalog import` from what it has written."""

import subprocess
import time
from functools import partial
from pathlib import Path
from random import Random

import duckdb
import pytest

from heptalog.analytics.parquet.exporting import Settings, exporting
from heptalog.analytics.parquet.manifest import check_files, read
from heptalog.analytics.parquet.records import EXPORTED
from heptalog.analytics.processes import in_order
from heptalog.cli.exports import lying
from heptalog.replay.events import GameClosed
from heptalog.replay.registry import GAMES
from heptalog.service.client import Client
from tests.cli.given import bare, copied, folder_of_games, write
from tests.cli.running import PROGRAM, only, run, serving

pytestmark = pytest.mark.usefixtures("lent_workers")
RECORDS = """
    SELECT game_id, sequence, kind, seat, event_id, occurred_at, recorded_at, recorded_by, hash, record
    FROM read_parquet('{}/events/**/*.parquet') ORDER BY game_id, sequence
"""


@pytest.fixture(scope="module")
def made_many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with some games of each kind, ended and running, that nobody changes."""
    path = tmp_path_factory.mktemp("many") / "many.duckdb"
    folder = folder_of_games(path.parent / "games")
    for number, rules in enumerate(GAMES):
        write(folder / f"whole-{rules.key}.jsonl", bare(rules, 50 + number, length=2_000))
    assert run("import", folder, "--into", path).code == 0
    return path


@pytest.fixture
def many(made_many: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return copied(made_many, tmp_path / "many.duckdb")


def running_in(source: object) -> list[str]:
    """The games of a log that have not ended."""
    games = run("games", source, "--format", "jsonl").lines
    return [game["gameId"] for game in games if game["status"] == "RUNNING"]


def rows(folder: Path, table: str) -> list[str]:
    """All rows of a table of an export."""
    with duckdb.connect() as connection:
        found = connection.execute(f"FROM read_parquet('{folder}/{table}/**/*.parquet') ORDER BY ALL").fetchall()
    return list(map(repr, found))


def records(folder: Path) -> list[tuple[object, ...]]:
    """All records of an export, by game."""
    with duckdb.connect() as connection:
        return connection.execute(RECORDS.format(folder)).fetchall()


def test_a_database_is_exported_and_said_so(many: Path, tmp_path: Path) -> None:
    ended = run("export", many, "--parquet", tmp_path / "out", "--format", "json")
    assert ended.code == 0, ended.err
    games = run("games", many, "--format", "jsonl").lines
    over = [game for game in games if game["status"] != "RUNNING"]
    assert ended.document["games"] == len(over)
    assert ended.document["running"] == len(games) - len(over) > 0
    assert ended.document["events"] == sum(game["events"] for game in over) == len(records(tmp_path / "out"))
    assert ended.document["folder"] == str(tmp_path / "out")
    assert ended.document["unread"] == []


def test_on_all_cores_it_is_the_same(many: Path, tmp_path: Path) -> None:
    alone, together = tmp_path / "alone", tmp_path / "together"
    assert run("export", many, "--parquet", alone, "--unfinished").code == 0
    at_once = partial(in_order, jobs=2, work="exported games")
    settings = Settings(at_once, time.time_ns, has_running=True, small_events=0, work_events=300)
    with exporting(together, lying(many), settings) as work:
        told: list[int] = []
        report = work.run(told.append)
    assert sum(told) == report.new_events == report.position
    assert records(together) == records(alone)
    assert [table.name for table in EXPORTED if rows(alone, table.name) != rows(together, table.name)] == []


def test_it_says_how_many_games_are_left_out(many: Path, tmp_path: Path) -> None:
    ended = run("export", many, "--parquet", tmp_path / "out")
    running = running_in(many)
    assert ended.out.splitlines()[-1] == f"{len(running)} running games left out"
    ended = run("export", many, "--parquet", tmp_path / "out", "--unfinished")
    assert (
        ended.out.splitlines()[-1] == f"{len(running)} running games among them, whose hidden hands are in the records"
    )


@pytest.mark.parametrize("option", ["--arrow", "--csv"])
def test_one_file_a_table(many: Path, tmp_path: Path, option: str) -> None:
    ended = run("export", many, option, tmp_path / "out", "--format", "json")
    assert ended.code == 0, ended.err
    assert len(list((tmp_path / "out").glob(f"*.{option[2:]}"))) == ended.document["files"]
    assert run("export", many, option, tmp_path / "out").code == 0


def test_what_goes_in_comes_out(many: Path, tmp_path: Path) -> None:
    out, back, again = tmp_path / "out", tmp_path / "back.duckdb", tmp_path / "again"
    assert run("export", many, "--parquet", out, "--unfinished").code == 0
    ended = run("import", out, "--into", back, "--format", "jsonl")
    assert ended.code == 0, ended.err
    assert sum(line["added"] for line in ended.lines) == len(records(out))
    assert run("export", back, "--parquet", again, "--unfinished").code == 0
    assert records(again) == records(out)
    # Once more adds nothing, and the games are in the order in which they were begun.
    assert all(line["added"] == 0 for line in run("import", out, "--into", back, "--format", "jsonl").lines)
    order = [game["gameId"] for game in run("games", many, "--format", "jsonl").lines]
    assert [game["gameId"] for game in run("games", back, "--format", "jsonl").lines] == order


def test_an_export_is_verified_as_games_are(many: Path, tmp_path: Path) -> None:
    assert run("export", many, "--parquet", tmp_path / "out").code == 0
    ended = run("verify", tmp_path / "out", "--format", "jsonl")
    assert ended.code == 0
    assert len(ended.lines) == read(tmp_path / "out").games


def test_a_damaged_export_brings_nothing_in(many: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run("export", many, "--parquet", out).code == 0
    path = out / read(out).of("events")[-1].path
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    ended = run("import", out, "--into", tmp_path / "back.duckdb", "--format", "jsonl")
    assert ended.code == 1
    assert only(ended.lines)["code"] == "EXPORT_DAMAGED"
    assert path.name in only(ended.lines)["message"]
    assert not (tmp_path / "back.duckdb").exists()
    again = run("export", many, "--parquet", out)
    assert again.code == 1
    assert "EXPORT_DAMAGED" in again.err
    path.unlink()
    assert run("import", out, "--into", tmp_path / "back.duckdb").code == 1


def test_only_parquet_is_imported(many: Path, tmp_path: Path) -> None:
    assert run("export", many, "--csv", tmp_path / "out").code == 0
    ended = run("import", tmp_path / "out", "--into", tmp_path / "back.duckdb", "--format", "jsonl")
    assert ended.code == 3
    assert only(ended.lines)["code"] == "EXPORT_FOREIGN"


def test_a_server_is_exported_as_its_database_is(many: Path, tmp_path: Path) -> None:
    served, direct = tmp_path / "served", tmp_path / "direct"
    with serving(many, "--no-tables") as server:
        assert run("export", server.url, "--parquet", served).code == 0
        # What is new of a game that was running, and a game that is new.
        write(tmp_path / "new.jsonl", bare(seed=77, length=2_000))
        close(server.url, running_in(server.url)[0])
        assert run("import", tmp_path / "new.jsonl", "--into", server.url).code == 0
        ended = run("export", server.url, "--parquet", served, "--format", "json")
        assert ended.code == 0, ended.err
        assert ended.document["running"] == len(running_in(server.url))
        assert run("export", server.url, "--parquet", tmp_path / "all", "--unfinished").code == 0
        assert run("export", server.url, "--parquet", served, "--unfinished").code == 0
        assert records(served) == records(tmp_path / "all")
        assert run("export", server.url, "--parquet", served).code == 0
        assert server.stopped() == 0
    assert run("export", many, "--parquet", direct).code == 0
    assert records(served) == records(direct)
    # And each goes on from what the other has made.
    assert run("export", many, "--parquet", served).code == 0
    assert records(served) == records(direct)


def close(url: str, game_id: str) -> None:
    """The arbiter ends a game."""
    with Client(url.removeprefix("grpc://")) as client:
        client.resume(game_id).append(GameClosed("Rain."))


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    ended = run("export", "grpc://127.0.0.1:1", "--parquet", tmp_path / "out")
    assert ended.code == 3
    assert "SERVER_UNREACHABLE" in ended.err
    assert not (tmp_path / "out").exists()


def test_another_log_is_refused(many: Path, database: Path, tmp_path: Path) -> None:
    assert run("export", many, "--parquet", tmp_path / "out").code == 0
    ended = run("export", database, "--parquet", tmp_path / "out")
    assert ended.code == 3
    assert "EXPORT_FOREIGN" in ended.err
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("Dear Ana")
    ended = run("export", many, "--parquet", tmp_path / "mine")
    assert (ended.code, ended.out) == (3, "")
    assert "EXPORT_FOREIGN" in ended.err


@pytest.mark.parametrize("option", ["--arrow", "--csv"])
def test_one_file_a_table_never_replaces_those_of_another_log(
    many: Path, database: Path, tmp_path: Path, option: str
) -> None:
    assert run("export", many, option, tmp_path / "out").code == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    ended = run("export", database, option, tmp_path / "out")
    assert (ended.code, ended.out) == (3, "")
    assert "it is an export of another log" in ended.err
    assert "EXPORT_FOREIGN" in ended.err
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


@pytest.mark.parametrize("command", ["sql", "report"])
def test_a_question_that_fails_for_damage_says_so(many: Path, tmp_path: Path, command: str) -> None:
    out = tmp_path / "out"
    assert run("export", many, "--parquet", out).code == 0
    path = out / read(out).of("seats")[0].path
    content = path.read_bytes()
    # Its size, its ends and its footer stay: what cannot be read are the rows.
    third = len(content) // 3
    path.write_bytes(content[:4] + bytes(byte ^ 0xFF for byte in content[4:third]) + content[third:])
    rest = ("SELECT * FROM seats", "-f", "csv") if command == "sql" else ("--html", tmp_path / "page.html")
    ended = run(command, out, *rest)
    assert ended.code == 1
    assert ended.err.endswith(f"it is not what was written, path {path} [EXPORT_DAMAGED]\n")
    assert not (tmp_path / "page.html").exists()


def test_csv_is_the_same_from_an_export_and_from_a_question(many: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run("export", many, "--csv", out, "--unfinished").code == 0
    for table in ("games", "seats", "turns", "settlements", "rating_changes"):
        lines = (out / f"{table}.csv").read_text("utf-8").splitlines()
        question = f"SELECT {lines[0]} FROM {table}"
        assert sorted(run("sql", many, question, "-f", "csv").out.splitlines()) == sorted(lines), table


def test_parquet_without_a_manifest_is_told_as_that(many: Path, tmp_path: Path) -> None:
    assert run("export", many, "--parquet", tmp_path / "out").code == 0
    (tmp_path / "out" / "manifest.json").unlink()
    ended = run("import", tmp_path / "out", "--into", tmp_path / "back.duckdb", "--format", "jsonl")
    assert ended.code == 3
    assert only(ended.lines)["code"] == "EXPORT_FOREIGN"


@pytest.mark.parametrize(
    "arguments",
    [
        ("{db}", "--parquet", ""),
        ("{db}", "--csv", ""),
        ("{db}#game", "--parquet", "{out}"),
        ("{db}", "--parquet", "{out}", "--csv", "{out}"),
        ("{db}", "--parquet", "{out}", "--out", "{out}"),
        ("{db}", "--parquet", "{out}", "--as", "public"),
        ("{db}", "--unfinished"),
        ("{db}", "--out", "{out}", "--format", "json"),
        ("{game}", "--parquet", "{out}"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_meant(database: Path, game: Path, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    out = tmp_path / "out"
    ended = run("export", *(text.format(db=database, game=game, out=out) for text in arguments))
    assert (ended.code, ended.out) == (2, "")
    assert len(ended.err.splitlines()) == 1 or "it is empty" in ended.err
    assert not out.exists()


def test_a_database_that_is_not_there(tmp_path: Path) -> None:
    ended = run("export", tmp_path / "none.duckdb", "--parquet", tmp_path / "out")
    assert ended.code == 3
    assert "SOURCE_NOT_FOUND" in ended.err
    assert not (tmp_path / "out").exists()


def test_a_place_that_cannot_be_written(many: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file")
    ended = run("export", many, "--parquet", tmp_path / "file")
    assert ended.code == 3
    assert "EXPORT_FOREIGN" in ended.err
    ended = run("export", many, "--parquet", "/proc/export")
    assert ended.code == 3
    assert "WRITE_FAILED" in ended.err


def test_killed_for_real_it_leaves_a_whole_export(many: Path, tmp_path: Path) -> None:
    random = Random(5)
    out = tmp_path / "out"
    for _ in range(4):
        command = [str(PROGRAM), "export", str(many), "--parquet", str(out), "--unfinished"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                process.wait(random.uniform(0.5, 2.5))
            except subprocess.TimeoutExpired:
                process.kill()
        if (out / "manifest.json").exists():
            check_files(out, read(out).files)
    assert run("export", many, "--parquet", out).code == 0
    assert run("export", many, "--parquet", tmp_path / "fresh").code == 0
    assert records(out) == records(tmp_path / "fresh")
    found = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert found == {*(file.path for file in read(out).files), "manifest.json"}
