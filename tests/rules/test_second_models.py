"""Every position of random games as a second model of each game has it: reports, moves, takebacks and closings."""

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from itertools import islice
from typing import Final, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heptalog.replay.events import Body, CardPlayed, GameClosed, GameStarted, MovesRetracted, NoteAdded, TurnPassed
from heptalog.replay.fold import Standing, legal_of, scan
from heptalog.replay.registry import NEWEST
from heptalog.replay.seven_rocks.events import TilePlayed
from heptalog.replay.seven_up.events import CardsDiscarded, TrumpDecided
from tests.rules.seven_bridge.second_model import SevenBridgeTable
from tests.rules.seven_rocks.second_model import SevenRocksTable, tile_of
from tests.rules.seven_up.second_model import SevenUpTable
from tests.support.play import play

Table: TypeAlias = SevenRocksTable | SevenUpTable | SevenBridgeTable
TABLES: Final[Mapping[str, Callable[[GameStarted], Table]]] = {
    "seven_rocks": SevenRocksTable,
    "seven_up": SevenUpTable,
    "seven_bridge": SevenBridgeTable,
}
MOVES_LOOKED_AT: Final = 50  # of discards there can be tens of thousands


class Told:
    """A game at a table by hand, and every position that it was in."""

    def __init__(self, key: str, started: GameStarted) -> None:
        self.table: Table = TABLES[key](started)
        self.closing: GameClosed | None = None
        self.kept: list[tuple[Table, GameClosed | None]] = [(deepcopy(self.table), None)]

    def take(self, body: Body) -> None:
        match body:
            case NoteAdded():
                pass
            case GameClosed():
                self.closing = body
            case MovesRetracted():
                table, self.closing = self.kept[body.to_sequence]
                self.table = deepcopy(table)
            case _:
                self.table.take(body)
        self.kept.append((deepcopy(self.table), self.closing))

    def standing(self) -> Standing:
        table, closing = self.table, self.closing
        winners = closing.winners if closing else tuple(table.winners)
        over = closing is not None or bool(winners)
        to_act = () if over else tuple(table.to_act())
        return Standing(len(self.kept) - 1, tuple(table.scores), to_act, table.round, over, winners)

    def moves(self) -> set[tuple[object, ...]]:
        return set() if self.closing else self.table.moves()


def as_told(moves: Iterable[Body]) -> set[tuple[object, ...]]:
    """Moves in the words of the second models."""
    told: set[tuple[object, ...]] = set()
    for move in moves:
        match move:
            case TilePlayed() if move.arm:
                told.add((move.seat, *tile_of(move.tile), str(move.arm)))
            case TilePlayed():
                told.add((move.seat, *tile_of(move.tile)))
            case TrumpDecided():
                told.add((move.seat, str(move.decision)))
            case CardsDiscarded():
                told.add((move.seat, "discards"))
            case CardPlayed():
                told.add((move.seat, move.card, move.stands_for))
            case TurnPassed():
                told.add((move.seat, "pass"))
            case _:
                raise AssertionError(f"what is {move}?")
    return told


@pytest.mark.parametrize("key", TABLES)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=50)
def test_a_second_model_agrees_with_every_report_and_on_every_move(key: str, seed: int) -> None:
    rules = NEWEST[key]
    bodies = play(rules, seed).bodies
    assert isinstance(bodies[0], GameStarted)
    told = Told(key, bodies[0])
    for body, (fold, _) in zip(bodies, scan(bodies), strict=True):
        if body is not bodies[0]:
            told.take(body)
        assert fold.standing() == told.standing()
        offered = as_told(islice(legal_of(rules, fold.state), MOVES_LOOKED_AT))
        expected = told.moves()
        if any("discards" in move for move in expected):
            assert offered <= expected
        else:
            assert offered == expected
