"""Copies of a recorded game for one viewer: what is hidden from it is left out, and the chain stays as it is.

What a viewer may have follows from how the game stands at the end of its record. A hidden part, such as a dealt hand,
is whole or left out: its commitment is to all of it. What a seat was given in a round comes together, once the viewer
has seen all of it: its own, or what the rules showed everybody (`Rules.has_seen`). What was taken back did not happen,
so nobody has seen it. When the game is over everything is released, unless somebody withholds it.
"""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from heptalog.replay.errors import Code, Refused
from heptalog.replay.events import RULINGS, UNSET, Body, Event, MovesRetracted
from heptalog.replay.evidence.reveals import Reveal, reveal_of
from heptalog.replay.evidence.seals import Sealable, is_redacted, map_parts, redact_part, sealable_parts, values_of
from heptalog.replay.fold import Fold, view_of
from heptalog.replay.rules import ARBITER, Viewer


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
    seen = _seen(fold, [event.body for event in events], viewer)
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


def _seen(fold: Fold, bodies: Sequence[Body], viewer: Viewer) -> set[tuple[int, int]]:
    """The hidden parts that the viewer has seen, each by its sequence and its place in the event."""
    rules = fold.rules
    seen: set[tuple[int, int]] = set()
    waiting: dict[int, list[tuple[int, int]]] = {}  # by owner, the parts of this round that were not seen yet
    for sequence in _standing(bodies):
        before, after = fold.states[sequence - 1], fold.states[sequence]
        if after.round != before.round:
            waiting = {}
        if bodies[sequence].sealed:
            for place, owner in enumerate(rules.owners(before, bodies[sequence])):
                waiting.setdefault(owner, []).append((sequence, place))
        for owner in [owner for owner in waiting if rules.has_seen(viewer, owner, before=before, after=after)]:
            seen.update(waiting.pop(owner))
    return seen


def _standing(bodies: Sequence[Body]) -> list[int]:
    """The sequences of the moves that were not taken back, ascending."""
    moves = []
    sequence = len(bodies) - 1
    while sequence > 0:
        body = bodies[sequence]
        if isinstance(body, MovesRetracted):
            # The state was the very one after that event, so what led to that one counts and nothing in between.
            sequence = body.to_sequence
            continue
        if not isinstance(body, RULINGS):
            moves.append(sequence)
        sequence -= 1
    return moves[::-1]


def _redacted(event: Event, seen: set[tuple[int, int]]) -> Event:
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
