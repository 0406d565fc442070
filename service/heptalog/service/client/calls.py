"""What both clients share: requests and responses as our structs, statuses as our errors, and patience."""

import random
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, TypeAlias, TypeVar

from google.protobuf.message import Message
from msgspec import Struct
from msgspec.structs import replace

from heptalog.internal.v1 import bytes_pb2
from heptalog.replay import codec
from heptalog.replay.errors import Code, HeptalogError, Malformed
from heptalog.replay.events import Body, Event
from heptalog.replay.fold import Standing
from heptalog.replay.identity import uuid_of
from heptalog.replay.rules import Viewer
from heptalog.service import wire
from heptalog.service.appends import Append
from heptalog.service.config import MESSAGE_SIZE_MAX
from heptalog.service.forms import formed
from heptalog.service.recorded import READ_EVENTS, records_in
from heptalog.service.status import unpacked
from heptalog.service.store import GameEntry, Stored
from heptalog.service.structs import plain_of
from heptalog.service.subscribing import messages
from heptalog.v1 import audit_pb2, games_pb2, log_pb2

T = TypeVar("T", bound=Message)
# Is told of a game that is there and cannot be read, and why.
Unread: TypeAlias = Callable[[str, HeptalogError], object]

TIMEOUT_SECONDS: Final = 10.0
READ_TIMEOUT_SECONDS: Final = 600.0
# Years of play are folded again.
REBUILD_TIMEOUT_SECONDS: Final = 86_400.0
_LOG: Final = log_pb2.DESCRIPTOR.services_by_name["LogService"].full_name
OPTIONS: Final = [
    ("grpc.max_receive_message_length", MESSAGE_SIZE_MAX),
    ("grpc.max_send_message_length", MESSAGE_SIZE_MAX),
    ("grpc.keepalive_time_ms", 30_000),
    # gRPC's own patience is measured for crowds; ours must not run out before it has tried to connect again.
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 1_000),
]


class Retries(Struct, frozen=True):
    """How often a call is made again while the service is UNAVAILABLE, and how long it waits in between."""

    attempts: int = 6
    first_seconds: float = 0.05
    longest_seconds: float = 2.0

    def pauses(self) -> Iterator[float]:
        """The seconds to wait before each further attempt: doubling, with a little chance so that crowds disperse."""
        return islice(self._pauses(), self.attempts - 1)

    def endless_pauses(self) -> Iterator[float]:
        """The same without an end; none where nothing is made again."""
        return self._pauses() if self.attempts > 1 else iter(())

    def _pauses(self) -> Iterator[float]:
        seconds = self.first_seconds
        while True:
            yield seconds * random.uniform(0.5, 1.0)  # noqa: S311  # no secret hangs on it
            seconds = min(seconds * 2, self.longest_seconds)


class StateView(Struct, frozen=True):
    """A state as one viewer may see it."""

    standing: Standing
    view: dict[str, Any]


def new_id() -> str:
    """An id for a game or an event to which nobody has given one: a UUID of version 7, so later ones sort later."""
    return uuid_of(time.time_ns(), secrets.randbits(74))


def next_start(records: Sequence[Stored], start: int | None, *, has_game: bool, is_backwards: bool) -> int | None:
    """Where reading goes on after these, which were read from `start` on: one step from the last of them.

    That is by its sequence in one game, by its position among all.
    """
    if not records:
        return start
    last = records[-1]
    return (last.sequence if has_game else last.position) + (-1 if is_backwards else 1)


def is_all_read(start: int | None, *, left: int, limit: int, is_backwards: bool) -> bool:
    """Whether a reading that was cut had all it wanted already."""
    return (bool(limit) and not left) or (is_backwards and start is not None and start < 0)


def identified(event: Event) -> Event:
    """The event with an id, so that it can be sent again without being recorded again."""
    return event if event.event_id else replace(event, event_id=new_id())


def events_of(bodies: Sequence[Body], *, occurred_at: int, recorded_by: str) -> tuple[Event, ...]:
    """Bodies in envelopes of their own, ready to be sent and to be sent again."""
    return tuple(identified(Event(0, body, occurred_at=occurred_at, recorded_by=recorded_by)) for body in bodies)


