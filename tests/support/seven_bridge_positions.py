"""Positions of Seven Bridge written as one writes them on paper: `layout="D5-9 C7-7"`, `hands=["QD 3S", "7S"]`.

A position need not hold the whole deck: cards that are not mentioned play no part.
"""

from collections.abc import Sequence

import pytest

from heptalog.replay.cards import RANKS, mask_of
from heptalog.replay.errors import Refused
from heptalog.replay.events import Body, CardHand, CardPlayed, CardsDealt, DealerDrawn, GameStarted, Player, TurnPassed
from heptalog.replay.outcomes import Outcome
from heptalog.replay.seven_bridge.apply import apply
from heptalog.replay.seven_bridge.check import check
from heptalog.replay.seven_bridge.events import SevenBridge
from heptalog.replay.seven_bridge.legal import legal
from heptalog.replay.seven_bridge.state import Phase, State, initial, terms_of
from heptalog.replay.seven_bridge.tables import BITS, NEXT_SEAT, OPENS, SEVENS

NAMES = ("Ana", "Bo", "Chie", "Dag", "Eun", "Fay", "Gil")
DEFAULTS = SevenBridge()


def started(seat_count: int, options: SevenBridge = DEFAULTS) -> GameStarted:
    return GameStarted(tuple(Player(name.lower(), name) for name in NAMES[:seat_count]), options)


def new_game(seat_count: int, options: SevenBridge = DEFAULTS) -> State:
    return initial(started(seat_count, options))


def cards(text: str) -> tuple[str, ...]:
    return tuple(text.replace("10", "T").split())


def mask(text: str) -> int:
    return mask_of(cards(text), BITS)


def places(layout: str) -> int:
    """`D5-9 S1-13` as a set of places; ranks are numbers."""
    filled = 0
    for column in layout.split():
        low, high = column[1:].split("-")
        filled |= mask_of((rank + column[0] for rank in RANKS[int(low) - 1 : int(high)]), BITS)
    return filled


def border_of(filled: int) -> int:
    """The empty border places by the words of SB-R10, for the whole layout at once."""
    opened = sum(more for bit, more in OPENS.items() if bit & filled)
    return (SEVENS | opened) & ~filled


def position(
    hands: Sequence[str],
    layout: str,
    *,
    turn: int = 0,
    tokens: Sequence[int] | None = None,
    ghosts: dict[int, str] | None = None,
    played: str = "",
    jokers: dict[str, str] | None = None,
    columns: Sequence[int] | None = None,
    scores: Sequence[int] | None = None,
    round_number: int = 1,
    dealer: int = 0,
    seats: Sequence[int] | None = None,
    options: SevenBridge = DEFAULTS,
) -> State:
    """In the middle of a round. `ghosts` has what each exposed, `played` what of it lies in the layout by now;
    `jokers` has the place of each joker that the real card does not cover; with `seats` it is a deciding round."""
    count = len(hands)
    terms = terms_of(options)
    shown = [mask((ghosts or {}).get(seat, "")) for seat in range(count)]
    playing = sum(1 << seat for seat in (range(count) if seats is None else seats))
    laid = jokers or {}
    filled = places(layout)
    return State(
        terms=terms,
        phase=Phase.PLAY,
        scores=tuple(scores or (0,) * count),
        winners=(),
        round=round_number,
        is_deciding=seats is not None,
        dealer=dealer,
        seats=playing,
        active=playing & ~sum(1 << seat for seat in range(count) if shown[seat]),
        turn=turn,
        tokens=tuple(tokens or (terms.pass_tokens,) * count),
        hands=tuple(map(mask, hands)),
        shown=tuple(shown),
        exposed=sum(shown) & ~mask(played),
        filled=filled,
        border=border_of(filled),
        stand_ins=mask(" ".join(laid.values())),
        joker_places=(mask(laid.get("X1", "")), mask(laid.get("X2", ""))),
        columns=tuple(columns or (0,) * count),
    )


def dealt(seat_count: int, hands: Sequence[str], *, dealer: int = 0, options: SevenBridge = DEFAULTS) -> State:
    """The first round just dealt; `hands` is the whole deck."""
    return advance(new_game(seat_count, options), DealerDrawn(dealer), hands_dealt(*hands))


def hands_dealt(*hands: str) -> CardsDealt:
    return CardsDealt(tuple(CardHand(cards(hand)) for hand in hands))


def split_deck(deck: Sequence[str], *, seat_count: int, dealer: int, seats: Sequence[int] | None = None) -> CardsDealt:
    """The deck dealt one by one in the order given, the dealer first (SB-D1)."""
    playing = sum(1 << seat for seat in (range(seat_count) if seats is None else seats))
    hands: list[list[str]] = [[] for _ in range(seat_count)]
    seat = dealer
    for card in deck:
        hands[seat].append(card)
        seat = NEXT_SEAT[playing][seat]
    return CardsDealt(tuple(CardHand(tuple(hand)) for hand in hands))


def play(seat: int, card: str, stands_for: str = "") -> CardPlayed:
    return CardPlayed(seat, card, stands_for)


def passes(seat: int) -> TurnPassed:
    return TurnPassed(seat)


def advance(state: State, *bodies: Body) -> State:
    return advance_with_outcomes(state, *bodies)[0]


def advance_with_outcomes(state: State, *bodies: Body) -> tuple[State, tuple[Outcome, ...]]:
    followed: tuple[Outcome, ...] = ()
    for body in bodies:
        check(state, body)
        state, outcomes = apply(state, body)
        followed += outcomes
    return state, followed


def refusal(state: State, body: Body) -> Refused:
    """Why `body` is refused; fails where it is not."""
    with pytest.raises(Refused) as caught:
        check(state, body)
    return caught.value


def moves(state: State) -> list[str]:
    """What the seat on turn may do: `7D`, `X1=7H`, `pass`, sorted."""
    texts = []
    for body in legal(state):
        if isinstance(body, CardPlayed):
            texts.append(f"{body.card}={body.stands_for}" if body.stands_for else body.card)
        else:
            texts.append("pass")
    return sorted(texts)
