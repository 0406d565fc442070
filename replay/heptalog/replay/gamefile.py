"""The game file: one event a line, the proto3 JSON form of `Event`, read strictly and written compactly.

Reading is msgspec's, typed and in one go; what msgspec does not look for, a name twice in one object, is found by
writing what was read and comparing. Only where a line is wrong is it looked at again, slowly, to say what is wrong.
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, NoReturn

from msgspec import UNSET, DecodeError, Struct, UnsetType, ValidationError, convert, defstruct, to_builtins
from msgspec.json import Decoder, Encoder
from msgspec.json import format as format_json
from msgspec.structs import fields

from heptalog.replay.codec import BODIES
from heptalog.replay.errors import Code, Malformed
from heptalog.replay.events import Body, Event, GameStarted, Options, Uint32, camel_name, snake_name
from heptalog.replay.registry import OPTIONS
from heptalog.replay.times import nanoseconds_in, rfc3339

LINE_SIZE_MAX: Final = 1 << 20

_RULE: Final = "game-file"
_DIGITS_MAX: Final = 20  # of a number that is looked at; none in a line may have as many
_BLANKS: Final = b" \t\r\n"  # what JSON takes for white space; Python has more
_STRICT: Final[dict[str, Any]] = {"frozen": True, "gc": False, "rename": "camel", "forbid_unknown_fields": True}

# In a line the rules of gameStarted stand under the name of their game.
_StartedLine: Any = defstruct(
    "GameStarted",
    [
        *(
            (info.name, info.type, info.default) if not info.required else (info.name, info.type)
            for info in fields(GameStarted)
            if info.name != "rules"
        ),
        *((snake_name(options), options | UnsetType, UNSET) for options in OPTIONS),
    ],
    omit_defaults=True,
    **_STRICT,
)
# Those of a line beside its sequence and its body, in their order.
ENVELOPE_FIELDS: Final[tuple[tuple[str, type, str | bytes], ...]] = (
    ("game_id", str, ""),
    ("event_id", str, ""),
    ("occurred_at", str, ""),
    ("recorded_at", str, ""),
    ("recorded_by", str, ""),
    ("previous_hash", bytes, b""),
    ("hash", bytes, b""),
)
_Line: Any = defstruct(
    "Event",
    [
        ("sequence", Uint32 | UnsetType, UNSET),
        *ENVELOPE_FIELDS,
        *((snake_name(body), (_StartedLine if body is GameStarted else body) | UnsetType, UNSET) for body in BODIES),
    ],
    omit_defaults=True,
    **_STRICT,
)
_FIELDS: Final = {camel_name(body): snake_name(body) for body in BODIES}
_PLAIN_FIELDS: Final = {name.encode(): field for name, field in _FIELDS.items()}
_OBJECT: Final = b'":{'
_STARTED: Final = camel_name(GameStarted)
_OPTIONS: Final = tuple(map(snake_name, OPTIONS))
_SHARED: Final = tuple(info.name for info in fields(GameStarted) if info.name != "rules")

_typed: Final = Decoder(_Line)
_bodies: Final = {
    camel_name(body).encode(): Decoder(_StartedLine if body is GameStarted else body).decode for body in BODIES
}
_untyped: Final = Decoder()
_encoder: Final = Encoder()

_CHAIN_FIELDS: Final = ("previousHash", "hash")
_SEAL_FIELDS: Final = ("salt", "commitment")
# The last letter of base64 before a padding holds two or four bits that belong to no byte.
_SPARE_BITS: Final = re.compile(r"[^AQgw]==\Z|[^AEIMQUYcgkosw048=]=\Z")


def read_events(lines: Iterable[bytes]) -> Iterator[Event]:
    """The events of a game file, given as its lines; who reads the file bounds how long one may be.

    Raises Malformed with the number of the line, and the line's own sequence where it can be told. That the events
    follow each other is for the reader's reader to check (`heptalog.replay.verify`).
    """
    blank = 0
    count = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip(_BLANKS):
            blank = blank or number
            continue
        if blank:
            raise _at(Malformed(Code.LINE_BLANK, rule=_RULE), line=blank, sequence=count)
        try:
            event = decode_line(line)
        except Malformed as error:
            raise _at(error, line=number, sequence=count) from None
        yield event
        count += 1
    if not count:
        raise Malformed(Code.GAME_EMPTY, rule=_RULE, line=1, sequence=0)


def decode_line(line: bytes) -> Event:
    """The event in one line. Raises Malformed."""
    if len(line) > LINE_SIZE_MAX:
        raise Malformed(Code.LINE_TOO_LONG, rule=_RULE, limit=LINE_SIZE_MAX)
    try:
        parsed = _typed.decode(line)
    except (DecodeError, ValidationError, RecursionError) as error:
        raise _diagnosis(line, error) from None
    body = _plain_body(parsed, line)
    if body is None:
        return _checked_event(parsed, line)
    sequence = 0 if parsed.sequence is UNSET else parsed.sequence
    try:
        return Event(
            sequence,
            body if type(body) is not _StartedLine else _started(body),
            parsed.game_id,
            parsed.event_id,
            _nanoseconds(parsed.occurred_at, "occurredAt") if parsed.occurred_at else 0,
            _nanoseconds(parsed.recorded_at, "recordedAt") if parsed.recorded_at else 0,
            parsed.recorded_by,
            parsed.previous_hash,
            parsed.hash,
        )
    except Malformed as error:
        error.facts["sequence"] = sequence
        raise


def _plain_body(parsed: Any, line: bytes) -> Any:
    """The body of a line that is spelt as it is written here, of which nothing more has to be asked; else None.

    Such a line has no name twice, no base64 in another spelling and no default written out: they would be lost.
    """
    plain = _encoder.encode(parsed)
    if plain != line and plain != line.rstrip(_BLANKS):
        return None
    # Only a body begins so: what stands before it are texts, in which a quote is escaped, and numbers.
    colon = plain.find(_OBJECT)
    field = _PLAIN_FIELDS.get(plain[plain.rfind(b'"', 0, colon) + 1 : colon])
    body = None if field is None else getattr(parsed, field)
    # It is the only one where it is the rest of the line.
    is_there = body is not None and body is not UNSET
    return body if is_there and plain[colon + 2 : -1] == _encoder.encode(body) else None


def body_in(name: bytes, text: bytes) -> Body | None:
    """The body of this name in its object, where that is spelt as it is written here; None where it is not."""
    read: Any = _bodies.get(name)
    if read is None:
        return None
    try:
        body = read(text)
        if _encoder.encode(body) != text:
            return None
        return _started(body) if type(body) is _StartedLine else body
    except (DecodeError, ValidationError, RecursionError, Malformed):
        return None


def _checked_event(parsed: Any, line: bytes) -> Event:
    """The event in a line in other words, which are looked at one by one."""
    try:
        tree = _untyped.decode(line)
    except (DecodeError, RecursionError) as error:
        raise _diagnosis(line, error) from None
    if _encoder.encode(tree) != format_json(line, indent=-1):
        # Escapes and the like also make a difference, so this is only a reason to look.
        _checked_names(line)
    names = [name for name in tree if name in _FIELDS]
    if len(names) != 1:
        code = Code.BODY_REPEATED if names else Code.BODY_MISSING
        raise Malformed(code, rule=_RULE, **_sequence_in(tree), **({"bodies": ", ".join(names)} if names else {}))
    (name,) = names
    try:
        body: Body = getattr(parsed, _FIELDS[name])
        if name == _STARTED:
            body = _started(body)
        _check_base64(tree, _CHAIN_FIELDS)
        if body.sealed:
            for seal in _seals_in(tree[name]):
                _check_base64(seal, _SEAL_FIELDS)
        return Event(
            0 if parsed.sequence is UNSET else parsed.sequence,
            body,
            parsed.game_id,
            parsed.event_id,
            _nanoseconds(parsed.occurred_at, "occurredAt") if parsed.occurred_at or "occurredAt" in tree else 0,
            _nanoseconds(parsed.recorded_at, "recordedAt") if parsed.recorded_at or "recordedAt" in tree else 0,
            parsed.recorded_by,
            parsed.previous_hash,
            parsed.hash,
        )
    except Malformed as error:
        error.facts.update(_sequence_in(tree))
        raise


def encode_line(event: Event) -> bytes:
    """One line of a game file, without the line break; the sequence is always written."""
    body: Any = event.body
    if isinstance(body, GameStarted):
        shared = {name: getattr(body, name) for name in _SHARED}
        body = _StartedLine(**shared, **{snake_name(type(body.rules)): body.rules})
    line = _Line(
        sequence=event.sequence,
        game_id=event.game_id,
        event_id=event.event_id,
        occurred_at=rfc3339(event.occurred_at) if event.occurred_at else "",
        recorded_at=rfc3339(event.recorded_at) if event.recorded_at else "",
        recorded_by=event.recorded_by,
        previous_hash=event.previous_hash,
        hash=event.hash,
        **{snake_name(type(event.body)): body},
    )
    return _encoder.encode(line)


def options_of(kind: type[Struct], given: dict[str, Any]) -> Any:
    """Options from JSON names and values. Raises Malformed for a name or a type that the game file would refuse."""
    try:
        return convert(given, kind)
    except ValidationError as error:
        raise Malformed(Code.FIELD_INVALID, rule=_RULE, field=camel_name(kind), problem=str(error)) from None


def options_given(options: Struct) -> dict[str, Any]:
    """The options that differ from absent, by their JSON names."""
    given: dict[str, Any] = to_builtins(options)
    return given


def changed_options(options: Options, changes: dict[str, Any]) -> Options:
    """The options with some given anew, by their JSON names. Raises Malformed as `options_of` does."""
    changed: Options = options_of(type(options), options_given(options) | changes)
    return changed


def _started(body: Any) -> GameStarted:
    given = [name for name in _OPTIONS if getattr(body, name) is not UNSET]
    if len(given) != 1:
        problem = "more than one game's rules" if given else "the rules are missing"
        raise Malformed(Code.FIELD_INVALID, rule=_RULE, field=_STARTED, problem=problem)
    return GameStarted(rules=getattr(body, given[0]), **{name: getattr(body, name) for name in _SHARED})


def _check_base64(tree: dict[str, Any], names: tuple[str, ...]) -> None:
    """Raise Malformed where bytes are not spelt in the one way there is: changed spare bits would go unnoticed."""
    for name in names:
        if name in tree and _SPARE_BITS.search(tree[name]):
            raise Malformed(Code.FIELD_INVALID, rule=_RULE, field=name, problem="base64 with bits that mean nothing")


def _seals_in(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The seals of a body as it was read: its own, or those of its parts."""
    for value in (body, *body.values()):
        for part in value if isinstance(value, list) else (value,):
            if isinstance(part, dict) and "seal" in part:
                yield part["seal"]


