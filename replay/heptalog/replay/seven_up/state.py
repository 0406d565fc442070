"""The state of a game of Seven Up, and small questions about it.

Cards are bits (see tables.py): a set of cards is their union, a single card stands for itself. Between two deals the
table is empty: what a deal leaves behind is the scores and the dealer. After the end it stays as it lay.
"""

from enum import StrEnum
from typing import Final

from msgspec import Struct

from heptalog.replay.events import GameStarted
from heptalog.replay.options import check_player_count, given_or, in_range
from heptalog.replay.seven_up.events import SevenUp
from heptalog.replay.seven_up.tables import (
    PAIRS,
    PLAYERS_HIGH,
    PLAYERS_LOW,
    RANGES,
    RUN_SIZE,
    SUIT_OF,
    TARGET_DEFAULT,
    WHOLE_DECK,
)

NOBODY: Final = -1
ONLY: Final[tuple[tuple[int, ...], ...]] = tuple((seat,) for seat in range(PLAYERS_HIGH))


class Phase(StrEnum):
    """What the table waits for."""

    DRAW = "DRAW"  # the draw for the first dealer (SU-R3)
    DEAL = "DEAL"  # six cards each and one turned (SU-R5)
    STAND_OR_BEG = "STAND_OR_BEG"  # the word of elder hand (SU-R8)
    GIVE_OR_RUN = "GIVE_OR_RUN"  # the word of the dealer (SU-R9)
    RUN = "RUN"  # three cards more for two, and one turned (SU-R10)
    DISCARD = "DISCARD"  # elder hand and dealer go down to six, in either order (SU-R13)
    PLAY = "PLAY"  # a card of the seat on turn (SU-R14)
    OVER = "OVER"  # nothing: the match is won (SU-R2)


class State(Struct, frozen=True, gc=False):
    """A game as it stands. Tuples of hands and the like have one entry a seat; `scores` one a side."""

    seat_count: int
    target: int
    phase: Phase
    scores: tuple[int, ...]
    hands: tuple[int, ...]
    kept: tuple[int, ...]  # the hands at the first lead, which High and Low go by (SU-D17)
    discards: tuple[int, ...]
    captured: tuple[int, ...]
    to_act: tuple[int, ...] = ()
    round: int = 0
    dealer: int = NOBODY  # between two deals, who deals next; NOBODY before the draw
    turned: tuple[int, ...] = ()  # every card turned in this deal, the last one in question
    rejected: int = 0  # all cards of the rejected suits (SU-R11)
    trump: int = 0  # all cards of the trump suit, none before it is fixed
    dealt: int = 0  # all cards that have left the stock, the turned ones too
    leader: int = NOBODY
    trick: tuple[int, ...] = ()  # from the leader's card on, clockwise
    trick_number: int = 0  # 1 to 6 during play

    @property
    def over(self) -> bool:
        """Whether the match is won (SU-R2)."""
        return self.phase is Phase.OVER

    @property
    def winners(self) -> tuple[int, ...]:
        """The seats of the side that reached the target (SU-R2)."""
        if self.phase is not Phase.OVER:
            return ()
        side_count = len(self.scores)
        return tuple(seat for seat in range(self.seat_count) if self.scores[seat % side_count] >= self.target)


def initial(started: GameStarted) -> State:
    """The state after `gameStarted` (SU-R1, SU-R2). Raises Refused where players or options are out of range."""
    seat_count = len(started.players)
    check_player_count(seat_count, low=PLAYERS_LOW, high=PLAYERS_HIGH, rule="SU-R1")
    options = started.rules
    assert isinstance(options, SevenUp), "the registry chooses rules by their options"
    side_count = PAIRS if seat_count == PLAYERS_HIGH else seat_count
    empty = (0,) * seat_count
    return State(
        seat_count=seat_count,
        target=in_range("target", given_or(options.target, default=TARGET_DEFAULT), ranges=RANGES),
        phase=Phase.DRAW,
        scores=(0,) * side_count,
        hands=empty,
        kept=empty,
        discards=empty,
        captured=empty,
    )


def elder_of(state: State) -> int:
    """The seat on the dealer's left: it decides first and leads first (SU-R4)."""
    return (state.dealer + 1) % state.seat_count


def side_of(state: State, seat: int) -> int:
    """The side that a seat scores for (SU-R1, SU-D2)."""
    return seat % len(state.scores)


def stock_count(state: State) -> int:
    """How many cards have not been dealt, run or turned."""
    return (WHOLE_DECK & ~state.dealt).bit_count()


def may_run(state: State) -> bool:
    """Whether the stock can supply a full run and a suit is left that could become trump (SU-D8, SU-D9)."""
    return state.rejected != WHOLE_DECK and stock_count(state) >= RUN_SIZE


def may_look(state: State, seat: int) -> bool:
    """Whether a seat sees its own cards; with three or four only two do before trump is fixed (SU-R12, SU-D36)."""
    return state.seat_count == PLAYERS_LOW or bool(state.trump) or seat in (state.dealer, elder_of(state))


def playable(state: State, seat: int) -> int:
    """The cards that a seat on turn may play (SU-R15, SU-R16, SU-R17)."""
    hand = state.hands[seat]
    if not state.trick:
        return hand
    led = SUIT_OF[state.trick[0]]
    following = hand & led
    if not following:
        return hand
    if state.trick_number == 1:
        return following
    # Where trump is led the two suits are one, so that following is the only choice (SU-R17).
    return following | (hand & state.trump if led != state.trump else 0)
