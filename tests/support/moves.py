"""What looks like a player's move, and whether it is one by what `legal` lists: the judge apart from `check`."""

from collections.abc import Iterator
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from heptalog.replay.cards import JOKERS, RANKS, SUITS
from heptalog.replay.events import Body, CardPlayed, TurnPassed
from heptalog.replay.rules import AnyRules
from heptalog.replay.seven_rocks.events import Arm, TilePlayed
from heptalog.replay.seven_up.events import CardsDiscarded, Decision, TrumpDecided

CARDS: Final = (*(rank + suit for suit in SUITS for rank in RANKS), *JOKERS)
TILES: Final = tuple(f"{first}-{second}" for first in range(7) for second in range(7))
NO_CARDS: Final = ("", "7", "7d", "10H", "X3", "7D ", "D7", "6-4", "🂱")
NO_TILES: Final = ("", "7-0", "6-", "64", "6-4 ", "06-4", "-1-0", "7D")
SEAT_HIGHEST: Final = 2**32 - 1


def move_types(rules: AnyRules) -> tuple[type[Body], ...]:
    """The bodies that are moves of players: not the table's, and not an arbiter's."""
    kinds = (TurnPassed, CardPlayed, TilePlayed, TrumpDecided, CardsDiscarded)
    return tuple(body for body in rules.bodies if body in kinds)


def look_alikes(rules: AnyRules, seat_count: int) -> Iterator[Body]:
    """Everything that has the shape of a move in this game, discards excepted: there are too many of those."""
    kinds = move_types(rules)
    for seat in (*range(seat_count + 1), SEAT_HIGHEST):
        if TurnPassed in kinds:
            yield TurnPassed(seat)
        if TilePlayed in kinds:
            for tile in (*TILES, *NO_TILES):
                for arm in (UNSET, *Arm):
                    yield TilePlayed(seat, tile, arm)
        if TrumpDecided in kinds:
            for decision in (UNSET, *Decision):
                yield TrumpDecided(seat, decision)
        if CardPlayed in kinds:
            for card in (*CARDS, *NO_CARDS):
                places = (*CARDS, *NO_CARDS) if card in JOKERS else ("", card, "7D", "8D")
                for place in dict.fromkeys(places):
                    yield CardPlayed(seat, card, place)


class Legal:
    """The moves of one state, to be asked whether a body is one of them."""

    def __init__(self, rules: AnyRules, state: Any) -> None:
        self.moves: tuple[Body, ...] = tuple(rules.legal(state))
        self._forms = {self._form(move) for move in self.moves}
        self._is_opening = any(isinstance(move, TilePlayed) and move.arm is UNSET for move in self.moves)

    def __contains__(self, body: Body) -> bool:
        return self._form(self._written_out(body)) in self._forms

    def _written_out(self, body: Body) -> Body:
        """The move as `legal` writes it: higher half first, the arm named where only one fits (game-file)."""
        if not isinstance(body, TilePlayed) or self._is_opening or body.tile not in TILES:
            return body
        tile = max(body.tile, body.tile[::-1])
        if body.arm is not UNSET:
            return replace(body, tile=tile)
        fitting = [
            move for move in self.moves if isinstance(move, TilePlayed) and (move.seat, move.tile) == (body.seat, tile)
        ]
        return fitting[0] if len(fitting) == 1 else replace(body, tile=tile)

    @staticmethod
    def _form(body: Body) -> object:
        """What two ways to write one move have in common: discards have no order."""
        if isinstance(body, CardsDiscarded):
            return CardsDiscarded, body.seat, tuple(sorted(body.cards))
        return body
