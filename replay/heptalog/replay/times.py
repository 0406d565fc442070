"""Times as texts: RFC 3339 as proto3 JSON has it, to the nanosecond.

Events of one game share their minutes, so what a date comes to is remembered for a minute; the rest is its digits.
"""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from types import MappingProxyType
from typing import Final

SECOND: Final = 1_000_000_000
TIME_END: Final = 253_402_300_800  # the year 10000 in seconds, which no text can say

_MINUTE: Final = 60  # seconds
_DIGITS_MAX: Final = 9  # of a fraction of a second
_MINUTES_KEPT: Final = 4096
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# Stricter than datetime, which takes an offset of 60 minutes, and in newer Pythons the hour 24.
_TIME: Final = re.compile(
    r"(\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.(\d{1,9}))?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)", re.ASCII
)
_SECONDS: Final = MappingProxyType({f"{second:02d}": second for second in range(_MINUTE)})


def rfc3339(nanoseconds: int) -> str:
    """A time as proto3 JSON writes it: UTC, with no, three, six or nine digits of a second."""
    seconds, fraction = divmod(nanoseconds, SECOND)
    minute, second = divmod(seconds, _MINUTE)
    whole = f"{_minute_text(minute)}{second:02d}"
    if not fraction:
        return f"{whole}Z"
    if not fraction % 1_000_000:
        return f"{whole}.{fraction // 1_000_000:03d}Z"
    return f"{whole}.{fraction:09d}Z" if fraction % 1000 else f"{whole}.{fraction // 1000:06d}Z"


def nanoseconds_in(text: str) -> int | None:
    """The time that a text says, after 1970 and before 10000; None where it says none."""
    seconds, rest = _SECONDS.get(text[17:19]), text[19:]
    digits = rest[1:-1]
    if seconds is None:
        return _elsewhere(text)
    if rest == "Z":
        fraction = 0
    elif rest[:1] == "." and rest[-1:] == "Z" and len(digits) <= _DIGITS_MAX and digits.isdigit() and digits.isascii():
        fraction = int(digits.ljust(_DIGITS_MAX, "0"))
    else:
        return _elsewhere(text)
    minute = _minute_in(text[:17])
    if minute is None:
        return None
    time = (minute + seconds) * SECOND + fraction
    return time if SECOND <= time < TIME_END * SECOND else None


def _elsewhere(text: str) -> int | None:
    """The same of a text that is not in UTC, or is no time."""
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    try:
        time = datetime.fromisoformat(match[1] + ("+00:00" if match[3] == "Z" else match[3]))
    except (ValueError, OverflowError):
        return None
    nanoseconds = round((time - _EPOCH).total_seconds()) * SECOND + int((match[2] or "0").ljust(9, "0"))
    return nanoseconds if SECOND <= nanoseconds < TIME_END * SECOND else None


@lru_cache(_MINUTES_KEPT)
def _minute_text(minute: int) -> str:
    """The text of a minute since 1970, up to its seconds."""
    return (_EPOCH + timedelta(minutes=minute)).strftime("%Y-%m-%dT%H:%M:")


@lru_cache(_MINUTES_KEPT)
def _minute_in(text: str) -> int | None:
    """The seconds from 1970 to the minute of a text that stops before its seconds; None where that is none."""
    match = _TIME.fullmatch(f"{text}00Z")
    try:
        return None if match is None else round((datetime.fromisoformat(f"{text}00+00:00") - _EPOCH).total_seconds())
    except ValueError:
        return None
