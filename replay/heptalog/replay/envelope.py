"""The envelope of an event, taken apart and put together by hand.

A record, and most of what clients send, is plain: the fields of the envelope in the order of their numbers, each in
its shortest form, and the body at the end. Such bytes are read here without any protobuf object, several times as
fast. Whatever is not plainly so is left to the exact way of `heptalog.replay.codec`, which decides what it is: nothing
is refused here, and nothing is taken that the exact way would not take with the very same meaning.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from struct import Struct
from typing import Final

from heptalog.replay.bodies import NotPlain, body_in, small_body, varint
from heptalog.replay.events import Event
from heptalog.replay.times import SECOND

CONTENT_START: Final = 68  # of a record, after its two links

# The fields of the envelope, each as the byte it begins with.
_GAME_ID: Final = 0x1A
_SEQUENCE: Final = 0x20
_EVENT_ID: Final = 0x2A
OCCURRED_AT: Final = 0x32
_RECORDED_AT: Final = 0x3A
_RECORDED_BY: Final = 0x42
# The two fields of a time.
_SECONDS: Final = 0x08
_NANOS: Final = 0x10

# From the tag of a text to what comes after it, by its length. Past the end is where an empty one leads, which would
# be left out; a longer one is not looked at here.
_AFTER: Final = (1 << 40, *range(3, 130))
# What in the first bytes of a number only says that it goes on.
_MARKS_3: Final = 0x80 | 0x80 << 7 | 0x80 << 14
_MARKS_4: Final = _MARKS_3 | 0x80 << 21
# What a text begins with, by its length.
_GAME_ID_STARTS: Final = (b"", *(bytes((_GAME_ID, size)) for size in range(1, 128)))
_EVENT_ID_STARTS: Final = (b"", *(bytes((_EVENT_ID, size)) for size in range(1, 128)))
_RECORDED_BY_STARTS: Final = (b"", *(bytes((_RECORDED_BY, size)) for size in range(1, 128)))
# Of the games that people play hardly any is longer.
_SEQUENCES: Final = (b"", *(bytes((_SEQUENCE,)) + varint(number) for number in range(1, 1024)))
_EVENT_ID_TAG: Final = bytes((_EVENT_ID,))
_PLACES: Final = tuple([sequence + _EVENT_ID_TAG for sequence in _SEQUENCES])
# The two bytes of fourteen bits of a number that goes on, as one little-endian number.
_PAIRS: Final = tuple(high << 8 | low for high in range(128, 256) for low in range(128, 256))
# The times of 1978 to 3058, with a part of a second that takes five bytes, as three in four do, and with none.
_time_with_nanos: Final = Struct("<BBBHHBBHHB").pack
_time_without: Final = Struct("<BBBHHB").pack
_SECONDS_FIRST: Final = 1 << 28
_SECONDS_END: Final = 1 << 35
# For each byte the largest that can stand in its place in the field of a time and make it neither longer nor another:
# where that is plain, all others are. Tags and lengths stand for themselves; a part of a second that is large ends in
# 1, 2 or 3, and only with the last can it be too large, after a byte as below.
_FIXED: Final = (0, 6, 8, 9, 10, 11, 12, _NANOS, OCCURRED_AT, _RECORDED_AT)
_LARGEST: Final = bytes([byte if byte in _FIXED else 2 if byte < 4 else byte & 128 | 127 for byte in range(256)])
_is_late: Final = re.compile(rb"[\xdc-\xff]\x03").search
_FORMS_MAX: Final = 4096


def read(data: bytes, start: int) -> tuple[Event, bytes] | None:
    """The event in these bytes, whose content begins at `start`, and its public form; None where they are not plain.

    What stands before the content are the two links, in their places.
    """
    game_id = event_id = recorded_by = ""
    sequence = occurred_at = recorded_at = 0
    at = start
    try:
        # Where a field ends stands the tag of the next; past the end of the bytes there is none, and that raises.
        tag = data[at]
        if tag == _GAME_ID:
            end = at + _AFTER[data[at + 1]]
            game_id = data[at + 2 : end].decode()
            at = end
            tag = data[at]
        if tag == _SEQUENCE:
            last = sequence = data[at + 1]
            at += 2
            if sequence > 127:
                last = data[at]
                at += 1
                sequence += (last - 1) << 7
            if not 0 < last < 128:
                return None
            tag = data[at]
        if tag == _EVENT_ID:
            end = at + _AFTER[data[at + 1]]
            event_id = data[at + 2 : end].decode()
            at = end
            tag = data[at]
        if tag == OCCURRED_AT:
            end = at + 2 + data[at + 1]
            occurred_at = _time(data, at + 2, end)
            at = end
            tag = data[at]
        if tag == _RECORDED_AT:
            end = at + 2 + data[at + 1]
            recorded_at = _time(data, at + 2, end)
            at = end
            tag = data[at]
        if tag == _RECORDED_BY:
            end = at + _AFTER[data[at + 1]]
            recorded_by = data[at + 2 : end].decode()
            at = end
        field = data[at:]
        public = data[start:]
        try:
            body = small_body(field)
        except NotPlain:
            body, public_field = body_in(field)
            if body.sealed:
                public = data[start:at] + public_field
    except (IndexError, ValueError, NotPlain):
        return None
    previous, digest = (data[2:34], data[36:68]) if start else (b"", b"")
    return Event(sequence, body, game_id, event_id, occurred_at, recorded_at, recorded_by, previous, digest), public


def _time(data: bytes, at: int, end: int) -> int:
    """The nanoseconds in a time, where they are plain. Raises NotPlain, or ValueError where the bytes end within."""
    tag, a, b, c, d, e = data[at : at + 6]
    if tag != _SECONDS or a & b & c & d < 128 or not 0 < e < 128:
        raise NotPlain
    seconds = a + (b << 7) + (c << 14) + (d << 21) + (e << 28) - _MARKS_4
    size = end - at
    if size == 6:
        return seconds * SECOND
    if size == 12:
        tag, a, b, c, d, e = data[at + 6 : end]
        if a & b & c & d < 128 or not 0 < e < 128:
            raise NotPlain
        nanos = a + (b << 7) + (c << 14) + (d << 21) + (e << 28) - _MARKS_4
    elif size == 11:
        tag, a, b, c, d = data[at + 6 : end]
        if a & b & c < 128 or not 0 < d < 128:
            raise NotPlain
        nanos = a + (b << 7) + (c << 14) + (d << 21) - _MARKS_3
    elif 7 < size < 11:
        tag, *low, last = data[at + 6 : end]
        if (low and min(low) < 128) or not 0 < last < 128:
            raise NotPlain
        nanos = last << 7 * len(low)
        for place, byte in enumerate(low):
            nanos += (byte & 127) << 7 * place
    else:
        raise NotPlain
    if tag != _NANOS or nanos >= SECOND:
        raise NotPlain
    return seconds * SECOND + nanos


def front_of(event: Event) -> bytes:
    """The canonical fields of an event between its links and its body. Raises NotPlain where they are not plain."""
    try:
        game_id = event.game_id.encode()
        event_id = event.event_id.encode()
        sequence = _sequence_of(event)
        return b"".join(
            (_GAME_ID_STARTS[len(game_id)], game_id, sequence, _EVENT_ID_STARTS[len(event_id)], event_id, _tail(event))
        )
    except (AttributeError, IndexError, TypeError, ValueError):
        raise NotPlain from None


def fronts_of(events: Iterable[Event], game_id: str) -> list[bytes]:
    """The same for events of this game: what they have in common is written once. Raises as `front_of` does."""
    fronts: list[bytes] = []
    occurred_at = recorded_at = 0
    recorded_by, tail = "", b""
    try:
        game = game_id_field(game_id)
        for event in events:
            # Numbers of which one is equal to the other, as 1.0 is to 1, are not always written alike.
            if (
                event.recorded_at is not recorded_at
                or event.occurred_at is not occurred_at
                or event.recorded_by != recorded_by
            ):
                occurred_at, recorded_at, recorded_by = event.occurred_at, event.recorded_at, event.recorded_by
                tail = _tail(event)
            event_id = event.event_id.encode()
            fronts.append(b"".join((game, _sequence_of(event), _EVENT_ID_STARTS[len(event_id)], event_id, tail)))
    except (AttributeError, IndexError, TypeError, ValueError):
        raise NotPlain from None
    return fronts


def content_with(content: bytes, event: Event, game: bytes) -> bytes:
    """The canonical content of an event, made of what it was without its ids, and perhaps without its second time.

    `game` is the field of its game's name. Raises NotPlain.
    """
    event_id = event.event_id.encode()
    start = len(_sequence_of(event))
    end = start
    if content[end] == OCCURRED_AT:
        end += 2 + content[end + 1]
    time = b"" if content[end] == _RECORDED_AT else _time_field(_RECORDED_AT, event.recorded_at)
    if not 0 < len(event_id) < 128:
        raise NotPlain
    id_field = _EVENT_ID_STARTS[len(event_id)] + event_id
    return b"".join((game, content[:start], id_field, content[start:end], time, content[end:]))


def _tail(event: Event) -> bytes:
    recorded_by = event.recorded_by.encode()
    return b"".join(
        (
            _time_field(OCCURRED_AT, event.occurred_at) if event.occurred_at else b"",
            _time_field(_RECORDED_AT, event.recorded_at) if event.recorded_at else b"",
            _RECORDED_BY_STARTS[len(recorded_by)],
            recorded_by,
        )
    )


def _sequence_of(event: Event) -> bytes:
    sequence = event.sequence
    if type(sequence) is not int:
        raise NotPlain
    return _SEQUENCES[sequence] if 0 <= sequence < 1024 else _sequence_field(sequence)


def _sequence_field(sequence: int) -> bytes:
    if sequence >> 32:
        raise NotPlain
    return bytes((_SEQUENCE,)) + varint(sequence)


def _time_field(tag: int, time: int) -> bytes:
    seconds, nanos = divmod(time, SECOND)
    if not _SECONDS_FIRST <= seconds < _SECONDS_END:
        raise NotPlain
    low, middle, high = _PAIRS[seconds & 16383], _PAIRS[seconds >> 14 & 16383], seconds >> 28
    if nanos >= 1 << 28:
        below, above = _PAIRS[nanos & 16383], _PAIRS[nanos >> 14 & 16383]
        return _time_with_nanos(tag, 12, _SECONDS, low, middle, high, _NANOS, below, above, nanos >> 28)
    if not nanos:
        return _time_without(tag, 6, _SECONDS, low, middle, high)
    number = varint(nanos)
    return _time_without(tag, 7 + len(number), _SECONDS, low, middle, high) + bytes((_NANOS,)) + number


# Of an event whose game and sequence are known, read by what it must be.


def game_id_field(game_id: str) -> bytes:
    """The field of a game's name, with which the content of each of its events begins. Raises NotPlain."""
    data = game_id.encode()
    if not 0 < len(data) < 128:
        raise NotPlain
    return _GAME_ID_STARTS[len(data)] + data


