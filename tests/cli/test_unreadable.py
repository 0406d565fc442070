"""A database with a damaged block: who it belongs to is named, and all around it goes on as ever."""

from pathlib import Path

import duckdb
import pytest

from heptalog.replay.errors import Corrupt
from heptalog.service.client import Client, GameReport
from tests.cli.doctored import doctor
from tests.cli.given import copied
from tests.cli.running import only, run, serving

_GAMES = 60
_HEADERS = 3 * 4096
_BLOCK_SIZE = 262_144
_BLOCKS = """
    SELECT block_id FROM pragma_storage_info('log.events') WHERE column_name = 'event' AND block_id >= 0
    ORDER BY row_group_id, start
"""


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of many games in which one bit of a block has flipped: the third of those that have records."""
    path = tmp_path_factory.mktemp("a log") / "games.duckdb"
    assert run("simulate", path, "--games", _GAMES, "--seed", 5).code == 0
    with duckdb.connect(path, read_only=True) as connection:
        block = connection.execute(_BLOCKS).fetchall()[2][0]
    content = bytearray(path.read_bytes())
    content[_HEADERS + block * _BLOCK_SIZE + 100] ^= 1
    path.write_bytes(content)
    return path


@pytest.fixture(scope="module")
def unread(damaged: Path) -> list[str]:
    """The names of the games in it that cannot be read."""
    ended = run("verify", damaged, "--format", "json")
    assert (ended.code, len(ended.document)) == (3, _GAMES)
    verdicts = [verdict for verdict in ended.document if not verdict["ok"]]
    assert 0 < len(verdicts) < _GAMES // 2
    assert {verdict["code"] for verdict in verdicts} == {"SOURCE_UNREADABLE"}
    assert all("`heptalog audit` says where" in verdict["message"] for verdict in verdicts)
    return [verdict["source"].removeprefix(f"{damaged}#") for verdict in verdicts]


def test_the_doctor_does_not_say_that_it_can_be_read(damaged: Path) -> None:
    ended = doctor(damaged)
    problem = only(ended.document["problems"])
    assert (ended.code, ended.document["ok"], problem["code"]) == (1, False, "RECORD_DAMAGED")
    assert problem["message"].endswith(f"a part of it cannot be read, path {damaged}, table log.events (evidence)")
    copying, auditing, restoring = ended.document["advice"]
    assert copying.startswith("Copy ")
    assert f"`heptalog audit '{damaged}'`" in auditing
    assert "`heptalog restore " in restoring
    accepted = run("doctor", damaged, "--accept", "--yes")
    assert (accepted.code, accepted.err) == (1, "heptalog: this is nothing that could be accepted\n")


def test_games_around_it_are_verified(damaged: Path, unread: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heptalog.cli.spreading.SMALL_SIZE", 1)
    ended = run("verify", damaged, "--jobs", 2, "--quiet")
    assert (ended.code, ended.out.count("\n")) == (3, len(unread))
    for line, name in zip(ended.out.splitlines(), unread, strict=True):
        assert line.startswith(f"UNREAD {damaged}#{name}: ")
    assert f"{_GAMES - len(unread)} games good, 0 bad, {len(unread)} unread; " in ended.err
    alone = run("verify", f"{damaged}#{unread[0]}")
    assert (alone.code, alone.out) == (3, ended.out.splitlines(keepends=True)[0])


def test_they_are_listed_and_exported(damaged: Path, unread: list[str], tmp_path: Path) -> None:
    listed = run("games", damaged, "--format", "jsonl")
    names = {line["gameId"] for line in listed.lines}
    # A list has also those of which only a part in the middle cannot be read.
    assert (listed.code, len(names)) == (3, _GAMES - listed.err.count("[SOURCE_UNREADABLE]"))
    assert run("export", damaged, "--out", tmp_path / "out").code == 3
    exported = {path.stem for path in (tmp_path / "out").iterdir()}
    assert exported == names - set(unread)
    assert len(exported) == _GAMES - len(unread)


def test_an_audit_names_the_games(damaged: Path, unread: list[str]) -> None:
    _check_audit(damaged, unread, "--no-state")


def _check_audit(source: object, unread: list[str], *options: str) -> None:
    """Each of them is named once, at its place among all games, and all others are looked at."""
    ended = run("audit", source, *options)
    named = [line for line in ended.out.splitlines() if "log.games" in line]
    assert unread == [line.partition(": game ")[2].partition(",")[0] for line in named]
    assert all(line.count("RECORD_DAMAGED") == 1 for line in named)
    assert f" {_GAMES} games, " in ended.out


def test_what_needs_all_of_it_says_what_to_do(damaged: Path, unread: list[str]) -> None:
    for command in (("sql", damaged, "SELECT count(*) FROM games"), ("replay", f"{damaged}#{unread[0]}")):
        ended = run(*command)
        assert (ended.code, ended.out) == (3, "")
        assert "the database is damaged here; `heptalog audit` says where" in ended.err


def test_a_server_of_it_goes_around_them_too(damaged: Path, unread: list[str], tmp_path: Path) -> None:
    log = copied(damaged, tmp_path / "games.duckdb")
    listed = run("games", log, "--format", "jsonl")
    with serving(log, "--no-tables") as served:
        verdicts = [one for one in run("verify", served.url, "--format", "json").document if not one["ok"]]
        assert [verdict["source"].removeprefix(f"{served.url}#") for verdict in verdicts] == unread
        assert {verdict["code"] for verdict in verdicts} == {"SOURCE_UNREADABLE"}
        assert all(f"`heptalog audit {served.url}` says where" in verdict["message"] for verdict in verdicts)
        quiet = run("verify", served.url, "--quiet")
        assert (quiet.code, quiet.out.count("UNREAD ")) == (3, len(unread))
        ended = run("games", served.url, "--format", "jsonl")
        assert (ended.code, ended.out) == (listed.code, listed.out.replace(str(log), served.url))
        # The same are told, one a line and in the same order, in other words.
        assert _named(ended.err, served.url) == _named(listed.err, str(log)) != []
        _check_audit(served.url, unread)
        # A program that does not ask for them is not given a list without them.
        with Client(served.url.removeprefix("grpc://")) as client:
            with pytest.raises(Corrupt):
                list(client.games())
            with pytest.raises(Corrupt):
                client.game(_named(ended.err, served.url)[0])
            # It is no report of a game that nobody can read, and those around it have theirs.
            for name in unread:
                with pytest.raises(Corrupt):
                    list(client.verify(name))
                with pytest.raises(Corrupt):
                    client.diff(name, name)
            (*_, report) = client.verify(next(line["gameId"] for line in listed.lines if line["gameId"] not in unread))
            assert isinstance(report, GameReport)
            assert report.ok
        assert served.stopped() == 0


def _named(lines: str, source: str) -> list[str]:
    """The games that are told to be unreadable."""
    beginning = f"heptalog: {source}#"
    assert all(line.startswith(beginning) for line in lines.splitlines())
    return [line.removeprefix(beginning).partition(": ")[0] for line in lines.splitlines()]
