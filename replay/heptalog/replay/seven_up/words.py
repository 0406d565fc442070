"""How Seven Up is told to people, in short plain English."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from heptalog.replay.cards import names_in
from heptalog.replay.events import UNSET, Body, CardPlayed, CardsDealt, DealerDrawn
from heptalog.replay.outcomes import MatchWon, Outcome, RoundEnded, RoundEndedBy
from heptalog.replay.phrases import SUIT_WORDS, Names, listed, name_of, tell_dealer, tell_hidden
from heptalog.replay.rules import ARBITER, NOTHING_WITHHELD, Viewer, Withheld
from heptalog.replay.seven_up.events import CardsDiscarded, CardsRun, Decision, InfractionCalled, TrumpDecided
from heptalog.replay.seven_up.outcomes import (
    DealVoided,
    GameCounted,
    GiftScored,
    HighScored,
    InfractionCharged,
    JackScored,
    JackTurned,
    LowScored,
    RunAgain,
    SuitRejected,
    TrickWon,
    TrumpFixed,
    VoidReason,
)
from heptalog.replay.seven_up.state import NOBODY, Phase, State, elder_of, stock_count
from heptalog.replay.seven_up.tables import DECK, NAME_OF, PAIRS, PLAYERS_HIGH, SUIT_LETTER, TRICK_COUNT
from heptalog.replay.seven_up.view import sees_hand


class SevenUpWords:
    """The words of Seven Up. An event's line tells no hidden card; the table shows the arbiter all there is."""

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
        """The table as it lies, hands included."""
        seats = _seats(state, names, viewer, withheld, is_closed=is_closed)
        return [_headline(state, is_closed=is_closed), _scores(state, names), *seats, *_trick(state, names)]


_PHASE_WORDS: Final[Mapping[Phase, str]] = MappingProxyType(
    {
        Phase.DRAW: "the draw for the deal",
        Phase.DEAL: "the deal",
        Phase.STAND_OR_BEG: "elder hand's word",
        Phase.GIVE_OR_RUN: "the dealer's word",
        Phase.RUN: "the run of the cards",
        Phase.DISCARD: "the discards",
        Phase.PLAY: "play",
        Phase.OVER: "nothing: the match is won",
    }
)
_DECISION_WORDS: Final[Mapping[Decision, str]] = MappingProxyType(
    {
        Decision.STAND: "stands",
        Decision.BEG: "begs",
        Decision.GIVE: "gives one and keeps the suit",
        Decision.RUN: "runs the cards",
    }
)
_VOID_WORDS: Final[Mapping[VoidReason, str]] = MappingProxyType(
    {
        VoidReason.STOCK_SHORT: "too few cards are left to run",
        VoidReason.SUITS_REJECTED: "all four suits are rejected",
    }
)


def _cards_dealt(body: CardsDealt, _names: Names) -> str:
    return f"Six cards each, {body.turned} is turned"


def _trump_decided(body: TrumpDecided, names: Names) -> str:
    word = "says nothing" if body.decision is UNSET else _DECISION_WORDS[body.decision]
    return f"{name_of(body.seat, names)} {word}"


def _cards_run(body: CardsRun, _names: Names) -> str:
    return f"Three cards more for elder hand and dealer, {body.turned} is turned"


def _cards_discarded(body: CardsDiscarded, names: Names) -> str:
    # A redacted copy has the seal's count in place of the cards.
    count = len(body.cards) if body.cards or body.seal is UNSET else body.seal.count
    return f"{name_of(body.seat, names)} discards {count} cards"


def _card_played(body: CardPlayed, names: Names) -> str:
    return f"{name_of(body.seat, names)} plays {body.card}"


def _infraction_called(body: InfractionCalled, names: Names) -> str:
    return f"The arbiter calls an infraction by {name_of(body.seat, names)}"


def _jack_turned(outcome: JackTurned, names: Names) -> str:
    return f"{name_of(outcome.seat, names)} scores 1 for turning {outcome.card}"


def _gift_scored(outcome: GiftScored, names: Names) -> str:
    return f"{name_of(outcome.seat, names)} scores 1 as a gift"


def _suit_rejected(outcome: SuitRejected, _names: Names) -> str:
    return f"{SUIT_WORDS[outcome.suit]} are rejected"


def _run_again(outcome: RunAgain, _names: Names) -> str:
    return f"{outcome.card} is of a rejected suit"


def _deal_voided(outcome: DealVoided, names: Names) -> str:
    return f"the deal is void, {_VOID_WORDS[outcome.reason]}; {name_of(outcome.seat, names)} deals again"


def _trump_fixed(outcome: TrumpFixed, _names: Names) -> str:
    return f"{SUIT_WORDS[outcome.suit]} are trump"


def _trick_won(outcome: TrickWon, names: Names) -> str:
    return f"{name_of(outcome.seat, names)} wins trick {outcome.number}"


def _high_scored(outcome: HighScored, names: Names) -> str:
    return f"{name_of(outcome.seat, names)} scores 1 for High ({outcome.card})"