def _nanoseconds(text: str, field: str) -> int:
    nanoseconds = nanoseconds_in(text)
    if nanoseconds is None:
        problem = "a time after 1970 as 2026-01-31T12:00:00Z"
        raise Malformed(Code.FIELD_INVALID, rule=_RULE, field=field, problem=problem)
    return nanoseconds


# A line that is wrong is looked at again, to say what is wrong with it.


def _at(error: Malformed, *, line: int, sequence: int) -> Malformed:
    error.facts.setdefault("sequence", sequence)
    error.facts["line"] = line
    return error


def _diagnosis(line: bytes, error: Exception) -> Malformed:
    if line.startswith(b"\xef\xbb\xbf"):
        return Malformed(Code.BYTE_ORDER_MARK, rule=_RULE)
    try:
        line.decode()
    except UnicodeDecodeError as fault:
        return Malformed(Code.NOT_UTF8, rule=_RULE, byte=fault.start)
    try:
        tree = _checked_names(line)
        # Half a surrogate pair is no text, though JSON has a way to write it.
        _encoder.encode(tree)
    except Malformed as repeated:
        return repeated
    except (ValueError, RecursionError):
        return Malformed(Code.NOT_JSON, rule=_RULE, problem=str(error))
    if not isinstance(tree, dict):
        return Malformed(Code.NOT_JSON, rule=_RULE, problem="a line is one JSON object")
    sequence = _sequence_in(tree)
    if unknown := _unknown_name(tree, _Line):
        return Malformed(Code.FIELD_UNKNOWN, rule=_RULE, field=unknown, **sequence)
    problem, _, path = str(error).partition(" - at `$.")
    return Malformed(Code.FIELD_INVALID, rule=_RULE, field=path.rstrip("`"), problem=problem, **sequence)


