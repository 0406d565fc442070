"""Seven Bridge told to people: events, outcomes and the table as plain text."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from heptalog.replay.cards import RANKS, SUITS, names_in
from heptalog.replay.events import Body, CardPlayed, CardsDealt, DealerDrawn, TurnPassed
from heptalog.replay.outcomes import MatchWon, Outcome, RoundEnded, RoundEndedBy
from heptalog.replay.phrases import SUIT_WORDS, Names, listed, name_of, tell_dealer, tell_hidden
from heptalog.replay.rules import ARBITER, NOTHING_WITHHELD, Viewer, Withheld
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
from heptalog.replay.seven_bridge.tables import BITS, DECK
from heptalog.replay.seven_bridge.view import sees_hand


class SevenBridgeWords:
    """The words of Seven Bridge; the table shows the arbiter all that the state holds."""

    def event(self, body: Body, names: Names) -> str:
        """One readable line for what happened; also for an event that was refused, whose seat may be nobody's."""
        return _EVENTS[type(body)](body, names)

    def outcome(self, outcome: Outcome, names: Names) -> str:
        """One readable phrase for what followed from it."""
        return _OUTCOMES[type(outcome)](outcome, names)

    def table(
        self,
        state: State,
        names: Names,
        viewer: Viewer = ARBITER,
        withheld: Withheld = NOTHING_WITHHELD,
        *,
        is_closed: bool = False,
    ) -> list[str]:
        """Where the game is, the layout as a grid, and a line for each seat."""
        where = _where_closed(state, names) if is_closed else _where(state, names)
        return [where, *_layout(state), *_seats(state, names, viewer, withheld)]


def _where(state: State, names: Names) -> str:
    kind = "Deciding round" if state.is_deciding else "Round"
    match state.phase:
        case Phase.DRAW:
            return "The first dealer is to be drawn"
        case Phase.DEAL:
            after = f"Round {state.round} is over; " if state.round else ""
            return f"{after}{name_of(state.dealer, names)} deals"
        case Phase.OVER:
            return f"{kind} {state.round} was the last; {listed(state.winners, names)} won"
        case _:
            dealer, mover = name_of(state.dealer, names), name_of(state.turn, names)
            return f"{kind} {state.round}, dealt by {dealer}; {mover} is on turn"


def _where_closed(state: State, names: Names) -> str:
    """Where the arbiter has ended the game: nobody is on turn, and nobody deals."""
    if not state.round:
        return "No round was dealt"
    if state.phase is Phase.DEAL:
        return f"Round {state.round} is over"
    kind = "Deciding round" if state.is_deciding else "Round"
    return f"{kind} {state.round}, dealt by {name_of(state.dealer, names)}"


def _layout(state: State) -> list[str]:
    """A line for each suit: `.` is an empty place, `*` one that a joker fills."""
    if not state.round:
        return []
    return [f"{suit}  " + " ".join(_place(state, rank, BITS[rank + suit]) for rank in RANKS) for suit in SUITS]


def _place(state: State, rank: str, bit: int) -> str:
    if not state.filled & bit:
        return "."
    return "*" if state.stand_ins & bit else rank


def _seats(state: State, names: Names, viewer: Viewer, withheld: Withheld) -> list[str]:
    width = max(len(name) for name in names)
    lines = []
    for seat, hand in enumerate(state.hands):
        line = f"{name_of(seat, names):{width}}  {_counted(state.scores[seat], 'point')}"
        is_seen = sees_hand(state, seat, viewer, withheld)
        if is_ghost(state, seat):
            # Where it is withheld what was exposed, so is how much of it was played.
            line += f"; ghost, still exposed: {_cards(state.shown[seat] & state.exposed)}" if is_seen else "; ghost"
        elif hand:
            held = _cards(hand) if is_seen else tell_hidden(hand.bit_count())
            line += f"; {_counted(state.tokens[seat], 'token')}; {held}"
        lines.append(line)
    return lines


