"""LogService: events in, events out. Each call decodes, asks, encodes."""

import asyncio
from collections.abc import AsyncGenerator
from itertools import islice
from typing import Final

from google.protobuf.message import DecodeError

from heptalog.replay.errors import Code, Corrupt, Malformed, NotFound
from heptalog.service.answering import Context, Readers, answers, streams
from heptalog.service.config import EVENTS_PER_READ
from heptalog.service.queries import Queries
from heptalog.service.store import LogStore, Records, Stored
from heptalog.service.wire import append_of, appended_message, stored_message
from heptalog.service.writer import Writer
from heptalog.v1 import log_pb2, log_pb2_grpc

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
        return appended_message(receipt)

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


def _recorded(stored: Stored) -> log_pb2.RecordedEvent:
    try:
        return stored_message(stored)
    except DecodeError as error:
        facts = {"game_id": stored.game_id, "at_sequence": stored.sequence, "position": stored.position}
        raise Corrupt(Code.RECORD_DAMAGED, rule="evidence", **facts) from error


def _next_batch(records: Records) -> list[log_pb2.RecordedEvent]:
    """The next message's worth of events, bounded in number and in bytes; empty at the end."""
    batch: list[log_pb2.RecordedEvent] = []
    size = 0
    for stored in islice(records, EVENTS_PER_READ):
        batch.append(_recorded(stored))
        size += len(stored.record)
        if size >= _BATCH_BYTES:
            break
    return batch
