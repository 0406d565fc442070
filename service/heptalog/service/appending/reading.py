"""Appends from the bytes of their requests, each event read once where it lies.

What is plainly in the form in which it will be recorded is read as it is. Anything else goes the long way through the
messages of the API, which says what is wrong, or that nothing is.
"""

from collections.abc import Iterator

from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from heptalog.internal.v1 import bytes_pb2
from heptalog.replay import codec
from heptalog.replay.errors import Code, HeptalogError, Malformed
from heptalog.replay.events import Event
from heptalog.service.appends import Append
from heptalog.service.config import EVENT_SIZE_MAX, EVENTS_PER_APPEND_MAX, MESSAGE_SIZE_MAX
from heptalog.service.strict import check_request
from heptalog.service.wire import append_of, expected_of
from heptalog.v1 import log_pb2


def append_in(data: bytes) -> Append:
    """The append in an AppendEventsRequest. Raises Malformed where it is none, or an event in it has no form."""
    return _plain(data) or _examined(data)


def appends_in(data: bytes) -> Iterator[tuple[int, Append | HeptalogError, int]]:
    """The appends in an AppendStreamRequest, each when it is asked for: its id, itself or its fault, its size.

    Raises Malformed for what is wrong with the message itself.
    """
    if len(data) > MESSAGE_SIZE_MAX:
        raise Malformed(Code.EVENT_TOO_LARGE, rule="api", field="", size=len(data), limit=MESSAGE_SIZE_MAX)
    try:
        message = bytes_pb2.AppendStreamRequest.FromString(data)
        is_plain = _is_plain(message, len(data))
        if not is_plain:
            # As it was before what is unknown in it was let go of.
            message = bytes_pb2.AppendStreamRequest.FromString(data)
            _check_known(message)
    except DecodeError:
        raise Malformed(Code.NOT_PROTOBUF, rule="api", field="") from None
    if not message.appends:
        raise Malformed(Code.FIELD_INVALID, rule="api", field="appends", problem="at least one")
    for one in message.appends:
        append = _read(one.append) if is_plain else None
        yield one.correlation_id, append or _examined_or_failed(one.append.SerializeToString()), one.append.ByteSize()


def _plain(data: bytes) -> Append | None:
    """The append in a request that has nothing unusual; None where somebody has to look."""
    try:
        request = bytes_pb2.AppendEventsRequest.FromString(data)
    except DecodeError:
        return None
    return _read(request) if len(data) <= MESSAGE_SIZE_MAX and _is_plain(request, len(data)) else None


def _is_plain(message: bytes_pb2.AppendEventsRequest | bytes_pb2.AppendStreamRequest, size: int) -> bool:
    """Whether a message is all of the bytes that it was read from; what is unknown in it is gone then."""
    message.DiscardUnknownFields()
    return message.ByteSize() == size


def _read(request: bytes_pb2.AppendEventsRequest) -> Append | None:
    if len(request.events) > EVENTS_PER_APPEND_MAX:
        return None
    events: list[Event] = []
    for data in request.events:
        event = codec.read_event(data) if len(data) <= EVENT_SIZE_MAX else None
        if event is None:
            return None
        events.append(event)
    try:
        expected = expected_of(request)
    except Malformed:
        return None
    return Append(request.game_id, expected, tuple(events), request.expected_hash, request.imported)


def _examined(data: bytes) -> Append:
    try:
        request = log_pb2.AppendEventsRequest.FromString(data)
    except DecodeError:
        raise Malformed(Code.NOT_PROTOBUF, rule="api", field="") from None
    check_request(request)
    return append_of(request)


def _examined_or_failed(data: bytes) -> Append | HeptalogError:
    try:
        return _examined(data)
    except HeptalogError as error:
        return error


def _check_known(message: bytes_pb2.AppendStreamRequest) -> None:
    """Raise Malformed where the envelope has unknown fields; those within an append are a fault of that one."""
    if len(UnknownFieldSet(message)):
        raise Malformed(Code.FIELD_UNKNOWN, rule="evidence", field="")
    for index, one in enumerate(message.appends):
        if len(UnknownFieldSet(one)):
            raise Malformed(Code.FIELD_UNKNOWN, rule="evidence", field=f"appends[{index}]")