def _cards_dealt(body: CardsDealt, names: Names) -> str:
    counts = ", ".join(
        f"{len(hand.cards)} to {name_of(seat, names)}" for seat, hand in enumerate(body.hands) if hand.cards
    )
    return f"Cards are dealt: {counts}"


def _card_played(body: CardPlayed, names: Names) -> str:
    stands_for = f" as {body.stands_for}" if body.stands_for else ""
    return f"{name_of(body.seat, names)} plays {body.card}{stands_for}"


def _turn_passed(body: TurnPassed, names: Names) -> str:
    return f"{name_of(body.seat, names)} passes"


def _round_opened(outcome: RoundOpened, names: Names) -> str:
    kind = "deciding round" if outcome.is_deciding else "round"
    return f"{kind} {outcome.round} begins, {name_of(outcome.opener, names)} opens"


def _column_opened(outcome: ColumnOpened, names: Names) -> str:
    return f"{name_of(outcome.seat, names)} opens {SUIT_WORDS[outcome.suit]}"


def _column_completed(outcome: ColumnCompleted, names: Names) -> str:
    return f"{name_of(outcome.seat, names)} completes {SUIT_WORDS[outcome.suit]}"


def _exposed_card_played(outcome: ExposedCardPlayed, names: Names) -> str:
    return f"{outcome.card} was exposed by {name_of(outcome.owner, names)} and still counts there"


def _joker_covered(outcome: JokerCovered, names: Names) -> str:
    return f"{outcome.card} lies on its joker"


def _token_spent(outcome: TokenSpent, names: Names) -> str:
    return f"{name_of(outcome.seat, names)} has {_counted(outcome.left, 'token')} left"


def _turn_waited(outcome: TurnWaited, names: Names) -> str:
    return f"{name_of(outcome.seat, names)} cannot play and waits"


def _ghost_made(outcome: GhostMade, names: Names) -> str:
    cards = " ".join(outcome.cards)
    return f"{name_of(outcome.seat, names)} becomes a ghost and exposes {cards}: {_counted(outcome.penalty, 'point')}"


def _round_ended(outcome: RoundEnded, names: Names) -> str:
    if outcome.by is RoundEndedBy.EXHAUSTED:
        return f"round {outcome.round} ends without a winner: only jokers are left"
    return f"{name_of(outcome.seat, names)} has no card left and wins round {outcome.round}"


def _penalty_booked(outcome: PenaltyBooked, names: Names) -> str:
    cards = f" for {' '.join(outcome.cards)}" if outcome.cards else ""
    return f"{name_of(outcome.seat, names)} is charged {_counted(outcome.penalty, 'point')}{cards}"


def _bonus_booked(outcome: BonusBooked, names: Names) -> str:
    columns = _counted(outcome.columns, "column")
    return f"{name_of(outcome.seat, names)} is relieved of {_counted(outcome.bonus, 'point')} for {columns}"


def _totals_booked(outcome: TotalsBooked, names: Names) -> str:
    return "totals: " + ", ".join(f"{name_of(seat, names)} {total}" for seat, total in enumerate(outcome.totals))


def _deciding_round_called(outcome: DecidingRoundCalled, names: Names) -> str:
    return f"{listed(outcome.seats, names)} tie and play a deciding round, dealt by {name_of(outcome.dealer, names)}"


def _match_won(outcome: MatchWon, names: Names) -> str:
    return f"{listed(outcome.winners, names)} wins the match"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _cards(cards: int) -> str:
    return " ".join(names_in(cards, DECK)) or "none"


# Each function takes the type it stands under.
_EVENTS: Final[Mapping[type[Body], Callable[[Any, Names], str]]] = MappingProxyType(
    {
        DealerDrawn: tell_dealer,
        CardsDealt: _cards_dealt,
        CardPlayed: _card_played,
        TurnPassed: _turn_passed,
    }
)
_OUTCOMES: Final[Mapping[type[Outcome], Callable[[Any, Names], str]]] = MappingProxyType(
    {
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
)
