"""Reading events: one game or all, in either direction, in messages of bounded size, and all of one moment."""

from itertools import product
from typing import Any

import grpc
import pytest
from msgspec.structs import replace

from heptalog.replay import codec
from heptalog.replay.errors import Code, Corrupt, NotFound
from heptalog.replay.events import NoteAdded
from heptalog.service.appends import Append
from heptalog.service.client import AsyncClient, Client
from heptalog.service.config import EVENTS_PER_READ, MESSAGE_SIZE_MAX
from heptalog.service.store import Stored
from heptalog.service.store.memory import MemoryStore
from heptalog.v1 import log_pb2
from tests.service.asking import check_record, failure_of, log_stub, new_game, remark
from tests.support.serving import WAIT_SECONDS, Service

Key = tuple[int, str, int]


def keys_of(records: list[Stored]) -> list[Key]:
    """Where each record stands."""
    return [(stored.position, stored.game_id, stored.sequence) for stored in records]


@pytest.fixture
def client(each_service: Service) -> Client:
    """A client of a service with two games whose events alternate: positions 1 to 12."""
    client = each_service.client()
    for game_id in ("one", "two"):
        new_game(client, game_id)
    for number in range(5):
        for game_id in ("one", "two"):
            client.append(Append(game_id, number, (remark(f"r{number}"),)))
    return client


ALL = [(2 * number + place + 1, game_id, number) for number in range(6) for place, game_id in enumerate(("one", "two"))]
ONE = [key for key in ALL if key[1] == "one"]


LIMITS = (0, 1, 3, 6, 12, 100, 2**63, 2**64 - 1)


def test_one_game_is_read_by_sequence(client: Client) -> None:
    for start, limit in product((None, 0, 1, 4, 5, 6), LIMITS):
        count = limit or len(ONE)
        forwards = ONE[start or 0 :][:count]
        assert keys_of(list(client.read("one", start=start, limit=limit))) == forwards
        backwards = [key for key in ONE[::-1] if start is None or key[2] <= start][:count]
        assert keys_of(list(client.read("one", start=start, limit=limit, is_backwards=True))) == backwards


def test_all_games_are_read_by_position(client: Client) -> None:
    for start, limit in product((None, 0, 1, 7, 12, 13), LIMITS):
        count = limit or len(ALL)
        forwards = [key for key in ALL if start is None or key[0] >= start][:count]
        assert keys_of(list(client.read(start=start, limit=limit))) == forwards
        backwards = [key for key in ALL[::-1] if start is None or key[0] <= start][:count]
        assert keys_of(list(client.read(start=start, limit=limit, is_backwards=True))) == backwards


@pytest.mark.parametrize(("game_id", "head"), [("one", 5), ("", 12)])
def test_beyond_the_head_is_out_of_range(each_service: Service, client: Client, game_id: str, head: int) -> None:
    for start, is_backwards in product((head + 2, head + 100, 2**63, 2**64 - 1), (False, True)):
        with pytest.raises(NotFound) as missing:
            list(client.read(game_id, start=start, is_backwards=is_backwards))
        assert missing.value.code is Code.POSITION_AFTER_HEAD
        assert missing.value.facts["head"] == head
    request = log_pb2.ReadEventsRequest(game_id=game_id, start=head + 2)
    with pytest.raises(grpc.RpcError) as refused:
        list(log_stub(each_service).ReadEvents(request))
    assert failure_of(refused.value).code is grpc.StatusCode.OUT_OF_RANGE


def test_an_empty_log_is_empty_and_an_unknown_game_is_not_found(each_service: Service) -> None:
    client = each_service.client()
    assert list(client.read()) == list(client.read(is_backwards=True)) == []
    for game_id in ("none", "one "):
        with pytest.raises(NotFound) as missing:
            list(client.read(game_id))
        assert missing.value.code is Code.GAME_NOT_FOUND


def test_a_direction_without_meaning_is_refused(service: Service) -> None:
    request = log_pb2.ReadEventsRequest(direction=7)  # type: ignore[arg-type]  # a number that the enum does not have
    with pytest.raises(grpc.RpcError) as refused:
        list(log_stub(service).ReadEvents(request))
    assert failure_of(refused.value).field == "direction"


def test_what_is_read_is_what_was_recorded_byte_for_byte(each_service: Service, client: Client) -> None:
    assert list(client.read()) == list(each_service.store.inner.read_all())
    assert list(client.read("one")) == list(each_service.store.inner.read_game("one"))


def test_both_clients_read_alike(each_service: Service, client: Client) -> None:
    async def read(asynchronous: AsyncClient) -> list[list[Stored]]:
        return [
            [stored async for stored in asynchronous.read(game_id, start=start, limit=3, is_backwards=is_backwards)]
            for game_id in ("", "one")
            for start in (None, 4)
            for is_backwards in (False, True)
        ]

    assert each_service.asynchronous(read) == [
        list(client.read(game_id, start=start, limit=3, is_backwards=is_backwards))
        for game_id in ("", "one")
        for start in (None, 4)
        for is_backwards in (False, True)
    ]


