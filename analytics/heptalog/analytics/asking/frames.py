"""What a worker and whoever asked it say to each other: a question, then frames, of which the last is done or failed.

The worker is not trusted: a frame is bytes of bounded length, and a failure one of the few codes that a question has.
"""

import struct
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from heptalog.analytics.asking.limits import PIECE_SIZE_MAX, Limits
from heptalog.analytics.snapshots import Snapshot
from heptalog.replay.errors import Code, HeptalogError, error_of

ARROW: Final = b"a"
DONE: Final = b"d"
FAILED: Final = b"f"
HEADER: Final = struct.Struct(">cI")
# A piece of Arrow is the longest that a frame holds.
FRAME_SIZE_MAX: Final = PIECE_SIZE_MAX
# How a worker ended, as the nursery saw it: its wait status, and whether it was killed for the time.
VERDICT: Final = struct.Struct(">i?")
# What the nursery is sent with the two sockets of a question: how many seconds it may take.
ORDER: Final = struct.Struct(">d")

_PROBLEM_LENGTH_MAX: Final = 1_000
_CODES: Final = frozenset(
    {Code.QUERY_INVALID, Code.QUERY_TOO_LONG, Code.QUERY_TOO_LARGE, Code.RESULT_TOO_LARGE, Code.QUERY_FAILED}
)
_FACTS: Final[Mapping[str, type]] = {"problem": str, "character": int, "rows_max": int, "bytes_max": int}


class Question(Struct, frozen=True):
    """What a worker is asked."""

    sql: str
    snapshot: Snapshot
    limits: Limits


class _Failure(Struct, frozen=True):
    code: str
    facts: dict[str, str | int]


_QUESTIONS: Final = msgspec.msgpack.Decoder(Question)
_FAILURES: Final = msgspec.msgpack.Decoder(_Failure)
_ROWS: Final = struct.Struct(">Q")


def question_bytes(question: Question) -> bytes:
    """A question as it is sent."""
    return msgspec.msgpack.encode(question)


def question_of(data: bytes) -> Question:
    """A question as it was sent."""
    return _QUESTIONS.decode(data)


def failure_bytes(error: HeptalogError) -> bytes:
    """A failure as a worker sends it: what an engine says can be as long as the statement makes it."""
    facts = {name: _cut(value) for name, value in error.facts.items() if isinstance(value, str | int)}
    return msgspec.msgpack.encode(_Failure(error.code, facts))


def failure_of(data: bytes) -> HeptalogError:
    """The failure that a worker tells, or that it tells nonsense."""
    try:
        told = _FAILURES.decode(data)
        code = Code(told.code)
    except (msgspec.MsgspecError, ValueError):
        return error_of(Code.QUERY_FAILED, problem="the worker did not say why")
    if code not in _CODES:
        return error_of(Code.QUERY_FAILED, problem="the worker did not say why")
    facts: dict[str, Any] = {
        name: _cut(told.facts[name]) for name, kind in _FACTS.items() if type(told.facts.get(name)) is kind
    }
    return error_of(code, **facts)


def done_bytes(rows: int) -> bytes:
    """The end of an answer of so many rows."""
    return _ROWS.pack(rows)


def rows_of(data: bytes) -> int:
    """How many rows a whole answer has. Raises struct.error where it is no end of one."""
    rows: int
    (rows,) = _ROWS.unpack(data)
    return rows


def _cut(value: str | int) -> str | int:
    if not isinstance(value, str) or len(value) <= _PROBLEM_LENGTH_MAX:
        return value
    return value[: _PROBLEM_LENGTH_MAX - 1] + "…"
