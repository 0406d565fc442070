"""Failures as gRPC statuses with typed details, and back: total over the codes, and the same table on both sides."""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import grpc
from google.protobuf.any_pb2 import Any as Packed
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import DecodeError, Message
from google.rpc import error_details_pb2 as details_pb
from google.rpc.status_pb2 import Status

from heptalog.replay.errors import (
    Code,
    Conflict,
    Corrupt,
    HeptalogError,
    Malformed,
    NotFound,
    Redacted,
    Refused,
    Unavailable,
    error_of,
)
from heptalog.replay.sentences import sentence

DOMAIN: Final = "heptalog"
DETAILS_KEY: Final = "grpc-status-details-bin"
RETRY_SECONDS: Final = 1
INTERNAL: Final = "internal error"  # all that anybody is told of a bug of ours
# What callers sent is told back to them, but a client takes no more than 8 KB of trailers by default.
FACT_SIZE_MAX: Final = 1024
SENTENCE_SIZE_MAX: Final = 512
# Metadata is text; under this name it has the names of the facts that are numbers.
_NUMBERS: Final = "numbers"
_NUMBER: Final = re.compile(r"-?\d{1,19}", re.ASCII)
_BAD_REQUEST: Final = details_pb.BadRequest.DESCRIPTOR.full_name

Metadata: TypeAlias = Sequence[tuple[str, str | bytes]]

# What each kind of failure is to gRPC, and the codes that are something else.
_KINDS: Final[Mapping[type[HeptalogError], grpc.StatusCode]] = MappingProxyType(
    {
        Refused: grpc.StatusCode.FAILED_PRECONDITION,
        Malformed: grpc.StatusCode.INVALID_ARGUMENT,
        Redacted: grpc.StatusCode.INVALID_ARGUMENT,
        Corrupt: grpc.StatusCode.DATA_LOSS,
        Conflict: grpc.StatusCode.ALREADY_EXISTS,
        NotFound: grpc.StatusCode.NOT_FOUND,
        Unavailable: grpc.StatusCode.UNAVAILABLE,
    }
)
_CODES: Final[Mapping[Code, grpc.StatusCode]] = MappingProxyType(
    {
        Code.RULESET_UNKNOWN: grpc.StatusCode.UNIMPLEMENTED,
        Code.SEQUENCE_MISMATCH: grpc.StatusCode.ABORTED,
        Code.BATCH_PARTLY_KNOWN: grpc.StatusCode.FAILED_PRECONDITION,
        Code.POSITION_AFTER_HEAD: grpc.StatusCode.OUT_OF_RANGE,
        Code.OVERLOADED: grpc.StatusCode.RESOURCE_EXHAUSTED,
        Code.DISK_RESERVE: grpc.StatusCode.RESOURCE_EXHAUSTED,
        Code.RECORD_NEWER: grpc.StatusCode.UNIMPLEMENTED,
        Code.KEY_MISSING: grpc.StatusCode.FAILED_PRECONDITION,
        Code.DEADLINE_PASSED: grpc.StatusCode.DEADLINE_EXCEEDED,
        Code.QUERY_TOO_LONG: grpc.StatusCode.DEADLINE_EXCEEDED,
        Code.QUERY_TOO_LARGE: grpc.StatusCode.RESOURCE_EXHAUSTED,
        Code.RESULT_TOO_LARGE: grpc.StatusCode.RESOURCE_EXHAUSTED,
        Code.QUERY_FAILED: grpc.StatusCode.INTERNAL,
    }
)
# The other way round, for a status without details: what a proxy or gRPC itself says.
_BARE: Final[Mapping[grpc.StatusCode, Code]] = MappingProxyType(
    {
        grpc.StatusCode.DEADLINE_EXCEEDED: Code.DEADLINE_PASSED,
        grpc.StatusCode.CANCELLED: Code.SERVER_UNREACHABLE,
        grpc.StatusCode.UNAVAILABLE: Code.SERVER_UNREACHABLE,
        grpc.StatusCode.RESOURCE_EXHAUSTED: Code.OVERLOADED,
        grpc.StatusCode.INVALID_ARGUMENT: Code.FIELD_INVALID,
    }
)


def status_code(error: HeptalogError) -> grpc.StatusCode:
    """The gRPC code of a failure. `UNAVAILABLE` is the only one after which clients make any call again."""
    return _CODES.get(error.code, _KINDS[type(error)])


def trailers_of(error: HeptalogError) -> Metadata:
    """The trailing metadata that carries a failure's details."""
    return ((DETAILS_KEY, _status_of(error).SerializeToString()),)