def large_game(client: Client, note_size: int, count: int) -> None:
    """A game of large remarks."""
    new_game(client)
    for first in range(0, count, 10):
        events = tuple(remark(f"n{number}", "x" * note_size) for number in range(first, first + 10))
        client.append(Append("game", first, events))


def test_a_big_game_comes_in_messages_below_4_mib(each_service: Service) -> None:
    client = each_service.client()
    large_game(client, 250_000, 30)
    messages = list(log_stub(each_service).ReadEvents(log_pb2.ReadEventsRequest()))
    assert len(messages) > 3
    assert max(message.ByteSize() for message in messages) < MESSAGE_SIZE_MAX // 2
    assert [recorded.position for message in messages for recorded in message.events] == list(range(1, 32))
    check_record(client, "game", 31)


def test_a_message_has_no_more_events_than_are_told(service: Service) -> None:
    client = service.client()
    new_game(client)
    for first in range(0, 1_200, 400):
        client.append(Append("game", first, tuple(remark(f"n{number}") for number in range(first, first + 400))))
    messages = list(log_stub(service).ReadEvents(log_pb2.ReadEventsRequest(game_id="game")))
    assert [len(message.events) for message in messages] == [EVENTS_PER_READ, EVENTS_PER_READ, 1_201 - 1_024]


@pytest.mark.parametrize("game_id", ["", "game"])
def test_a_cancelled_stream_frees_its_reader(each_service: Service, game_id: str) -> None:
    client = each_service.client()
    large_game(client, 200_000, 150)
    stream: Any = log_stub(each_service).ReadEvents(log_pb2.ReadEventsRequest(game_id=game_id))
    next(stream)
    # The rest is more than a connection holds, so the server is still about it.
    assert each_service.store.reader_count == 1
    stream.cancel()
    assert each_service.store.all_closed.wait(WAIT_SECONDS)
    reading = client.read(game_id)
    next(reading)
    reading.close()
    assert each_service.store.all_closed.wait(WAIT_SECONDS)
    assert each_service.store.reader_count == 0


def test_a_stream_cancelled_while_the_store_is_being_read_frees_its_reader(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    new_game(service.client(), remark_count=3)
    stub = log_stub(service)
    with service.store.held_reading() as hold:
        stream: Any = stub.ReadEvents(log_pb2.ReadEventsRequest(game_id="game"))
        hold.wait_until_reached()
        stream.cancel()
        # The server has heard of it once it answers another call on the same connection.
        assert len(list(stub.ReadEvents(log_pb2.ReadEventsRequest(game_id="game", start=4)))) == 0
        assert service.store.reader_count == 1
    assert service.store.all_closed.wait(WAIT_SECONDS)
    assert len(list(service.client().read("game"))) == 4
    service.stop()
    # Nobody has tried to close what another thread was reading.
    assert not caplog.records


@pytest.mark.parametrize("is_backwards", [False, True])
@pytest.mark.parametrize("game_id", ["", "game"])
def test_reading_while_appending_sees_one_moment(each_service: Service, game_id: str, is_backwards: bool) -> None:
    client = each_service.client()
    large_game(client, 200_000, 40)
    reading = client.read(game_id, is_backwards=is_backwards)
    first = next(reading)
    client.append(Append("game", 40, tuple(remark(f"later {number}".replace(" ", "-")) for number in range(300))))
    new_game(client, "other")
    rest = list(reading)
    sequences = sorted(stored.sequence for stored in [first, *rest])
    assert sequences == list(range(41))
    assert len(list(client.read("game"))) == 341


def test_a_damaged_record_is_data_loss_and_says_where() -> None:
    with Service(MemoryStore()) as service:
        client = service.client()
        new_game(client, remark_count=3)
        service.store.damage = lambda stored: (
            replace(stored, record=stored.record[:-3]) if stored.sequence == 2 else stored
        )
        service.app.positions._live.forget("game")
        for ask in (
            lambda: list(client.read("game")),
            lambda: client.state("game"),
            lambda: client.append(Append("game", 3, (remark("a"),))),
        ):
            with pytest.raises(Corrupt) as damaged:
                ask()
            assert damaged.value.code is Code.RECORD_DAMAGED
            assert (damaged.value.facts["game_id"], damaged.value.facts["at_sequence"]) == ("game", 2)
        assert len(service.store.commits) == 2


def test_a_broken_chain_is_data_loss(service: Service) -> None:
    client = service.client()
    new_game(client, remark_count=3)

    def exchange(stored: Stored) -> Stored:
        event, _ = codec.decode(stored.record)
        return replace(stored, record=codec.encode(replace(event, body=NoteAdded("never said"))))

    service.store.damage = lambda stored: exchange(stored) if stored.sequence == 1 else stored
    service.app.positions._live.forget("game")
    with pytest.raises(grpc.RpcError) as refused:
        log_stub(service).AppendEvents(
            log_pb2.AppendEventsRequest(game_id="game", expected_sequence=3, events=[codec.message_of(remark("a"))])
        )
    failure = failure_of(refused.value)
    assert (failure.code.name, failure.reason) == ("DATA_LOSS", "CHAIN_BROKEN")
    assert (failure.facts["game_id"], failure.facts["at_sequence"]) == ("game", "1")
