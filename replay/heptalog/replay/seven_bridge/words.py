"""Seven Bridge told to people: events, outcomes and the table as plain text."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from heptalog.replay.cards import RANKS, SUITS, names_in
from heptalog.replay.events import Body, CardPlayed, CardsDealt, DealerDrawn, TurnPassed
from heptalog.replay.outcomes import MatchWon, Outcome, RoundEnded, RoundEndedBy
from heptalog.replay.seven_bridge.outcomes import (
    BonusBooked,
    ColumnCompleted,
    ColumnOpened,
    DecidingRoundCalled,
    ExposedCardPlayed,
    GhostMade,
    JokerCovered,
    PenaltyBooked,
    RoundOpened,
    TokenSpent,
    TotalsBooked,
    TurnWaited,
)
from heptalog.replay.seven_bridge.state import Phase, State, is_ghost
from heptalog.replay.seven_bridge.tables import CARD_BITS, DECK

Names = Sequence[str]

SUIT_WORDS: Final = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}


class SevenBridgeWords:
    """Pure functions to text; `names` are the players' by seat."""

    def event(self, body: Body, names: Names) -> str:
        """One readable line for what happened."""
        return _EVENTS[type(body)](body, names)

    def outcome(self, outcome: Outcome, names: Names) -> str:
        """One readable phrase for what followed from it."""
        return _OUTCOMES[type(outcome)](outcome, names)

    def table(self, state: State, names: Names) -> list[str]:
        """Where the game is, the layout as a grid, and a line for each seat."""
        return [_where(state, names), *_layout(state), *_seats(state, names)]


def _where(state: State, names: Names) -> str:
    kind = "Deciding round" if state.is_deciding else "Round"
    match state.phase:
        case Phase.DRAWING:
            return "The first dealer is to be drawn"
        case Phase.DEALING:
            after = f"Round {state.round} is over; " if state.round else ""
            return f"{after}{_name(names, state.dealer)} deals"
        case Phase.OVER:
            return f"{kind} {state.round} was the last; {_listed(names, state.winners)} won"
        case _:
            return f"{kind} {state.round}, dealt by {_name(names, state.dealer)}; {_name(names, state.turn)} is on turn"


def _layout(state: State) -> list[str]:
    """A line for each suit: `.` is an empty place, `*` one that a joker fills."""
    if not state.round:
        return []
    return [f"{suit}  " + " ".join(_place(state, rank, CARD_BITS[rank + suit]) for rank in RANKS) for suit in SUITS]


def _place(state: State, rank: str, bit: int) -> str:
    if not state.filled & bit:
        return "."
    return "*" if state.stand_ins & bit else rank


def _seats(state: State, names: Names) -> list[str]:
    width = max(len(name) for name in names)
    lines = []
    for seat, hand in enumerate(state.hands):
        line = f"{_name(names, seat):{width}}  {_counted(state.scores[seat], 'point')}"
        if is_ghost(state, seat):
            line += f"; ghost, still exposed: {_cards(state.shown[seat] & state.exposed)}"
        elif hand:
            line += f"; {_counted(state.tokens[seat], 'token')}; {_cards(hand)}"
        lines.append(line)
    return lines


def _dealer_drawn(drawn: DealerDrawn, names: Names) -> str:
    lots = "; then ".join(
        ", ".join(f"{_name(names, draw.seat)} {draw.value}" for draw in lot.draws) for lot in drawn.lots
    )
    return f"{_name(names, drawn.seat)} deals first" + (f" (drawn: {lots})" if lots else "")


def _cards_dealt(dealt: CardsDealt, names: Names) -> str:
    counts = ", ".join(
        f"{len(hand.cards)} to {_name(names, seat)}" for seat, hand in enumerate(dealt.hands) if hand.cards
    )
    return f"Cards are dealt: {counts}"


def _card_played(played: CardPlayed, names: Names) -> str:
    stands_for = f" as {played.stands_for}" if played.stands_for else ""
    return f"{_name(names, played.seat)} plays {played.card}{stands_for}"


def _turn_passed(passed: TurnPassed, names: Names) -> str:
    return f"{_name(names, passed.seat)} passes"


