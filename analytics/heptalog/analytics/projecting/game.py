"""One game as it is folded, and its rows in every table.

Rows are made when their event comes and are kept whether they stand or not; which of them stand is asked when all are
given (`lineage`). Turns and rulings are given all the same, and marked; of what follows by the rules only that is given
which led to where the game is now.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from operator import itemgetter
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.json import encode
from msgspec.structs import replace

from heptalog.analytics.projecting.games import GAME_ROWS, GameRows, NoRows
from heptalog.analytics.projecting.lineage import Lineage, Standing
from heptalog.analytics.projecting.rounds import MATCH_WON, Began, Ended, Opened, Rounds
from heptalog.analytics.projecting.rows import MONTH_UNKNOWN, Row, labels_of, microseconds
from heptalog.analytics.projecting.rulings import CALLS
from heptalog.analytics.projecting.turns import TURNS
from heptalog.replay.errors import Code, Malformed
from heptalog.replay.events import RULINGS, Body, Event, GameClosed, GameStarted, MovesRetracted, OpenerDrawn
from heptalog.replay.evidence.seals import check_whole
from heptalog.replay.fold import Fold, Outcomes, Status, status_of
from heptalog.replay.gamefile import options_given
from heptalog.replay.outcomes import MatchWon, RoundEnded
from heptalog.replay.rules import AnyRules, State
from heptalog.replay.times import SECOND

# Where things are in a row of turns, and but for the seat in one of rulings.
_SEQUENCE: Final = 3
_ROUND: Final = 4
_SEAT: Final = 5
_IS_RETRACTED: Final = -3
_MICROSECONDS: Final = 1_000_000

# What one body did: itself, the states before and after it, and what followed.
Step: TypeAlias = tuple[Body, State, State, Outcomes]


class Moment(Struct, frozen=True, gc=False):
    """Where and when an event was recorded; times are microseconds."""

    position: int
    sequence: int
    think_seconds: float | None
    occurred_at: int | None
    recorded_at: int | None
    recorded_by: str


class GameProjection:
    """One game as it is folded, and its rows so far."""

    __slots__ = (
        "_ends",
        "_fold",
        "_game",
        "_labels",
        "_last_occurred_at",
        "_last_recorded_at",
        "_lineage",
        "_rounds",
        "_rulings",
        "_started_at",
        "_turns",
        "game_id",
        "game_number",
        "last_position",
        "month",
        "ruleset",
    )

    def __init__(self, first: Event, position: int) -> None:
        """Begin with the event of sequence 0. Raises Refused where it does not start a game that is known here."""
        self._fold = Fold(first.body)
        rules = self._fold.rules
        self.game_id = first.game_id
        self.game_number = self.last_position = position
        self.ruleset = rules.key
        self.month = month_of(first.recorded_at)
        self._started_at = self._last_recorded_at = microseconds(first.recorded_at)
        self._last_occurred_at = microseconds(first.occurred_at)
        self._labels = labels_of(
            self._fold.started,
            game_number=position,
            game_id=first.game_id,
            side_count=len(self._fold.state.scores),
            ruleset=rules.key,
            month=self.month,
        )
        self._game: GameRows = GAME_ROWS.get(rules.key, NoRows)(self._labels)
        self._lineage = Lineage()
        self._rounds = Rounds()
        self._turns: list[Row] = []
        self._rulings: list[Row] = []
        # Events that ended the game: the sequence and position of each, and when it was accepted.
        self._ends: list[tuple[int, int, int | None]] = []

    @property
    def is_over(self) -> bool:
        """Whether the game is won or closed, as it stands."""
        return self._fold.state.over

    @property
    def event_count(self) -> int:
        """How many events have been taken."""
        return len(self._fold.states)

    @property
    def turn_count(self) -> int:
        """How many turns were taken, without those that were taken back."""
        return len(self._lineage.standing(self._fold.sequence).of(self._turns, place=_SEQUENCE))

    @property
    def started(self) -> GameStarted:
        """How the game was started: who plays, and by which options."""
        return self._fold.started

    @property
    def rules(self) -> AnyRules:
        """The rules that it is folded by."""
        return self._fold.rules

    @property
    def state(self) -> State:
        """The game as it stands."""
        return self._fold.state

    @property
    def ended_position(self) -> int | None:
        """The position of the event that ended the game; None while it is running.

        Where an end was taken back and that was taken back too, it is the event that ended the game at first.
        """
        ended = self._ended(self._lineage.standing(self._fold.sequence))
        return None if ended is None else ended[1]

    def advance(self, event: Event, position: int) -> None:
        """Take the next event, which was recorded and is legal therefore.

        Raises Refused or Redacted where it is not, and Malformed where it is not the next: then nothing has changed.
        """
        body, fold = event.body, self._fold
        sequence = len(fold.states)
        if event.sequence != sequence:
            raise Malformed(Code.SEQUENCE_GAP, rule="game-file", expected=sequence, actual=event.sequence)
        if body.sealed:
            check_whole(body)
        before = fold.state
        outcomes = fold.advance(body)
        occurred_at, last = microseconds(event.occurred_at), self._last_occurred_at
        think_seconds = None
        if occurred_at is not None and last is not None and occurred_at >= last:
            think_seconds = (occurred_at - last) / _MICROSECONDS
        recorded_at = microseconds(event.recorded_at)
        moment = Moment(position, sequence, think_seconds, occurred_at, recorded_at, event.recorded_by)
        self._last_occurred_at = occurred_at
        self._last_recorded_at = recorded_at
        self.last_position = position
        kind = type(body)
        if kind in fold.rules.upcasts:
            self._follow_older(moment, body, before)
        elif kind in RULINGS:
            self._rule(moment, body, before.round)
        else:
            self._follow(moment, (body, before, fold.state, outcomes))

    def rows(self) -> dict[str, list[Row]]:
        """The rows by table, in the order of its columns; of the tables that a game of this kind has."""
        standing = self._lineage.standing(self._fold.sequence)
        state = self._fold.state
        taken = standing.of(self._turns, place=_SEQUENCE)
        by_seat = Counter(map(itemgetter(_SEAT), taken))
        by_round = Counter(map(itemgetter(_ROUND), taken))
        return {
            "games": [self._game_row(standing, turns=len(taken))],
            "seats": list(self._seat_rows(by_seat)),
            "rounds": list(self._rounds.rows(self._labels, standing, by_round, state.scores)),
            "turns": _marked(self._turns, standing),
            "rulings": _marked(self._rulings, standing),
            **self._game.rows(standing),
        }

    def _follow_older(self, moment: Moment, body: Body, before: State) -> None:
        """Take an older event as the bodies that it means; its time is that of the first turn among them."""
        for step in meant(self._fold.rules, before, body):
            self._follow(moment, step)
            if type(step[0]) in TURNS:
                moment = replace(moment, think_seconds=None)

    def _follow(self, moment: Moment, step: Step) -> None:
        body, before, after, outcomes = step
        labels = self._labels
        kind, sequence = type(body), moment.sequence
        tell = TURNS.get(kind)
        if tell is not None:
            self._turns.append(
                (
                    *labels.game,
                    moment.position,
                    sequence,
                    before.round,
                    *labels.seats[body.seat],  # type: ignore[attr-defined]  # every body of a turn has one
                    *tell(body),
                    moment.think_seconds,
                    moment.occurred_at,
                    moment.recorded_at,
                    False,
                    *labels.partition,
                )
            )
        elif after.round != before.round:
            opening = self._game.opening(after)
            self._rounds.add(sequence, Began(after.round, opening, before.scores, moment.recorded_at))
        elif isinstance(body, OpenerDrawn):
            self._rounds.add(sequence, Opened(body.seat))
        elif kind in CALLS:
            self._call(moment, body, before.round)
        self._game.follow(sequence, body, before, after, outcomes)
        if outcomes:
            self._end(moment, outcomes, after)

    def _rule(self, moment: Moment, body: Body, number: int) -> None:
        """Take a ruling of every game's."""
        self._call(moment, body, number)
        if isinstance(body, MovesRetracted):
            self._lineage.take_back(sequence=moment.sequence, to_sequence=body.to_sequence)
        elif isinstance(body, GameClosed):
            self._ends.append((moment.sequence, moment.position, moment.recorded_at))

    def _call(self, moment: Moment, body: Body, number: int) -> None:
        kind, seat, *told = CALLS[type(body)](body)
        self._rulings.append(
            (
                *self._labels.game,
                moment.position,
                moment.sequence,
                number,
                kind,
                seat,
                None if seat is None else self._labels.seats[seat][1],
                *told,
                moment.recorded_at,
                moment.recorded_by or None,
                False,
                *self._labels.partition,
            )
        )

    def _end(self, moment: Moment, outcomes: Outcomes, after: State) -> None:
        """Mark the end of a round, or of the match, which may come in the middle of one."""
        is_round_over = False
        for outcome in outcomes:
            if type(outcome) is RoundEnded:
                is_round_over = True
                seat = None if outcome.seat < 0 else outcome.seat
                ended = Ended(outcome.by.value, seat, after.scores, moment.recorded_at)
                self._rounds.add(moment.sequence, ended)
            elif type(outcome) is MatchWon:
                self._ends.append((moment.sequence, moment.position, moment.recorded_at))
                if not is_round_over:
                    self._rounds.add(moment.sequence, Ended(MATCH_WON, None, after.scores, moment.recorded_at))

    def _ended(self, standing: Standing) -> tuple[int, int, int | None] | None:
        """The event that ended the game, among those that stand."""
        ends = standing.of(self._ends, place=0)
        return ends[-1] if ends else None

    def _game_row(self, standing: Standing, *, turns: int) -> Row:
        started, state = self._fold.started, self._fold.state
        ended = self._ended(standing)
        return (
            *self._labels.game,
            self.last_position,
            self._fold.rules.version,
            started.tournament or None,
            started.table or None,
            tuple((tag.name, tag.value) for tag in started.tags),
            encode(options_given(started.rules)).decode(),
            len(started.players),
            len(state.scores),
            status_of(state).value,
            state.scores,
            state.winners,
            tuple(started.players[seat].id for seat in state.winners),
            state.round,
            turns,
            self.event_count,
            self._lineage.takebacks,
            self._started_at,
            self._last_recorded_at,
            None if ended is None else ended[2],
            None if ended is None else ended[1],
            *self._labels.partition,
        )

    def _seat_rows(self, turns: Counter[int]) -> Iterator[Row]:
        state = self._fold.state
        is_running = status_of(state) is Status.RUNNING
        for player, label in zip(self._fold.started.players, self._labels.seats, strict=True):
            seat, _, side = label
            yield (
                *self._labels.game,
                *label,
                player.name,
                state.scores[side],
                None if is_running else seat in state.winners,
                turns[seat],
                *self._labels.partition,
            )


