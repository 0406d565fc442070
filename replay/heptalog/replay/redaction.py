"""Copies of a recorded game for one viewer: what is hidden from it is left out, and the chain stays as it is.

What a viewer may have follows from how the game stands at the end of its record: what it has seen by then, as
`heptalog.replay.sights` knows it. A hidden part, such as a dealt hand, is whole or left out: its commitment is to all
of it. When the game is over everything is released, unless somebody withholds it.
"""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from heptalog.replay.errors import Code, Refused
from heptalog.replay.events import UNSET, Body, Event
from heptalog.replay.evidence.reveals import Reveal, reveal_of
from heptalog.replay.evidence.seals import Sealable, is_redacted, map_parts, redact_part, sealable_parts, values_of
from heptalog.replay.fold import Fold, view_of
from heptalog.replay.rules import ARBITER, Viewer
from heptalog.replay.sights import Part, known_after_each


def redacted_for(events: Sequence[Event], fold: Fold, viewer: Viewer, *, is_withheld: bool = False) -> Iterator[Event]:
    """A game's events as a viewer may have them; `fold` is that of all of them.

    `is_withheld` says that the end of the game releases nothing that the rules have not shown. Raises Refused for a
    seat that is not at the table, and where a part that is to be left out has no seal: the chain would break.
    """
    # Whoever may not look at the table may not look at its record.
    view_of(fold.rules, fold.state, viewer)
    if viewer == ARBITER or (fold.state.over and not is_withheld):
        yield from events
        return
    seen = known_after_each(fold, [event.body for event in events], viewer)[-1].seen
    for event in events:
        yield _redacted(event, seen) if event.body.sealed else event


def reveals_of(events: Sequence[Event], fold: Fold, owner: int) -> Iterator[Reveal]:
    """Everything that was hidden and is a seat's, ready to be shown to who has a copy without it.

    Raises Refused where a part has no seal: nobody could check it.
    """
    for event in events:
        if not event.body.sealed:
            continue
        owners = fold.rules.owners(fold.states[event.sequence - 1], event.body)
        for (path, part), seat in zip(sealable_parts(event.body), owners, strict=False):
            if seat == owner and values_of(part):
                if part.seal is UNSET:
                    raise _unsealed(event, path)
                yield reveal_of(event, path, part)


def hidden_count(body: Body) -> int:
    """How many parts of a body are left out of this copy."""
    return sum(is_redacted(part) for _, part in sealable_parts(body))


def _redacted(event: Event, seen: frozenset[Part]) -> Event:
    """The event without the parts that were not seen; one that nobody was named for is such a part."""
    parts = enumerate([path for path, _ in sealable_parts(event.body)])

    def leave_out(part: Sealable) -> Sealable:
        place, path = next(parts)
        if (event.sequence, place) in seen or not values_of(part):
            return part
        if part.seal is UNSET:
            raise _unsealed(event, path)
        return redact_part(part)

    return replace(event, body=map_parts(event.body, leave_out))


def _unsealed(event: Event, path: str) -> Refused:
    return Refused(Code.SEAL_MISSING, rule="evidence", sequence=event.sequence, field=path)
