"""Between the messages of a feed and its structs, both ways side by side."""

from google.protobuf.empty_pb2 import Empty

from heptalog.internal.v1 import bytes_pb2
from heptalog.replay import codec
from heptalog.replay.rules import ARBITER
from heptalog.service.followed import followed_in, outcome_messages
from heptalog.service.forms import formed
from heptalog.service.subscribing.told import (
    CaughtUp,
    FeedBatch,
    FeedEvent,
    FeedFilter,
    FeedMessage,
    FellBehind,
    Heartbeat,
)
from heptalog.service.wire import nanoseconds, standing_message, standing_of, viewer_message, viewer_of
from heptalog.v1 import log_pb2


def subscribe_request(asked: FeedFilter, after: int | None) -> log_pb2.SubscribeRequest:
    """The request for a feed from after a position on; from now on without one."""
    fields = {"now": True} if after is None else {"after_position": after}
    return formed(
        log_pb2.SubscribeRequest,
        game_id=asked.game_id,
        tournament=asked.tournament,
        ruleset=asked.ruleset,
        viewer=viewer_message(asked.viewer),
        withheld=asked.is_withheld,
        **fields,
    )


def filter_of(request: log_pb2.SubscribeRequest) -> FeedFilter:
    """What a request wants to be told, and as whom."""
    viewer = viewer_of(request.viewer) if request.HasField("viewer") else ARBITER
    return FeedFilter(request.game_id, request.tournament, request.ruleset, viewer, request.withheld)


def start_of(request: log_pb2.SubscribeRequest) -> int | None:
    """After which position a request begins; None is from now on."""
    return None if request.now else request.after_position


def written(message: FeedMessage) -> bytes:
    """A SubscribeResponse as it is sent."""
    response = bytes_pb2.SubscribeResponse(position=message.position)
    match message:
        case FeedBatch(previous_position=previous, events=events):
            response.batch.previous_position = previous
            for event in events:
                _add(response.batch, event)
        case CaughtUp():
            response.caught_up.CopyFrom(Empty())
        case FellBehind():
            response.fell_behind.CopyFrom(Empty())
        case Heartbeat(time=time):
            response.heartbeat.CopyFrom(codec.timestamp(time))
    # The fields of outcomes have no order of their own, and who may not tell two games apart gets the same bytes.
    return response.SerializeToString(deterministic=True)


def _add(batch: bytes_pb2.FeedBatch, event: FeedEvent) -> None:
    message = batch.events.add(
        position=event.position,
        game_id=event.game_id,
        sequence=event.sequence,
        event=event.record,
        words=event.words,
        unread=event.unread,
    )
    if event.standing is not None:
        message.standing.CopyFrom(standing_message(event.standing))
    message.outcomes.extend(outcome_messages(event.followed))


def read(data: bytes) -> FeedMessage | None:
    """A SubscribeResponse as it is received; None of a kind that is not known here. Raises DecodeError otherwise."""
    response = bytes_pb2.SubscribeResponse.FromString(data)
    match response.WhichOneof("message"):
        case "batch":
            events = tuple(map(_event, response.batch.events))
            return FeedBatch(response.batch.previous_position, response.position, events)
        case "caught_up":
            return CaughtUp(response.position)
        case "fell_behind":
            return FellBehind(response.position)
        case "heartbeat":
            return Heartbeat(response.position, nanoseconds(response.heartbeat))
        case _:
            return None


def _event(message: bytes_pb2.FeedEvent) -> FeedEvent:
    return FeedEvent(
        message.position,
        message.game_id,
        message.sequence,
        message.event,
        standing_of(message.standing) if message.HasField("standing") else None,
        followed_in(message.outcomes),
        tuple(message.words),
        message.unread,
    )
