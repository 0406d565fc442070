"""LogService: events in, events out. Each call decodes, asks, encodes."""

import asyncio
from collections.abc import AsyncGenerator
from itertools import islice
from typing import Final

from google.protobuf.message import DecodeError

from heptalog.replay import codec
from heptalog.replay.errors import Code, Corrupt, HeptalogError, Malformed, NotFound
from heptalog.replay.events import Event
from heptalog.service.answering import Context, Readers, answers, streams
from heptalog.service.appends import Append
from heptalog.service.config import EVENT_SIZE_MAX, EVENTS_PER_APPEND_MAX, EVENTS_PER_READ
from heptalog.service.queries import Queries
from heptalog.service.store import NO_GAME, Head, LogStore, Records, Stored
from heptalog.service.writer import Writer
from heptalog.v1 import event_pb2, games_pb2, log_pb2, log_pb2_grpc

_BATCH_BYTES: Final = 1 << 20
_BACKWARDS: Final = log_pb2.ReadEventsRequest.DIRECTION_BACKWARDS


class LogServicer(log_pb2_grpc.LogServiceServicer):
    """Records events through the one writer, and reads them back from the store."""

    def __init__(self, writer: Writer, store: LogStore, queries: Queries, readers: Readers) -> None:
        self._writer = writer
        self._store = store
        self._queries = queries
        self._readers = readers

    @answers
    async def AppendEvents(
        self, request: log_pb2.AppendEventsRequest, context: Context
    ) -> log_pb2.AppendEventsResponse:
        receipt = await asyncio.wrap_future(self._writer.submit(append_of(request)))
        return log_pb2.AppendEventsResponse(
            head=head_message(receipt.head), sequences=receipt.sequences, deduplicated=receipt.is_deduplicated
        )

    @streams
    async def ReadEvents(
        self, request: log_pb2.ReadEventsRequest, context: Context
    ) -> AsyncGenerator[log_pb2.ReadEventsResponse, None]:
        if request.direction not in log_pb2.ReadEventsRequest.Direction.values():
            raise Malformed(Code.FIELD_INVALID, rule="api", field="direction", problem=f"no value {request.direction}")
        records = await self._readers.run(lambda: self._records(request))
        try:
            while batch := await self._readers.run(lambda: _next_batch(records)):
                yield log_pb2.ReadEventsResponse(events=batch)
        finally:
            # Nobody is reading any more, and letting go asks no disk.
            records.close()

    def _records(self, request: log_pb2.ReadEventsRequest) -> Records:
        """What to read. Raises NotFound for an unknown game, or a start past the place where the next event will be."""
        is_backwards = request.direction == _BACKWARDS
        start = request.start if request.HasField("start") else None
        head = self._queries.head(request.game_id).sequence if request.game_id else self._store.position()
        if start is not None and start > head + 1:
            raise NotFound(Code.POSITION_AFTER_HEAD, rule="api", game_id=request.game_id, asked=start, head=head)
        if request.game_id:
            return self._store.read_game(request.game_id, start=start, limit=request.limit, is_backwards=is_backwards)
        return self._store.read_all(start=start, limit=request.limit, is_backwards=is_backwards)


def append_of(request: log_pb2.AppendEventsRequest) -> Append:
    """What a request asks to append. Raises Malformed where the expectation is missing or an event has no form."""
    match request.WhichOneof("expected"):
        case "expected_sequence":
            expected = request.expected_sequence
        case "expected_no_game" if request.expected_no_game:
            expected = NO_GAME
            if request.expected_hash:
                problem = "a game that is not there has no hash"
                raise Malformed(Code.FIELD_INVALID, rule="api", field="expected_hash", problem=problem)
        case _:
            problem = "an append names the sequence it expects, or that there is no such game"
            raise Malformed(Code.FIELD_INVALID, rule="api", field="expected", problem=problem)
    if len(request.events) > EVENTS_PER_APPEND_MAX:
        # Looked at before they are decoded: a message has room for half a million tiny ones.
        raise Malformed(Code.FIELD_INVALID, rule="api", field="events", problem=f"1 to {EVENTS_PER_APPEND_MAX} events")
    return Append(
        game_id=request.game_id,
        expected=expected,
        events=tuple(event_at(message, index) for index, message in enumerate(request.events)),
        expected_hash=request.expected_hash,
        is_imported=request.imported,
    )


def event_at(message: event_pb2.Event, index: int) -> Event:
    """One event of a request; what is wrong with it is told with its place."""
    try:
        if (size := message.ByteSize()) > EVENT_SIZE_MAX:
            raise Malformed(Code.EVENT_TOO_LARGE, rule="api", size=size, limit=EVENT_SIZE_MAX)
        return codec.event_of(message)
    except HeptalogError as error:
        field = error.facts.get("field", "")
        error.facts.update(index=index, field=f"events[{index}].{field}" if field else f"events[{index}]")
        raise


def head_message(head: Head) -> games_pb2.Head:
    """A head as a message."""
    return games_pb2.Head(sequence=head.sequence, hash=head.hash, position=head.position)


def _event_in(stored: Stored) -> event_pb2.Event:
    try:
        return event_pb2.Event.FromString(stored.record)
    except DecodeError as error:
        facts = {"game_id": stored.game_id, "at_sequence": stored.sequence, "position": stored.position}
        raise Corrupt(Code.RECORD_DAMAGED, rule="evidence", **facts) from error


def _next_batch(records: Records) -> list[log_pb2.RecordedEvent]:
    """The next message's worth of events, bounded in number and in bytes; empty at the end."""
    batch: list[log_pb2.RecordedEvent] = []
    size = 0
    for stored in islice(records, EVENTS_PER_READ):
        batch.append(log_pb2.RecordedEvent(position=stored.position, event=_event_in(stored)))
        size += len(stored.record)
        if size >= _BATCH_BYTES:
            break
    return batch
