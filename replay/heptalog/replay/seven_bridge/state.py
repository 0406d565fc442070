"""The state of a game of Seven Bridge, how it begins, and small questions about it.

Theory of operation. A set of cards is a mask (see `tables`), and so is a set of seats. The border, the empty places
that a card may fill now, is kept from play to play: filling a place takes it out and puts its outer neighbour in. Until
the opening seven lies it is the whole border. A card is playable where its bit is in the border, or where a joker
stands for it (`stand_ins`); a joker may fill any border place.
"""

from enum import StrEnum
from typing import Final

from msgspec import Struct

from heptalog.replay.events import GameStarted
from heptalog.replay.options import check_player_count, given_or, in_range, one_of
from heptalog.replay.seven_bridge import tables
from heptalog.replay.seven_bridge.events import Scoring, SevenBridge

NOBODY: Final = -1


class Phase(StrEnum):
    """What the table waits for."""

    DRAW = "DRAW"  # the draw for the first dealer (SB-R2)
    DEAL = "DEAL"  # the deal of `dealer`; after a round, its cards still lie there (SB-R5)
    OPEN = "OPEN"  # the opening seven (SB-R7)
    PLAY = "PLAY"  # a card or a pass of the seat on turn (SB-R9, SB-R12)
    OVER = "OVER"  # nothing: the match is won (SB-R19)


class Terms(Struct, frozen=True, gc=False):
    """The options with every default filled in."""

    pass_tokens: int
    opening_seven: str
    ghosts: bool
    jokers: int
    joker_penalty: int
    kings_race: int
    scoring: Scoring
    rounds: int
    limit: int

    @property
    def deck_mask(self) -> int:
        """The cards played with."""
        return tables.ALL_PLACES | tables.JOKER_BITS if self.jokers else tables.ALL_PLACES

    @property
    def deck(self) -> tuple[str, ...]:
        """The cards played with, in bit order."""
        return tables.DECK if self.jokers else tables.NATURALS


class State(Struct, frozen=True, gc=False):
    """One position. Hands and the layout of a finished round stay until the next deal."""

    terms: Terms
    phase: Phase
    scores: tuple[int, ...]  # penalty totals by seat
    winners: tuple[int, ...]
    round: int
    is_deciding: bool  # this round, or the one to be dealt, decides a tie (SB-R21)
    dealer: int  # of this round, or of the one to be dealt
    seats: int  # who plays this round, or the one to be dealt: a mask of seats
    active: int  # who of them is no ghost: a mask of seats
    turn: int  # who may act, or NOBODY
    tokens: tuple[int, ...]
    hands: tuple[int, ...]
    shown: tuple[int, ...]  # by seat, what a ghost exposed; it stays when it is played, for the penalty is frozen
    exposed: int  # what of it still waits beside the layout
    filled: int  # places with a card or a joker on them
    border: int  # empty places that may be filled now
    stand_ins: int  # places where a joker lies and the real card does not
    joker_places: tuple[int, int]  # the place that each joker fills, 0 while it is in a hand
    columns: tuple[int, ...]  # columns completed in this round, by seat

    @property
    def to_act(self) -> tuple[int, ...]:
        """The seat that may act now; nobody where the table must draw or deal, and after the end."""
        return () if self.turn == NOBODY else (self.turn,)

    @property
    def over(self) -> bool:
        """Whether the match is won."""
        return self.phase is Phase.OVER


def can_play(state: State, seat: int) -> bool:
    """Whether this seat could place a card, its own or an exposed one (SB-R10, SB-D10, SB-D20g)."""
    cards = state.hands[seat] | state.exposed
    if state.border and cards & tables.JOKER_BITS and state.phase is not Phase.OPEN:
        return True
    return cards & (state.border | state.stand_ins) != 0


def are_hands_public(state: State) -> bool:
    """Whether the cards left are shown: from the end of a round until the next deal (SB-D32)."""
    return state.turn == NOBODY


def is_ghost(state: State, seat: int) -> bool:
    """Whether this seat plays the round no more (SB-D12). Nobody becomes one without a card to show."""
    return state.shown[seat] != 0


def seats_in(seats: int) -> tuple[int, ...]:
    """The seats of a mask, ascending."""
    return tables.SEATS_IN[seats]


def initial(started: GameStarted) -> State:
    """The state after `gameStarted` (SB-R1, SB-D28). Raises Refused where players or options are out of range."""
    seat_count = len(started.players)
    check_player_count(seat_count, low=tables.PLAYERS_LOW, high=tables.PLAYERS_HIGH, rule="SB-R1")
    options = started.rules
    assert isinstance(options, SevenBridge), "the registry chooses rules by their options"
    nothing = (0,) * seat_count
    everybody = (1 << seat_count) - 1
    return State(
        terms=terms_of(options),
        phase=Phase.DRAW,
        scores=nothing,
        winners=(),
        round=0,
        is_deciding=False,
        dealer=NOBODY,
        seats=everybody,
        active=everybody,
        turn=NOBODY,
        tokens=nothing,
        hands=nothing,
        shown=nothing,
        exposed=0,
        filled=0,
        border=0,
        stand_ins=0,
        joker_places=(0, 0),
        columns=nothing,
    )


def terms_of(options: SevenBridge) -> Terms:
    """The options with defaults. Raises Refused for one that is out of its range."""
    ranges = tables.RANGES
    pass_tokens = given_or(options.pass_tokens, default=tables.PASS_TOKENS_DEFAULT)
    opening_seven = given_or(options.opening_seven, default=tables.OPENING_SEVEN_DEFAULT)
    joker_penalty = given_or(options.joker_penalty, default=tables.JOKER_PENALTY_DEFAULT)
    rounds = given_or(options.rounds, default=tables.ROUNDS_DEFAULT)
    return Terms(
        pass_tokens=in_range("passTokens", pass_tokens, ranges=ranges),
        opening_seven=one_of("openingSeven", opening_seven, choices=tables.OPENING_SEVENS),
        ghosts=given_or(options.ghosts, default=tables.GHOSTS_DEFAULT),
        jokers=one_of("jokers", options.jokers, choices=tables.JOKER_COUNTS),
        joker_penalty=in_range("jokerPenalty", joker_penalty, ranges=ranges),
        kings_race=in_range("kingsRace", options.kings_race, ranges=ranges),
        scoring=given_or(options.scoring, default=tables.SCORING_DEFAULT),
        rounds=in_range("rounds", rounds, ranges=ranges),
        limit=in_range("limit", options.limit, ranges=ranges),
    )
