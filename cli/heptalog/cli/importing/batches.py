"""A game in pieces that one call may carry, and what a log answers to them."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from shlex import quote
from typing import Final, NamedTuple

from heptalog.replay.diff import diff
from heptalog.replay.errors import Code, Conflict, HeptalogError
from heptalog.replay.events import Event
from heptalog.service.appending.shape import check_shape
from heptalog.service.appends import Append, Receipt
from heptalog.service.config import EVENTS_PER_APPEND_MAX, ID_LENGTH_MAX, MESSAGE_SIZE_MAX

_BATCH_SIZE_MAX: Final = MESSAGE_SIZE_MAX * 7 // 8
_PLACE_IN_REQUEST: Final = re.compile(r"^events\[\d+\]\.?")
_NUMBER: Final = re.compile(r"\d+")


class Counts(NamedTuple):
    """How many events of a game are new, and how many were there."""

    added: int
    known: int


def check_form(events: Sequence[Event]) -> None:
    """Raise Malformed where a log would refuse the form of events that have been examined and have their ids."""
    if _is_plain([event.event_id for event in events]) and _is_plain([events[0].game_id]):
        recorders = {event.recorded_by for event in events}
        if max(map(len, recorders)) <= ID_LENGTH_MAX:
            return
    for start in range(0, len(events), EVENTS_PER_APPEND_MAX):
        batch = events[start : start + EVENTS_PER_APPEND_MAX]
        try:
            check_shape(_append(batch))
        except HeptalogError as error:
            raise in_game(error, batch) from error


def recorded(events: Iterable[Event], sizes: Iterable[int], head: int, append: Callable[[Append], Receipt]) -> Counts:
    """Append the events of one game in order, of which a log may have some: its head is that.

    Raises what the log raises, with the place in the game.
    """
    added = known = 0
    for batch in _parted(_batches(events, sizes), head):
        try:
            receipt = append(_append(batch))
        except HeptalogError as error:
            raise in_game(error, batch) from error
        if receipt.is_deduplicated:
            known += len(batch)
        else:
            added += len(batch)
    return Counts(added, known)


def other_game(error: Conflict, there: Sequence[Event], sent: Sequence[Event], log: str) -> Conflict:
    """The error about a game that is there already, with the first event in which it is another one."""
    if error.code is not Code.GAME_EXISTS:
        return error
    for option in ("", "--envelope "):
        parting = diff(there, sent, with_envelope=bool(option)).event
        if parting is not None:
            how = f"`heptalog diff {option}FILE {quote(f'{log}#{sent[0].game_id}')}` says how"
            what = "only its ids, times or hashes are other ones" if option else "it is another game"
            error.facts["problem"] = f"{what} from event {parting.sequence} on; {how}"
            error.facts["sequence"] = parting.sequence
            break
    return error


def _is_plain(ids: Sequence[str]) -> bool:
    """Whether nothing has to be asked of these ids: they differ, are short, and have no odd letter."""
    text = "".join(ids)
    has_form = text.isascii() and text.isprintable() and " " not in text
    return has_form and all(ids) and max(map(len, ids)) <= ID_LENGTH_MAX and len(set(ids)) == len(ids)


def _batches(events: Iterable[Event], sizes: Iterable[int]) -> Iterator[list[Event]]:
    """The events in pieces that one call may carry."""
    batch: list[Event] = []
    total = 0
    for event, size in zip(events, sizes, strict=True):
        if batch and (len(batch) == EVENTS_PER_APPEND_MAX or total + size > _BATCH_SIZE_MAX):
            yield batch
            batch, total = [], 0
        batch.append(event)
        total += size
    yield batch


def _parted(batches: Iterable[list[Event]], head: int) -> Iterator[list[Event]]:
    """The batches, none of them with both known and new events."""
    for batch in batches:
        for part in ([event for event in batch if event.sequence <= head], [e for e in batch if e.sequence > head]):
            if part:
                yield part


def _append(batch: Sequence[Event]) -> Append:
    return Append(batch[0].game_id, batch[0].sequence - 1, tuple(batch), is_imported=True)


def in_game(error: HeptalogError, batch: Sequence[Event]) -> HeptalogError:
    """The error with the place of its event in the game, and not in the request that we made of it."""
    index = error.facts.pop("index", _index_told(error, batch))
    field = error.facts.get("field")
    if isinstance(field, str):
        error.facts["field"] = _PLACE_IN_REQUEST.sub("", field)
    if batch and isinstance(index, int):
        error.facts.setdefault("sequence", batch[index].sequence)
    return error


def _index_told(error: HeptalogError, batch: Sequence[Event]) -> int:
    """The place in the request that a log names in other words, the first one where it names none.

    What it says of places becomes that of the game.
    """
    match error.code:
        case Code.EVENT_ID_REUSED:
            event_id = error.facts.get("event_id")
            return next((index for index, event in enumerate(batch) if event.event_id == event_id), 0)
        case Code.BATCH_PARTLY_KNOWN:
            # The log has the game so far: what it does not know is what differs.
            unknown = _NUMBER.search(str(error.facts.get("new_events")))
            for name in error.facts.keys() & {"known_events", "new_events"}:
                error.facts[name] = _NUMBER.sub(partial(_moved, batch[0].sequence), str(error.facts[name]))
            return int(unknown[0]) if unknown and int(unknown[0]) < len(batch) else 0
        case _:
            return 0


def _moved(by: int, number: re.Match[str]) -> str:
    return str(by + int(number[0]))
