"""Positions and events of Seven Up for tests, in the notation of the rule book: cards as `7S TH`, seats as numbers."""

import random
from collections.abc import Iterable, Mapping

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from heptalog.replay.cards import mask_of, names_in
from heptalog.replay.errors import Refused
from heptalog.replay.events import Body, CardHand, CardPlayed, CardsDealt, DealerDrawn, GameStarted, Player
from heptalog.replay.outcomes import Outcome
from heptalog.replay.rules import Choose
from heptalog.replay.seven_up import SEVEN_UP
from heptalog.replay.seven_up.events import CardsDiscarded, CardsRun, Decision, SevenUp, TrumpDecided
from heptalog.replay.seven_up.state import Phase, State
from heptalog.replay.seven_up.tables import BITS, DECK, HAND_SIZE, SUIT_LETTER, WHOLE_DECK

NAMES = ("Ana", "Bo", "Chie", "Dag")
SUITS = {letter: suit for suit, letter in SUIT_LETTER.items()}


def started(seats: int, *, target: int | None = None) -> GameStarted:
    """A game for so many seats."""
    players = tuple(Player(f"p{seat}", f"Player {seat}") for seat in range(seats))
    return GameStarted(players, SevenUp(UNSET if target is None else target))


def awaiting_deal(seats: int, *, dealer: int = 0, scores: Iterable[int] = (), target: int | None = None) -> State:
    """Before a deal, with the scores as they are."""
    state = after(SEVEN_UP.initial(started(seats, target=target)), DealerDrawn(dealer))
    return replace(state, scores=tuple(scores) or state.scores)


def in_play(
    *hands: str,
    trump: str,
    number: int = 1,
    dealer: int = 0,
    leader: int | None = None,
    trick: str = "",
    scores: Iterable[int] = (),
) -> State:
    """Within trick `number`, each hand as given; only cards that matter need be there."""
    state = awaiting_deal(len(hands), dealer=dealer, scores=scores)
    leader = (dealer + 1) % len(hands) if leader is None else leader
    laid = tuple(BITS[card] for card in trick.split())
    masks = tuple(mask_of(hand.split(), BITS) for hand in hands)
    return replace(
        state,
        phase=Phase.PLAY,
        round=1,
        hands=masks,
        kept=masks,
        trump=SUITS[trump],
        leader=leader,
        trick=laid,
        trick_number=number,
        to_act=((leader + len(laid)) % len(hands),),
    )


def dealt(seats: int, turned: str, hands: Mapping[int, str] | None = None, *, keep: str = "") -> CardsDealt:
    """A deal with these hands; other hands get what is left of the deck, but none of the cards to `keep` for later."""
    named = {seat: tuple(cards.split()) for seat, cards in (hands or {}).items()}
    taken = {turned, *keep.split(), *(card for cards in named.values() for card in cards)}
    rest = iter([card for card in DECK if card not in taken])
    others = (named.get(seat) or tuple(next(rest) for _ in range(HAND_SIZE)) for seat in range(seats))
    return CardsDealt(tuple(CardHand(cards) for cards in others), turned)


def run(state: State, turned: str, *, elder: str = "", dealer: str = "", keep: str = "") -> CardsRun:
    """A run that turns `turned`; packets that are not given come from the stock, without the cards to `keep`."""
    taken = {turned, *keep.split(), *elder.split(), *dealer.split()}
    rest = iter([card for card in stock(state) if card not in taken])
    packets = [CardHand(tuple(given.split()) or tuple(next(rest) for _ in range(3))) for given in (elder, dealer)]
    return CardsRun(packets[0], packets[1], turned)


def stock(state: State) -> tuple[str, ...]:
    """The cards nobody has been dealt."""
    return names_in(WHOLE_DECK & ~state.dealt, DECK)


def hand(state: State, seat: int) -> set[str]:
    """The cards a seat holds."""
    return set(names_in(state.hands[seat], DECK))


def stand(seat: int) -> TrumpDecided:
    return TrumpDecided(seat, Decision.STAND)


def beg(seat: int) -> TrumpDecided:
    return TrumpDecided(seat, Decision.BEG)


def give(seat: int) -> TrumpDecided:
    return TrumpDecided(seat, Decision.GIVE)


def reject(seat: int) -> TrumpDecided:
    return TrumpDecided(seat, Decision.RUN)


def discard(seat: int, cards: str) -> CardsDiscarded:
    return CardsDiscarded(seat, tuple(cards.split()))


def plays(text: str) -> list[CardPlayed]:
    """`1 KS, 0 QS` as two cards played."""
    return [CardPlayed(int(seat), card) for seat, card in (play.split() for play in text.split(","))]


def after(state: State, *bodies: Body) -> State:
    """The state once all of this has happened."""
    return advance(state, *bodies)[0]


def advance(state: State, *bodies: Body) -> tuple[State, list[Outcome]]:
    """The state once all of this has happened, and all that followed."""
    outcomes: list[Outcome] = []
    for body in bodies:
        SEVEN_UP.check(state, body)
        state, followed = SEVEN_UP.apply(state, body)
        outcomes += followed
    return state, outcomes


def refusal(state: State, body: Body) -> Refused:
    """The refusal that this body meets; it changes nothing, which frozen states cannot but keep."""
    with pytest.raises(Refused) as caught:
        SEVEN_UP.check(state, body)
    return caught.value


def chance(seed: int) -> Choose:
    """Chance that comes out the same every time."""
    return random.Random(seed).randrange