def create_request(event: Event) -> games_pb2.CreateGameRequest:
    """The request that opens a game."""
    return _fitting(games_pb2.CreateGameRequest(event=codec.message_of(event)))


def append_request(append: Append) -> bytes_pb2.AppendEventsRequest:
    """The request that records events."""
    return _fitting(wire.append_request(append))


def _fitting(request: T) -> T:
    """The request, if gRPC takes it: what gRPC itself would say could mean other things too."""
    if (size := request.ByteSize()) > MESSAGE_SIZE_MAX:
        raise Malformed(Code.EVENT_TOO_LARGE, rule="api", size=size, limit=MESSAGE_SIZE_MAX)
    return request


def append_call(channel: Any) -> Any:
    """AppendEvents of a channel of either kind; its requests are the twins of those of the API."""
    return channel.unary_unary(
        f"/{_LOG}/AppendEvents",
        request_serializer=bytes_pb2.AppendEventsRequest.SerializeToString,
        response_deserializer=log_pb2.AppendEventsResponse.FromString,
    )


def append_stream_call(channel: Any) -> Any:
    """AppendStream of a channel of either kind; its requests are bytes already."""
    return channel.stream_stream(f"/{_LOG}/AppendStream", response_deserializer=log_pb2.AppendStreamResponse.FromString)


def read_call(channel: Any) -> Any:
    """ReadEvents of a channel of either kind, whose answers are lists of records."""
    return channel.unary_stream(
        READ_EVENTS,
        request_serializer=log_pb2.ReadEventsRequest.SerializeToString,
        response_deserializer=records_in,
    )


def read_request(game_id: str, start: int | None, limit: int, *, is_backwards: bool) -> log_pb2.ReadEventsRequest:
    """The request that reads records."""
    directions = log_pb2.ReadEventsRequest
    return formed(
        log_pb2.ReadEventsRequest,
        game_id=game_id,
        start=start,
        limit=limit,
        direction=directions.DIRECTION_BACKWARDS if is_backwards else directions.DIRECTION_FORWARDS,
    )


def subscribe_call(channel: Any) -> Any:
    """Subscribe of a channel of either kind, whose answers are messages of a feed."""
    return channel.unary_stream(
        f"/{_LOG}/Subscribe",
        request_serializer=log_pb2.SubscribeRequest.SerializeToString,
        response_deserializer=messages.read,
    )


def state_request(game_id: str, sequence: int | None, viewer: Viewer) -> games_pb2.GetStateRequest:
    """The request for a state, as one viewer may see it."""
    return formed(games_pb2.GetStateRequest, game_id=game_id, sequence=sequence, viewer=wire.viewer_message(viewer))


def legal_request(game_id: str, seat: int | None, page_token: str, page_size: int) -> games_pb2.ListLegalMovesRequest:
    """The request for one page of legal moves."""
    return formed(
        games_pb2.ListLegalMovesRequest, game_id=game_id, seat=seat, page_token=page_token, page_size=page_size
    )


def games_of(response: games_pb2.ListGamesResponse, unread: Unread | None) -> Iterator[GameEntry]:
    """The games of a page; in the places of those that cannot be read, these are told."""
    games = map(wire.entry_of, response.games)
    given = 0
    for message in response.unread:
        yield from islice(games, message.games_before - given)
        given = message.games_before
        if unread is not None:
            unread(message.game_id, unpacked(message.failure))
    yield from games


def checkpoints_request(after: int) -> audit_pb2.ListCheckpointsRequest:
    """The request for the checkpoints of a greater size."""
    return formed(audit_pb2.ListCheckpointsRequest, after_size=after)


def state_of(response: games_pb2.GetStateResponse) -> StateView:
    """A state as one viewer sees it."""
    return StateView(wire.standing_of(response.standing), plain_of(response.view))


def moves_of(response: games_pb2.ListLegalMovesResponse) -> list[Body]:
    """Moves as bodies."""
    return [codec.event_of(move).body for move in response.moves]
