"""Records on the wire: the very bytes that are stored, whatever is in them, for our clients and for any other."""

import asyncio
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from google.protobuf.message import DecodeError
from msgspec.structs import replace

from heptalog.internal.v1 import bytes_pb2
from heptalog.replay.errors import Code, Corrupt
from heptalog.service.answering import Readers
from heptalog.service.appends import Append
from heptalog.service.client import AsyncClient
from heptalog.service.config import EVENTS_PER_READ
from heptalog.service.live import LiveGames
from heptalog.service.log import LogServicer
from heptalog.service.positions import Positions
from heptalog.service.recorded import next_response, records_in, response_of
from heptalog.service.store import LogStore, Stored
from heptalog.service.store.memory import MemoryStore
from heptalog.v1 import event_pb2, log_pb2
from tests.service.asking import log_stub, new_game, remark
from tests.support.newer import NEWER, record_newer
from tests.support.serving import Service, TriedStore


def long_game(service: Service, event_count: int) -> None:
    """A game of so many events."""
    client = service.client()
    new_game(client)
    for first in range(0, event_count - 1, 400):
        numbers = range(first, min(first + 400, event_count - 1))
        client.append(Append("game", first, tuple(remark(f"n{number}") for number in numbers)))


def test_any_client_reads_what_is_stored(each_service: Service) -> None:
    long_game(each_service, 30)
    stored = list(each_service.store.inner.read_all())
    messages = list(log_stub(each_service).ReadEvents(log_pb2.ReadEventsRequest()))
    assert [(one.position, one.event) for message in messages for one in message.events] == [
        (one.position, event_pb2.Event.FromString(one.record)) for one in stored
    ]


@pytest.mark.parametrize("how", NEWER)
def test_what_is_unknown_here_stays_where_it_stands(how: str, store: LogStore) -> None:
    record_newer(store, how)
    stored = list(store.read_all())
    with Service(store) as service:

        async def read(client: AsyncClient) -> list[Stored]:
            return [one async for one in client.read()]

        assert list(service.client().read()) == stored
        assert service.asynchronous(read) == stored
        channel: Any = grpc.insecure_channel(service.target)
        with channel:
            bare = channel.unary_stream("/heptalog.v1.LogService/ReadEvents")
            twins = [bytes_pb2.ReadEventsResponse.FromString(data).events for data in bare(b"")]
    assert [one.event for message in twins for one in message] == [one.record for one in stored]


def test_a_damaged_record_is_told_with_its_place_after_the_messages_before_it(service: Service) -> None:
    at = EVENTS_PER_READ + 90
    long_game(service, at + 20)
    service.store.damage = lambda one: replace(one, record=one.record[:-3]) if one.sequence == at else one
    for game_id in ("", "game"):
        read: list[int] = []
        with pytest.raises(Corrupt) as damaged:
            read.extend(one.sequence for one in service.client().read(game_id))
        assert damaged.value.code is Code.RECORD_DAMAGED
        assert read == list(range(EVENTS_PER_READ))
        place = {"game_id": "game", "at_sequence": at, "position": at + 1}
        assert {name: damaged.value.facts[name] for name in place} == place
        backwards = service.client().read(game_id, is_backwards=True)
        with pytest.raises(Corrupt) as damaged:
            list(backwards)
        assert damaged.value.facts["at_sequence"] == at


def test_the_server_reads_one_message_ahead_and_no_further() -> None:
    with Service(MemoryStore()) as service:
        long_game(service, 4 * EVENTS_PER_READ)
        store = TriedStore(service.store.inner)
        read_count = 0

        def counted(one: Stored) -> Stored:
            nonlocal read_count
            read_count += 1
            return one

        store.damage = counted
        readers = Readers(1)
        unused: Any = None
        servicer = LogServicer(unused, store, Positions(store, LiveGames(1)), readers, unused)

        async def look() -> None:
            context: Any = None
            stream = servicer.ReadEvents(log_pb2.ReadEventsRequest(), context)
            for number in (1, 2):
                await anext(stream)
                # By the first it has begun; who asks the one reader after it is served after it.
                await readers.run(lambda: None)
                await readers.run(lambda: None)
                assert read_count == (number + 1) * EVENTS_PER_READ
            await stream.aclose()
            assert store.reader_count == 0

        asyncio.run(look())
        readers.close()


def test_a_response_is_its_records() -> None:
    with Service(MemoryStore()) as service:
        long_game(service, 40)
        stored = list(service.store.inner.read_all())
    assert records_in(response_of(stored)) == stored
    records = iter(stored)
    assert records_in(next_response(records)) == stored
    assert next_response(records) == b""
    assert records_in(b"") == []


def test_what_is_no_event_is_in_no_response() -> None:
    good = Stored(7, "game", 3, event_pb2.Event(game_id="game", sequence=3).SerializeToString())

    def bad() -> Iterator[bytes]:
        yield b"\x0a"  # cut off
        yield b"\x1a\x01\xff"  # no text
        yield b"\x0c"  # the end of a group that has no beginning
        yield good.record[:-1]

    for record in bad():
        with pytest.raises(Corrupt) as damaged:
            response_of([good, replace(good, position=8, sequence=4, record=record), good])
        assert damaged.value.facts == {"game_id": "game", "at_sequence": 4, "position": 8}


def test_what_is_no_response_has_no_records() -> None:
    with pytest.raises(DecodeError):
        records_in(b"\x0a\x05\x08\x01")