def _round_opened(opened: RoundOpened, names: Names) -> str:
    kind = "deciding round" if opened.is_deciding else "round"
    return f"{kind} {opened.round} begins, {_name(names, opened.opener)} opens"


def _column_opened(opened: ColumnOpened, names: Names) -> str:
    return f"{_name(names, opened.seat)} opens {SUIT_WORDS[opened.suit]}"


def _column_completed(completed: ColumnCompleted, names: Names) -> str:
    return f"{_name(names, completed.seat)} completes {SUIT_WORDS[completed.suit]}"


def _exposed_card_played(played: ExposedCardPlayed, names: Names) -> str:
    return f"{played.card} was exposed by {_name(names, played.owner)} and still counts there"


def _joker_covered(covered: JokerCovered, names: Names) -> str:
    return f"{covered.card} lies on its joker"


def _token_spent(spent: TokenSpent, names: Names) -> str:
    return f"{_name(names, spent.seat)} has {_counted(spent.left, 'token')} left"


def _turn_waited(waited: TurnWaited, names: Names) -> str:
    return f"{_name(names, waited.seat)} cannot play and waits"


def _ghost_made(ghost: GhostMade, names: Names) -> str:
    cards = " ".join(ghost.cards)
    return f"{_name(names, ghost.seat)} becomes a ghost and exposes {cards}: {_counted(ghost.penalty, 'point')}"


def _round_ended(ended: RoundEnded, names: Names) -> str:
    if ended.by is RoundEndedBy.EXHAUSTED:
        return f"round {ended.round} ends without a winner: only jokers are left"
    return f"{_name(names, ended.seat)} has no card left and wins round {ended.round}"


def _penalty_booked(booked: PenaltyBooked, names: Names) -> str:
    cards = f" for {' '.join(booked.cards)}" if booked.cards else ""
    return f"{_name(names, booked.seat)} is charged {_counted(booked.penalty, 'point')}{cards}"


def _bonus_booked(booked: BonusBooked, names: Names) -> str:
    columns = _counted(booked.columns, "column")
    return f"{_name(names, booked.seat)} is relieved of {_counted(booked.bonus, 'point')} for {columns}"


def _totals_booked(booked: TotalsBooked, names: Names) -> str:
    return "totals: " + ", ".join(f"{_name(names, seat)} {total}" for seat, total in enumerate(booked.totals))


def _deciding_round_called(called: DecidingRoundCalled, names: Names) -> str:
    return f"{_listed(names, called.seats)} tie and play a deciding round, dealt by {_name(names, called.dealer)}"


def _match_won(won: MatchWon, names: Names) -> str:
    return f"{_listed(names, won.winners)} wins the match"


def _name(names: Names, seat: int) -> str:
    return names[seat] if 0 <= seat < len(names) else f"seat {seat}"


def _listed(names: Names, seats: tuple[int, ...]) -> str:
    *others, last = (_name(names, seat) for seat in seats)
    return f"{', '.join(others)} and {last}" if others else last


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _cards(cards: int) -> str:
    return " ".join(names_in(cards, DECK)) or "none"


_EVENTS: Final[dict[type[Body], Callable[[Any, Names], str]]] = {
    DealerDrawn: _dealer_drawn,
    CardsDealt: _cards_dealt,
    CardPlayed: _card_played,
    TurnPassed: _turn_passed,
}
_OUTCOMES: Final[dict[type[Outcome], Callable[[Any, Names], str]]] = {
    RoundOpened: _round_opened,
    ColumnOpened: _column_opened,
    ColumnCompleted: _column_completed,
    ExposedCardPlayed: _exposed_card_played,
    JokerCovered: _joker_covered,
    TokenSpent: _token_spent,
    TurnWaited: _turn_waited,
    GhostMade: _ghost_made,
    RoundEnded: _round_ended,
    PenaltyBooked: _penalty_booked,
    BonusBooked: _bonus_booked,
    TotalsBooked: _totals_booked,
    DecidingRoundCalled: _deciding_round_called,
    MatchWon: _match_won,
}
