"""Recorded games as their folds tell them, for the oracles of views: no row, no table and no SQL is in here."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property
from math import ceil
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeVar

from msgspec.structs import replace

from heptalog.replay.events import Body, CardPlayed, Event, Player, TurnPassed
from heptalog.replay.fold import Closed, Fold, Outcomes, status_of
from heptalog.replay.outcomes import GameEndedByArbiter, MatchWon, MovesTakenBack, RoundEnded
from heptalog.replay.registry import GAMES
from heptalog.replay.seven_rocks.events import TilePlayed
from heptalog.replay.seven_up.events import CardsDiscarded, TrumpDecided
from tests.analytics import given_games
from tests.support.play import play, seat_counts

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
DAY: Final = 86_400 * 1_000_000_000
TURNS: Final[Mapping[type[Body], str]] = MappingProxyType(
    {
        TilePlayed: "TILE_PLAYED",
        CardPlayed: "CARD_PLAYED",
        TurnPassed: "TURN_PASSED",
        TrumpDecided: "TRUMP_DECIDED",
        CardsDiscarded: "CARDS_DISCARDED",
    }
)


class Step(NamedTuple):
    """One event after the first: what it did, and whether no takeback has undone it."""

    position: int
    event: Event
    before: Any
    after: Any
    outcomes: Outcomes
    think_seconds: float | None
    stands: bool

    @property
    def body(self) -> Any:
        return self.event.body

    @property
    def turn(self) -> str | None:
        """The kind of turn it is, or None."""
        return TURNS.get(type(self.body))

    def of(self, *kinds: type[T]) -> list[T]:
        """What followed from it of these kinds."""
        return [outcome for outcome in self.outcomes if isinstance(outcome, kinds)]


class Round(NamedTuple):
    """The standing steps of one round, its deal first."""

    number: int
    steps: list[Step]

    @property
    def ending(self) -> Step | None:
        """The step that ended it."""
        return next((step for step in self.steps if step.of(RoundEnded, MatchWon)), None)

    @property
    def ended_by(self) -> str | None:
        if self.ending is None:
            return None
        ended = self.ending.of(RoundEnded)
        return ended[0].by.value if ended else "MATCH_WON"

    @property
    def ended_seat(self) -> int | None:
        """Who emptied their hand."""
        ended = self.ending.of(RoundEnded) if self.ending else []
        return ended[0].seat if ended and ended[0].seat >= 0 else None

    @property
    def changes(self) -> tuple[int, ...]:
        """What it added to each side's score, in an ended round."""
        assert self.ending is not None
        return tuple(new - old for new, old in zip(self.ending.after.scores, self.steps[0].before.scores, strict=True))

    @property
    def turns(self) -> int:
        return sum(step.turn is not None for step in self.steps)

    @property
    def dealer(self) -> int | None:
        return getattr(self.steps[0].after, "dealer", None)

    @property
    def opener(self) -> int | None:
        """Who acts first; where the deal itself won the match nobody could, and elder hand would have."""
        dealt = self.steps[0].after
        if hasattr(dealt, "kept"):  # Seven Up
            return int(dealt.dealer + 1) % int(dealt.seat_count)
        first: int | None = next((step.after.to_act[0] for step in self.steps if step.after.to_act), None)
        return first

    @property
    def is_deciding(self) -> bool:
        return getattr(self.steps[0].after, "is_deciding", False)

    def of(self, *kinds: type[T]) -> list[T]:
        return [outcome for step in self.steps for outcome in step.of(*kinds)]


