"""One game from its first event to its last: bots at the table, the clock beside them, an arbiter who seldom speaks."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from heptalog.cli.simulating.chance import MILLISECOND, Chance
from heptalog.cli.simulating.people import Person
from heptalog.replay.bots import Strength, move
from heptalog.replay.errors import Code, Refused
from heptalog.replay.events import Body, GameClosed, GameStarted, MovesRetracted, NoteAdded, TurnPassed
from heptalog.replay.fold import Fold
from heptalog.replay.rules import Viewer
from heptalog.replay.seven_up.events import CardsDiscarded, InfractionCalled, TrumpDecided
from heptalog.replay.seven_up.state import Phase
from heptalog.replay.times import SECOND

# A game that goes on so long is left to the arbiter.
_EVENTS_MAX: Final = 3_000
# How seldom something out of the ordinary happens, once in so many events of a table; once in so many games the last.
_FOUL_ONE_IN: Final = 1_500
_RULING_ONE_IN: Final = 3_500
_INFRACTION_ONE_IN: Final = 1_200
_CLOSING_ONE_IN: Final = 150
_CLOSED_BY: Final = 120  # events
_BACK_MAX: Final = 4
_REASONS: Final = ("a piece had slipped", "both sides agree", "dealt in a hurry", "the wrong hand moved")
_CLOSINGS: Final = ("time", "a player has to leave", "agreed", "the hall closes")
_NOTES: Final = ("clock stopped for a minute", "spectator asked to be quiet", "seats checked", "score read aloud")

# How long a move takes, in milliseconds: the quantiles of a distribution with a long tail, one in 32 to each step.
_THINKING: Final = (
    *(700, 1_100, 1_500, 1_800, 2_100, 2_400, 2_700, 3_000, 3_300, 3_600, 4_000, 4_300, 4_700, 5_100, 5_500, 6_000),
    *(6_500, 7_000, 7_600, 8_200, 8_900, 9_700, 10_600, 11_600, 12_800, 14_200, 16_000, 18_500, 22_000, 27_500),
    *(38_000, 62_000, 118_000),
)
# Some take longer than a card or a tile, or less, in percent.
_PACES: Final[Mapping[type[Body], int]] = MappingProxyType({TurnPassed: 45, TrumpDecided: 120, CardsDiscarded: 220})
# What the table does takes half a minute, and what an arbiter does longer.
_DEALING: Final = (18_000, 42_000)
_RULING: Final = (40_000, 240_000)


class Foul(NamedTuple):
    """An event that the rules did not allow, after so many that they did."""

    sequence: int
    body: Body
    code: Code
    rule: str
    occurred_at: int


class Played(NamedTuple):
    """A game as it was played: the fold at its end, and every event with the time at which it happened."""

    fold: Fold
    bodies: list[Body]
    times: list[int]
    fouls: list[Foul]


Call: TypeAlias = Callable[[Any, Chance], Body | None]


def played(started: GameStarted, people: list[Person], *, started_at: int, chance: Chance) -> Played:
    """Play a game to its end. It is what its arguments make it."""
    fold = Fold(started)
    game = Played(fold, [started], [started_at], [])
    clock = _Clock(started_at, chance)
    choose = chance.choose
    call = _CALLS.get(fold.rules.key)
    closes_at = 10 + choose(_CLOSED_BY) if chance.is_one_in(_CLOSING_ONE_IN) else _EVENTS_MAX
    for _ in range(_EVENTS_MAX + 1):
        state = fold.state
        if state.over:
            break
        if len(game.bodies) >= closes_at:
            body: Body | None = GameClosed(chance.one_of(_CLOSINGS), _leaders(fold))
        else:
            body = _ruling(fold, chance) or (call and call(state, chance))
        if body is not None:
            clock.passes(_RULING, 100)
        elif state.to_act:
            seat = state.to_act[choose(len(state.to_act))]
            person = people[seat]
            strength = Strength.GREEDY if choose(100) < person.skill else Strength.RANDOM
            body = move(fold.rules, state, seat, strength, choose)
            clock.thinks(person.pace * _PACES.get(type(body), 100) // 100)
            if chance.is_one_in(_FOUL_ONE_IN):
                game.fouls.extend(_foul(fold, body, clock.now, chance))
        else:
            body = fold.rules.deal(state, choose)
            clock.passes(_DEALING, 100)
        fold.advance(body)
        game.bodies.append(body)
        game.times.append(clock.now)
    return game


class _Clock:
    """What the clock at the table says, in nanoseconds."""

    def __init__(self, now: int, chance: Chance) -> None:
        self.now = now
        self._choose = chance.choose

    def thinks(self, pace: int) -> None:
        """Somebody has thought about a move."""
        step = self._choose(len(_THINKING) - 1)
        self.passes((_THINKING[step], _THINKING[step + 1]), pace)

    def passes(self, between: tuple[int, int], pace: int) -> None:
        """Some time passes, in milliseconds and a percentage of them."""
        low, high = between
        self.now += (low + self._choose(high - low)) * pace // 100 * MILLISECOND


def _ruling(fold: Fold, chance: Chance) -> Body | None:
    """What an arbiter records in any game, now and then."""
    if not chance.is_one_in(_RULING_ONE_IN):
        return None
    if chance.choose(2) and fold.sequence > _BACK_MAX:
        return MovesRetracted(fold.sequence - 1 - chance.choose(_BACK_MAX), chance.one_of(_REASONS))
    return NoteAdded(chance.one_of(_NOTES))


def _leaders(fold: Fold) -> tuple[int, ...]:
    """The seats of the side that leads when a game is closed; nobody where sides are level."""
    scores = fold.state.scores
    if fold.rules.is_lowest_best:
        scores = tuple(-score for score in scores)
    best = max(scores)
    if scores.count(best) > 1:
        return ()
    return tuple(range(scores.index(best), len(fold.started.players), len(scores)))


def _foul(fold: Fold, body: Body, time: int, chance: Chance) -> Iterator[Foul]:
    """What somebody tries before this move, as every table sees now and then; nothing where it would be allowed."""
    seat = getattr(body, "seat", 0)
    tried = replace(body, seat=(seat + 1) % len(fold.started.players))
    if chance.choose(2):
        hand = getattr(fold.rules.view(fold.state, Viewer(seat)), "hand", None) or ()
        piece = next((name for name in ("card", "tile") if hasattr(body, name)), "")
        if piece and hand:
            tried = replace(body, **{piece: chance.one_of(hand)})
        elif TurnPassed in fold.rules.bodies:
            tried = TurnPassed(seat)
    try:
        fold.check(tried)
    except Refused as error:
        yield Foul(fold.sequence + 1, tried, error.code, error.rule, time - SECOND)


def _infraction(state: Any, chance: Chance) -> Body | None:
    """A player of Seven Up is found to have broken a rule of play (SU-R19)."""
    if state.phase is not Phase.PLAY or not chance.is_one_in(_INFRACTION_ONE_IN):
        return None
    return InfractionCalled(chance.choose(state.seat_count))


# What an arbiter records in one game only.
_CALLS: Final[Mapping[str, Call]] = MappingProxyType({"seven_up": _infraction})
