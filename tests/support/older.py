"""A made-up version 2 of Seven Up that once recorded other kinds of events, and games as they were recorded then.

Importing this puts the registry together anew, so it is imported first, in a process of its own. What version 2 still
reads, and what it means now:

- `openerDrawn`, its old name for `dealerDrawn`: a kind with a successor.
- `tilesDealt`: hands under another name, sealed, and the turned card as a hand of its own: a field that moved.
- `turnPassed`, elder hand's beg or the dealer's run, whoever was to speak: two meanings that are two words now.
- `tilePlayed`, a whole trick from a seat on: one event that is several now; without a card it is a `turnPassed`,
  which is itself older: step by step.
- `cardPlayed` with its card in `standsFor`: an old field of a kind that is still recorded.
"""

from collections.abc import Iterator, Sequence
from random import Random
from types import MappingProxyType
from typing import Any, Final

import heptalog.replay.registry as registry
from heptalog.replay.events import Body, CardHand, CardPlayed, CardsDealt, DealerDrawn, OpenerDrawn, TurnPassed
from heptalog.replay.phrases import Names
from heptalog.replay.rules import AnyRules, Upcasts, Words
from heptalog.replay.seven_rocks.events import TileHand, TilePlayed, TilesDealt
from heptalog.replay.seven_up import SEVEN_UP, SevenUpRules
from heptalog.replay.seven_up.events import Decision, TrumpDecided
from heptalog.replay.seven_up.state import Phase, State
from heptalog.replay.seven_up.words import SevenUpWords


def _opener(_: State, body: OpenerDrawn) -> tuple[Body, ...]:
    return (DealerDrawn(body.seat, body.lots),)


def _tiles(_: State, body: TilesDealt) -> tuple[Body, ...]:
    *hands, turned = [CardHand(hand.tiles) for hand in body.hands] or [CardHand()]
    return (CardsDealt(tuple(hands), turned.cards[0] if turned.cards else ""),)


def _passed(state: State, body: TurnPassed) -> tuple[Body, ...]:
    return (TrumpDecided(body.seat, Decision.BEG if state.phase is Phase.STAND_OR_BEG else Decision.RUN),)


def _trick(state: State, body: TilePlayed) -> tuple[Body, ...]:
    if not body.tile:
        return (TurnPassed(body.seat),)
    cards = body.tile.split()
    return tuple(CardPlayed((body.seat + place) % state.seat_count, card) for place, card in enumerate(cards))


def _played(_: State, body: CardPlayed) -> tuple[Body, ...]:
    return (body if body.card else CardPlayed(body.seat, body.stands_for),)


class OlderWords(SevenUpWords):
    """What was recorded is told as it was recorded, so the words of older kinds stay."""

    def event(self, body: Body, names: Names) -> str:
        match body:
            case OpenerDrawn() | TilesDealt() | TurnPassed() | TilePlayed():
                return f"as of old: {type(body).__name__}"
            case CardPlayed(card=""):
                return super().event(CardPlayed(body.seat, body.stands_for), names)
            case _:
                return super().event(body, names)


class SevenUpOfVersionTwo(SevenUpRules):
    """Version 2, whose rules are those of the first."""

    version = 2
    words: Words[State] = OlderWords()
    upcasts: Upcasts = MappingProxyType(
        {OpenerDrawn: _opener, TilesDealt: _tiles, TurnPassed: _passed, TilePlayed: _trick, CardPlayed: _played}
    )


TWO: Final[AnyRules] = SevenUpOfVersionTwo()
# Nothing of the other games: what version 2 only reads is known by its upcasts alone.
GAMES: Final[tuple[AnyRules, ...]] = (SEVEN_UP, TWO)
TOGETHER: Final = {
    "GAMES": GAMES,
    "REGISTRY": MappingProxyType({(rules.key, rules.version): rules for rules in GAMES}),
    "NEWEST": MappingProxyType({rules.key: rules for rules in GAMES}),
    "OPTIONS": MappingProxyType({rules.options: rules.key for rules in GAMES}),
}
for _name, _value in TOGETHER.items():
    setattr(registry, _name, _value)


def as_of_old(bodies: Sequence[Body], seat_count: int, random: Random) -> Iterator[tuple[Body, int]]:
    """A game as it was recorded then, here and there, and how many of today's events each of its events is."""
    place = 0
    while place < len(bodies):
        body: Any = bodies[place]
        trick = _trick_at(bodies, place, seat_count)
        match body:
            case _ if random.random() < 0.3:
                yield body, 1
            case DealerDrawn():
                yield OpenerDrawn(body.seat, body.lots), 1
            case CardsDealt():
                hands = (*(TileHand(hand.cards) for hand in body.hands), TileHand((body.turned,)))
                yield TilesDealt(hands), 1
            case TrumpDecided(decision=Decision.BEG | Decision.RUN):
                yield (TurnPassed(body.seat) if random.random() < 0.5 else TilePlayed(body.seat)), 1
            case CardPlayed() if len(trick) > 1 and random.random() < 0.8:
                yield TilePlayed(body.seat, " ".join(card.card for card in trick)), len(trick)
                place += len(trick) - 1
            case CardPlayed():
                yield CardPlayed(body.seat, "", body.card), 1
            case _:
                yield body, 1
        place += 1


def _trick_at(bodies: Sequence[Body], place: int, seat_count: int) -> list[CardPlayed]:
    """Cards played one after the other by seats that follow each other."""
    trick: list[CardPlayed] = []
    for body in bodies[place : place + seat_count]:
        if not isinstance(body, CardPlayed) or (trick and body.seat != (trick[-1].seat + 1) % seat_count):
            break
        trick.append(body)
    return trick
