"""What the rows of a game should be, another way: the oracle of the projections.

A projection makes rows as events come and asks afterwards which of them stand. The oracle does it the other way round:
it looks first for what stands, folds that alone, as a game in which nobody ever took anything back, and reads the rows
off its states. Rows are dicts here, so that a difference names its column.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from msgspec.json import encode

from heptalog.analytics.tables import TABLES, columns_of
from heptalog.replay.events import (
    UNSET,
    Body,
    Event,
    GameClosed,
    GameStarted,
    MovesRetracted,
    NoteAdded,
    snake_case,
    snake_name,
)
from heptalog.replay.fold import Closed, Fold, Outcomes
from heptalog.replay.gamefile import options_given
from heptalog.replay.outcomes import MatchWon, RoundEnded
from heptalog.replay.seven_up.events import InfractionCalled

Row = dict[str, Any]
Recorded = Sequence[tuple[int, Event]]


class Step(NamedTuple):
    """One event and what it did."""

    position: int
    event: Event
    body: Any
    before: Any
    after: Any
    outcomes: Outcomes


class Told(NamedTuple):
    """A game twice: all its events, and as a game of those that stand."""

    started: GameStarted
    position: int
    first: Event
    fold: Fold
    steps: list[Step]
    standing: list[Step]

    @property
    def state(self) -> Any:
        """How it stands."""
        return self.fold.state


def told(records: Recorded) -> Told:
    """A game read by the oracle."""
    (position, first), *others = records
    assert isinstance(first.body, GameStarted)
    steps = list(_steps(first, others))
    fold = Fold(first.body)
    for _, event in others:
        fold.advance(event.body)
    kept = _standing([event.body for _, event in records])
    standing = list(_steps(first, [record for record in others if record[1].sequence in kept]))
    if standing:
        assert standing[-1].after == fold.state, "what stands leads to where the game is"
    return Told(first.body, position, first, fold, steps, standing)


def _steps(first: Event, others: Recorded) -> Iterator[Step]:
    fold = Fold(first.body)
    for position, event in others:
        before = fold.state
        outcomes = fold.advance(event.body)
        yield Step(position, event, event.body, before, fold.state, outcomes)


def _standing(bodies: Sequence[Body]) -> set[int]:
    """The sequences of what led to the end; remarks and takebacks have led to nothing."""
    kept: set[int] = set()
    place = len(bodies) - 1
    while place > 0:
        body = bodies[place]
        if isinstance(body, MovesRetracted):
            place = body.to_sequence
            continue
        if not isinstance(body, NoteAdded):
            kept.add(place)
        place -= 1
    return kept


def _are_retracted(bodies: Sequence[Body]) -> list[bool]:
    """By sequence, whether it was taken back: found by following the game forwards, with every line it ever was."""
    lines: list[tuple[int, ...]] = []
    for sequence, body in enumerate(bodies):
        before = lines[body.to_sequence] if isinstance(body, MovesRetracted) else lines[-1] if lines else ()
        lines.append((*before, sequence))
    return [sequence not in set(lines[-1]) for sequence in range(len(bodies))]


def microseconds(nanoseconds: int) -> int | None:
    """A time as a column has it."""
    return None if nanoseconds < 1000 else nanoseconds // 1000


def is_turn(step: Step) -> bool:
    """Whether a seat did it because it was its turn."""
    return getattr(step.body, "seat", None) in step.before.to_act and not isinstance(step.body, InfractionCalled)


def games(game: Told) -> Iterator[Row]:
    """The one row of the game."""
    started, state = game.started, game.state
    last = game.steps[-1] if game.steps else None
    ending = next((step for step in game.standing if step.after.over), None)
    yield {
        "last_position": last.position if last else game.position,
        "rules_version": 1 if started.rules_version is UNSET else started.rules_version,
        "tournament": started.tournament or None,
        "table_name": started.table or None,
        "tags": tuple((tag.name, tag.value) for tag in started.tags),
        "options": encode(options_given(started.rules)).decode(),
        "player_count": len(started.players),
        "side_count": len(state.scores),
        "status": "CLOSED" if isinstance(state, Closed) else "WON" if state.over else "RUNNING",
        "scores": state.scores,
        "winners": state.winners,
        "winner_ids": tuple(started.players[seat].id for seat in state.winners),
        "rounds": state.round,
        "turns": sum(map(is_turn, game.standing)),
        "events": 1 + len(game.steps),
        "takebacks": sum(isinstance(step.body, MovesRetracted) for step in game.steps),
        "started_at": microseconds(game.first.recorded_at),
        "last_recorded_at": microseconds((last.event if last else game.first).recorded_at),
        "ended_at": microseconds(ending.event.recorded_at) if ending else None,
        "ended_position": ending.position if ending else None,
    }


def seats(game: Told) -> Iterator[Row]:
    """Who sits where."""
    for seat, player in enumerate(game.started.players):
        yield {
            "seat": seat,
            "player_name": player.name,
            "score": game.state.scores[seat % len(game.state.scores)],
            "has_won": seat in game.state.winners if game.state.over else None,
            "turns": sum(is_turn(step) and step.body.seat == seat for step in game.standing),
        }


def rounds(game: Told) -> Iterator[Row]:
    """Each round from its deal to its end: where the game is in it, or was after its last event."""
    for number in range(1, game.state.round + 1):
        steps = [step for step in game.standing if step.after.round == number]
        deal = steps[0]
        end = next((step for step in steps if {RoundEnded, MatchWon} & set(map(type, step.outcomes))), None)
        ended = next((one for one in end.outcomes if isinstance(one, RoundEnded)), None) if end else None
        scores = steps[-1].after.scores
        inner = deal.after
        yield {
            "round": number,
            "first_sequence": deal.event.sequence,
            "last_sequence": end.event.sequence if end else None,
            "dealer": getattr(inner, "dealer", None),
            "opener": _opener(game, steps),
            "ended_by": None if end is None else ended.by.value if ended else "MATCH_WON",
            "ended_seat": ended.seat if ended and ended.seat >= 0 else None,
            "is_deciding": getattr(inner, "is_deciding", False),
            "turns": sum(map(is_turn, steps)),
            "score_changes": tuple(new - old for new, old in zip(scores, deal.before.scores, strict=True)),
            "scores": scores,
            "started_at": microseconds(deal.event.recorded_at),
            "ended_at": microseconds(end.event.recorded_at) if end else None,
        }


def _opener(game: Told, steps: Sequence[Step]) -> int | None:
    """Who acts first; in Seven Up that is elder hand (SU-R4), also where a turned jack wins before anybody could."""
    if game.fold.rules.key == "seven_up":
        return int(steps[0].after.dealer + 1) % len(game.started.players)
    return next((step.after.to_act[0] for step in steps if step.after.to_act), None)


def turns(game: Told) -> Iterator[Row]:
    """Every turn, taken back or not."""
    retracted = _are_retracted([game.started, *(step.body for step in game.steps)])
    previous = game.first
    for step in game.steps:
        event, body = step.event, step.body
        then, now = microseconds(previous.occurred_at), microseconds(event.occurred_at)
        previous = event
        if not is_turn(step):
            continue
        yield {
            "position": step.position,
            "sequence": event.sequence,
            "round": step.before.round,
            "seat": body.seat,
            "kind": snake_name(type(body)).upper(),
            "piece": getattr(body, "tile", getattr(body, "card", None)),
            "detail": _detail(body),
            "think_seconds": (now - then) / 1e6 if now and then and now >= then else None,
            "occurred_at": now,
            "recorded_at": microseconds(event.recorded_at),
            "is_retracted": retracted[event.sequence],
        }


def _detail(body: Any) -> str | None:
    given = [getattr(body, name, "") for name in ("arm", "stands_for", "decision")]
    return next((str(value) for value in given if value and value is not UNSET), None)


def rulings(game: Told) -> Iterator[Row]:
    """Every call of the arbiter, taken back or not."""
    retracted = _are_retracted([game.started, *(step.body for step in game.steps)])
    for step in game.steps:
        event, body = step.event, step.body
        if isinstance(body, MovesRetracted | GameClosed | NoteAdded | InfractionCalled):
            yield {
                "position": step.position,
                "sequence": event.sequence,
                "round": step.before.round,
                "kind": snake_case(type(body).__name__).upper(),
                "seat": getattr(body, "seat", None),
                "to_sequence": getattr(body, "to_sequence", None),
                "winners": getattr(body, "winners", None),
                "text": getattr(body, "reason", "") or getattr(body, "text", "") or None,
                "recorded_at": microseconds(event.recorded_at),
                "recorded_by": event.recorded_by or None,
                "is_retracted": retracted[event.sequence],
            }


COMMON: dict[str, Callable[[Told], Iterator[Row]]] = {
    "games": games,
    "seats": seats,
    "rounds": rounds,
    "turns": turns,
    "rulings": rulings,
}


def labelled(game: Told, table: str, rows: Iterator[Row]) -> list[Row]:
    """Rows with what every row of the game says, and who sits where a row names a seat; in the order of columns."""
    (columns,) = [columns_of(one) for one in TABLES if one.name == table]
    side_count = len(game.state.scores)
    whole = []
    for row in rows:
        row = {
            "game_number": game.position,
            "game_id": game.first.game_id,
            "ruleset": game.fold.rules.key,
            "month": month_of(game.first.recorded_at),
            **row,
        }
        seat = row.get("seat")
        row.setdefault("player_id", None if seat is None else game.started.players[seat].id)
        row.setdefault("side", None if seat is None else seat % side_count)
        whole.append({column.name: row[column.name] for column in columns})
    return whole


def month_of(nanoseconds: int) -> str:
    """The month of a time."""
    if not nanoseconds:
        return "0000-00"
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=nanoseconds // 10**9)).isoformat()[:7]
