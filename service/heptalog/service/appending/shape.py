"""What is wrong with an append whatever the game."""

import re
from typing import Final

from heptalog.replay.errors import Code, Corrupt, HeptalogError, Malformed, Redacted
from heptalog.replay.events import UNSET, Event, snake_name
from heptalog.replay.evidence.seals import check_seals, check_whole, sealable_parts
from heptalog.service.appends import Append, placed
from heptalog.service.config import EVENTS_PER_APPEND_MAX, ID_LENGTH_MAX

_ID: Final = re.compile(r"[^\s\x00-\x1f\x7f]+")


def check_shape(append: Append) -> None:
    """Raise Malformed for what is wrong with a request whatever the game; paths are those of its fields."""
    _check_id(append.game_id, "game_id")
    if not 1 <= len(append.events) <= EVENTS_PER_APPEND_MAX:
        problem = f"1 to {EVENTS_PER_APPEND_MAX} events"
        raise Malformed(Code.FIELD_INVALID, rule="api", field="events", problem=problem)
    if len(append.events) == 1 or not _are_plain(append):
        _check_events(append)


def _are_plain(append: Append) -> bool:
    """Whether there is nothing in the events that has to be looked at one by one; it is so in most appends."""
    game_ids = ("", append.game_id)
    sequence = append.expected
    ids: set[str] = set()
    for event in append.events:
        sequence += 1
        event_id = event.event_id
        if (
            not event_id
            or len(event_id) > ID_LENGTH_MAX
            or event.game_id not in game_ids
            or event.sequence not in (0, sequence)
            or len(event.recorded_by) > ID_LENGTH_MAX
            or event.recorded_at
            or event.previous_hash
            or event.hash
            or (event.body.sealed and any(part.seal is not UNSET for _, part in sealable_parts(event.body)))
        ):
            return False
        ids.add(event_id)
    # Of texts that are not empty each has nothing but what an id may have if all of them together have not.
    return len(ids) == len(append.events) and _ID.fullmatch("".join(ids)) is not None


def _check_events(append: Append) -> None:
    seen: set[str] = set()
    for index, event in enumerate(append.events):
        try:
            _check_event(append, index, event)
        except HeptalogError as error:
            raise placed(error, index) from None
        if event.event_id and event.event_id in seen:
            repeated = Malformed(Code.EVENT_ID_REPEATED, rule="api", field="event_id", event_id=event.event_id)
            raise placed(repeated, index)
        seen.add(event.event_id)


def _check_event(append: Append, index: int, event: Event) -> None:
    if event.event_id:
        _check_id(event.event_id, "event_id")
    if event.game_id not in ("", append.game_id):
        raise Malformed(Code.FIELD_INVALID, rule="api", field="game_id", problem="not the game of the request")
    if event.sequence not in (0, append.expected + 1 + index):
        raise Malformed(Code.FIELD_INVALID, rule="api", field="sequence", problem="not the one that comes next")
    if len(event.recorded_by) > ID_LENGTH_MAX:
        raise Malformed(Code.FIELD_INVALID, rule="api", field="recorded_by", problem=f"over {ID_LENGTH_MAX} characters")
    if not append.is_imported and (event.recorded_at or event.previous_hash or event.hash):
        for field in ("recorded_at", "previous_hash", "hash"):
            if getattr(event, field):
                problem = "the server's to fill in, unless the events are imported"
                raise Malformed(Code.FIELD_INVALID, rule="api", field=field, problem=problem)
    if event.body.sealed:
        _check_sealed(event)


def _check_sealed(event: Event) -> None:
    try:
        check_seals(event.body)
        check_whole(event.body)
    except (Malformed, Corrupt, Redacted) as error:
        # What the caller brings itself is a fault of the request, not of the log.
        path = ".".join(filter(None, (snake_name(type(event.body)), str(error.facts.pop("field", "")))))
        raise Malformed(error.code, rule=error.rule, field=path, **error.facts) from None


def _check_id(value: str, field: str) -> None:
    if len(value) > ID_LENGTH_MAX or not _ID.fullmatch(value):
        problem = f"1 to {ID_LENGTH_MAX} characters without spaces"
        raise Malformed(Code.FIELD_INVALID, rule="api", field=field, problem=problem)
