"""The client for asyncio: the same calls as the one for threads, awaited."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

import grpc
from google.protobuf.message import Message

from heptalog.replay.events import Body, Event, GameStarted
from heptalog.replay.fold import Standing
from heptalog.replay.rules import ARBITER, Viewer
from heptalog.service import wire
from heptalog.service.appends import Append, Receipt
from heptalog.service.asked import Question, Rebuilding, View
from heptalog.service.backup.messages import backup_request, part_of
from heptalog.service.backup.parts import Have, Part, after
from heptalog.service.client import calls
from heptalog.service.client.answers import AsyncQueryAnswer
from heptalog.service.client.async_joined import AsyncJoinedAppends
from heptalog.service.client.async_streams import AsyncAppendStream
from heptalog.service.client.calls import Retries, StateView, Unread
from heptalog.service.client.feeds import FeedPlace
from heptalog.service.client.joint import AppendRequest
from heptalog.service.client.line import Line, is_worth_retrying, may_go_on
from heptalog.service.evidence.proofs import Proof
from heptalog.service.examining import messages as examining
from heptalog.service.examining.told import Alternative, Difference, Examined
from heptalog.service.forms import formed
from heptalog.service.store import Checkpoint, GameEntry, GameFilter, Head, Stored
from heptalog.service.subscribing.told import FeedFilter, FeedMessage
from heptalog.v1 import (
    admin_pb2,
    admin_pb2_grpc,
    audit_pb2,
    audit_pb2_grpc,
    games_pb2,
    games_pb2_grpc,
    query_pb2,
    query_pb2_grpc,
)

T = TypeVar("T")


class AsyncClient:
    """A connection to a service at `host:port`, for one event loop.

    Every call raises what the service raised, as the same error.

    Calls are made again while the service is unavailable; that is safe, since every event has its id before it is
    first sent. Only `bundle`, `verify` and `rebuild_tables` are not. `timeout` is the deadline in seconds of one
    attempt, of whatever does not come as a stream. `joins_appends` has appends that are under way at the same time
    share a call, which costs a fraction of a call each; nobody is told anything else for it.
    """

    def __init__(
        self,
        target: str,
        *,
        timeout: float = calls.TIMEOUT_SECONDS,
        retries: Retries | None = None,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        joins_appends: bool = True,
    ) -> None:
        self._timeout = timeout
        self._retries = retries or Retries()
        self._pause = pause
        self._line = Line(target)
        self._channel = grpc.aio.insecure_channel(target, options=calls.OPTIONS)
        channel = self._line.over(self._channel)
        self._games = games_pb2_grpc.GamesServiceStub(channel)
        self._admin = admin_pb2_grpc.AdminServiceStub(channel)
        self._append_events = calls.append_call(channel)
        self._append_stream = calls.append_stream_call(channel)
        self._joined = AsyncJoinedAppends(self._append_stream, self._appended, timeout) if joins_appends else None
        self._read = calls.read_call(channel)
        self._subscribe = calls.subscribe_call(channel)
        self._audit = audit_pb2_grpc.AuditServiceStub(channel)
        self._history = query_pb2_grpc.QueryServiceStub(channel)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of the connection. Whoever still waits for an answer is told so."""
        self._line.is_closed = True
        if self._joined is not None:
            await self._joined.closing()
        await self._channel.close()
        if self._joined is not None:
            await self._joined.close()

    async def create_game(
        self, started: GameStarted, *, game_id: str = "", occurred_at: int = 0, recorded_by: str = ""
    ) -> "AsyncRecorder":
        """Open a game and record into it. Without a `game_id` one is made here, so that a retry is recognised."""
        event = calls.identified(
            Event(0, started, game_id=game_id or calls.new_id(), occurred_at=occurred_at, recorded_by=recorded_by)
        )
        request = calls.create_request(event)
        receipt = wire.created_of(await self._call(self._games.CreateGame, request))
        return AsyncRecorder(self, receipt.game_id, receipt.head)

    async def resume(self, game_id: str) -> "AsyncRecorder":
        """Go on recording into a game that exists."""
        return AsyncRecorder(self, game_id, (await self.game(game_id)).head)

    async def append(self, append: Append) -> Receipt:
        """Record events; every one of them should have its id, or a retry records it twice."""
        request = calls.append_request(append)
        if self._joined is None:
            return await self._appended(append, request, self._timeout)
        return await self._joined.append(append, request)

    def stream(self) -> AsyncAppendStream:
        """A call on which many appends are on their way at a time, to be entered.

        `await stream.append(append)` gives a future, which is awaited for the receipt.
        """
        return AsyncAppendStream(self._append_stream, self._line, self._timeout, self._retries, self._pause)

    async def read(
        self, game_id: str = "", *, start: int | None = None, limit: int = 0, is_backwards: bool = False
    ) -> AsyncGenerator[Stored, None]:
        """The records of one game by sequence, or of all by position, going on by itself after a cut connection."""
        left = limit
        pauses = self._retries.pauses()
        while True:
            request = calls.read_request(game_id, start, left, is_backwards=is_backwards)
            stream = self._read(request, timeout=calls.READ_TIMEOUT_SECONDS)
            try:
                async for records in stream:
                    for stored in records:
                        yield stored
                    left = max(left - len(records), 0)
                    start = calls.next_start(records, start, has_game=bool(game_id), is_backwards=is_backwards)
                    pauses = self._retries.pauses()
                return
            except grpc.aio.AioRpcError as error:
                seconds = self._line.pause_after(error, pauses, is_worth_it=is_worth_retrying(error))
                if calls.is_all_read(start, left=left, limit=limit, is_backwards=is_backwards):
                    return
                await self._pause(seconds)
            except asyncio.CancelledError:
                self._line.check_cancelled()
                raise
            finally:
                stream.cancel()

    async def subscribe(
        self, asked: FeedFilter | None = None, *, after: int | None = 0, is_patient: bool = True
    ) -> AsyncGenerator[FeedMessage, None]:
        """What was recorded and what is being recorded, with what followed from it, as one viewer, without end.

        It begins after the position `after`, 0 being the beginning, and where that is None with what is recorded from
        now on. Goes on by itself after a cut connection; a server that is away is waited for as long as that takes once
        it has told something, or without `is_patient` no longer than by other calls. Whoever keeps the `position` of
        the last message that was dealt with goes on after it another time, and is told everything at least once.
        """
        place = FeedPlace(asked or FeedFilter(), after)
        pauses = self._retries.pauses()
        while True:
            stream = self._subscribe(place.request(), timeout=calls.READ_TIMEOUT_SECONDS)
            try:
                async for message in stream:
                    if place.takes(message):
                        yield message
                    pauses = self._retries.endless_pauses() if is_patient else self._retries.pauses()
            except grpc.aio.AioRpcError as error:
                seconds = self._line.pause_after(error, pauses, is_worth_it=may_go_on(error))
                await self._pause(seconds)
            except asyncio.CancelledError:
                self._line.check_cancelled()
                raise
            finally:
                stream.cancel()

    async def game(self, game_id: str) -> GameEntry:
        """What a game is, and its head."""
        return wire.entry_of((await self._game(game_id)).game)

    async def standing(self, game_id: str) -> Standing:
        """How a game stands."""
        return wire.standing_of((await self._game(game_id)).standing)

    async def games(
        self, wanted: GameFilter | None = None, *, page_size: int = 0, unread: Unread | None = None
    ) -> AsyncIterator[GameEntry]:
        """Every game that fits, in the order of creation, page by page.

        Where a game cannot be read, because its record is damaged, `unread` is called with its id and why, and the list
        goes on; absent, that is raised as Corrupt.
        """
        token = ""
        while True:
            request = wire.list_request(wanted or GameFilter(), token, page_size, with_unread=unread is not None)
            response = await self._call(self._games.ListGames, request)
            for entry in calls.games_of(response, unread):
                yield entry
            token = response.next_page_token
            if not token:
                return

    async def state(self, game_id: str, *, sequence: int | None = None, viewer: Viewer = ARBITER) -> StateView:
        """The state after an event, by default the last, as one viewer may see it."""
        request = calls.state_request(game_id, sequence, viewer)
        return calls.state_of(await self._call(self._games.GetState, request))

    async def legal(self, game_id: str, *, seat: int | None = None, page_size: int = 0) -> AsyncIterator[Body]:
        """Every move that would be accepted now, of one seat or of all, page by page."""
        token = ""
        while True:
            request = calls.legal_request(game_id, seat, token, page_size)
            response = await self._call(self._games.ListLegalMoves, request)
            for move in calls.moves_of(response):
                yield move
            token = response.next_page_token
            if not token:
                return

    async def checkpoint(self, *, size: int | None = None, is_fresh: bool = False) -> Checkpoint:
        """The latest signed checkpoint, that of a size, or a fresh one over all that is durable.

        Whoever signed it: `heptalog.replay.evidence.checkpoints.open_checkpoint` checks that.
        """
        request = formed(audit_pb2.GetCheckpointRequest, fresh=is_fresh, size=size)
        return wire.checkpoint_of((await self._call(self._audit.GetCheckpoint, request)).checkpoint)

    async def checkpoints(self, *, after: int = 0) -> AsyncGenerator[Checkpoint, None]:
        """Every checkpoint of a greater size that was kept, ascending; goes on by itself after a cut connection."""
        pauses = self._retries.pauses()
        while True:
            request = calls.checkpoints_request(after)
            stream = self._audit.ListCheckpoints(request, timeout=calls.READ_TIMEOUT_SECONDS)
            try:
                async for response in stream:
                    for checkpoint in map(wire.checkpoint_of, response.checkpoints):
                        yield checkpoint
                        after = checkpoint.size
                    pauses = self._retries.pauses()
                return
            except grpc.aio.AioRpcError as error:
                seconds = self._line.pause_after(error, pauses, is_worth_it=may_go_on(error))
                await self._pause(seconds)
            except asyncio.CancelledError:
                self._line.check_cancelled()
                raise
            finally:
                stream.cancel()

    async def inclusion_proof(self, position: int, *, size: int = 0) -> Proof:
        """What shows that the event at a position is in the log of a size, 0 being that of the latest checkpoint."""
        request = formed(audit_pb2.GetInclusionProofRequest, position=position, size=size)
        return wire.inclusion_of(await self._call(self._audit.GetInclusionProof, request))

    async def consistency_proof(self, first: int, *, second: int = 0) -> Proof:
        """What shows that the log of the second size, 0 as above, begins with that of the first."""
        request = formed(audit_pb2.GetConsistencyProofRequest, first_size=first, second_size=second)
        return wire.consistency_of(await self._call(self._audit.GetConsistencyProof, request))

    async def cosign(self, note: str) -> Checkpoint:
        """Bring a checkpoint back with the signatures of a witness; it is given with all that it has then."""
        request = formed(audit_pb2.AddCosignatureRequest, note=note)
        return wire.checkpoint_of((await self._call(self._audit.AddCosignature, request)).checkpoint)

    async def verify(self, game_id: str) -> AsyncGenerator[Examined, None]:
        """Have a game examined, and hear how far that is; the last is the report, of a bad game too.

        Is not asked for again by itself.
        """
        stream = self._audit.VerifyGame(examining.verify_request(game_id), timeout=calls.READ_TIMEOUT_SECONDS)
        with self._line.hearing(stream):
            async for response in stream:
                yield examining.examined_of(response)

    async def diff(self, game_id: str, other_id: str, *, with_envelope: bool = False) -> Difference:
        """Where two games part; ids, recording times and hashes count only `with_envelope`."""
        request = examining.diff_request(game_id, other_id, with_envelope=with_envelope)
        return examining.difference_of(await self._call(self._audit.DiffGames, request))

    async def diff_options(self, game_id: str, options: Mapping[str, Any]) -> Alternative:
        """What changes under other options, named as in a game file; those that are not named stay."""
        request = examining.diff_options_request(game_id, options)
        return examining.alternative_of(await self._call(self._audit.DiffGames, request))

    async def bundle(self, game_id: str, *, viewer: Viewer, is_withheld: bool = False) -> AsyncGenerator[bytes, None]:
        """The file that proves a game without a server, as one viewer may have it, in pieces.

        `is_withheld` keeps back what the rules have not shown, though the game is over. Is not asked for again by
        itself: pieces of two files would not fit.
        """
        asked = wire.viewer_message(viewer)
        request = formed(audit_pb2.ExportBundleRequest, game_id=game_id, viewer=asked, withheld=is_withheld)
        stream = self._audit.ExportBundle(request, timeout=calls.READ_TIMEOUT_SECONDS)
        with self._line.hearing(stream):
            async for response in stream:
                yield response.data

    async def backup(self, have: Have) -> AsyncGenerator[Part, None]:
        """What a backup does not have yet, as parts of one moment.

        After a cut connection it goes on by itself where it was, with a new moment, which goes further.
        """
        pauses = self._retries.pauses()
        while True:
            request = backup_request(have)
            stream = self._admin.Backup(request, timeout=calls.READ_TIMEOUT_SECONDS)
            try:
                async for message in stream:
                    part = part_of(message)
                    yield part
                    # Only what has come further is worth as many attempts again.
                    if (more := after(have, part)) != have:
                        have, pauses = more, self._retries.pauses()
                return
            except grpc.aio.AioRpcError as error:
                seconds = self._line.pause_after(error, pauses, is_worth_it=may_go_on(error))
                await self._pause(seconds)
            except asyncio.CancelledError:
                self._line.check_cancelled()
                raise
            finally:
                stream.cancel()

    def query(self, sql: str, *, rows_max: int | None = None, timeout: float | None = None) -> AsyncQueryAnswer:
        """The answer to one SELECT over the whole history, to be entered and read.

        `timeout` is for the whole, waiting included; without one it is the server that says how long is too long.
        """
        request = wire.query_request(Question(sql, rows_max, timeout))
        return AsyncQueryAnswer(self._history.Query, self._line, request, timeout, self._retries.pauses(), self._pause)

    async def list_views(self) -> tuple[View, ...]:
        """The dictionary: every table and view that can be asked, and what their columns mean."""
        response = await self._call(self._history.ListViews, query_pb2.ListViewsRequest())
        return tuple(map(wire.view_of, response.views))

    async def rebuild_tables(self) -> AsyncGenerator[Rebuilding, None]:
        """Have the tables made anew, and hear how far they are; at the end the new ones answer.

        Is not asked for again by itself: to be cut off says nothing of the work.
        """
        stream = self._admin.RebuildTables(admin_pb2.RebuildTablesRequest(), timeout=calls.REBUILD_TIMEOUT_SECONDS)
        with self._line.hearing(stream):
            async for response in stream:
                yield wire.rebuilding_of(response)

    async def _game(self, game_id: str) -> games_pb2.GetGameResponse:
        request = formed(games_pb2.GetGameRequest, game_id=game_id)
        return await self._call(self._games.GetGame, request)

    async def _appended(self, append: Append, request: AppendRequest, seconds: float) -> Receipt:
        """Append by a call of its own, whose first attempt has so many seconds."""
        return wire.appended_of(append.game_id, await self._call(self._append_events, request, seconds))

    async def _call(self, method: Callable[..., Awaitable[T]], request: Message, seconds: float | None = None) -> T:
        pauses = self._retries.pauses()
        timeout = self._timeout if seconds is None else seconds
        while True:
            try:
                return await method(request, timeout=timeout)
            except grpc.aio.AioRpcError as error:
                pause = self._line.pause_after(error, pauses, is_worth_it=is_worth_retrying(error))
                await self._pause(pause)
                timeout = self._timeout
            except asyncio.CancelledError:
                self._line.check_cancelled()
                raise


class AsyncRecorder:
    """Records into one game, and knows its head from its own last receipt."""

    def __init__(self, client: AsyncClient, game_id: str, head: Head) -> None:
        self._client = client
        self.game_id = game_id
        self.head = head

    def __repr__(self) -> str:
        return f"{type(self).__name__}(game_id={self.game_id!r}, sequence={self.head.sequence})"

    async def append(self, *bodies: Body, occurred_at: int = 0, recorded_by: str = "") -> Receipt:
        """Record what happened next, all of it or nothing. Raises Refused where the rules say no."""
        events = calls.events_of(bodies, occurred_at=occurred_at, recorded_by=recorded_by)
        receipt = await self._client.append(Append(self.game_id, self.head.sequence, events))
        self.head = receipt.head
        return receipt

    async def standing(self) -> Standing:
        """How the game stands."""
        return await self._client.standing(self.game_id)
