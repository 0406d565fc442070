"""Folding: from events to states, one after the other; the arbiter's rulings live here once, for all games.

A fold keeps every state it has passed. They are frozen and share what did not change, so this costs little, and a
takeback is exact whatever it names: the state becomes the very one that was reported then.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from heptalog.replay.errors import Code, Refused
from heptalog.replay.events import Body, GameClosed, GameStarted, MovesRetracted, NoteAdded
from heptalog.replay.outcomes import GameEndedByArbiter, MovesTakenBack, Outcome
from heptalog.replay.registry import rules_of
from heptalog.replay.rules import NOTHING_WITHHELD, AnyRules, State, Viewer, Withheld
from heptalog.replay.standing import Closed as Closed  # asked for here with the fold
from heptalog.replay.standing import Standing as Standing
from heptalog.replay.standing import Status as Status
from heptalog.replay.standing import standing_of as standing_of
from heptalog.replay.standing import status_of as status_of

# More than any game seats; each game has its own range below it.
PLAYERS_MAX: Final = 100

Outcomes: TypeAlias = tuple[Outcome, ...]


class Fold:
    """One game as far as it has been folded. `states[n]` is the state after sequence `n`.

    `takebacks` are the sequences of the takebacks in their order, each with the one that it goes back to.

    An older event is folded as what it means to this version of the rules (`Rules.upcasts`); the event itself, its
    record and its hash stay what they are.
    """

    __slots__ = ("_steps", "_upcasts", "rules", "started", "state", "states", "takebacks")

    def __init__(self, started: Body) -> None:
        """Begin with the body of sequence 0. Raises Refused where it does not start a game that is known here."""
        if not isinstance(started, GameStarted):
            raise Refused(Code.NOT_STARTED, rule="game-file", kind=type(started).__name__)
        check_players(started)
        self.rules: AnyRules = rules_of(started)
        self.started = started
        self.state: State = self.rules.initial(started)
        self.states: list[State] = [self.state]
        self.takebacks: list[tuple[int, int]] = []
        self._upcasts = self.rules.upcasts
        steps = self.rules.steps
        # Without older kinds, as nearly all rules are, there is nothing to take out.
        self._steps = {kind: steps[kind] for kind in steps if kind not in self._upcasts} if self._upcasts else steps

    @property
    def sequence(self) -> int:
        """The sequence of the last event folded."""
        return len(self.states) - 1

    def check(self, body: Body, *, is_recorded: bool = False) -> None:
        """Raise Refused unless `body` may be recorded next. Changes nothing.

        What another log has recorded already may also be of a kind that this version only reads.
        """
        kind = type(body)
        if kind in self._upcasts and not is_recorded and kind not in self.rules.bodies:
            raise self._foreign(body, problem="it is still read in older games, and recorded no more")
        if type(self.state) is Closed:
            self._check_ruling(body)
        elif kind in self._steps:
            self.rules.check(self.state, body)
        elif kind in self._upcasts:
            self._upcast(self.state, body)
        else:
            self._check_ruling(body)

    def apply(self, body: Body) -> Outcomes:
        """Take the next event, which has been checked, and give what follows from it."""
        if type(body) in self._steps:
            self.state, outcomes = self.rules.apply(self.state, body)
        elif type(body) in self._upcasts:
            self.state, outcomes = self._upcast(self.state, body)
        else:
            self.state, outcomes = self._apply_ruling(body)
            if type(body) is MovesRetracted:
                self.takebacks.append((len(self.states), body.to_sequence))
        self.states.append(self.state)
        return outcomes

    def advance(self, body: Body) -> Outcomes:
        """Take the next recorded event and give what follows from it. Raises Refused where it may not happen."""
        state = self.state
        step = self._steps.get(type(body))
        if step is not None and type(state) is not Closed:
            # The common case, without a call in between: it is most of what a replay does.
            self.state, outcomes = step(state, body)
            self.states.append(self.state)
            return outcomes
        if type(body) not in self._upcasts or type(state) is Closed:
            self._check_ruling(body)
        return self.apply(body)

    def follow(self, bodies: Iterable[Body]) -> None:
        """Take the next recorded events, where nobody asks what follows from them. Raises as `advance` does."""
        state, steps, keep = self.state, self._steps, self.states.append
        try:
            for body in bodies:
                step = steps.get(type(body))
                if step is not None and type(state) is not Closed:
                    state, _ = step(state, body)
                    keep(state)
                else:
                    self.state = state
                    self.advance(body)
                    state = self.state
        finally:
            self.state = state

    def truncate(self, sequence: int) -> None:
        """Forget everything after `sequence`: what was applied in advance did not happen after all."""
        del self.states[sequence + 1 :]
        self.state = self.states[-1]
        while self.takebacks and self.takebacks[-1][0] > sequence:
            self.takebacks.pop()

    def standing(self) -> Standing:
        """The report after the last event."""
        return standing_of(self.sequence, self.state)

    def until(self, sequence: int) -> "Fold":
        """The fold as it was after this event: another one, which goes its own way."""
        earlier = Fold(self.started)
        earlier.states = self.states[: sequence + 1]
        earlier.state = earlier.states[-1]
        earlier.takebacks = [takeback for takeback in self.takebacks if takeback[0] <= sequence]
        return earlier

    def is_taken_back(self, sequence: int, head: int) -> bool:
        """Whether what had happened after event `sequence` does not count any more after event `head`."""
        last = head
        for takeback, to_sequence in reversed(tuple(self.takebacks)):
            if takeback > last:
                continue
            if sequence >= takeback:
                break
            last = to_sequence
            if sequence > last:
                return True
        return False

    def outcomes_at(self, sequence: int, body: Body) -> Outcomes:
        """What followed from the event `sequence`, whose body this is, when it was taken; nothing changes."""
        if sequence == 0:
            return ()
        state = self.states[sequence - 1]
        if type(state) is not Closed:
            if (step := self._steps.get(type(body))) is not None:
                return step(state, body)[1]
            if type(body) in self._upcasts:
                return self._upcast(state, body)[1]
        return self._apply_ruling(body)[1]

    def _upcast(self, state: State, body: Body) -> tuple[State, Outcomes]:
        """The state after an older event, and what followed: of each body that it means, which may be older too."""
        outcomes: Outcomes = ()
        for newer in self._upcasts[type(body)](state, body):
            if type(newer) in self._upcasts and type(newer) is not type(body):
                state, more = self._upcast(state, newer)
            else:
                state, more = self.rules.apply(state, newer)
            outcomes += more
        return state, outcomes

    def _foreign(self, body: Body, **facts: object) -> Refused:
        kind = type(body).__name__
        return Refused(Code.EVENT_FOREIGN, rule="game-file", kind=kind, ruleset=self.rules.key, **facts)

    def _check_ruling(self, body: Body) -> None:
        match body:
            case NoteAdded():
                return
            case MovesRetracted(to_sequence=to_sequence):
                if not 0 <= to_sequence <= self.sequence:
                    raise Refused(
                        Code.RETRACTION_INVALID, rule="game-file", to_sequence=to_sequence, head=self.sequence
                    )
            case GameClosed(winners=winners):
                if self.state.over:
                    raise Refused(Code.GAME_OVER, rule="game-file")
                self._check_winners(winners)
            case GameStarted():
                raise Refused(Code.ALREADY_STARTED, rule="game-file")
            case _ if type(body) in self._steps or type(body) in self._upcasts:
                raise Refused(Code.GAME_OVER, rule="game-file")
            case _:
                raise self._foreign(body)

    def _check_winners(self, winners: tuple[int, ...]) -> None:
        seat_count = len(self.started.players)
        side_count = len(self.state.scores)
        for seat in winners:
            if not 0 <= seat < seat_count:
                raise Refused(Code.SEAT_UNKNOWN, rule="game-file", seat=seat, seats=seat_count)
        if any(left >= right for left, right in pairwise(winners)):
            raise Refused(Code.CLOSING_INVALID, rule="game-file", problem="winners ascend, each named once")
        for seat in winners:
            if any(partner not in winners for partner in range(seat % side_count, seat_count, side_count)):
                raise Refused(Code.CLOSING_INVALID, rule="game-file", problem="partners win together or not at all")

    def _apply_ruling(self, body: Body) -> tuple[State, Outcomes]:
        match body:
            case MovesRetracted(to_sequence=to_sequence):
                return self.states[to_sequence], (MovesTakenBack(to_sequence),)
            case GameClosed(winners=winners):
                return Closed(self.state, body), (GameEndedByArbiter(winners),)
            case _:
                assert type(body) is NoteAdded, "only what was checked is applied"
                return self.state, ()


def check_players(started: GameStarted) -> None:
    """Raise Refused unless every player has an id of their own; how many there may be is each game's, up to a bound."""
    if len(started.players) > PLAYERS_MAX:
        raise Refused(Code.PLAYERS_INVALID, rule="game-file", players=len(started.players))
    seen: set[str] = set()
    for seat, player in enumerate(started.players):
        if not player.id:
            raise Refused(Code.PLAYERS_INVALID, rule="game-file", seat=seat, problem="a player without an id")
        if player.id in seen:
            raise Refused(Code.PLAYERS_INVALID, rule="game-file", seat=seat, problem="two players with one id")
        seen.add(player.id)


