"""LogService: events in, events out. Each call decodes, asks, encodes."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from types import MappingProxyType
from typing import Final

from heptalog.replay.errors import Code, Malformed, NotFound
from heptalog.service.answering import Context, Readers, answers, streams
from heptalog.service.appending.appender import Appender
from heptalog.service.appending.reading import append_in
from heptalog.service.appending.streaming import AppendStreams
from heptalog.service.appends import Append
from heptalog.service.positions import Positions
from heptalog.service.recorded import next_response
from heptalog.service.store import LogStore, Records
from heptalog.service.strict import Decoder, as_bytes
from heptalog.service.subscribing.messages import filter_of, start_of
from heptalog.service.subscribing.subscriptions import Subscriptions
from heptalog.service.wire import appended_message
from heptalog.v1 import log_pb2, log_pb2_grpc

_BACKWARDS: Final = log_pb2.ReadEventsRequest.DIRECTION_BACKWARDS
# How this service reads its requests where that is not a message, and the methods that give bytes.
DECODERS: Final[Mapping[str, Decoder]] = MappingProxyType({"AppendEvents": append_in, "AppendStream": as_bytes})
WRITTEN: Final = frozenset({"AppendStream", "ReadEvents", "Subscribe"})


class LogServicer(log_pb2_grpc.LogServiceServicer):
    """Records events through the one writer, and reads them back from the store."""

    def __init__(
        self,
        appender: Appender,
        store: LogStore,
        positions: Positions,
        readers: Readers,
        subscriptions: Subscriptions,
    ) -> None:
        self._appender = appender
        self._append_streams = AppendStreams(appender)
        self._store = store
        self._positions = positions
        self._readers = readers
        self._subscriptions = subscriptions

    def drain(self) -> None:
        """Take no more on the streams of those who append, answer what was taken, and end every feed."""
        self._append_streams.drain()
        self._subscriptions.drain()

    @answers
    async def AppendEvents(  # type: ignore[override]  # its request is read already
        self, request: Append, context: Context
    ) -> log_pb2.AppendEventsResponse:
        return appended_message(await self._appender.append(request))

    @answers
    async def AppendStream(  # type: ignore[override]  # it reads and writes where it is served
        self, request_iterator: AsyncIterator[bytes], context: Context
    ) -> None:
        await self._append_streams.serve(context)

    @streams
    async def ReadEvents(  # type: ignore[override]  # each is a ReadEventsResponse that is written already
        self, request: log_pb2.ReadEventsRequest, context: Context
    ) -> AsyncGenerator[bytes, None]:
        if request.direction not in log_pb2.ReadEventsRequest.Direction.values():
            raise Malformed(Code.FIELD_INVALID, rule="api", field="direction", problem=f"no value {request.direction}")
        records = await self._readers.run(lambda: self._records(request))
        # One is read while the one before it is on its way.
        reading = asyncio.create_task(self._readers.run(lambda: next_response(records)))
        try:
            while response := await reading:
                reading = asyncio.create_task(self._readers.run(lambda: next_response(records)))
                yield response
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            # Nobody is reading any more, and letting go asks no disk.
            records.close()

    @streams
    async def Subscribe(  # type: ignore[override]  # each is a SubscribeResponse that is written already
        self, request: log_pb2.SubscribeRequest, context: Context
    ) -> AsyncGenerator[bytes, None]:
        async with aclosing(self._subscriptions.feed(filter_of(request), start_of(request))) as messages:
            async for message in messages:
                yield message

    def _records(self, request: log_pb2.ReadEventsRequest) -> Records:
        """What to read. Raises NotFound for an unknown game, or a start past the place where the next event will be."""
        is_backwards = request.direction == _BACKWARDS
        start = request.start if request.HasField("start") else None
        head = self._positions.head(request.game_id).sequence if request.game_id else self._store.position()
        if start is not None and start > head + 1:
            raise NotFound(Code.POSITION_AFTER_HEAD, rule="api", game_id=request.game_id, asked=start, head=head)
        if request.game_id:
            return self._store.read_game(request.game_id, start=start, limit=request.limit, is_backwards=is_backwards)
        return self._store.read_all(start=start, limit=request.limit, is_backwards=is_backwards)
