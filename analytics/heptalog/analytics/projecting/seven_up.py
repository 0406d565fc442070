"""Rows that only Seven Up has: deals and how trump was fixed, tricks, and points."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from heptalog.analytics.projecting.lineage import Standing, grouped
from heptalog.analytics.projecting.rounds import Opening
from heptalog.analytics.projecting.rows import Labels, Row
from heptalog.replay.events import Body, CardsDealt
from heptalog.replay.fold import Outcomes
from heptalog.replay.outcomes import Outcome
from heptalog.replay.seven_up.events import CardsRun, TrumpDecided
from heptalog.replay.seven_up.outcomes import (
    DealVoided,
    GameCounted,
    GiftScored,
    HighScored,
    InfractionCharged,
    JackScored,
    JackTurned,
    LowScored,
    TrickWon,
    TrumpFixed,
)
from heptalog.replay.seven_up.state import NOBODY, State, elder_of
from heptalog.replay.seven_up.tables import SUIT_LETTER

_SEQUENCE: Final = 2  # where it is in a row
_POINT_KINDS: Final[Mapping[type[Outcome], str]] = MappingProxyType(
    {
        HighScored: "HIGH",
        LowScored: "LOW",
        JackScored: "JACK",
        JackTurned: "TURNED_JACK",
        GiftScored: "GIFT",
        InfractionCharged: "INFRACTION",
    }
)


class Deal(Struct, frozen=True, gc=False):
    """A deal as far as it has come: everything of its row."""

    sequence: int
    round: int
    dealer: int
    elder: int
    turned: tuple[str, ...]
    decision: str | None = None
    trump: str | None = None
    trump_card: str | None = None
    void_reason: str | None = None
    pips: tuple[int, ...] | None = None


# What happened to the deal that is played, or that begins with it; a text is a card that was run and turned.
Mark: TypeAlias = Deal | str | TrumpDecided | TrumpFixed | DealVoided | GameCounted


class SevenUpRows:
    """Deals, tricks and points of one game."""

    __slots__ = ("_labels", "_marks", "_points", "_tricks")

    tables: ClassVar[tuple[str, ...]] = ("deals", "tricks", "points")

    def __init__(self, labels: Labels) -> None:
        self._labels = labels
        self._marks: list[tuple[int, Mark]] = []
        self._tricks: list[Row] = []
        self._points: list[Row] = []

    def opening(self, state: State) -> Opening:
        """Elder hand leads (SU-R4)."""
        return Opening(dealer=state.dealer, opener=elder_of(state))

    def follow(self, sequence: int, body: Body, before: State, after: State, outcomes: Outcomes) -> None:
        """Take what an event did."""
        if isinstance(body, CardsDealt):
            deal = Deal(sequence, after.round, after.dealer, elder_of(after), (body.turned,))
            self._marks.append((sequence, deal))
        elif isinstance(body, CardsRun):
            self._marks.append((sequence, body.turned))
        elif isinstance(body, TrumpDecided):
            self._marks.append((sequence, body))
        for outcome in outcomes:
            if isinstance(outcome, TrickWon):
                self._take_trick(sequence, before, outcome)
            elif isinstance(outcome, TrumpFixed | DealVoided | GameCounted):
                self._marks.append((sequence, outcome))
                if isinstance(outcome, GameCounted) and outcome.side != NOBODY:
                    self._score(sequence, after.round, "GAME", outcome)
            elif type(outcome) in _POINT_KINDS:
                self._score(sequence, after.round, _POINT_KINDS[type(outcome)], outcome)

    def rows(self, standing: Standing) -> dict[str, list[Row]]:
        """Its rows by table, of the events that stand."""
        return {
            "deals": list(self._deals(standing)),
            "tricks": standing.of(self._tricks, place=_SEQUENCE),
            "points": standing.of(self._points, place=_SEQUENCE),
        }

    def _take_trick(self, sequence: int, before: State, won: TrickWon) -> None:
        trump = SUIT_LETTER[before.trump]
        winning = won.cards[(won.seat - won.leader) % len(won.cards)]
        self._tricks.append(
            (
                *self._labels.game,
                sequence,
                before.round,
                won.number,
                won.leader,
                *self._labels.seats[won.seat],
                won.cards,
                trump,
                winning[1] == trump != won.cards[0][1],
                *self._labels.partition,
            )
        )

    def _score(self, sequence: int, number: int, kind: str, scored: Any) -> None:
        # A side earns Game, a seat everything else; and only an infraction may cost a point.
        seat, player_id = (None, None) if kind == "GAME" else self._labels.seats[scored.seat][:2]
        self._points.append(
            (
                *self._labels.game,
                sequence,
                number,
                kind,
                seat,
                player_id,
                scored.side,
                getattr(scored, "card", None),
                getattr(scored, "points", 1),
                scored.score,
                *self._labels.partition,
            )
        )

    def _deals(self, standing: Standing) -> Iterator[Row]:
        for marks in grouped(standing.of(self._marks, place=0), Deal):
            deal = _deal_of([mark for _, mark in marks])
            yield (
                *self._labels.game,
                deal.sequence,
                deal.round,
                deal.dealer,
                deal.elder,
                deal.turned,
                deal.decision,
                len(deal.turned) - 1,
                deal.trump,
                deal.trump_card,
                deal.void_reason,
                deal.pips,
                *self._labels.partition,
            )


def _deal_of(marks: Sequence[Mark]) -> Deal:
    """The deal with all that happened to it."""
    deal, *others = marks
    assert isinstance(deal, Deal), "it is dealt once, and first"
    for mark in others:
        match mark:
            case str():
                deal = replace(deal, turned=(*deal.turned, mark))
            case TrumpDecided(decision=decision):
                deal = replace(deal, decision=str(decision))
            case TrumpFixed(suit=suit, card=card):
                deal = replace(deal, trump=suit, trump_card=card)
            case DealVoided(reason=reason):
                deal = replace(deal, void_reason=reason.value)
            case GameCounted(pips=pips):
                deal = replace(deal, pips=pips)
            case Deal():
                raise AssertionError("a deal begins another row")
    return deal
