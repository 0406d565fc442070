"""What tests of the program start with."""

import json
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path

import pytest
from typer.main import get_command

from heptalog.analytics.asking import Workers
from heptalog.service.store.memory import MemoryStore
from tests.cli import appending
from tests.cli.given import BRIDGE, ROCKS, UP, bare, changed, copied, write
from tests.cli.reported import HOSTILE_TOURNAMENT, TOURNAMENT, hostile_database, reported, simulated_database
from tests.cli.running import run
from tests.support.play import EVENT_COUNT_MAX
from tests.support.serving import Service
from tests.trials.victims import KEYS, Victim, made


@pytest.fixture(scope="session", autouse=True)
def built_once() -> Iterator[None]:
    """All commands are built once for all tests that run one: to build them takes longer than to run most of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.testing._get_command", cache(get_command))
        yield


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
def games(tmp_path: Path) -> Path:
    """A folder with a game of each kind: one won, one closed by the arbiter, one that goes on."""
    return games_in(tmp_path / "games")


def games_in(folder: Path) -> Path:
    """Those games in this folder."""
    closing = json.dumps({"sequence": 10, "gameClosed": {"winners": [1]}}).encode()
    write(folder / "bridge.jsonl", [*bare(BRIDGE, length=10), closing])
    write(folder / "rocks.jsonl", bare(ROCKS, length=20))
    lines = bare(UP, 3, length=EVENT_COUNT_MAX)
    cup = changed(lines[0], lambda tree: tree["gameStarted"].update(tournament="Cup", table="7"))
    write(folder / "up.jsonl", [cup, *lines[1:]])
    return folder


# Databases are made once, and every test has a copy of its own.


@pytest.fixture(scope="session")
def made_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with the game of `game`, that nobody changes."""
    folder = tmp_path_factory.mktemp("database")
    return imported(write(folder / "game.jsonl", bare()), folder / "games.duckdb")


@pytest.fixture(scope="session")
def made_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with the games of `games`, that nobody changes."""
    folder = tmp_path_factory.mktemp("log")
    return imported(games_in(folder / "games"), folder / "log.duckdb")


def imported(source: Path, database: Path) -> Path:
    """A database with what is imported from there."""
    assert run("import", source, "--into", database).code == 0
    return database


@pytest.fixture
def database(tmp_path: Path, game: Path, made_database: Path) -> Path:
    """A database with that game."""
    assert game.exists()
    return copied(made_database, tmp_path / "games.duckdb")


@pytest.fixture
def log(games: Path, tmp_path: Path, made_log: Path) -> Path:
    """Those games in a database."""
    assert games.exists()
    return copied(made_log, tmp_path / "log.duckdb")


@pytest.fixture(scope="session")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with simulated games; who changes it takes a copy."""
    return simulated_database(tmp_path_factory.mktemp("simulated") / "games.duckdb")


@pytest.fixture(scope="session")
def pages(simulated: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three reports in a folder: of all, of a tournament, and of one whose names are code."""
    folder = tmp_path_factory.mktemp("pages")
    for source, name, *tournament in (
        (simulated, "all"),
        (simulated, "one", TOURNAMENT),
        (hostile_database(folder), "hostile", HOSTILE_TOURNAMENT),
    ):
        ended = reported(source, folder / f"{name}.html", *map(str, tournament))
        assert ended.code == 0, ended.err
    return folder


@pytest.fixture
def server() -> Iterator[str]:
    """A running server without games, as `grpc://HOST:PORT`."""
    with Service(MemoryStore()) as service:
        yield f"grpc://{service.target}"


@pytest.fixture(params=["database", "server"])
def final(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The game of the README in a log of either kind, as it is named."""
    log = str(tmp_path / "log.duckdb") if request.param == "database" else request.getfixturevalue("server")
    return appending.imported(log, tmp_path)


@pytest.fixture
def in_database(tmp_path: Path) -> str:
    """That game in a database."""
    return appending.imported(str(tmp_path / "log.duckdb"), tmp_path)


class Lent(Workers):
    """Workers that stay when the command is over that they were made for."""

    def __exit__(self, *_: object) -> None:
        pass


@pytest.fixture(scope="session")
def lent() -> Iterator[Lent]:
    """What answers, started once."""
    with closing(Lent(niceness=0)) as workers:
        yield workers


@pytest.fixture
def lent_workers(lent: Lent, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every question of this process is answered by them; to start and to end them is for the real program to do."""
    monkeypatch.setattr("heptalog.analytics.asking.Workers", lambda **_: lent)


# Logs that are audited.


@pytest.fixture(scope="session")
def made_victim(tmp_path_factory: pytest.TempPathFactory) -> Victim:
    """A log with something of everything, and checkpoints, that nobody changes."""
    return made(tmp_path_factory.mktemp("victim") / "games.duckdb", length=50, games_each=2)


@pytest.fixture
def victim(tmp_path: Path, made_victim: Victim) -> Victim:
    """A copy of it."""
    return made_victim._replace(path=copied(made_victim.path, tmp_path / "games.duckdb"))


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
