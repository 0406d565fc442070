"""What was acknowledged before a question is in its answer: after a start, after a kill, while all is made anew."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event as Flag
from threading import Thread

import pytest

from heptalog.replay.errors import Refused
from heptalog.replay.events import Event, GameClosed, GameStarted
from heptalog.replay.seven_rocks.events import SevenRocks
from heptalog.service.appends import Append
from heptalog.service.client import Client
from heptalog.service.store import NO_GAME, LogStore
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.memory import MemoryStore
from heptalog.service.tables.process import Process
from tests.contract.given import fill
from tests.service.asking import FOREIGN, new_game, remark
from tests.service.backing import games, grow
from tests.service.querying import settings, tables_of, value
from tests.support.serving import WAIT_SECONDS, Service

pytestmark = pytest.mark.usefixtures("lent_workers")
EVENTS = "SELECT events FROM games WHERE game_id = '{}'"


def play(client: Client, game_id: str, rounds: int) -> list[tuple[int, int]]:
    """Append to a game and ask at once how many events it has; where that was another number, both."""
    new_game(client, game_id)
    stale = []
    for number in range(rounds):
        client.append(Append(game_id, number, (remark(f"r{number}"),)))
        found = value(client, EVENTS.format(game_id))
        if found != number + 2:
            stale.append((number + 2, found))
    return stale


@contextmanager
def disturbing(work: Callable[[], None]) -> Iterator[None]:
    """Do this again and again meanwhile."""
    is_over = Flag()

    def disturb() -> None:
        while not is_over.is_set():
            work()

    thread = Thread(target=disturb, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join(WAIT_SECONDS)
        assert not thread.is_alive()


def follower_of(service: Service) -> Process:
    """The process that follows."""
    follower = tables_of(service)._keeper._follower
    assert isinstance(follower, Process)
    return follower


def test_an_answer_is_never_older_than_the_last_receipt(store: LogStore) -> None:
    with Service(store, settings=settings(queries_max=4)) as service:
        stale: list[tuple[int, int]] = []
        threads = [
            Thread(target=lambda name=name: stale.extend(play(service.client(), name, 10)), daemon=True)
            for name in ("one", "two", "three", "four")
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT_SECONDS)
            assert not thread.is_alive()
        assert stale == []
        assert value(service.client(), "SELECT sum(events) FROM games") == 4 * 11


@pytest.fixture
def asked() -> Iterator[Service]:
    """A running server over memory."""
    with Service(MemoryStore(), settings=settings()) as running:
        yield running


def test_a_refusal_that_was_told_is_in_the_next_answer(asked: Service) -> None:
    client = asked.client()
    for number in range(1, 6):
        with pytest.raises(Refused):
            client.append(Append("never", NO_GAME, (Event(0, GameStarted((), SevenRocks())),)))
        assert value(client, "SELECT count(*) FROM refusals WHERE game_id = 'never'") == number


def test_what_is_refused_in_a_running_game_is_told_once_it_is_over(asked: Service) -> None:
    client = asked.client()
    new_game(client)
    with pytest.raises(Refused):
        client.append(Append("game", 0, (Event(0, FOREIGN),)))
    assert value(client, "SELECT count(*) FROM refusals") == 0
    client.append(Append("game", 0, (Event(0, GameClosed()),)))
    assert value(client, "SELECT count(*) FROM refusals") == 1


def test_the_first_question_after_a_start_has_all_that_was_there(tmp_path: Path) -> None:
    path = tmp_path / "log.duckdb"
    store = DuckStore(path)
    fill(store, games(1))
    size = store.position()
    for _ in range(2):
        with Service(store, settings=settings(path)) as service:
            assert value(service.client(), "SELECT sum(events) FROM games") == size
        store = DuckStore(path)
    fill(store, games(2), size=50)
    more = store.position()
    with Service(store, settings=settings(path)) as service:
        assert more > size
        assert value(service.client(), "SELECT sum(events) FROM games") == more


def test_while_tables_are_made_anew_answers_are_as_fresh_as_ever(tmp_path: Path) -> None:
    path = tmp_path / "log.duckdb"
    with Service(DuckStore(path), settings=settings(path)) as service:
        grow(service.store)
        steps: list[tuple[int, int]] = []

        def rebuild() -> None:
            steps.extend((step.position, step.head) for step in service.client().rebuild_tables())

        with disturbing(rebuild):
            assert play(service.client(), "game", 20) == []
        size = service.store.position()
        assert value(service.client(), "SELECT sum(events) FROM games") == size
        assert steps
        assert all(position <= head <= size for position, head in steps)
        assert steps[-1][0] == steps[-1][1]


def test_a_follower_that_is_killed_again_and_again_makes_no_answer_older(tmp_path: Path) -> None:
    path = tmp_path / "log.duckdb"
    with Service(DuckStore(path), settings=settings(path)) as service:
        client = service.client()
        new_game(client, "before")
        stale = []
        for number in range(3):
            assert value(client, "SELECT sum(events) FROM games") == 1 + number * 3
            follower_of(service).end()
            stale += play(client, f"game-{number}", 2)
        assert stale == []