def packed(error: BaseException) -> bytes:
    """A failure as the bytes of its status; that of our own bug says no more than that it is one."""
    if isinstance(error, HeptalogError):
        status = _status_of(error)
    else:
        status = Status(code=grpc.StatusCode.INTERNAL.value[0], message=INTERNAL)
    data: bytes = status.SerializeToString()
    return data


def unpacked(data: bytes) -> HeptalogError:
    """The failure in the bytes of a status."""
    try:
        status = Status.FromString(data)
    except DecodeError:
        status = Status(code=grpc.StatusCode.UNKNOWN.value[0])
    code = next((code for code in grpc.StatusCode if code.value[0] == status.code), grpc.StatusCode.UNKNOWN)
    return error_from(code, status.message, ((DETAILS_KEY, data),))


def _status_of(error: HeptalogError) -> Status:
    description = message_of(error)
    status = Status(code=status_code(error).value[0], message=description)
    metadata = {name: _text(value) for name, value in error.facts.items()}
    if numbers := [name for name, value in error.facts.items() if type(value) is int]:
        metadata[_NUMBERS] = " ".join(numbers)
    if error.rule:
        metadata["rule"] = error.rule
    _pack(status, details_pb.ErrorInfo(reason=error.code, domain=DOMAIN, metadata=metadata))
    if detail := _detail(error, description):
        _pack(status, detail)
    return status


def message_of(error: HeptalogError) -> str:
    """The sentence of a failure, short enough for a trailer."""
    return _cut(sentence(error), SENTENCE_SIZE_MAX)


def error_from(code: grpc.StatusCode, message: str, metadata: Metadata) -> HeptalogError:
    """The failure that a status stands for, the same that the server raised."""
    for key, value in metadata:
        if key == DETAILS_KEY and isinstance(value, bytes) and (error := _from_details(value)):
            return error
    return error_of(_BARE.get(code, Code.SERVER_UNREACHABLE), status=code.name, problem=message)


def _detail(error: HeptalogError, description: str) -> Any:
    """The standard detail that fits, beside the ErrorInfo; None where none does."""
    subject = _text(error.facts.get("game_id", ""))
    match error:
        case Malformed():
            violation = details_pb.BadRequest.FieldViolation(
                field=_text(error.facts.get("field", "")), description=description, reason=error.code
            )
            return details_pb.BadRequest(field_violations=[violation])
        case Refused():
            failure = details_pb.PreconditionFailure.Violation(
                type=error.rule, subject=subject, description=description
            )
            return details_pb.PreconditionFailure(violations=[failure])
        case Conflict(code=Code.EVENT_ID_REUSED):
            name = _text(error.facts.get("event_id", ""))
            return details_pb.ResourceInfo(resource_type="heptalog.v1.Event", resource_name=name)
        case Conflict(code=Code.BATCH_PARTLY_KNOWN):
            partly = details_pb.PreconditionFailure.Violation(type=error.code, subject=subject, description=description)
            return details_pb.PreconditionFailure(violations=[partly])
        case Conflict(code=Code.GAME_EXISTS) | NotFound():
            return details_pb.ResourceInfo(resource_type="heptalog.v1.Game", resource_name=subject)
        case Unavailable():
            return details_pb.RetryInfo(retry_delay=Duration(seconds=RETRY_SECONDS))
        case _:
            return None


def _from_details(data: bytes) -> HeptalogError | None:
    try:
        status = Status.FromString(data)
    except DecodeError:
        return None
    info = details_pb.ErrorInfo()
    for detail in status.details:
        if detail.Unpack(info) and info.domain == DOMAIN and info.reason in Code.__members__:
            facts, rule = _facts_of(info)
            # Evidence that the caller brought itself is a fault of form: the code alone would call the log corrupt.
            if any(other.TypeName() == _BAD_REQUEST for other in status.details):
                return Malformed(Code(info.reason), rule=rule, **facts)
            return error_of(Code(info.reason), rule=rule, **facts)
    return None


def _facts_of(info: details_pb.ErrorInfo) -> tuple[dict[str, Any], str]:
    """The facts, by name since on the way they have no order, and the rule in the metadata."""
    texts = dict(sorted(info.metadata.items()))
    rule = texts.pop("rule", "")
    numbers = texts.pop(_NUMBERS, "").split()
    facts = {name: int(text) if name in numbers and _NUMBER.fullmatch(text) else text for name, text in texts.items()}
    return facts, rule


def _pack(status: Status, detail: Message) -> None:
    packed = Packed()
    packed.Pack(detail)
    status.details.append(packed)


def _text(value: object) -> str:
    if isinstance(value, tuple | list):
        value = " ".join(map(str, value))
    return _cut(str(value), FACT_SIZE_MAX)


def _cut(text: str, size_max: int) -> str:
    data = text.encode()
    return text if len(data) <= size_max else data[:size_max].decode(errors="ignore") + "…"