def _number(text: str) -> int | str:
    # One of ten thousand digits is JSON too, and is refused as the field that it stands in.
    return int(text) if len(text) <= _DIGITS_MAX else text


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON")


def _sequence_in(tree: dict[str, Any]) -> dict[str, Any]:
    sequence = tree.get("sequence", 0)
    # A bool is an int to Python.
    return {"sequence": sequence} if type(sequence) is int and 0 <= sequence < 2**32 else {}


def _checked_names(line: bytes) -> Any:
    """The tree of a line. Raises Malformed where an object has a name twice, ValueError where it is not JSON."""
    repeated: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        tree = dict(items)
        if len(tree) != len(items) and not repeated:
            repeated.append(_first_repeated(name for name, _ in items))
        return tree

    # As text, since bytes would be taken for UTF-16 where they look like it.
    tree = json.loads(line.decode(), object_pairs_hook=pairs, parse_int=_number, parse_constant=_no_constant)
    if repeated:
        # Only the outermost object has the line's own sequence.
        sequence = _sequence_in(tree) if isinstance(tree, dict) else {}
        raise Malformed(Code.FIELD_REPEATED, rule=_RULE, field=repeated[0], **sequence)
    return tree


def _first_repeated(names: Iterable[str]) -> str:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    raise AssertionError("asked only where one is")


def _unknown_name(tree: Any, kind: Any) -> str:
    """The path of the first name that the contract does not have; empty where there is none."""
    if isinstance(tree, list):
        # The contract has no list in a list, so only objects are looked into: nothing here can go deep.
        paths = ((f"[{index}]", _unknown_name(item, kind)) for index, item in enumerate(tree) if isinstance(item, dict))
        return next((place + ("." if not path.startswith("[") else "") + path for place, path in paths if path), "")
    if not (isinstance(tree, dict) and isinstance(kind, type) and issubclass(kind, Struct)):
        return ""
    known = {info.encode_name: _element(info.type) for info in fields(kind)}
    for name, value in tree.items():
        if name not in known:
            return str(name)
        if path := _unknown_name(value, known[name]):
            return f"{name}" + ("" if path.startswith("[") else ".") + path
    return ""


def _element(annotation: Any) -> Any:
    """The struct somewhere inside an annotation, or nothing."""
    for choice in (annotation, *getattr(annotation, "__args__", ())):
        if isinstance(choice, type) and issubclass(choice, Struct):
            return choice
        inner = getattr(choice, "__args__", ())
        if inner and (found := _element(inner[0])):
            return found
    return None
