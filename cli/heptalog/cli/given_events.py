"""Events as they are given on the command line: one in words, or several as lines of a game file.

Which kinds there are, and their fields, is what the game of the registry says: a new one needs nothing here.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

from msgspec import inspect, json
from msgspec.structs import replace

from heptalog.cli.exits import WrongUse
from heptalog.cli.files import lines_in
from heptalog.cli.recording import in_given
from heptalog.cli.viewers import seat_named
from heptalog.replay.errors import Code, HeptalogError, Malformed
from heptalog.replay.events import RULINGS, Body, Event, NoteAdded, Player, camel_name
from heptalog.replay.fold import Fold
from heptalog.replay.gamefile import LINE_SIZE_MAX, decode_line, read_events
from heptalog.replay.identity import identified
from heptalog.replay.rules import AnyRules
from heptalog.replay.times import nanoseconds_in
from heptalog.service.appending.shape import check_shape
from heptalog.service.appends import Append
from heptalog.service.config import EVENTS_PER_APPEND_MAX
from heptalog.service.live import LiveGame

STDIN: Final = Path("-")

# Fields of any game that are seats: a person says who sits there.
_SEATS: Final = frozenset({"seat", "winners"})
# Fields of any game that are cards, which are named in capitals.
_CARDS: Final = frozenset({"card", "cards", "turned", "standsFor"})
_DIGITS_MAX: Final = 10  # of a number of 32 bits
_NUMBER_MAX: Final = 2**32 - 1


def kinds_of(rules: AnyRules) -> Mapping[str, type[Body]]:
    """What can be recorded into a game that has begun, by the names of the game file; the rulings first."""
    return {camel_name(body): body for body in (*RULINGS, *rules.bodies)}


def forms_of(rules: AnyRules) -> dict[str, dict[str, str]]:
    """Each kind of event with its fields, and how these are given; empty where only a line of a game file can."""
    return {kind: dict(_forms(body)) for kind, body in kinds_of(rules).items()}


def forms_text(rules: AnyRules) -> Iterator[str]:
    """The same for people."""
    kinds = kinds_of(rules)
    width = max(map(len, kinds))
    for kind, body in kinds.items():
        yield f"{kind:<{width}}  {_form_text(body)}"


def event_in_words(words: Sequence[str], fold: Fold) -> Event:
    """The event in `KIND FIELD=VALUE …`: what a game file may leave out for its zero must be said here.

    Raises WrongUse, and Malformed for what no line of a game file can be.
    """
    players = fold.started.players
    _check_text(*words)
    kind, *given = words
    kinds = kinds_of(fold.rules)
    if kind not in kinds:
        raise WrongUse(f"{kind}: the events of this game are {', '.join(kinds)}")
    types = {field.encode_name: field.type for field in _fields(kinds[kind])}
    values: dict[str, Any] = {}
    for word in given:
        name, has_value, text = word.partition("=")
        if not has_value or name not in types:
            names = ", ".join(name for name, form in _forms(kinds[kind]) if form)
            raise WrongUse(f"{word}: {kind} is given {names} as FIELD=VALUE")
        if name in values:
            raise WrongUse(f"{name} is given twice")
        if not _form_of(name, types[name]):
            raise _has_parts(name)
        values[name] = _value(name, types[name], text, players)
    _check_all_said(kind, kinds[kind], values)
    try:
        return decode_line(json.encode({kind: values}))
    except Malformed as error:
        raise _unplaced(error) from None


def events_in(path: Path) -> tuple[Event, ...]:
    """The events in a file, or on stdin; one more than can be recorded at once shows that there are too many.

    Raises Malformed with the line, Unavailable.
    """
    lines = iter(lambda: sys.stdin.buffer.readline(LINE_SIZE_MAX + 1), b"") if path == STDIN else lines_in(path)
    try:
        return tuple(islice(read_events(lines), EVENTS_PER_APPEND_MAX + 1))
    except Malformed as error:
        raise _unplaced(error) from None


def completed(
    events: Sequence[Event], now: LiveGame, after: int | None, *, event_id: str, occurred_at: str, recorded_by: str
) -> Append:
    """What is asked of the log: the events behind `after`, or behind the last, with what they lack.

    An id that is missing follows from the place and the content, so that the same command is recognised. Raises
    WrongUse, and Malformed for what no log takes.
    """
    _check_text(event_id, recorded_by)
    if event_id and len(events) > 1:
        raise WrongUse("--event-id is for one event; those of a file have their own in eventId")
    _check_envelope(now.game_id, event_id=event_id, recorded_by=recorded_by)
    time = nanoseconds_in(occurred_at) if occurred_at else 0
    if time is None:
        raise WrongUse(f"--occurred-at {occurred_at}: a time after 1970 is given as 2026-01-31T12:00:00Z")
    head = now.fold.sequence
    expected = head if after is None else after
    places = range(expected + 1, expected + 1 + len(events))
    filled = tuple(
        replace(
            event,
            sequence=event.sequence or place,
            game_id=event.game_id or now.game_id,
            event_id=event.event_id or event_id,
            occurred_at=event.occurred_at or time,
            recorded_by=event.recorded_by or recorded_by,
        )
        for place, event in zip(places, events, strict=True)
    )
    append = Append(now.game_id, expected, filled, now.hash_at(expected) if expected <= head else b"")
    try:
        check_shape(append)
    except HeptalogError as error:
        raise in_given(error, append) from error
    return replace(append, events=tuple(identified(filled)))


def _check_envelope(game_id: str, *, event_id: str, recorded_by: str) -> None:
    """Raise WrongUse for what no log takes beside an event, by the name of its option."""
    try:
        check_shape(Append(game_id, 0, (Event(1, NoteAdded(), event_id=event_id, recorded_by=recorded_by),)))
    except Malformed as error:
        is_id = str(error.facts["field"]).endswith("event_id")
        option = f"--event-id {event_id}" if is_id else f"--recorded-by {recorded_by}"
        raise WrongUse(f"{option}: {error.facts['problem']}") from None


def _check_all_said(kind: str, body: type[Body], values: Mapping[str, Any]) -> None:
    """Raise WrongUse where a field is missing that says what happened."""
    missing = [field for field in _fields(body) if field.encode_name not in values and field.name not in body.spare]
    for field in missing:
        if not _form_of(field.encode_name, field.type):
            raise _has_parts(field.encode_name)
    if missing:
        names = " and ".join(map(_missing_text, missing))
        raise WrongUse(f"{names} must be given: {kind} {_form_text(body)}")


def _missing_text(field: inspect.Field) -> str:
    name = field.encode_name
    return f"{name} ({name}= for none)" if isinstance(field.type, inspect.VarTupleType) else name


def _has_parts(name: str) -> WrongUse:
    return WrongUse(f"{name} has parts of its own: give the event as a line of a game file, --file FILE")


def _check_text(*words: str) -> None:
    """Raise WrongUse for what a terminal of another kind has sent: no event can hold it."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            raise WrongUse(f"{word.encode('utf-8', 'backslashreplace').decode()}: this is not UTF-8") from None