def _low_scored(outcome: LowScored, names: Names) -> str:
    return f"{name_of(outcome.seat, names)} scores 1 for Low ({outcome.card})"


def _jack_scored(outcome: JackScored, names: Names) -> str:
    return f"{name_of(outcome.seat, names)} scores 1 for Jack ({outcome.card})"


def _game_counted(outcome: GameCounted, names: Names) -> str:
    counts = " to ".join(map(str, outcome.pips)) + (", a tie" if outcome.tied else "")
    if outcome.side == NOBODY:
        return f"nobody scores for Game ({counts})"
    side = _side_name(outcome.side, names)
    return f"{side} {'score' if ' and ' in side else 'scores'} 1 for Game ({counts})"


def _infraction_charged(outcome: InfractionCharged, names: Names) -> str:
    side = _side_name(outcome.side, names)
    verb = "loses" if outcome.points < 0 else "score" if len(names) == PLAYERS_HIGH else "scores"
    return f"{side} {verb} 1 for the infraction"


def _round_ended(outcome: RoundEnded, _names: Names) -> str:
    return f"round {outcome.round} ends" + (" without a count" if outcome.by is RoundEndedBy.VOID else "")


def _match_won(outcome: MatchWon, names: Names) -> str:
    return f"{listed(outcome.winners, names)} {'win' if len(outcome.winners) > 1 else 'wins'} the match"


def _headline(state: State, *, is_closed: bool) -> str:
    parts = [f"Round {state.round}"]
    if state.phase is Phase.PLAY:
        parts.append(f"trick {state.trick_number} of {TRICK_COUNT}")
    elif not is_closed:
        parts.append(f"waiting for {_PHASE_WORDS[state.phase]}")
    if state.trump:
        parts.append(f"trump {SUIT_LETTER[state.trump]}")
    if state.turned:
        parts.append(f"turned {' '.join(NAME_OF[card] for card in state.turned)}")
        parts.append(f"stock {stock_count(state)}")
    return " · ".join(parts)


def _scores(state: State, names: Names) -> str:
    return "Score: " + " · ".join(f"{_side_name(side, names)} {score}" for side, score in enumerate(state.scores))


def _seats(state: State, names: Names, viewer: Viewer, withheld: Withheld, *, is_closed: bool) -> list[str]:
    hands = [_hand(state, seat, viewer, withheld) for seat in range(state.seat_count)]
    width, hand_width = max(map(len, names)), max(map(len, hands))
    lines = []
    for seat in range(state.seat_count):
        mark = ">" if seat in state.to_act and not is_closed else " "
        role = "" if state.dealer == NOBODY else {state.dealer: "dealer", elder_of(state): "elder"}.get(seat, "")
        taken = state.captured[seat].bit_count() // state.seat_count
        tail = f"  ({taken} {'trick' if taken == 1 else 'tricks'})" if taken else ""
        lines.append(f"{mark} {names[seat]:<{width}}  {role:<6}  {hands[seat]:<{hand_width}}{tail}".rstrip())
    return lines


def _hand(state: State, seat: int, viewer: Viewer, withheld: Withheld) -> str:
    hand = state.hands[seat]
    if hand and not sees_hand(state, seat, viewer, withheld):
        return tell_hidden(hand.bit_count())
    return " ".join(names_in(hand, DECK))


def _trick(state: State, names: Names) -> list[str]:
    if not state.trick:
        return []
    laid = (
        f"{names[(state.leader + place) % state.seat_count]} {NAME_OF[card]}" for place, card in enumerate(state.trick)
    )
    return ["Trick: " + ", ".join(laid)]


def _side_name(side: int, names: Names) -> str:
    return f"{names[side]} and {names[side + PAIRS]}" if len(names) == PLAYERS_HIGH else names[side]


# Each function takes the type it stands under.
_EVENTS: Final[Mapping[type[Body], Callable[[Any, Names], str]]] = MappingProxyType(
    {
        DealerDrawn: tell_dealer,
        CardsDealt: _cards_dealt,
        TrumpDecided: _trump_decided,
        CardsRun: _cards_run,
        CardsDiscarded: _cards_discarded,
        CardPlayed: _card_played,
        InfractionCalled: _infraction_called,
    }
)
_OUTCOMES: Final[Mapping[type[Outcome], Callable[[Any, Names], str]]] = MappingProxyType(
    {
        JackTurned: _jack_turned,
        GiftScored: _gift_scored,
        SuitRejected: _suit_rejected,
        RunAgain: _run_again,
        DealVoided: _deal_voided,
        TrumpFixed: _trump_fixed,
        TrickWon: _trick_won,
        HighScored: _high_scored,
        LowScored: _low_scored,
        JackScored: _jack_scored,
        GameCounted: _game_counted,
        InfractionCharged: _infraction_charged,
        RoundEnded: _round_ended,
        MatchWon: _match_won,
    }
)
