"""What both clients share: requests and responses as our structs, statuses as our errors, and patience."""

import random
import uuid
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeVar

import grpc
from google.protobuf import json_format
from google.protobuf.message import Message
from msgspec import Struct
from msgspec.structs import replace

from heptalog.replay import codec
from heptalog.replay.errors import Code, HeptalogError, Malformed
from heptalog.replay.events import Body, Event, GameStarted
from heptalog.replay.fold import Standing
from heptalog.replay.rules import ARBITER, PUBLIC, Viewer
from heptalog.service.appends import Append, Receipt
from heptalog.service.config import MESSAGE_SIZE_MAX
from heptalog.service.status import error_from
from heptalog.service.store import NO_GAME, GameEntry, GameFilter, Head, Status, Stored
from heptalog.v1 import event_pb2, games_pb2, log_pb2

T = TypeVar("T", bound=Message)

TIMEOUT_SECONDS: Final = 10.0
READ_TIMEOUT_SECONDS: Final = 600.0
OPTIONS: Final = [
    ("grpc.max_receive_message_length", MESSAGE_SIZE_MAX),
    ("grpc.max_send_message_length", MESSAGE_SIZE_MAX),
    ("grpc.keepalive_time_ms", 30_000),
    # gRPC's own patience is measured for crowds; ours must not run out before it has tried to connect again.
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 1_000),
]
_STATUSES: Final = {
    Status.RUNNING: games_pb2.GAME_STATUS_RUNNING,
    Status.WON: games_pb2.GAME_STATUS_WON,
    Status.CLOSED: games_pb2.GAME_STATUS_CLOSED,
}


class Retries(Struct, frozen=True):
    """How often a call is made again while the service is UNAVAILABLE, and how long it waits in between."""

    attempts: int = 6
    first_seconds: float = 0.05
    longest_seconds: float = 2.0

    def pauses(self) -> Iterator[float]:
        """The seconds to wait before each further attempt: doubling, with a little chance so that crowds disperse."""
        seconds = self.first_seconds
        for _ in range(self.attempts - 1):
            yield seconds * random.uniform(0.5, 1.0)  # noqa: S311  # no secret hangs on it
            seconds = min(seconds * 2, self.longest_seconds)


class StateView(Struct, frozen=True):
    """A state as one viewer may see it."""

    standing: Standing
    view: dict[str, Any]


def is_worth_retrying(error: grpc.RpcError | grpc.aio.AioRpcError) -> bool:
    """Whether the same call may succeed by itself in a moment."""
    return bool(error.code() is grpc.StatusCode.UNAVAILABLE)


def failure(error: Any) -> HeptalogError:
    """The error that the service raised, from what gRPC raised here."""
    metadata = [(item[0], item[1]) for item in error.trailing_metadata() or ()]
    return error_from(error.code(), error.details() or "", metadata)


def new_game_id() -> str:
    """An id for a game whose name nobody has chosen."""
    return str(uuid.uuid4())


def next_start(stored: Stored, *, has_game: bool, is_backwards: bool) -> int:
    """Where reading goes on after this record: its sequence in one game, its position among all, and one step."""
    return (stored.sequence if has_game else stored.position) + (-1 if is_backwards else 1)


def is_all_read(start: int | None, *, left: int, limit: int, is_backwards: bool) -> bool:
    """Whether a reading that was cut had all it wanted already."""
    return (bool(limit) and not left) or (is_backwards and start is not None and start < 0)


def identified(event: Event) -> Event:
    """The event with an id, so that it can be sent again without being recorded again."""
    return event if event.event_id else replace(event, event_id=str(uuid.uuid4()))


def events_of(bodies: Sequence[Body], *, occurred_at: int, recorded_by: str) -> tuple[Event, ...]:
    """Bodies in envelopes of their own, ready to be sent and to be sent again."""
    return tuple(identified(Event(0, body, occurred_at=occurred_at, recorded_by=recorded_by)) for body in bodies)


def create_request(event: Event) -> games_pb2.CreateGameRequest:
    """The request that opens a game."""
    return _fitting(games_pb2.CreateGameRequest(event=codec.message_of(event)))


def append_request(append: Append) -> log_pb2.AppendEventsRequest:
    """The request that records events."""
    request = log_pb2.AppendEventsRequest(
        game_id=append.game_id,
        expected_hash=append.expected_hash,
        events=[codec.message_of(event) for event in append.events],
        imported=append.is_imported,
    )
    if append.expected == NO_GAME:
        request.expected_no_game = True
    else:
        request.expected_sequence = append.expected
    return _fitting(request)


