"""What one viewer may see of Seven Rocks. Three types: the two that are not the arbiter's have no room for a secret."""

from typing import TypeAlias

from msgspec import Struct

from heptalog.replay.errors import Code, Refused
from heptalog.replay.events import Body
from heptalog.replay.rules import ARBITER, NOTHING_WITHHELD, PUBLIC, Viewer, Withheld
from heptalog.replay.seven_rocks.events import TilesDealt
from heptalog.replay.seven_rocks.scoring import counted_ends
from heptalog.replay.seven_rocks.state import State, are_hands_public, hand_of, held
from heptalog.replay.seven_rocks.tables import (
    ARMS,
    CLOSED,
    COUNTED,
    DOWN,
    LEFT,
    OPENING,
    RIGHT,
    SEAT_COUNT,
    UP,
    VALUE_COUNT,
)


class EndView(Struct, frozen=True, rename="camel", kw_only=True):
    """One place to lay to: its arm, the value open there, and what it adds to the sum."""

    arm: str
    value: int
    counts: int


class LineView(Struct, frozen=True, rename="camel", kw_only=True):
    """The tiles as they lie: the row read from left to right, each branch from the spinner outwards."""

    row: tuple[str, ...]
    up: tuple[str, ...]
    down: tuple[str, ...]
    spinner: str
    ends: tuple[EndView, ...]
    sum: int


class TableView(Struct, frozen=True, rename="camel", kw_only=True):
    """What everybody sees. `hands_left` are the hands shown at a settlement, by seat, until the next deal (SR-D30)."""

    phase: str
    round: int
    target: int
    scores: tuple[int, ...]
    to_act: tuple[int, ...]
    winners: tuple[int, ...]
    passes: int
    tile_counts: tuple[int, ...]
    line: LineView
    hands_left: tuple[tuple[str, ...], ...]


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
    seats = range(SEAT_COUNT)
    left = tuple(_hand(state, seat, viewer, withheld) or () for seat in seats) if are_hands_public(state) else ()
    table = _table(state, left)
    if viewer == PUBLIC:
        return PublicView(table=table)
    if viewer == ARBITER:
        return ArbiterView(table=table, hands=tuple(hand_of(state, seat) for seat in seats))
    if viewer.seat not in seats:
        raise Refused(Code.SEAT_UNKNOWN, rule="C-5", seat=viewer.seat, seats=SEAT_COUNT)
    return SeatView(table=table, seat=viewer.seat, hand=_hand(state, viewer.seat, viewer, withheld))


def sees_hand(state: State, seat: int, viewer: Viewer, withheld: Withheld) -> bool:
    """Whether a viewer sees what a seat holds: one's own hand, and all from a settlement until the next deal."""
    return viewer == ARBITER or (seat not in withheld and (viewer == Viewer(seat) or are_hands_public(state)))


def view_of_line(state: State) -> LineView:
    """The line as it lies on the table, for everybody to see."""
    arms: tuple[list[str], ...] = ([], [], [], [], [])
    for placed in state.line:
        arm, touching, outer = placed >> 6, placed >> 3 & 7, placed & 7
        # Left of the opening tile the outer half is the first one read.
        arms[arm].append(f"{outer}-{touching}" if arm == LEFT else f"{touching}-{outer}")
    return LineView(
        row=(*reversed(arms[LEFT]), *arms[OPENING], *arms[RIGHT]),
        up=tuple(arms[UP]),
        down=tuple(arms[DOWN]),
        spinner=f"{state.spinner}-{state.spinner}" if state.spinner >= 0 else "",
        ends=tuple(
            EndView(arm=str(arm), value=end % VALUE_COUNT, counts=sum(COUNTED[end]))
            for arm, end in zip(ARMS, state.ends, strict=True)
            if end != CLOSED
        ),
        sum=sum(counted_ends(state.ends)),
    )


def owners(state: State, body: Body) -> tuple[int, ...]:
    """Whose each hidden part is: hands are dealt by seat."""
    del state
    return tuple(range(len(body.hands))) if isinstance(body, TilesDealt) else ()


def has_seen(viewer: Viewer, owner: int, *, before: State, after: State) -> bool:
    """Whether a viewer knows a dealt hand: one's own, one that was shown, one that was played to its last tile."""
    del before
    return viewer == Viewer(owner) or are_hands_public(after) or not held(after, owner)


def _hand(state: State, seat: int, viewer: Viewer, withheld: Withheld) -> tuple[str, ...] | None:
    return hand_of(state, seat) if sees_hand(state, seat, viewer, withheld) else None


def _table(state: State, hands_left: tuple[tuple[str, ...], ...]) -> TableView:
    return TableView(
        phase=str(state.phase),
        round=state.round,
        target=state.target,
        scores=state.scores,
        to_act=state.to_act,
        winners=state.winners,
        passes=state.passes,
        tile_counts=tuple(held(state, seat).bit_count() for seat in range(SEAT_COUNT)),
        line=view_of_line(state),
        hands_left=hands_left,
    )
