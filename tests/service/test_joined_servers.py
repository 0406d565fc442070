"""Servers that drain, fail, are cut off or killed while many share a call: nothing is lost, nothing is doubled."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock, Thread

import pytest

from heptalog.replay.errors import Code, Conflict, Unavailable
from heptalog.service.appends import Receipt
from heptalog.service.client import Client
from heptalog.service.store import Batch, Head, Refusal
from heptalog.service.store.duck import DuckStore
from tests.service.asking import check_positions, check_record, new_game, notes
from tests.service.calling import Calling, by_tasks, by_threads, games
from tests.service.cutting import Cutter, Proxy
from tests.support.serving import WAIT_SECONDS, Service
from tests.trials.servers import Serving

CALLERS = (by_threads, by_tasks)


@pytest.mark.parametrize("call", CALLERS)
def test_callers_go_on_at_the_next_server_after_a_drain(tmp_path: Path, call: Calling) -> None:
    path = tmp_path / "log.duckdb"
    running = [Service(DuckStore(path))]
    names = games(16, running[0].client())
    with Proxy(running[0].server.port) as proxy:
        lock = Lock()

        def restart(_: float) -> None:
            with lock:
                if len(running) < 2:
                    draining.join(WAIT_SECONDS)
                    running[0].stop()
                    running.append(Service(DuckStore(path)))
                    proxy.port = running[1].server.port

        commits = running[0].store.commits
        inner = running[0].store.inner.append
        draining = Thread(target=running[0].drain)

        def append(batches: Sequence[Batch], refusals: Sequence[Refusal] = ()) -> list[Head | Conflict]:
            if len(commits) == 40:
                draining.start()
            return inner(batches, refusals)

        running[0].store.inner.append = append  # type: ignore[method-assign]  # what a test does to it
        work = [notes(40, game_id=name) for name in names]
        outcomes = call(proxy.target, work, attempts=1000, pause=restart)
        draining.join(WAIT_SECONDS)
        for of_caller in outcomes:
            receipts = [outcome for outcome in of_caller if isinstance(outcome, Receipt)]
            assert [receipt.head.sequence for receipt in receipts] == list(range(1, 41))
        for name in names:
            check_record(running[1].client(), name, 41)
        check_positions(running[1].client(), 41 * 16)
        assert len(running) == 2
    running[1].stop()


@pytest.mark.parametrize("call", CALLERS)
def test_cuts_cost_nobody_anything(service: Service, call: Calling) -> None:
    names = games(16, service.client())
    with Proxy(service.server.port) as proxy:
        Cutter(service, proxy, times=4)
        work = [notes(30, game_id=name) for name in names]
        outcomes = call(proxy.target, work, attempts=1000, pause=lambda _: None)
    for of_caller in outcomes:
        receipts = [outcome for outcome in of_caller if isinstance(outcome, Receipt)]
        assert [receipt.head.sequence for receipt in receipts] == list(range(1, 31))
    assert any(isinstance(each, Receipt) and each.is_deduplicated for of_caller in outcomes for each in of_caller)
    check_positions(service.client(), 31 * 16)


@pytest.mark.parametrize("call", CALLERS)
def test_a_commit_that_fails_concerns_those_who_were_in_it(service: Service, call: Calling) -> None:
    names = games(8, service.client())
    service.store.failures += [OSError("no space left"), OSError("no space left")]
    outcomes = call(service.target, [notes(10, game_id=name) for name in names])
    flat = [outcome for of_caller in outcomes for outcome in of_caller]
    failed = [outcome for outcome in flat if isinstance(outcome, Unavailable)]
    # Without patience: whoever was in a commit that failed twice is told so, the others have their receipts.
    assert {failure.code for failure in failed} <= {Code.WRITE_FAILED}
    for name, of_caller in zip(names, outcomes, strict=True):
        kept = [outcome for outcome in of_caller if isinstance(outcome, Receipt)]
        check_record(service.store, name, 1 + len(kept))


@pytest.mark.parametrize("call", CALLERS)
def test_a_server_that_is_killed_loses_nothing_and_doubles_nothing(tmp_path: Path, call: Calling) -> None:
    path = tmp_path / "log.duckdb"
    names = [f"game-{number}" for number in range(64)]
    with killed_on_the_way(path, names) as proxy:
        lock = Lock()
        servers: list[Serving] = []

        def restart(_: float) -> None:
            with lock:
                if not servers:
                    servers.append(Serving(path, "--no-tables"))
                    servers[0].listens()
                    proxy.port = port_of(servers[0])

        outcomes = call(proxy.target, [notes(30, game_id=name) for name in names], attempts=1000, pause=restart)
        (second,) = servers
        with second, Client(second.target, timeout=WAIT_SECONDS) as client:
            for name, of_caller in zip(names, outcomes, strict=True):
                receipts = [outcome for outcome in of_caller if isinstance(outcome, Receipt)]
                assert [receipt.head.sequence for receipt in receipts] == list(range(1, 31))
                check_record(client, name, 31)
            check_positions(client, 31 * 64)


def test_after_a_kill_without_patience_every_receipt_and_every_error_is_true(tmp_path: Path) -> None:
    path = tmp_path / "log.duckdb"
    names = [f"game-{number}" for number in range(64)]
    with killed_on_the_way(path, names) as proxy:
        outcomes = by_tasks(proxy.target, [notes(30, game_id=name) for name in names])
    kept = {
        name: sum(isinstance(each, Receipt) for each in each_of) for name, each_of in zip(names, outcomes, strict=True)
    }
    failed = [each for of_caller in outcomes for each in of_caller if not isinstance(each, Receipt)]
    assert failed
    assert {each.code for each in failed} == {Code.SERVER_UNREACHABLE}
    with Serving(path, "--no-tables") as second:
        second.listens()
        with Client(second.target, timeout=WAIT_SECONDS) as client:
            heads = {name: client.game(name).head.sequence for name in names}
            for name in names:
                # The one that was under way may be there, since nobody was told that it is not.
                assert heads[name] - kept[name] in (0, 1)
                check_record(client, name, heads[name] + 1)
            check_positions(client, sum(heads.values()) + len(names))


@contextmanager
def killed_on_the_way(path: Path, names: Sequence[str]) -> Iterator[Proxy]:
    """A proxy before a server that has these games, and that is killed once 20,000 bytes of answers have come."""
    with Serving(path, "--no-tables") as server:
        server.listens()
        with Client(server.target, timeout=WAIT_SECONDS) as client:
            for name in names:
                new_game(client, name)
        with Proxy(port_of(server)) as proxy:
            proxy.is_cut_after = killed_after(20_000, server)
            yield proxy


def port_of(server: Serving) -> int:
    """Where it listens."""
    return int(server.target.rpartition(":")[2])


def killed_after(size: int, server: Serving) -> Callable[[int], bool]:
    """Kill the server once so many bytes of answers have come, and cut nothing else."""

    def is_cut(answered: int) -> bool:
        if answered > size:
            server.kill()
        return False

    return is_cut
