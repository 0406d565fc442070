"""What tests of the program start with."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from heptalog.service.store.memory import MemoryStore
from tests.cli.given import BRIDGE, ROCKS, UP, bare, changed, write
from tests.cli.running import run
from tests.support.play import EVENT_COUNT_MAX
from tests.support.serving import Service
from tests.trials.victims import KEYS, Victim, made


@pytest.fixture(autouse=True)
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the program keeps what is its own: never in the home of who runs the tests."""
    home = tmp_path / "own" / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(home))
    return home


@pytest.fixture
def game(tmp_path: Path) -> Path:
    """A good game of Seven Up in a file."""
    return write(tmp_path / "game.jsonl", bare())


@pytest.fixture
def database(tmp_path: Path, game: Path) -> Path:
    """A database with that game."""
    path = tmp_path / "games.duckdb"
    assert run("import", game, "--into", path).code == 0
    return path


@pytest.fixture
def games(tmp_path: Path) -> Path:
    """A folder with a game of each kind: one won, one closed by the arbiter, one that goes on."""
    closing = json.dumps({"sequence": 10, "gameClosed": {"winners": [1]}}).encode()
    write(tmp_path / "games" / "bridge.jsonl", [*bare(BRIDGE, length=10), closing])
    write(tmp_path / "games" / "rocks.jsonl", bare(ROCKS, length=20))
    lines = bare(UP, 3, length=EVENT_COUNT_MAX)
    cup = changed(lines[0], lambda tree: tree["gameStarted"].update(tournament="Cup", table="7"))
    write(tmp_path / "games" / "up.jsonl", [cup, *lines[1:]])
    return tmp_path / "games"


@pytest.fixture
def log(games: Path, tmp_path: Path) -> Path:
    """Those games in a database."""
    path = tmp_path / "log.duckdb"
    assert run("import", games, "--into", path).code == 0
    return path


@pytest.fixture
def server() -> Iterator[str]:
    """A running server without games, as `grpc://HOST:PORT`."""
    with Service(MemoryStore()) as service:
        yield f"grpc://{service.target}"


# Logs that are audited.


@pytest.fixture
def victim(tmp_path: Path) -> Victim:
    """A log with something of everything, and checkpoints."""
    return made(tmp_path / "games.duckdb", length=50, games_each=2)


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """The public key of its checkpoints."""
    path = tmp_path / "log.pub"
    path.write_text("".join(f"{key.format()}\n" for key in KEYS))
    return path


@pytest.fixture
def outside(tmp_path: Path, victim: Victim) -> Path:
    """A checkpoint that somebody has kept."""
    path = tmp_path / "kept.checkpoint"
    path.write_text(victim.outside)
    return path


@pytest.fixture
def small_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many pieces of work, where a small log would be one."""
    monkeypatch.setattr("heptalog.service.auditing.audit.GAMES_EVENTS", 1)
    for module in ("auditing.audit", "auditing.servers", "store.duck_kept"):
        monkeypatch.setattr(f"heptalog.service.{module}.BUCKET_WIDTH", 1)
