"""What one viewer may see (C-5): own types, with nowhere to put a secret.

Hands stay hidden after the end too (SU-D37); who may then see them is decided outside, and shown by the arbiter's view.
Captured cards are face down, so that only their number is seen (SU-D39).
"""

from typing import TypeAlias

from msgspec import Struct

from heptalog.replay.cards import names_in
from heptalog.replay.errors import Code, Refused
from heptalog.replay.events import Body, CardsDealt
from heptalog.replay.rules import ARBITER, NOTHING_WITHHELD, PUBLIC, Viewer, Withheld
from heptalog.replay.seven_up.events import CardsDiscarded, CardsRun
from heptalog.replay.seven_up.state import NOBODY, Phase, State, elder_of, may_look, stock_count
from heptalog.replay.seven_up.tables import DECK, NAME_OF, SUIT_LETTER


class TableView(Struct, frozen=True, rename="camel", kw_only=True):
    """The table as it lies before everybody. Seats are NOBODY (-1) and suits empty where there is none yet."""

    phase: str
    round: int
    scores: tuple[int, ...]
    target: int
    to_act: tuple[int, ...]
    winners: tuple[int, ...]
    dealer: int
    elder: int
    turned: tuple[str, ...]
    rejected: tuple[str, ...]
    trump: str
    hand_counts: tuple[int, ...]
    discard_counts: tuple[int, ...]
    captured_counts: tuple[int, ...]
    stock_count: int
    leader: int
    trick_number: int
    trick: tuple[str, ...]


class PublicView(Struct, frozen=True, rename="camel", kw_only=True):
    """What who has no seat sees: the table."""

    table: TableView


class SeatView(Struct, frozen=True, rename="camel", kw_only=True):
    """What one player sees; `hand` is None while the rules keep a player from looking at it (SU-R12).

    Where its deal was taken back later, `hand` is None too, and the discards are left out.
    """

    table: TableView
    seat: int
    hand: tuple[str, ...] | None
    discards: tuple[str, ...]


class ArbiterView(Struct, frozen=True, rename="camel", kw_only=True):
    """What the arbiter sees: everything but the order of the stock, which nobody knows."""

    table: TableView
    hands: tuple[tuple[str, ...], ...]
    discards: tuple[tuple[str, ...], ...]
    captured: tuple[tuple[str, ...], ...]


View: TypeAlias = PublicView | SeatView | ArbiterView


def view(state: State, viewer: Viewer, withheld: Withheld = NOTHING_WITHHELD) -> View:
    """What one viewer may see (C-5). Raises Refused for a seat that is not at the table."""
    table = _table(state)
    if viewer == PUBLIC:
        return PublicView(table=table)
    if viewer == ARBITER:
        return ArbiterView(
            table=table, hands=_sets(state.hands), discards=_sets(state.discards), captured=_sets(state.captured)
        )
    seat = viewer.seat
    if not 0 <= seat < state.seat_count:
        raise Refused(Code.SEAT_UNKNOWN, rule="C-5", seat=seat, seats=state.seat_count)
    return SeatView(
        table=table,
        seat=seat,
        hand=names_in(state.hands[seat], DECK) if sees_hand(state, seat, viewer, withheld) else None,
        discards=() if seat in withheld else names_in(state.discards[seat], DECK),
    )


def sees_hand(state: State, seat: int, viewer: Viewer, withheld: Withheld) -> bool:
    """Whether a viewer sees what a seat holds: one's own hand, from when one may look at it (SU-R12)."""
    if viewer == ARBITER:
        return True
    # Cards that were run in vain are back in the pack, and nobody has seen them: that a hand is empty is no secret.
    return viewer == Viewer(seat) and may_look(state, seat) and not (seat in withheld and state.hands[seat])


def owners(state: State, body: Body) -> tuple[int, ...]:
    """Whose each hidden part is: a dealt hand, the cards run to elder hand and dealer, a discard."""
    match body:
        case CardsDealt():
            return tuple(range(len(body.hands)))
        case CardsRun():
            return elder_of(state), state.dealer
        case CardsDiscarded():
            return (body.seat,)
        case _:
            return ()


def has_seen(viewer: Viewer, owner: int, *, before: State, after: State) -> bool:
    """Whether a viewer knows all that a seat was given: one's own from when one may look (SU-R12), or what was played.

    Who has discarded has cards that nobody has seen, and which of the others were dealt and which run cannot be told.
    """
    if viewer == Viewer(owner):
        # With cards run in vain the deal is void, and they go back into the pack as they came.
        return after.phase is not Phase.DEAL and may_look(after, owner)
    has_played_all = before.phase is Phase.PLAY and before.hands[owner] != 0 and after.hands[owner] == 0
    return has_played_all and not before.discards[owner]


def _table(state: State) -> TableView:
    return TableView(
        phase=str(state.phase),
        round=state.round,
        scores=state.scores,
        target=state.target,
        to_act=state.to_act,
        winners=state.winners,
        dealer=state.dealer,
        elder=NOBODY if state.dealer == NOBODY else elder_of(state),
        turned=tuple(NAME_OF[card] for card in state.turned),
        rejected=tuple(letter for suit, letter in SUIT_LETTER.items() if suit & state.rejected),
        trump=SUIT_LETTER.get(state.trump, ""),
        hand_counts=_counts(state.hands),
        discard_counts=_counts(state.discards),
        captured_counts=_counts(state.captured),
        stock_count=stock_count(state),
        leader=state.leader,
        trick_number=state.trick_number,
        trick=tuple(NAME_OF[card] for card in state.trick),
    )


def _sets(sets: tuple[int, ...]) -> tuple[tuple[str, ...], ...]:
    return tuple(names_in(cards, DECK) for cards in sets)


def _counts(sets: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(cards.bit_count() for cards in sets)
