"""What can work no longer says so: whoever waits is answered, nobody is let in, and health is NOT_SERVING."""

from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from heptalog.replay.errors import Code, Unavailable
from heptalog.replay.events import Event
from heptalog.service.appends import Append, Receipt
from heptalog.service.config import Settings
from heptalog.service.store import NO_GAME
from heptalog.service.store.memory import MemoryStore
from tests.service.asking import ROCKS, new_game, remark
from tests.support.serving import WAIT_SECONDS, Service

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


@pytest.fixture
def watched() -> Iterator[Service]:
    """A server that looks at its own health all the time, with a queue for three."""
    with Service(MemoryStore(), settings=Settings("", health_seconds=0.001, queue_max=3)) as running:
        yield running


def health_of(service: Service, name: str = "heptalog.v1.LogService") -> Any:
    """What the health service says, and goes on saying."""
    stub: Any = health_pb2_grpc.HealthStub(service.channel())
    return stub.Watch(health_pb2.HealthCheckRequest(service=name), timeout=WAIT_SECONDS)


def broken_by_a_bug(service: Service, monkeypatch: pytest.MonkeyPatch) -> list[Future[Receipt]]:
    """A bug outside of any append while one is being written, one is half answered, and others wait."""

    def settle(group: Any, results: object) -> None:
        group.jobs[0].future.set_result(None)
        raise ZeroDivisionError

    with service.store.held() as hold:
        futures = [service.app.writer.submit(Append("game", 0, (remark("a"),)))]
        hold.wait_until_reached()
        monkeypatch.setattr(service.app.writer._groups, "settle", settle)
        futures += [service.app.writer.submit(Append("game", at, (remark(f"b{at}"),))) for at in (1, 2, 3)]
        assert futures[2].cancel()
    return futures


@pytest.mark.parametrize("name", ["", "heptalog.v1.GamesService", "heptalog.v1.LogService"])
def test_a_bug_in_the_writer_leaves_nobody_waiting(
    watched: Service, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    new_game(watched.client())
    health = health_of(watched, name)
    assert next(health).status == SERVING
    first, *others = broken_by_a_bug(watched, monkeypatch)
    assert first.result(WAIT_SECONDS) is None
    errors = [future.exception(WAIT_SECONDS) for future in others if not future.cancelled()]
    assert [(type(error), getattr(error, "code", None)) for error in errors] == [(Unavailable, Code.WRITE_FAILED)] * 2
    assert next(health).status == NOT_SERVING
    health.cancel()
    with pytest.raises(Unavailable) as refused:
        watched.client().append(Append("game", 1, (remark("c"),)))
    assert refused.value.code is Code.WRITE_FAILED
    # Readers go on, with all that is durable.
    assert watched.client().standing("game").sequence == 1
    watched.drain()
    with pytest.raises(Unavailable):
        watched.app.writer.submit(Append("game", 1, (remark("c"),)))


def test_a_store_that_must_be_opened_anew_is_not_serving(watched: Service) -> None:
    health = health_of(watched)
    assert next(health).status == SERVING
    watched.store.is_worn_out = True
    assert next(health).status == NOT_SERVING
    health.cancel()


def test_everybody_has_an_error_of_their_own(service: Service) -> None:
    new_game(service.client())
    with service.store.held() as hold:
        running = service.app.writer.submit(Append("game", 0, (remark("a"),)))
        hold.wait_until_reached()
        futures = [service.app.writer.submit(Append(f"g{n}", NO_GAME, (Event(0, ROCKS),))) for n in range(3)]
        with service.store.held() as second:
            hold.release()
            second.wait_until_reached()
            service.store.failures.append(Unavailable(Code.WRITE_FAILED, rule="api", path="log"))
    running.result(WAIT_SECONDS)
    errors = [future.exception(WAIT_SECONDS) for future in futures]
    assert len({id(error) for error in errors}) == 3
    for error in errors:
        assert isinstance(error, Unavailable)
        assert (error.code, error.rule, error.facts) == (Code.WRITE_FAILED, "api", {"path": "log"})
        error.facts["index"] = 0