def project(records: Iterable[tuple[int, Event]]) -> GameProjection:
    """A whole game: its events in sequence, each after its position. Raises what GameProjection raises."""
    game: GameProjection | None = None
    for position, event in records:
        if game is None:
            game = GameProjection(event, position)
        else:
            game.advance(event, position)
    if game is None:
        raise Malformed(Code.GAME_EMPTY, rule="game-file")
    return game


def meant(rules: AnyRules, state: State, body: Body) -> Iterator[Step]:
    """What an older event means step by step; the fold has taken it already, so nothing in it is refused."""
    for newer in rules.upcasts[type(body)](state, body):
        if type(newer) in rules.upcasts and type(newer) is not type(body):
            for step in meant(rules, state, newer):
                yield step
                state = step[2]
        else:
            after, outcomes = rules.apply(state, newer)
            yield newer, state, after, outcomes
            state = after


def month_of(nanoseconds: int) -> str:
    """The month of a time, UTC; MONTH_UNKNOWN where the record does not say."""
    if not nanoseconds:
        return MONTH_UNKNOWN
    return f"{datetime.fromtimestamp(nanoseconds // SECOND, UTC):%Y-%m}"


def _marked(rows: list[Row], standing: Standing) -> list[Row]:
    """Rows that are given whether they stand or not, each with a word on that."""
    if standing.is_whole:
        return list(rows)
    kept = {row[_SEQUENCE] for row in standing.of(rows, place=_SEQUENCE)}
    return [row if row[_SEQUENCE] in kept else (*row[:_IS_RETRACTED], True, *row[_IS_RETRACTED + 1 :]) for row in rows]
