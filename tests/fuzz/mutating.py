"""How data is spoilt: as bytes, as lines of text, and as protobuf, where plain flips would only try the parser.

All of it is a function of the data and of the chance that is passed in.
"""

import re
from collections.abc import Sequence
from random import Random
from typing import Final, NamedTuple

TOKENS: Final = (
    *(b'"', b"{", b"}", b"[", b"]", b":", b",", b"\\", b"\\u", b"\\ud800"),
    *(b"null", b"true", b"-", b"0", b"1e9", b"\xff"),
)
# What numbers are like where they hurt: sizes and tags at the ends of their ranges, and longer than any.
VARINTS: Final = (
    *(b"\x00", b"\x01", b"\x7f", b"\x80\x01", b"\xff\xff\xff\xff\x07", b"\xff\xff\xff\xff\x0f"),
    *(b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f", b"\xff" * 9 + b"\x01", b"\xff" * 11, b"\x80\x00", b"\x80\x80\x80\x00"),
)
NESTED_MAX: Final = 400
_SHORT: Final = re.compile(rb'"[^"\\]{2,3}"(?!:)')
_VARINT, _EIGHT, _SIZED, _BEGIN, _END, _FOUR = range(6)


def spoilt(data: bytes, random: Random, tokens: Sequence[bytes] = TOKENS) -> bytes:
    """Bytes changed, cut, put in, doubled and moved, in one place or a few."""
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        place = random.randrange(len(data) + 1)
        length = random.choice((1, 1, 2, 8, 40))
        match random.randrange(5):
            case 0:
                data = data[:place] + bytes([random.randrange(256)]) + data[place + 1 :]
            case 1:
                data = data[:place] + data[place + length :]
            case 2:
                data = data[:place] + random.choice(tokens) + data[place:]
            case 3:
                data = data[:place] + data[place : place + length] * 2 + data[place + length :]
            case _:
                other = random.randrange(len(data) + 1)
                data = data[:place] + data[other : other + length] + data[place + length :]
    return data


def turned(data: bytes, random: Random, start: int = 0) -> bytes:
    """One bit turned, from `start` on."""
    if not data:
        return data
    place = random.randrange(min(start, len(data) - 1), len(data))
    return data[:place] + bytes([data[place] ^ 1 << random.randrange(8)]) + data[place + 1 :]


def lines_spoilt(lines: Sequence[bytes], random: Random) -> list[bytes]:
    """Lines changed, left out, doubled, moved and put in."""
    lines = list(lines)
    for _ in range(random.choice((1, 1, 2, 5))):
        if not lines:
            break
        place = random.randrange(len(lines))
        match random.randrange(7):
            case 0:
                lines[place] = spoilt(lines[place], random)
            case 6:
                lines[place] = _exchanged(lines[place], random)
            case 1:
                del lines[place]
            case 2:
                lines.insert(place, random.choice(lines))
            case 3:
                other = random.randrange(len(lines))
                lines[place], lines[other] = lines[other], lines[place]
            case 4:
                del lines[place:]
            case _:
                lines.insert(place, random.choice((b"", b"\r", b"{}", b"\xef\xbb\xbf", b"\x00")))
    return lines


def _exchanged(line: bytes, random: Random) -> bytes:
    """A line in which two short strings, such as cards, have changed places."""
    found = list(_SHORT.finditer(line))
    if len(found) < 2:
        return line
    one, other = sorted(random.sample(found, 2), key=lambda match: match.start())
    between = line[one.end() : other.start()]
    return line[: one.start()] + other[0] + between + one[0] + line[other.end() :]


class Field(NamedTuple):
    """One field of a message as it stands in the bytes."""

    number: int
    kind: int
    value: bytes  # of a sized one without its length

    def written(self) -> bytes:
        """The field as it was."""
        length = varint(len(self.value)) if self.kind == _SIZED else b""
        return varint(self.number << 3 | self.kind) + length + self.value


def varint(value: int) -> bytes:
    """A number as protobuf writes it."""
    written = bytearray()
    while value > 127:
        written.append(value & 127 | 128)
        value >>= 7
    return bytes([*written, value])


def fields_in(data: bytes) -> list[Field] | None:
    """The fields of a message; None where the bytes are none."""
    fields = []
    place = 0
    while place < len(data):
        tag, place = _number(data, place)
        number, kind = tag >> 3, tag & 7
        start = place
        if kind == _VARINT:
            _, place = _number(data, place)
        elif kind == _SIZED:
            size, start = _number(data, place)
            place = start + size
        elif kind in (_EIGHT, _FOUR):
            place += 8 if kind == _EIGHT else 4
        else:
            return None
        if not number or place > len(data):
            return None
        fields.append(Field(number, kind, data[start:place]))
    return fields


def _number(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for index in range(10):
        if place + index >= len(data):
            return 0, len(data) + 1
        value |= (data[place + index] & 127) << 7 * index
        if data[place + index] < 128:
            return value, place + index + 1
    return 0, len(data) + 1


def message_spoilt(data: bytes, random: Random, others: Sequence[bytes] = ()) -> bytes:
    """A message of which one field, however deep, is no longer what it was; the rest is as well-formed as before."""
    fields = fields_in(data)
    if not fields:
        return data + _strange(random)
    place = random.randrange(len(fields))
    if random.random() < 0.1:
        other = random.randrange(len(fields))
        fields[place], fields[other] = fields[other], fields[place]
        return b"".join(one.written() for one in fields)
    field = fields[place]
    inner = fields_in(field.value) if field.kind == _SIZED else None
    if inner and random.random() < 0.7:
        deeper = Field(field.number, field.kind, message_spoilt(field.value, random, others))
        return b"".join(one.written() for one in [*fields[:place], deeper, *fields[place + 1 :]])
    before, after = ([one.written() for one in part] for part in (fields[:place], fields[place + 1 :]))
    return b"".join([*before, _field_spoilt(field, fields, random, others), *after])


def _field_spoilt(field: Field, fields: Sequence[Field], random: Random, others: Sequence[bytes]) -> bytes:
    written = field.written()
    match random.randrange(12):
        case 0:
            return b""
        case 1:
            return written * random.choice((2, 2, 3, 600))
        case 2:
            return random.choice(fields).written() + written
        case 3:
            return field._replace(number=random.choice((1, 2, 15, 16, 99, 2**29 - 1, field.number + 1))).written()
        case 4:
            return varint(field.number << 3 | random.randrange(8)) + field.value
        case 5:
            return varint(field.number << 3 | field.kind) + random.choice(VARINTS) + field.value
        case 6:
            return varint(field.number << 3 | field.kind) + random.choice(VARINTS)
        case 7:
            return _strange(random) + written
        case 8:
            return _wrapped(field, random.choice((2, 50, 99, 101, NESTED_MAX)))
        case 9:
            return field._replace(value=turned(field.value, random)).written()
        case 10 if others:
            strangers = fields_in(random.choice(others)) or [field]
            return random.choice(strangers).written()
        case _:
            return field._replace(value=spoilt(field.value, random)).written()


def _wrapped(field: Field, depth: int) -> bytes:
    """A field inside itself, again and again."""
    data = field.written()
    for _ in range(depth):
        data = Field(field.number, _SIZED, data).written()
    return data


def _strange(random: Random) -> bytes:
    """A field that there is not, a group that is not ended or not begun, a tag of nothing."""
    number = random.choice((9, 15, 63, 1000, 2**29 - 1))
    return random.choice(
        (
            Field(number, _VARINT, random.choice(VARINTS)).written(),
            Field(number, _SIZED, random.randbytes(random.choice((0, 1, 8)))).written(),
            varint(number << 3 | _BEGIN),
            varint(number << 3 | _END),
            varint(number << 3 | _BEGIN) + varint(number << 3 | _END),
            varint(number << 3 | _EIGHT) + bytes(8),
            b"\x00",
            b"\x07",
        )
    )
