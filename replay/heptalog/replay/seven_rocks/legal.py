"""All moves a seat has now."""

from collections.abc import Iterator

from heptalog.replay.events import Body, TurnPassed
from heptalog.replay.seven_rocks.events import TilePlayed
from heptalog.replay.seven_rocks.state import NOBODY, Phase, State, arms_for, hand_of, held, playable
from heptalog.replay.seven_rocks.tables import ARMS, TILES


def legal(state: State) -> Iterator[Body]:
    """Every move of the seat on turn, lazily, in the order of its hand and of the arms.

    An arm is always named, and a tile higher half first; only to open may a tile lie either way round, which are two
    moves since its first half lies to the left.
    """
    seat = state.turn
    if seat == NOBODY:
        return
    if state.phase is Phase.OPEN:
        for name in hand_of(state, seat):
            yield TilePlayed(seat, name)
            tile = TILES[name]
            if not tile.is_double:
                yield TilePlayed(seat, f"{tile.second}-{tile.first}")
    elif held(state, seat) & playable(state):
        for name in hand_of(state, seat):
            for arm in arms_for(state, TILES[name]):
                yield TilePlayed(seat, name, ARMS[arm])
    else:
        yield TurnPassed(seat)
