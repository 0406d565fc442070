"""What one viewer may see. The table is the same for all; a type for the public has no place for a hidden card."""

from typing import TypeAlias

from msgspec import Struct

from heptalog.replay.cards import JOKERS, SUITS, names_in
from heptalog.replay.errors import Code, Refused
from heptalog.replay.events import Body, CardsDealt
from heptalog.replay.rules import ARBITER, NOTHING_WITHHELD, PUBLIC, Viewer, Withheld
from heptalog.replay.seven_bridge.state import NOBODY, State, are_hands_public, is_ghost
from heptalog.replay.seven_bridge.tables import COLUMNS, DECK


class JokerView(Struct, frozen=True, rename="camel", kw_only=True):
    """A joker in the layout; `is_covered` once the real card lies on it (SB-D20c)."""

    joker: str
    stands_for: str
    is_covered: bool


class ColumnView(Struct, frozen=True, rename="camel", kw_only=True):
    """The places of one suit that are filled, low to high; a joker's is named like the card it stands for."""

    suit: str
    places: tuple[str, ...]


class PublicSeatView(Struct, frozen=True, rename="camel", kw_only=True):
    """What everybody sees of one seat.

    `shown` is what a ghost exposed, played or not, and at the end of a round every card left (SB-D32).
    """

    seat: int
    score: int
    card_count: int
    tokens: int
    columns_completed: int
    is_playing: bool
    is_ghost: bool
    shown: tuple[str, ...]


class TableView(Struct, frozen=True, rename="camel", kw_only=True):
    """What everybody sees."""

    phase: str
    round: int
    is_deciding: bool
    dealer: int
    to_act: tuple[int, ...]
    winners: tuple[int, ...]
    layout: tuple[ColumnView, ...]
    border: tuple[str, ...]
    jokers: tuple[JokerView, ...]
    exposed: tuple[str, ...]
    seats: tuple[PublicSeatView, ...]


class PublicView(Struct, frozen=True, rename="camel", kw_only=True):
    """What who has no seat sees: the table."""

    table: TableView


class SeatView(Struct, frozen=True, rename="camel", kw_only=True):
    """What one seat sees: the table and its own hand; `hand` is None where its deal was taken back later."""

    table: TableView
    seat: int
    hand: tuple[str, ...] | None


class ArbiterView(Struct, frozen=True, rename="camel", kw_only=True):
    """What the arbiter sees: the table and every hand by seat."""

    table: TableView
    hands: tuple[tuple[str, ...], ...]


View: TypeAlias = PublicView | SeatView | ArbiterView


def view(state: State, viewer: Viewer, withheld: Withheld = NOTHING_WITHHELD) -> View:
    """What one viewer may see (C-5). Raises Refused for a seat that is not at the table."""
    table = _table(state, viewer, withheld)
    if viewer == PUBLIC:
        return PublicView(table=table)
    if viewer == ARBITER:
        return ArbiterView(table=table, hands=tuple(names_in(hand, DECK) for hand in state.hands))
    if not 0 <= viewer.seat < len(state.hands):
        raise Refused(Code.SEAT_UNKNOWN, rule="C-5", seat=viewer.seat, seats=len(state.hands))
    is_seen = sees_hand(state, viewer.seat, viewer, withheld)
    return SeatView(table=table, seat=viewer.seat, hand=names_in(state.hands[viewer.seat], DECK) if is_seen else None)


def sees_hand(state: State, seat: int, viewer: Viewer, withheld: Withheld) -> bool:
    """Whether a viewer sees what a seat holds: one's own hand, a ghost's, every hand when the round is over."""
    if viewer == ARBITER:
        return True
    return seat not in withheld and (viewer == Viewer(seat) or is_ghost(state, seat) or are_hands_public(state))


def owners(state: State, body: Body) -> tuple[int, ...]:
    """Whose each hidden part is: hands are dealt by seat."""
    del state
    return tuple(range(len(body.hands))) if isinstance(body, CardsDealt) else ()


def has_seen(viewer: Viewer, owner: int, *, before: State, after: State) -> bool:
    """Whether a viewer knows a dealt hand: one's own, a ghost's, every hand when the round is over (SB-D32)."""
    del before
    return viewer == Viewer(owner) or is_ghost(after, owner) or are_hands_public(after)


def _table(state: State, viewer: Viewer, withheld: Withheld) -> TableView:
    seats = range(len(state.hands))
    hidden = 0
    for seat in seats:
        if not sees_hand(state, seat, viewer, withheld):
            hidden |= state.shown[seat]
    return TableView(
        phase=str(state.phase),
        round=state.round,
        is_deciding=state.is_deciding,
        dealer=state.dealer,
        to_act=state.to_act,
        winners=state.winners,
        layout=tuple(ColumnView(suit=suit, places=names_in(state.filled & COLUMNS[suit], DECK)) for suit in SUITS),
        border=names_in(state.border, DECK) if state.turn != NOBODY else (),
        jokers=tuple(
            JokerView(joker=joker, stands_for=DECK[place.bit_length() - 1], is_covered=not place & state.stand_ins)
            for joker, place in zip(JOKERS, state.joker_places, strict=True)
            if place
        ),
        exposed=names_in(state.exposed & ~hidden, DECK),
        seats=tuple(_seat(state, seat, viewer, withheld) for seat in seats),
    )


def _seat(state: State, seat: int, viewer: Viewer, withheld: Withheld) -> PublicSeatView:
    shown = state.shown[seat]
    if are_hands_public(state):
        shown |= state.hands[seat]
    if not sees_hand(state, seat, viewer, withheld):
        shown = 0
    return PublicSeatView(
        seat=seat,
        score=state.scores[seat],
        card_count=state.hands[seat].bit_count(),
        tokens=state.tokens[seat],
        columns_completed=state.columns[seat],
        is_playing=state.seats >> seat & 1 == 1,
        is_ghost=is_ghost(state, seat),
        shown=names_in(shown, DECK),
    )