class History:
    """One game: its events by position, and what they did."""

    def __init__(self, placed: Sequence[tuple[int, Event]]) -> None:
        self.number, self.first = placed[0]
        self.last_position, self.last = placed[-1]
        self.placed = placed
        self.game_id = self.first.game_id
        self.fold = Fold(self.first.body)
        self.started = self.fold.started
        self.steps = self._told()

    def _told(self) -> list[Step]:
        told = []
        line: list[tuple[int, ...]] = [()]  # after each event, the sequences that led to where the game was
        for (_, previous), (position, event) in zip(self.placed, self.placed[1:], strict=False):
            before = self.fold.state
            outcomes = self.fold.advance(event.body)
            back = [outcome for outcome in outcomes if isinstance(outcome, MovesTakenBack)]
            line.append((*line[back[0].to_sequence if back else -1], event.sequence))
            known = previous.occurred_at and event.occurred_at and event.occurred_at >= previous.occurred_at
            # Times are kept to the microsecond.
            think = (event.occurred_at // 1000 - previous.occurred_at // 1000) / 1_000_000 if known else None
            told.append(Step(position, event, before, self.fold.state, outcomes, think, stands=False))
        led_here = set(line[-1])
        return [step._replace(stands=step.event.sequence in led_here) for step in told]

    @cached_property
    def standing(self) -> list[Step]:
        return [step for step in self.steps if step.stands]

    @cached_property
    def rounds(self) -> list[Round]:
        rounds: list[Round] = []
        for step in self.standing:
            if step.of(MovesTakenBack):
                continue
            if step.after.round != step.before.round:
                rounds.append(Round(step.after.round, []))
            if rounds:
                rounds[-1].steps.append(step)
        return rounds

    @cached_property
    def ended_rounds(self) -> list[Round]:
        return [number for number in self.rounds if number.ending]

    @property
    def end(self) -> Step | None:
        """What ended the game as it stands."""
        ends = [step for step in self.standing if step.of(MatchWon, GameEndedByArbiter)]
        return ends[-1] if ends else None

    @property
    def ruleset(self) -> str:
        return self.fold.rules.key

    @property
    def tournament(self) -> str | None:
        return self.started.tournament or None

    @property
    def players(self) -> list[str]:
        return [player.id for player in self.started.players]

    @property
    def state(self) -> Any:
        return self.fold.state

    @property
    def status(self) -> str:
        return status_of(self.fold.state).value

    @property
    def is_closed(self) -> bool:
        return isinstance(self.fold.state, Closed)

    @property
    def scores(self) -> tuple[int, ...]:
        return self.fold.state.scores

    @property
    def winners(self) -> tuple[int, ...]:
        return self.fold.state.winners

    @property
    def month(self) -> str:
        return f"{time(self.first.recorded_at):%Y-%m}" if self.first.recorded_at else "0000-00"

    @property
    def turns(self) -> int:
        return sum(step.turn is not None for step in self.standing)

    def side_of(self, seat: int) -> int:
        return seat % len(self.scores)

    def seats_of(self, side: int) -> list[int]:
        return [seat for seat in range(len(self.players)) if self.side_of(seat) == side]

    def better(self, score: int, other: int) -> bool:
        return score < other if self.ruleset == "seven_bridge" else score > other


def time(nanoseconds: int) -> datetime | None:
    """A time as tables keep it; None where the record does not say."""
    return EPOCH + timedelta(microseconds=nanoseconds // 1000) if nanoseconds else None


def seconds_between(one: int, other: int) -> int | None:
    """Whole seconds between two times."""
    return (other // 1000 - one // 1000) // 1_000_000 if one and other else None


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Items by their key."""
    groups: dict[K, list[T]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return groups


def rate(part: float, whole: float) -> float | None:
    """So much of that; None of nothing."""
    return part / whole if whole else None


def mean(values: Iterable[float]) -> float | None:
    """None where there are none."""
    listed = list(values)
    return rate(sum(listed), len(listed))


def quantile(values: Iterable[T], share: float) -> T | None:
    """The least value that so large a share does not exceed; None where there are none."""
    listed = sorted(values)  # type: ignore[type-var]
    return listed[ceil(share * len(listed)) - 1] if listed else None


def rank(value: Any, all_values: Iterable[Any]) -> int:
    """The place of a value where the greatest is first and equals share one."""
    return 1 + sum(bool(other > value) for other in all_values)


@cache
def histories(source: str) -> tuple[History, ...]:
    """All games of a source, recorded side by side in one log."""
    games = [[event for _, event in game] for game in _SOURCES[source]()]
    # One event of each in turn, so that no game's positions are a run of numbers.
    order = sorted((place, game) for game, events in enumerate(games) for place in range(len(events)))
    positions = {at: position for position, at in enumerate(order, start=1)}
    return tuple(
        History([(positions[place, game], event) for place, event in enumerate(events)])
        for game, events in enumerate(games)
    )


def _named_apart(source: Callable[[], list[given_games.Game]]) -> Callable[[], list[given_games.Game]]:
    """The games of a source, each with an id of its own."""
    return lambda: [
        [(position, replace(event, game_id=f"{number}-{event.game_id}")) for position, event in game]
        for number, game in enumerate(source())
    ]


def _generated() -> list[given_games.Game]:
    """Games of every kind and number of players, in several tournaments, over some months, with a clock or without."""
    games = []
    for rules in GAMES:
        counts = seat_counts(rules)
        for seed in range(45):
            length = (400, 400, 400, 150, 30)[seed % 5]
            game = play(rules, seed, events_max=length, seat_count=counts[seed % len(counts)])
            started = replace(
                game.bodies[0],
                # The same people meet again in other seats, and not always under one name.
                players=tuple(
                    Player(f"p{(seat * 2 + seed) % 9}", ("", "Ana", "Bo", "Chie")[(seat + seed // 4) % 4])
                    for seat in range(len(game.fold.started.players))
                ),
                tournament="new" if seed % 30 == 4 else ("", "cup", "cup", "七並べ")[seed % 4],
            )
            begin = (1_790_000_000_123_456_789 + (seed * 7) * DAY) * (seed % 11 != 3)
            games.append(list(enumerate(_clocked([started, *game.bodies[1:]], f"{rules.key}-{seed}", begin, seed))))
    return games


def _clocked(bodies: Sequence[Body], game_id: str, begin: int, seed: int) -> Iterable[Event]:
    """These bodies in envelopes; the table's clock is missing now and then, and sometimes put back."""
    occurred_at = begin
    for sequence, body in enumerate(bodies):
        occurred_at += (sequence * 7919 + seed) % 4_000 * 10_000_100 * (-1 if sequence % 17 == 13 else 1)
        yield Event(
            sequence,
            body,
            game_id=game_id,
            occurred_at=0 if sequence % 13 == 5 else occurred_at * bool(begin),
            recorded_at=(begin + sequence * 61_000_000_123) * bool(begin),
        )


_SOURCES: Final[Mapping[str, Callable[[], list[given_games.Game]]]] = MappingProxyType(
    {"golden": _named_apart(given_games.golden), "generated": _generated, "shared": _named_apart(given_games.shared)}
)
