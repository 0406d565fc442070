"""What is dealt, read by hand: hands in full, each under a seal as the service makes them.

The body, its public form and the proof of its seals come out of one walk along its bytes. That is worth it, because a
deal costs as much as eight moves. As with the envelope nothing is refused here: what is not plainly so, or not right,
is for others to say.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple, get_args

from msgspec.structs import fields

from heptalog.replay.bodies import KINDS, Kind, NotPlain, varint
from heptalog.replay.events import Body, Seal
from heptalog.replay.evidence.seals import commitment

# The field of a seal at the end of a hand: its tag and length, the salt, the commitment, the count.
_SEAL_SIZE: Final = 56
_SEAL_START: Final = b"\x36\x0a\x10"
_SALT_END: Final = 20
_COMMITMENT_TAG: Final = b"\x12\x20"
_COMMITMENT_END: Final = 54
_COUNT_TAG: Final = 0x18
# What is left of it in the public form after its tag and length, and how a hand begins there, after its tag.
_PUBLIC_SIZE: Final = 36
_PUBLIC_START: Final = bytes((2 + _PUBLIC_SIZE, 0x12, _PUBLIC_SIZE))
# The tags of names and seal in a hand, and in a body that is its own hand: there the seat comes first.
_TAGS: Final = ("\x0a", 0x12)
_OWN_TAGS: Final = ("\x12", 0x1A)
_OWN_PUBLIC_START: Final = bytes((0x1A, _PUBLIC_SIZE))
_SEAT_TAG: Final = 0x08


class _Field(NamedTuple):
    """A field of a body: its hands, or else a text."""

    name: str
    hand: Callable[..., Any] | None
    is_many: bool
    public_start: bytes


def opened(field: bytes) -> tuple[Body, bytes]:
    """The body in its field, whose seals hold, and the field as the public form has it. Raises NotPlain."""
    try:
        kind, layout = _LAYOUTS[field[:2]]
        start = 3 if field[2] < 128 else 4
        if field[2:start] != varint(len(field) - start):
            raise NotPlain
        given, public = _walked(field, start, layout) if layout else _own_hand(field, start, kind.body)
        return kind.body(**given), kind.tag + varint(len(public)) + public
    except (LookupError, ValueError):
        raise NotPlain from None


def _walked(field: bytes, at: int, layout: Mapping[int, _Field]) -> tuple[dict[str, Any], bytes]:
    """What the constructor of the body takes, and the message in its public form."""
    given: dict[str, Any] = {}
    many, hands = "", []
    public = []
    last = 0
    while at < len(field):
        tag, size, begin = field[at], field[at + 1], at + 2
        name, hand, is_many, public_start = layout[tag]
        if size > 127:
            size += (field[begin] - 1) << 7
            begin += 1
            if not 127 < size < 16384:
                raise NotPlain
        if tag < last or (tag == last and not is_many) or not size:
            raise NotPlain
        last = tag
        end = begin + size
        if hand is None:
            given[name] = field[begin:end].decode()
            public.append(field[at:end])
        else:
            value = hand(*_values(field[begin:end], *_TAGS))
            public += public_start, field[end - _PUBLIC_SIZE : end]
            if is_many:
                many = name
                hands.append(value)
            else:
                given[name] = value
        at = end
    if at != len(field):
        raise NotPlain
    if hands:
        given[many] = tuple(hands)
    return given, b"".join(public)


def _own_hand(field: bytes, start: int, body: type[Body]) -> tuple[dict[str, Any], bytes]:
    """The same of a body that is a hand itself, after the seat whose it is."""
    at, seat = start, 0
    if field[at] == _SEAT_TAG:
        at, seat = at + 2, field[at + 1]
        if not 0 < seat < 128:
            raise NotPlain
    values, seal = _values(field[at:], *_OWN_TAGS)
    given = dict(zip(_own_fields(body), (seat, values, seal), strict=True))
    return given, field[start:at] + _OWN_PUBLIC_START + field[-_PUBLIC_SIZE:]


def _values(data: bytes, name_tag: str, seal_tag: int) -> tuple[tuple[str, ...], Seal]:
    """The names in a hand, each as long as the others, and its seal, which holds."""
    seal = data[-_SEAL_SIZE:]
    text = data[:-_SEAL_SIZE].decode("ascii")
    # What stands between the names is also what each of them begins with: its tag and its length.
    first, *names = text.split(text[:2])
    if (
        first
        or text[0] != name_tag
        or set(map(len, names)) != {ord(text[1])}
        or seal[0] != seal_tag
        or seal[1:4] != _SEAL_START
        or seal[_SALT_END:22] != _COMMITMENT_TAG
        or seal[_COMMITMENT_END] != _COUNT_TAG
        or not seal[-1] == len(names) < 128
    ):
        raise NotPlain
    values = tuple(names)
    salt, promised = seal[4:_SALT_END], seal[22:_COMMITMENT_END]
    if commitment(salt, values) != promised:
        raise NotPlain
    return values, Seal(salt, promised, len(values))


def _layout(kind: Kind) -> Mapping[int, _Field]:
    """The fields of a body by their tags; none where it is not one that has hands, and beside them only texts."""
    numbers = kind.message.DESCRIPTOR.fields_by_name
    layout = {}
    for info in fields(kind.body):
        hand = (*get_args(info.type), info.type)[0] if info.name in kind.body.sealed else None
        if hand is None and info.type is not str:
            return MappingProxyType({})
        tag = numbers[info.name].number << 3 | 2
        layout[tag] = _Field(info.name, hand, hand not in (None, info.type), bytes((tag,)) + _PUBLIC_START)
    return MappingProxyType(layout)


def _own_fields(body: Any) -> tuple[str, ...]:
    """The fields of a body that is its own hand, as far as such a one is read here."""
    return ("seat", body.value_field, "seal")


def _is_own_hand(kind: Kind) -> bool:
    numbers = {info.name: kind.message.DESCRIPTOR.fields_by_name[info.name].number for info in fields(kind.body)}
    return "" in kind.body.sealed and numbers == {name: place for place, name in enumerate(_own_fields(kind.body), 1)}


_LAYOUTS: Final[Mapping[bytes, tuple[Kind, Mapping[int, _Field]]]] = MappingProxyType(
    {
        kind.tag: (kind, layout)
        for kind in KINDS.values()
        if kind.body.sealed and ((layout := _layout(kind)) or _is_own_hand(kind))
    }
)
