"""Positions of Seven Rocks in a few words: rounds dealt so that given tiles are in given hands, and bare positions."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import TypeAlias, TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from heptalog.replay.cards import mask_of
from heptalog.replay.errors import Code, Refused
from heptalog.replay.events import Body, GameStarted, OpenerDrawn, Player, TurnPassed, UnsetType
from heptalog.replay.outcomes import Outcome
from heptalog.replay.seven_rocks import SEVEN_ROCKS
from heptalog.replay.seven_rocks.events import Arm, SevenRocks, TileHand, TilePlayed, TilesDealt
from heptalog.replay.seven_rocks.outcomes import TileLaid
from heptalog.replay.seven_rocks.state import Phase, State
from heptalog.replay.seven_rocks.tables import BITS, CLOSED, DOUBLE, HAND_SIZE, PLAIN, TILE_NAMES, TILES

Step: TypeAlias = tuple[State, Body, State, tuple[Outcome, ...]]
Kind = TypeVar("Kind", bound=Outcome)

NAMES = ("Ana", "Bo", "Chie", "Dag")
LEFT, RIGHT, UP, DOWN = Arm.LEFT, Arm.RIGHT, Arm.UP, Arm.DOWN
ALL_TILES = (1 << len(TILE_NAMES)) - 1  # a mask of all 28


def started(target: int | UnsetType = UNSET, players: int = 4) -> GameStarted:
    """A game's first event."""
    return GameStarted(tuple(Player(f"p{seat}") for seat in range(players)), SevenRocks(target))


def dealt(*hands: str) -> TilesDealt:
    """A deal: one text of tiles a seat."""
    return TilesDealt(tuple(TileHand(tuple(hand.split())) for hand in hands))


def filled(*wanted: str) -> TilesDealt:
    """A deal in which each seat has at least the tiles wanted; the others are dealt in order to fill the hands."""
    hands = [[TILES[name].name for name in tiles.split()] for tiles in wanted] + [[]] * (4 - len(wanted))
    taken = {name for hand in hands for name in hand}
    spare = iter([name for name in TILE_NAMES if name not in taken])
    return TilesDealt(tuple(TileHand((*hand, *(next(spare) for _ in range(HAND_SIZE - len(hand))))) for hand in hands))


def end(tile: str) -> int:
    """The end that a tile's outer half makes: "3" a half outside, "3-3" a later double outside, "" none."""
    if not tile:
        return CLOSED
    return DOUBLE + int(tile[0]) if "-" in tile else PLAIN + int(tile)


def steps(seed: int, target: int | UnsetType = UNSET, limit: int = 400) -> Iterator[Step]:
    """A random game: state, event, next state and outcomes."""
    random = Random(seed)
    state = SEVEN_ROCKS.initial(started(target))
    for _ in range(limit):
        if state.over:
            return
        if state.to_act:
            body = random.choice(list(SEVEN_ROCKS.legal(state)))
        else:
            body = SEVEN_ROCKS.deal(state, random.randrange)
        SEVEN_ROCKS.check(state, body)
        following, outcomes = SEVEN_ROCKS.apply(state, body)
        yield state, body, following, outcomes
        state = following


class Table:
    """A game being played at a test's table: events in, the state, the sums and the outcomes to look at."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.outcomes: tuple[Outcome, ...] = ()

    @classmethod
    def before_deal(cls, target: int | UnsetType = UNSET) -> "Table":
        """A game that has just started."""
        return cls(SEVEN_ROCKS.initial(started(target)))

    @classmethod
    def before_draw(cls) -> "Table":
        """A first round, dealt and not yet drawn for."""
        return cls.before_deal().take(filled())

    @classmethod
    def with_round(cls, deal: TilesDealt, *, opener: int = 0, scores: tuple[int, int] = (0, 0)) -> "Table":
        """A first round, dealt and drawn."""
        state = replace(SEVEN_ROCKS.initial(started()), scores=scores)
        return cls(state).take(deal).take(OpenerDrawn(opener))

    @classmethod
    def with_position(
        cls, *hands: str, ends: Sequence[str], turn: int, scores: tuple[int, int] = (0, 0), spinner: int = -1
    ) -> "Table":
        """The middle of a round: hands, what lies at the ends, and who is on turn. All other tiles are laid."""
        ends = (*ends, *[""] * (4 - len(ends)))
        first, second, third, fourth = (mask_of(hand.split(), BITS) for hand in hands)
        left, right, up, down = map(end, ends)
        state = State(
            target=250,
            phase=Phase.PLAY,
            round=1,
            scores=scores,
            turn=turn,
            spinner=spinner,
            ends=(left, right, up, down),
            laid=ALL_TILES & ~(first | second | third | fourth),
            dealt=(first, second, third, fourth),
        )
        return cls(state)

    def take(self, body: Body) -> "Table":
        """Check and apply one event."""
        SEVEN_ROCKS.check(self.state, body)
        self.state, self.outcomes = SEVEN_ROCKS.apply(self.state, body)
        return self

    def play(self, tile: str, arm: Arm | UnsetType = UNSET) -> tuple[int, tuple[int, ...]]:
        """The seat on turn lays a tile; the sum and the scores after it."""
        self.take(TilePlayed(self.state.turn, tile, arm))
        return self.one(TileLaid).sum, self.state.scores

    def knock(self, times: int = 1) -> "Table":
        """The seats on turn pass."""
        for _ in range(times):
            self.take(TurnPassed(self.state.turn))
        return self

    def refusal(self, body: Body) -> Refused:
        """The refusal of an event, which changes nothing."""
        before = self.state
        try:
            SEVEN_ROCKS.check(self.state, body)
        except Refused as refused:
            assert self.state == before
            return refused
        raise AssertionError(f"{body} is accepted")

    def refuses(self, body: Body, code: Code, rule: str) -> bool:
        """Whether an event is refused for this reason by this rule."""
        refused = self.refusal(body)
        assert (refused.code, refused.rule) == (code, rule)
        return True

    def refuses_play(self, tile: str, arm: Arm | UnsetType, code: Code, rule: str) -> bool:
        """Whether the seat on turn may not lay a tile, for this reason."""
        return self.refuses(TilePlayed(self.state.turn, tile, arm), code, rule)

    def every(self, kind: type[Kind]) -> list[Kind]:
        """The outcomes of one kind of the last event."""
        return [outcome for outcome in self.outcomes if isinstance(outcome, kind)]

    def one(self, kind: type[Kind]) -> Kind:
        """The only outcome of one kind of the last event."""
        (outcome,) = self.every(kind)
        return outcome

    def offers(self, tile: str) -> set[Arm | UnsetType]:
        """The arms at which the legal moves lay a tile."""
        moves = SEVEN_ROCKS.legal(self.state)
        return {
            move.arm for move in moves if isinstance(move, TilePlayed) and TILES[move.tile].name == TILES[tile].name
        }
