"""The sample games of the contract through the program: from the file, from a database, and through a server."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.cli.given import SHARED
from tests.cli.running import run, serving

GAMES = sorted(path for path in SHARED.rglob("*.jsonl") if not path.name.endswith(".expected.jsonl"))
ACCEPTED = [path for path in GAMES if path.parent.name != "refused"]
REFUSED = [path for path in GAMES if path.parent.name == "refused"]
pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="the sample games are not here")


def expected(path: Path) -> list[Any]:
    """What must be reported after each event."""
    return [msgspec.json.decode(line) for line in path.with_suffix(".expected.jsonl").read_bytes().splitlines()]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All of them in a database."""
    path = tmp_path_factory.mktemp("contract") / "log.duckdb"
    ended = run("import", SHARED, "--into", path, "--quiet", "--format", "json")
    assert ended.code == 1
    assert [line["source"] for line in ended.document] == [str(path) for path in REFUSED]
    return path


@pytest.fixture(scope="module")
def names(database: Path) -> dict[Path, str]:
    """Which file has become which game."""
    ended = run("import", *ACCEPTED, "--into", database, "--format", "jsonl")
    assert ended.code == 0
    assert all(line["added"] == 0 for line in ended.lines)
    return {Path(line["source"]): line["gameId"] for line in ended.lines}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """All of them in a server."""
    with serving(tmp_path_factory.mktemp("contract") / "log.duckdb", "--no-tables") as server:
        assert run("import", SHARED, "--into", server.url, "--quiet").code == 1
        yield server.url
        assert server.stopped() == 0


def name_of(path: Path) -> str:
    """The path below the folder of games."""
    return str(path.relative_to(SHARED).with_suffix(""))


@pytest.mark.parametrize("path", ACCEPTED, ids=name_of)
def test_every_report_is_as_expected_from_the_file(path: Path) -> None:
    ended = run("replay", path, "--format", "jsonl")
    assert (ended.code, ended.lines) == (0, expected(path))


@pytest.mark.parametrize("path", ACCEPTED, ids=name_of)
def test_every_report_is_as_expected_from_the_database(path: Path, database: Path, names: dict[Path, str]) -> None:
    ended = run("replay", f"{database}#{names[path]}", "--format", "jsonl")
    assert (ended.code, ended.lines) == (0, expected(path))


@pytest.mark.parametrize("path", ACCEPTED, ids=name_of)
def test_every_report_is_as_expected_through_a_server(path: Path, url: str, names: dict[Path, str]) -> None:
    ended = run("replay", f"{url}#{names[path]}", "--format", "jsonl")
    assert (ended.code, ended.lines) == (0, expected(path))


def test_every_refused_game_is_refused_at_its_last_line() -> None:
    ended = run("verify", SHARED / "refused", "--format", "json")
    assert ended.code == 1
    assert [verdict["source"] for verdict in ended.document] == [str(path) for path in REFUSED]
    for path, verdict in zip(REFUSED, ended.document, strict=True):
        lines = path.read_bytes().splitlines()
        last = msgspec.json.decode(lines[-1])
        assert not verdict["ok"]
        assert (verdict["events"], verdict["sequence"]) == (len(lines) - 1, last.get("sequence", 0)), path


@pytest.mark.parametrize("path", REFUSED, ids=name_of)
def test_a_refused_game_is_replayed_up_to_its_last_line(path: Path) -> None:
    ended = run("replay", path, "--format", "jsonl")
    assert ended.code == 1
    assert len(ended.lines) == len(path.read_bytes().splitlines()) - 1


def test_all_of_the_others_are_good_wherever_they_are(database: Path, url: str) -> None:
    for source in (database, url):
        ended = run("verify", source, "--format", "json")
        assert ended.code == 0
        assert len(ended.document) == len(ACCEPTED)
