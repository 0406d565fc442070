"""GamesService: which games there are, how they stand, what may be played. Each call decodes, asks, encodes."""

from collections.abc import Callable
from functools import partial
from itertools import accumulate
from typing import Final, TypeVar

import msgspec
from google.protobuf import json_format
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct as StructMessage
from msgspec.structs import replace

from heptalog.replay import codec
from heptalog.replay.errors import Code, HeptalogError, Malformed, NotFound
from heptalog.replay.events import Body, Event
from heptalog.replay.rules import ARBITER
from heptalog.service.answering import Context, Readers, answers
from heptalog.service.appending.appender import Appender
from heptalog.service.appends import Append
from heptalog.service.config import MESSAGE_SIZE_MAX
from heptalog.service.listing import UnreadGame, listed
from heptalog.service.pages import page_size, place_of, token_for
from heptalog.service.positions import Position, Positions
from heptalog.service.status import packed
from heptalog.service.store import NO_GAME, GameEntry, Head, LogStore
from heptalog.service.wire import (
    created_message,
    event_at,
    filter_of,
    game_message,
    head_message,
    standing_message,
    viewer_of,
)
from heptalog.v1 import games_pb2, games_pb2_grpc

T = TypeVar("T", bound=Message)

_PAGE_BYTES: Final = MESSAGE_SIZE_MAX // 2


class GamesServicer(games_pb2_grpc.GamesServiceServicer):
    """Opens games through the one writer, and answers how they stand."""

    def __init__(
        self, appender: Appender, store: LogStore, positions: Positions, readers: Readers, new_id: Callable[[], str]
    ) -> None:
        self._new_id = new_id
        self._appender = appender
        self._store = store
        self._positions = positions
        self._readers = readers

    @answers
    async def CreateGame(self, request: games_pb2.CreateGameRequest, context: Context) -> games_pb2.CreateGameResponse:
        if not request.HasField("event"):
            raise Malformed(Code.BODY_MISSING, rule="api", field="event")
        try:
            event = event_at(request.event, 0)
            game_id = event.game_id or self._new_id()
            append = Append(game_id, NO_GAME, (replace(event, game_id=game_id),))
            receipt = await self._appender.append(append)
        except HeptalogError as error:
            raise _in_event(error) from None
        return created_message(receipt)

    @answers
    async def GetGame(self, request: games_pb2.GetGameRequest, context: Context) -> games_pb2.GetGameResponse:
        def look() -> tuple[GameEntry, Position]:
            entry = self._store.game(request.game_id)
            if entry is None:
                raise NotFound(Code.GAME_NOT_FOUND, rule="api", game_id=request.game_id)
            return entry, self._positions.at(request.game_id, entry.head.sequence)

        entry, position = await self._readers.run(look)
        return games_pb2.GetGameResponse(game=game_message(entry), standing=standing_message(position.standing))

    @answers
    async def ListGames(self, request: games_pb2.ListGamesRequest, context: Context) -> games_pb2.ListGamesResponse:
        size = page_size(request.page_size)
        place = place_of(request, request.page_token)
        after = 0 if place is None else place.after
        wanted = filter_of(request)
        look = partial(listed, self._store) if request.with_unread else self._store.games
        # One more than fits tells whether there is another page.
        entries = await self._readers.run(lambda: look(wanted, after=after, limit=size + 1))
        page = _first_of([_listed_message(entry) for entry in entries[:size]])
        token = token_for(request, after=entries[len(page) - 1].number) if len(entries) > len(page) else ""
        response = games_pb2.ListGamesResponse(next_page_token=token)
        for message in page:
            if isinstance(message, games_pb2.Game):
                response.games.append(message)
            else:
                message.games_before = len(response.games)
                response.unread.append(message)
        return response

    @answers
    async def GetState(self, request: games_pb2.GetStateRequest, context: Context) -> games_pb2.GetStateResponse:
        sequence = request.sequence if request.HasField("sequence") else None
        viewer = viewer_of(request.viewer) if request.HasField("viewer") else ARBITER

        def look() -> tuple[Position, bytes]:
            position = self._positions.at(request.game_id, sequence)
            return position, msgspec.json.encode(position.view(viewer))

        position, view = await self._readers.run(look)
        return games_pb2.GetStateResponse(
            standing=standing_message(position.standing), view=json_format.Parse(view, StructMessage())
        )

    @answers
    async def ListLegalMoves(
        self, request: games_pb2.ListLegalMovesRequest, context: Context
    ) -> games_pb2.ListLegalMovesResponse:
        size = page_size(request.page_size)
        place = place_of(request, request.page_token)
        skip, sequence = (0, None) if place is None else (place.after, place.at)
        seat = request.seat if request.HasField("seat") else None

        def look() -> tuple[Position, list[Body], Head]:
            position = self._positions.at(request.game_id, sequence)
            moves = self._positions.moves(position, seat=seat, skip=skip, count=size + 1)
            return position, moves, self._positions.head_at(request.game_id, position.sequence)

        position, moves, head = await self._readers.run(look)
        token = token_for(request, after=skip + size, at=position.sequence) if len(moves) > size else ""
        return games_pb2.ListLegalMovesResponse(
            moves=[codec.message_of(Event(0, move)) for move in moves[:size]],
            head=head_message(head),
            next_page_token=token,
        )


def _in_event(error: HeptalogError) -> HeptalogError:
    """The error of an append of one event, with the paths of a request that has just this one."""
    facts = {name: fact for name, fact in error.facts.items() if name != "index"}
    if "field" in facts:
        facts["field"] = str(facts["field"]).replace("events[0]", "event", 1)
    return type(error)(error.code, rule=error.rule, **facts)


def _listed_message(entry: GameEntry | UnreadGame) -> games_pb2.Game | games_pb2.UnreadGame:
    if isinstance(entry, UnreadGame):
        return games_pb2.UnreadGame(game_id=entry.game_id, failure=packed(entry.error))
    return game_message(entry)


def _first_of(games: list[T]) -> list[T]:
    """As many as one message holds, at least one: a game may have a great many tags."""
    sizes = accumulate(game.ByteSize() for game in games)
    return games[: max(1, sum(size <= _PAGE_BYTES for size in sizes))]
