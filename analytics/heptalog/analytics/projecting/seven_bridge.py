"""Rows that only Seven Bridge has: cards laid, passes, ghosts, and what was left at the end of a round."""

from typing import ClassVar, Final

from heptalog.analytics.projecting.lineage import Standing
from heptalog.analytics.projecting.rounds import Opening
from heptalog.analytics.projecting.rows import Labels, Row
from heptalog.replay.events import Body, CardPlayed, TurnPassed
from heptalog.replay.fold import Outcomes
from heptalog.replay.seven_bridge.outcomes import (
    BonusBooked,
    ColumnCompleted,
    ColumnOpened,
    ExposedCardPlayed,
    GhostMade,
    JokerCovered,
    PenaltyBooked,
    TokenSpent,
    TotalsBooked,
)
from heptalog.replay.seven_bridge.state import State

_SEQUENCE: Final = 2  # where it is in a row


class SevenBridgeRows:
    """Plays, passes, ghosts and penalties of one game."""

    __slots__ = ("_ghosts", "_labels", "_passes", "_penalties", "_plays")

    tables: ClassVar[tuple[str, ...]] = ("plays", "passes", "ghosts", "penalties")

    def __init__(self, labels: Labels) -> None:
        self._labels = labels
        self._plays: list[Row] = []
        self._passes: list[Row] = []
        self._ghosts: list[Row] = []
        self._penalties: list[Row] = []

    def opening(self, state: State) -> Opening:
        """Who holds the opening seven plays first (SB-R7)."""
        return Opening(dealer=state.dealer, opener=state.turn, is_deciding=state.is_deciding)

    def follow(self, sequence: int, body: Body, before: State, after: State, outcomes: Outcomes) -> None:
        """Take what an event did."""
        del after
        if isinstance(body, CardPlayed):
            self._play(sequence, before.round, body, outcomes)
        elif isinstance(body, TurnPassed):
            self._pass(sequence, before.round, body.seat, outcomes)

    def rows(self, standing: Standing) -> dict[str, list[Row]]:
        """Its rows by table, of the events that stand."""
        return {
            "plays": standing.of(self._plays, place=_SEQUENCE),
            "passes": standing.of(self._passes, place=_SEQUENCE),
            "ghosts": standing.of(self._ghosts, place=_SEQUENCE),
            "penalties": standing.of(self._penalties, place=_SEQUENCE),
        }

    def _play(self, sequence: int, number: int, body: CardPlayed, outcomes: Outcomes) -> None:
        opens = completes = covers = is_booked = False
        ghost: int | None = None
        for outcome in outcomes:
            kind = type(outcome)
            if kind is ColumnOpened:
                opens = True
            elif kind is ColumnCompleted:
                completes = True
            elif kind is JokerCovered:
                covers = True
            elif isinstance(outcome, ExposedCardPlayed):
                ghost = outcome.owner
            elif kind is TotalsBooked:
                is_booked = True
        self._plays.append(
            (
                *self._labels.game,
                sequence,
                number,
                *self._labels.seats[body.seat],
                body.card,
                body.stands_for or None,
                opens,
                completes,
                covers,
                ghost,
                *self._labels.partition,
            )
        )
        if is_booked:
            self._book(sequence, number, outcomes)

    def _pass(self, sequence: int, number: int, seat: int, outcomes: Outcomes) -> None:
        (outcome,) = outcomes
        labels = self._labels
        start = (*labels.game, sequence, number, *labels.seats[seat])
        if isinstance(outcome, TokenSpent):
            kind, left = "TOKEN", outcome.left
        elif isinstance(outcome, GhostMade):
            kind, left = "GHOST", 0
            self._ghosts.append((*start, outcome.cards, outcome.penalty, *labels.partition))
        else:
            kind, left = "WAIT", 0
        self._passes.append((*start, kind, left, *labels.partition))

    def _book(self, sequence: int, number: int, outcomes: Outcomes) -> None:
        bonuses = {outcome.seat: outcome for outcome in outcomes if isinstance(outcome, BonusBooked)}
        (totals,) = [outcome.totals for outcome in outcomes if isinstance(outcome, TotalsBooked)]
        for booked in outcomes:
            if not isinstance(booked, PenaltyBooked):
                continue
            bonus = bonuses.get(booked.seat)
            self._penalties.append(
                (
                    *self._labels.game,
                    sequence,
                    number,
                    *self._labels.seats[booked.seat],
                    booked.cards,
                    booked.penalty,
                    booked.was_ghost,
                    0 if bonus is None else bonus.columns,
                    0 if bonus is None else bonus.bonus,
                    totals[booked.seat],
                    *self._labels.partition,
                )
            )
