"""Streams and single appends in one queue: streams leave room for those, and find it again whoever makes it."""

import asyncio

import pytest

from heptalog.replay.errors import Code, Unavailable
from heptalog.replay.events import Event
from heptalog.service.appends import Append
from heptalog.service.config import Settings
from heptalog.service.store import NO_GAME
from heptalog.service.store.memory import MemoryStore
from tests.service.asking import ROCKS, new_game, remark
from tests.service.wires import Wire
from tests.support.serving import WAIT_SECONDS, Service


def test_streams_leave_room_in_the_queue_for_single_appends() -> None:
    with Service(MemoryStore(), settings=Settings("", queue_max=4)) as service:
        new_game(service.client())
        wire = Wire(service)
        waiting = service.app.writer._waiting
        with service.store.held() as hold:
            wire.send((1, Append("game", 0, (remark("n0"),))))
            hold.wait_until_reached()
            wire.send(*((number, Append("game", number - 1, (remark(f"n{number}"),))) for number in range(2, 30)))
            with waiting.changed:
                assert waiting.changed.wait_for(lambda: waiting.count, WAIT_SECONDS)
            # Whatever of that message would be queued now has been.
            service.run(asyncio.sleep(0))
            submit = service.app.writer.submit
            others = [submit(Append(f"other-{number}", NO_GAME, (Event(0, ROCKS),))) for number in range(2)]
            with pytest.raises(Unavailable) as full:
                submit(Append("other", NO_GAME, (Event(0, ROCKS),)))
            assert full.value.code is Code.OVERLOADED
        assert [other.result(WAIT_SECONDS).head.sequence for other in others] == [0, 0]
        answers = wire.answers(29)
        assert [answers[number].appended.head.sequence for number in range(1, 30)] == list(range(1, 30))
        wire.end()
        assert wire.ends() is None


@pytest.mark.parametrize("leaves", [False, True])
def test_a_stream_that_waits_for_room_finds_it_whoever_makes_it(leaves: bool) -> None:
    with Service(MemoryStore(), settings=Settings("", queue_max=1)) as service:
        new_game(service.client())
        wire = Wire(service)
        with service.store.held() as hold:
            running = service.app.writer.submit(Append("game", 0, (remark("a"),)))
            hold.wait_until_reached()
            # None of those in the queue is answered in the server's event loop.
            other = service.app.writer.submit(Append("game", 1, (remark("b"),)))
            wire.send((1, Append("stream", NO_GAME, (Event(0, ROCKS),))))
            service.run(_wants_room(service))
            if leaves:
                assert other.cancel()
        assert running.result(WAIT_SECONDS).head.sequence == 1
        assert wire.answers(1)[1].appended.head.sequence == 0
        wire.end()
        assert wire.ends() is None


async def _wants_room(service: Service) -> None:
    """Wait until some stream has met a full queue."""
    while not service.app.writer._waiting._wanting_room:
        await asyncio.sleep(0)