def _fields(body: type[Body]) -> tuple[inspect.Field, ...]:
    described = inspect.type_info(body)
    assert isinstance(described, inspect.StructType), "a body is a struct"
    return described.fields


def _forms(body: type[Body]) -> list[tuple[str, str]]:
    return [(field.encode_name, _form_of(field.encode_name, field.type)) for field in _fields(body)]


def _form_text(body: type[Body]) -> str:
    """The fields of a kind for people; in brackets those that may be left out."""
    told = []
    for field in _fields(body):
        form = _form_of(field.encode_name, field.type)
        text = f"{field.encode_name}={form}" if form else f"{field.encode_name} (--file FILE)"
        told.append(f"[{text}]" if field.name in body.spare else text)
    return " ".join(told)


def _form_of(name: str, kind: inspect.Type) -> str:
    """How a value is given in words; empty where it cannot be."""
    match kind:
        case inspect.VarTupleType(item_type=item):
            form = _form_of(name, item)
            return f"{form},…" if form else ""
        case inspect.IntType():
            return "SEAT" if name in _SEATS else "N"
        case inspect.EnumType(cls=values):
            return "|".join(map(str, values))
        case inspect.StrType():
            return "TEXT"
        case _:
            return ""


def _value(name: str, kind: inspect.Type, text: str, players: Sequence[Player]) -> Any:
    match kind:
        case inspect.VarTupleType(item_type=item):
            values = [_value(name, item, part.strip(), players) for part in text.split(",")] if text else []
            # Who names winners does not think of where they sit.
            return sorted(values) if name in _SEATS else values
        case inspect.IntType() if name in _SEATS:
            return seat_named(text, players)
        case inspect.IntType():
            if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS_MAX and int(text) <= _NUMBER_MAX):
                raise WrongUse(f"{name}={text}: a whole number is asked for, to {_NUMBER_MAX}")
            return int(text)
        case inspect.EnumType(cls=choices):
            if text.upper() not in map(str, choices):
                raise WrongUse(f"{name}={text}: {name} is {' or '.join(map(str, choices))}")
            return text.upper()
        case _:
            return text.upper() if name in _CARDS else text


def _unplaced(error: Malformed) -> Malformed:
    """The error without the sequence that a line would have in a file of its own; no line is at fault for none."""
    error.facts.pop("sequence", None)
    if error.code is Code.GAME_EMPTY:
        error.facts.pop("line", None)
    return error