def _fitting(request: T) -> T:
    """The request, if gRPC takes it: what gRPC itself would say could mean other things too."""
    if (size := request.ByteSize()) > MESSAGE_SIZE_MAX:
        raise Malformed(Code.EVENT_TOO_LARGE, rule="api", size=size, limit=MESSAGE_SIZE_MAX)
    return request


def read_request(game_id: str, start: int | None, limit: int, *, is_backwards: bool) -> log_pb2.ReadEventsRequest:
    """The request that reads records."""
    directions = log_pb2.ReadEventsRequest
    return log_pb2.ReadEventsRequest(
        game_id=game_id,
        start=start,
        limit=limit,
        direction=directions.DIRECTION_BACKWARDS if is_backwards else directions.DIRECTION_FORWARDS,
    )


def list_request(wanted: GameFilter, page_token: str, page_size: int) -> games_pb2.ListGamesRequest:
    """The request for one page of games."""
    request = games_pb2.ListGamesRequest(
        page_size=page_size,
        page_token=page_token,
        ruleset=wanted.ruleset,
        player_id=wanted.player_id,
        tournament=wanted.tournament,
        status=_STATUSES[wanted.status] if wanted.status else games_pb2.GAME_STATUS_UNSPECIFIED,
    )
    if wanted.created_from:
        request.created_from.CopyFrom(codec.timestamp(wanted.created_from))
    if wanted.created_before:
        request.created_before.CopyFrom(codec.timestamp(wanted.created_before))
    return request


def state_request(game_id: str, sequence: int | None, viewer: Viewer) -> games_pb2.GetStateRequest:
    """The request for a state, as one viewer may see it."""
    roles = games_pb2.Viewer
    if viewer == ARBITER:
        who = games_pb2.Viewer(role=roles.ROLE_ARBITER)
    elif viewer == PUBLIC:
        who = games_pb2.Viewer(role=roles.ROLE_PUBLIC)
    else:
        who = games_pb2.Viewer(role=roles.ROLE_SEAT, seat=viewer.seat)
    return games_pb2.GetStateRequest(game_id=game_id, sequence=sequence, viewer=who)


def legal_request(game_id: str, seat: int | None, page_token: str, page_size: int) -> games_pb2.ListLegalMovesRequest:
    """The request for one page of legal moves."""
    return games_pb2.ListLegalMovesRequest(game_id=game_id, seat=seat, page_token=page_token, page_size=page_size)


def receipt_of(game_id: str, response: log_pb2.AppendEventsResponse) -> Receipt:
    """The receipt of an append."""
    return Receipt(game_id, head_of(response.head), tuple(response.sequences), response.deduplicated)


def created_of(response: games_pb2.CreateGameResponse) -> Receipt:
    """The receipt of a new game."""
    return Receipt(response.game_id, head_of(response.head), (0,), response.deduplicated)


def head_of(message: games_pb2.Head) -> Head:
    """A head."""
    return Head(message.sequence, message.hash, message.position)


def stored_of(message: log_pb2.RecordedEvent) -> Stored:
    """A record, byte for byte."""
    event = message.event
    # Canonical bytes are what was recorded, so writing the message again gives the very record.
    return Stored(message.position, event.game_id, event.sequence, event.SerializeToString(deterministic=True))


def entry_of(message: games_pb2.Game) -> GameEntry:
    """A game as a list shows it."""
    started = codec.event_of(event_pb2.Event(game_started=message.started)).body
    assert isinstance(started, GameStarted), "what a game is started with"
    return GameEntry(
        number=0,
        game_id=message.game_id,
        ruleset=message.ruleset,
        rules_version=message.rules_version,
        started=started,
        created_at=message.created_at.seconds * codec.SECOND + message.created_at.nanos,
        status=next(status for status, number in _STATUSES.items() if number == message.status),
        head=head_of(message.head),
    )


def standing_of_message(message: games_pb2.Standing) -> Standing:
    """A standing."""
    return Standing(
        message.sequence,
        tuple(message.scores),
        tuple(message.to_act),
        message.round,
        message.over,
        tuple(message.winners),
    )


def state_of(response: games_pb2.GetStateResponse) -> StateView:
    """A state as one viewer sees it."""
    return StateView(standing_of_message(response.standing), _whole(json_format.MessageToDict(response.view)))


def _whole(value: Any) -> Any:
    """The numbers of a view as they are in the rules, whole; JSON in protobuf has floats only."""
    match value:
        case dict():
            return {name: _whole(item) for name, item in value.items()}
        case list():
            return [_whole(item) for item in value]
        case float():
            return int(value)
        case _:
            return value


def moves_of(response: games_pb2.ListLegalMovesResponse) -> list[Body]:
    """Moves as bodies."""
    return [codec.event_of(move).body for move in response.moves]