def legal_of(rules: AnyRules, state: State) -> Iterator[Body]:
    """Every move of the seats that may act now, lazily; none once the arbiter has closed the game."""
    return iter(()) if isinstance(state, Closed) else rules.legal(state)


def view_of(rules: AnyRules, state: State, viewer: Viewer, withheld: Withheld = NOTHING_WITHHELD) -> Struct:
    """What one viewer may see; where the arbiter has closed the game, its end is laid over the table as it was left."""
    if not isinstance(state, Closed):
        return rules.view(state, viewer, withheld)
    view: Any = rules.view(state.state, viewer, withheld)
    ending = {"phase": "OVER", "to_act": state.to_act, "winners": state.winners}
    told = {name: value for name, value in ending.items() if hasattr(view.table, name)}
    closed: Struct = replace(view, table=replace(view.table, **told))
    return closed


def scan(bodies: Iterable[Body]) -> Iterator[tuple[Fold, Outcomes]]:
    """Fold event by event; the fold as it stands, and what followed, after each."""
    fold: Fold | None = None
    for body in bodies:
        if fold is None:
            fold = Fold(body)
            yield fold, ()
        else:
            yield fold, fold.advance(body)


def fold_all(bodies: Iterable[Body]) -> Fold:
    """Fold all of a game. Raises Refused at the first event that the rules do not allow."""
    events = iter(bodies)
    for started in events:
        fold = Fold(started)
        fold.follow(events)
        return fold
    raise Refused(Code.NOT_STARTED, rule="game-file", kind="nothing")
