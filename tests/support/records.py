"""Records of every kind of event with every field set, made from the structs alone: what golden records are.

    python -m tests.support.records cardPlayed >> tests/golden/records.jsonl

adds those of a kind that is new or has a new field. Lines that are there are never changed.
"""

import json
import sys
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, get_args, get_origin

from msgspec import Meta, Struct, UnsetType
from msgspec.structs import FieldInfo, fields

from heptalog.replay.codec import BODIES, chained
from heptalog.replay.events import Body, Event, GameStarted, Options, camel_name
from heptalog.replay.gamefile import encode_line
from heptalog.replay.registry import OPTIONS
from heptalog.replay.times import SECOND

TIME = 1_769_860_800 * SECOND + 7_300_001
GENESIS = bytes(32)
VARIANTS = 4  # as many as an enum has values


def golden_lines(body: type[Body]) -> Iterator[str]:
    """The golden lines of one kind: with nothing set but what must be, with every field, and with each enum value."""
    seen: set[bytes] = set()
    for event in _events(body):
        linked, record = chained(event, GENESIS)
        if record not in seen:
            seen.add(record)
            line = {"kind": camel_name(body), "record": record.hex(), "event": json.loads(encode_line(linked))}
            yield json.dumps(line, ensure_ascii=False, separators=(",", ":"))


def _events(body: type[Body]) -> Iterator[Event]:
    for options in OPTIONS if body is GameStarted else (Options,):
        yield Event(0, _bare(body, options))
        for variant in range(VARIANTS):
            filled = _filled(body, options, variant)
            yield Event(
                2**32 - 1 if variant else 1,
                filled,
                game_id="game",
                event_id="é 七",
                occurred_at=TIME,
                recorded_at=TIME + SECOND,
                recorded_by="table 1",
            )


def _bare(kind: type[Struct], options: type[Options]) -> Any:
    """With what must be given, and with nothing in it; a part that stands alone is always given."""
    given = (info for info in fields(kind) if info.required or isinstance(info.type, type(Struct)))
    return kind(**{info.name: _value(info, options, -1) for info in given})


def _filled(kind: type[Struct], options: type[Options], variant: int) -> Any:
    """With a value other than the default in every field; numbers are small, then as large, then as low as may be."""
    return kind(**{info.name: _value(info, options, variant) for info in fields(kind)})


def _value(info: FieldInfo, options: type[Options], variant: int) -> Any:
    annotation: Any = info.type
    if UnsetType in get_args(annotation):
        (annotation,) = (choice for choice in get_args(annotation) if choice is not UnsetType)
    if get_origin(annotation) is tuple:
        if variant < 0:
            return ()
        one = _one_of(info, get_args(annotation)[0])
        return tuple(_value(one, options, number) for number in range(variant, variant + 2))
    meta = [part for part in getattr(annotation, "__metadata__", ()) if isinstance(part, Meta)]
    kind = getattr(annotation, "__origin__", annotation)
    if kind is Options:
        kind = options
    if issubclass(kind, Struct):
        return _bare(kind, options) if variant < 0 else _filled(kind, options, variant)
    if issubclass(kind, StrEnum):
        members = list(kind)
        return members[variant % len(members)]
    if kind is bool:
        return variant % 2 == 0
    if kind is int:
        low, high = (int(meta[0].ge or 0), int(meta[0].le or 0)) if meta else (0, 2**31 - 1)
        return (1, high, low or 300)[max(variant, 0) % 3]
    if kind is bytes:
        return bytes(range(variant, variant + (32 if info.name == "commitment" else 16)))
    assert kind is str, f"a kind of field that is not known here: {kind}"
    return info.name


def _one_of(info: FieldInfo, annotation: Any) -> FieldInfo:
    """One item of a field that has many."""
    return FieldInfo(info.name, info.encode_name, annotation)


def main() -> None:
    """Print the golden lines of the kinds that are named, or of all."""
    for body in BODIES:
        if len(sys.argv) == 1 or camel_name(body) in sys.argv[1:]:
            for line in golden_lines(body):
                print(line)


if __name__ == "__main__":
    main()