def places(first: int, end: int) -> tuple[bytes, ...]:
    """What follows the game's name in its events from `first`, above 0, to before `end`, to the tag of their ids."""
    beyond = [_sequence_field(sequence) + _EVENT_ID_TAG for sequence in range(max(first, len(_PLACES)), end)]
    return (*_PLACES[first:end], *beyond)


def parts_after_id(tail: bytes) -> tuple[bytes, bytes, bytes]:
    """What follows an event's id: the fields of its times, that of who recorded it, that of its body; but for the last
    each may be empty. Raises IndexError or ValueError.
    """
    at = 0
    for tag in (OCCURRED_AT, _RECORDED_AT):
        if tail[at] == tag:
            at += 2 + tail[at + 1]
    if tail[at] != _RECORDED_BY:
        return tail[:at], b"", tail[at:]
    end = at + _AFTER[tail[at + 1]]
    tail[at + 2 : end].decode()
    return tail[:at], tail[at:end], tail[end:]


def are_plain_times(fields: Sequence[bytes]) -> bool:
    """Whether each of these is the field of when it occurred, that of when it was recorded, both, or neither.

    What they say is not read: nearly always their form tells that they are plain.
    """
    if not all(map(_is_plain_form, {field.translate(_LARGEST) for field in fields})):
        return False
    return not _is_late(b"".join(fields)) or all(_are_plain(field) for field in fields if _is_late(field))


@lru_cache(maxsize=_FORMS_MAX)
def _is_plain_form(form: bytes) -> bool:
    return _are_plain(form)


def _are_plain(field: bytes) -> bool:
    at = 0
    try:
        for tag in (OCCURRED_AT, _RECORDED_AT):
            if at < len(field) and field[at] == tag:
                end = at + 2 + field[at + 1]
                _time(field, at + 2, end)
                at = end
    except (IndexError, ValueError, NotPlain):
        return False
    return at == len(field)
