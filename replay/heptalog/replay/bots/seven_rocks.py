"""Bots for Seven Rocks. The greedy one lays the tile with most points, and of those the heaviest."""

from heptalog.replay.cards import names_in
from heptalog.replay.events import Body, TurnPassed
from heptalog.replay.rules import Choose
from heptalog.replay.seven_rocks.apply import ends_after, opening_ends
from heptalog.replay.seven_rocks.events import TilePlayed
from heptalog.replay.seven_rocks.scoring import counted_ends, points_for
from heptalog.replay.seven_rocks.state import Phase, State, arms_for, held, playable
from heptalog.replay.seven_rocks.tables import ARMS, FITTING, PIPS, TILE_NAMES, TILES


def greedy(state: State, seat: int, choose: Choose) -> Body:
    """Most points now, then most pips, then what leaves the most tiles that fit; chance among equals."""
    hand = held(state, seat)
    moves: list[TilePlayed] = []
    best = (-1, -1, -1)
    is_opening = state.phase is Phase.OPEN
    fitting = hand if is_opening else hand & playable(state)
    if not fitting:
        return TurnPassed(seat)
    for name in names_in(fitting, TILE_NAMES):
        tile = TILES[name]
        for arm in (-1,) if is_opening else arms_for(state, tile):
            ends = opening_ends(tile) if is_opening else ends_after(state, tile, arm)
            left, right, up, down = ends
            later = hand & ~tile.bit & (FITTING[left] | FITTING[right] | FITTING[up] | FITTING[down])
            worth = (points_for(sum(counted_ends(ends))), PIPS[name], later.bit_count())
            if worth < best:
                continue
            if worth > best:
                best = worth
                moves.clear()
            moves.append(TilePlayed(seat, name) if is_opening else TilePlayed(seat, name, ARMS[arm]))
    return moves[choose(len(moves))]


def by_chance(state: State, seat: int, choose: Choose) -> Body:
    """Any legal move."""
    hand = held(state, seat)
    if state.phase is Phase.OPEN:
        names = names_in(hand, TILE_NAMES)
        name = names[choose(len(names))]
        return TilePlayed(seat, name if choose(2) else name[::-1])
    fitting = names_in(hand & playable(state), TILE_NAMES)
    moves = [(name, arm) for name in fitting for arm in arms_for(state, TILES[name])]
    if not moves:
        return TurnPassed(seat)
    name, arm = moves[choose(len(moves))]
    return TilePlayed(seat, name, ARMS[arm])
