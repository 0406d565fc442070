"""Reading and verifying a whole game file at once, where all of it is plain and right.

A line that is spelt as it is written here has two pieces: the envelope, and the body, of which most are small and come
again and again. What was read of a piece is written again and compared, which proves that there is no name twice, no
base64 in another spelling and no default written out. All envelopes of a game are read in one go, and written in one.

As with the records of a log (`heptalog.replay.plain`) a game goes through one step after the other, and here is only
found that it is good. What is not plainly so is read and examined line by line, in the exact way.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from msgspec import DecodeError, ValidationError, defstruct
from msgspec.json import Decoder, Encoder

from heptalog.replay import bodies
from heptalog.replay.bodies import KINDS, REMEMBERED_MAX, NotPlain
from heptalog.replay.codec import forms_with
from heptalog.replay.envelope import fronts_of
from heptalog.replay.errors import HeptalogError
from heptalog.replay.events import Body, Event, Uint32
from heptalog.replay.evidence.chain import GENESIS, links
from heptalog.replay.evidence.seals import check_seals, check_whole
from heptalog.replay.fold import Fold
from heptalog.replay.gamefile import ENVELOPE_FIELDS, LINE_SIZE_MAX, body_in
from heptalog.replay.times import nanoseconds_in

# Of the text of a body that is worth remembering: no move of any game needs more.
_SMALL: Final = 160
# What stands between the name of a body and what is in it; a quote in a text would be escaped.
_OBJECT: Final = b'":{'
_ENVELOPE_END: Final = b"}\n"

_Envelope: Any = defstruct(
    "Envelope",
    [("sequence", Uint32), *ENVELOPE_FIELDS],
    frozen=True,
    gc=False,
    rename="camel",
    omit_defaults=True,
    forbid_unknown_fields=True,
)
_read_lines: Final = Decoder(_Envelope).decode_lines
_write_lines: Final = Encoder().encode_lines


class PlainFile(NamedTuple):
    """A game that is good: its events, and its fold.

    `contents` are those of the events without their links, where they have any; `fields` are the canonical fields of
    their bodies, empty for those that are not small.
    """

    events: list[Event]
    fields: list[bytes]
    contents: list[bytes]
    fold: Fold


def plain_file(lines: Sequence[bytes]) -> PlainFile | None:
    """The game in these lines, without their breaks, where they are all plain and right in everything."""
    try:
        return _file_of(lines)
    except (HeptalogError, DecodeError, ValidationError, RecursionError, NotPlain):
        return None


def _file_of(lines: Sequence[bytes]) -> PlainFile:
    if not lines or max(map(len, lines)) >= LINE_SIZE_MAX:
        raise NotPlain
    events, fields = _events_in(lines)
    _check_envelopes(events)
    first, *others = events
    for event in events:
        if event.body.sealed:
            check_seals(event.body)
            check_whole(event.body)
    # A link on any line makes it a game with a chain, which every line must then have.
    contents = _chained(events, fields) if any(event.hash or event.previous_hash for event in events) else []
    fold = Fold(first.body)
    fold.follow([event.body for event in others])
    return PlainFile(events, fields, contents, fold)


def _events_in(lines: Sequence[bytes]) -> tuple[list[Event], list[bytes]]:
    """The events in these lines, and the canonical fields of their bodies where those are small."""
    fronts: list[bytes] = []
    found: list[tuple[Body, bytes]] = []
    for line in lines:
        # Nearly always the first brace but one: to look for a letter takes a fourth of the time.
        brace = line.find(b"{", 1)
        if line[brace - 2 : brace + 1] != _OBJECT:
            brace = line.find(_OBJECT) + 2
        end = line.rfind(b'"', 0, brace - 2) - 1
        text = line[end:]
        fronts.append(line[:end])
        try:
            found.append(_small_body(text) if len(text) <= _SMALL else (_body_in(text), b""))
        except NotPlain:
            found.append((_body_in(text), b""))
    joined = _ENVELOPE_END.join((*fronts, b""))
    envelopes = _read_lines(joined)
    if _write_lines(envelopes) != joined:
        raise NotPlain
    events = [
        Event(
            envelope.sequence,
            body,
            envelope.game_id,
            envelope.event_id,
            _time(envelope.occurred_at) if envelope.occurred_at else 0,
            _time(envelope.recorded_at) if envelope.recorded_at else 0,
            envelope.recorded_by,
            envelope.previous_hash,
            envelope.hash,
        )
        for envelope, (body, _) in zip(envelopes, found, strict=True)
    ]
    return events, [field for _, field in found]


@lru_cache(maxsize=REMEMBERED_MAX)
def _small_body(text: bytes) -> tuple[Body, bytes]:
    """The body in the end of a line, and its field. Raises NotPlain, also for all that could hide a value."""
    body = _body_in(text)
    if not KINDS[type(body)].is_remembered:
        raise NotPlain
    return body, bodies.field_of(body)


def _body_in(text: bytes) -> Body:
    """The body in the end of a line, from the comma before its name on. Raises NotPlain."""
    name, _, rest = text[2:-1].partition(b'":')
    body = body_in(name, rest)
    if body is None or text[:2] != b',"' or text[-1:] != b"}":
        raise NotPlain
    return body


def _time(text: str) -> int:
    nanoseconds = nanoseconds_in(text)
    if nanoseconds is None:
        raise NotPlain
    return nanoseconds


def _check_envelopes(events: Sequence[Event]) -> None:
    """Raise NotPlain unless these are one game from its beginning on, in order, each event there once."""
    if [event.sequence for event in events] != list(range(len(events))):
        raise NotPlain
    event_ids = [event.event_id for event in events if event.event_id]
    if len({event.game_id for event in events}) > 1 or len(set(event_ids)) < len(event_ids):
        raise NotPlain


def _chained(events: Sequence[Event], fields: Sequence[bytes]) -> list[bytes]:
    """The contents of events whose hashes are right. Raises NotPlain."""
    contents: list[bytes] = []
    publics: list[bytes] = []
    for event, front, field in zip(events, fronts_of(events, events[0].game_id), fields, strict=True):
        content, public = (front + field,) * 2 if field else forms_with(front, event.body)
        contents.append(content)
        publics.append(public)
    digests = links(GENESIS, publics)
    if [event.hash for event in events] != digests:
        raise NotPlain
    if [event.previous_hash for event in events] != [GENESIS, *digests[:-1]]:
        raise NotPlain
    return contents
