"""What one viewer may see of a game after each of its events, by all that is known of the game.

What was taken back did not happen, so nobody has seen it: a hand that was shown at the end of a round, and is being
played again since, is hidden again, also from who asks how the table lay then. So how a game looked after an event
hangs on what came later. This is decided here and nowhere else: for states, tables, moves, outcomes and copies alike
(`heptalog.replay.redaction`). No look tells what a copy leaves out.

Whether a hidden part was seen is `Rules.has_seen`: what a seat was given in a round comes together, once the viewer has
seen all of it. The end of a game releases its copies, and makes no look tell more: how it looked then is what was seen.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from heptalog.replay.events import RULINGS, Body, MovesRetracted
from heptalog.replay.fold import Fold, Outcomes, legal_of, view_of
from heptalog.replay.rules import ARBITER, NOTHING_WITHHELD, AnyRules, State, Viewer, Withheld

# A hidden part of a game: the sequence of its event and its place there.
Part: TypeAlias = tuple[int, int]


class Sight(Struct, frozen=True):
    """What one viewer may see of a game after one of its events."""

    rules: AnyRules
    state: State
    viewer: Viewer
    withheld: Withheld

    @property
    def view(self) -> Struct:
        """The view of the game. Raises Refused for a seat that is not at the table."""
        return view_of(self.rules, self.state, self.viewer, self.withheld)

    def legal(self) -> Iterator[Body]:
        """The moves that a viewer sees, lazily: the arbiter all, a seat its own, the public none.

        Moves tell who holds what, and what is in nobody's hand; where a hand is withheld that was seen then, even
        one's own tell too much.
        """
        if self.viewer == ARBITER:
            return legal_of(self.rules, self.state)
        if self.view != view_of(self.rules, self.state, self.viewer):
            return iter(())
        moves = legal_of(self.rules, self.state)
        return (move for move in moves if getattr(move, "seat", None) == self.viewer.seat)

    def outcomes(self, outcomes: Outcomes) -> Outcomes:
        """What followed from the event, without what shows a hand that is withheld."""
        if not self.withheld:
            return outcomes
        return tuple(
            each
            for each in outcomes
            if not each.shows_hand_of or getattr(each, each.shows_hand_of) not in self.withheld
        )


class Sights:
    """What one viewer may see after every event of a game, of which all up to `head` has happened.

    `bodies` gives those of all events up to there; it is asked only for what was taken back, which is seldom.
    """

    def __init__(self, fold: Fold, head: int, viewer: Viewer, bodies: Callable[[], Iterable[Body]]) -> None:
        self._fold = fold
        self._head = head
        self._viewer = viewer
        self._bodies = bodies

    def at(self, sequence: int) -> Sight:
        """What the viewer may see after this event."""
        withheld = NOTHING_WITHHELD
        if self._viewer != ARBITER and self._fold.is_taken_back(sequence, self._head):
            withheld = self._known[sequence].unseen_by(self._known[self._head])
        return Sight(self._fold.rules, self._fold.states[sequence], self._viewer, withheld)

    @cached_property
    def _known(self) -> list["Known"]:
        return known_after_each(self._fold, list(self._bodies()), self._viewer)


class Known(NamedTuple):
    """What a viewer has seen of the hidden parts of a game: `given` are those of this round, with who got them."""

    given: tuple[tuple[int, Part], ...] = ()
    seen: frozenset[Part] = frozenset()

    def unseen_by(self, later: "Known") -> Withheld:
        """The seats that were given something in this round which was not seen, as is known later."""
        return frozenset(owner for owner, part in self.given if part not in later.seen)


def known_after_each(fold: Fold, bodies: Sequence[Body], viewer: Viewer) -> list[Known]:
    """What the viewer has seen after each event; after a takeback it is what it was then, as the state is."""
    known = [Known()]
    for sequence, body in enumerate(bodies[1:], 1):
        if isinstance(body, MovesRetracted):
            known.append(known[body.to_sequence])
        elif isinstance(body, RULINGS):
            known.append(known[-1])
        else:
            known.append(_after_move(known[-1], fold, sequence, body, viewer))
    return known


def _after_move(known: Known, fold: Fold, sequence: int, body: Body, viewer: Viewer) -> Known:
    rules, before, after = fold.rules, fold.states[sequence - 1], fold.states[sequence]
    given, seen = known if after.round == before.round else ((), known.seen)
    if body.sealed:
        owners = rules.owners(before, body)
        given += tuple((owner, (sequence, place)) for place, owner in enumerate(owners))
    waiting = {owner for owner, part in given if part not in seen}
    shown = {owner for owner in waiting if rules.has_seen(viewer, owner, before=before, after=after)}
    if shown:
        seen |= {part for owner, part in given if owner in shown}
    return known if given is known.given and seen is known.seen else Known(given, seen)
