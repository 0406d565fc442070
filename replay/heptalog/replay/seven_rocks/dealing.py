"""What the table does by chance: deals, and draws who opens. Chance comes from outside."""

from heptalog.replay.draws import draw_lots, shuffled
from heptalog.replay.events import Body, OpenerDrawn
from heptalog.replay.rules import Choose
from heptalog.replay.seven_rocks.events import TileHand, TilesDealt
from heptalog.replay.seven_rocks.state import Phase, State
from heptalog.replay.seven_rocks.tables import HAND_SIZE, SEAT_COUNT, TILE_NAMES


def deal(state: State, choose: Choose) -> Body:
    """The deal of a round, or the draw for its opener (SR-R4, SR-R5, SR-R7); only where the table must act."""
    if state.phase is Phase.DRAW:
        return OpenerDrawn(*draw_lots(SEAT_COUNT, choose))
    assert state.phase is Phase.DEAL, "the table acts only where no seat may"
    tiles = shuffled(TILE_NAMES, choose)
    return TilesDealt(
        tuple(TileHand(tuple(tiles[seat * HAND_SIZE : (seat + 1) * HAND_SIZE])) for seat in range(SEAT_COUNT))
    )
