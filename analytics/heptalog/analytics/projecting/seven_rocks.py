"""Rows that only Seven Rocks has: tiles laid, and hands settled."""

from typing import ClassVar, Final

from heptalog.analytics.projecting.lineage import Standing
from heptalog.analytics.projecting.rounds import Opening
from heptalog.analytics.projecting.rows import Labels, Row
from heptalog.replay.events import Body
from heptalog.replay.fold import Outcomes
from heptalog.replay.outcomes import Outcome
from heptalog.replay.seven_rocks.events import TilePlayed
from heptalog.replay.seven_rocks.outcomes import HandSettled, PointsScored, SpinnerLaid, TileLaid
from heptalog.replay.seven_rocks.state import NOBODY, State

_SEQUENCE: Final = 2  # where it is in a row


class SevenRocksRows:
    """Placements and settlements of one game."""

    __slots__ = ("_labels", "_placements", "_settlements")

    tables: ClassVar[tuple[str, ...]] = ("placements", "settlements")

    def __init__(self, labels: Labels) -> None:
        self._labels = labels
        self._placements: list[Row] = []
        self._settlements: list[Row] = []

    def opening(self, state: State) -> Opening:
        """Nobody deals (SR-R4); who went out opens, where nobody did there is a draw (SR-R6, SR-R7)."""
        return Opening(opener=None if state.turn == NOBODY else state.turn)

    def follow(self, sequence: int, body: Body, before: State, after: State, outcomes: Outcomes) -> None:
        """Take what an event did."""
        del after
        if type(body) is TilePlayed:
            self._place(sequence, before, outcomes)
        # A round ends by a tile or by a knock, and what is settled is said last.
        if outcomes and type(outcomes[-1]) is HandSettled:
            for outcome in outcomes:
                if type(outcome) is HandSettled:
                    self._settle(sequence, before.round, outcome)

    def rows(self, standing: Standing) -> dict[str, list[Row]]:
        """Its rows by table, of the events that stand."""
        return {
            "placements": standing.of(self._placements, place=_SEQUENCE),
            "settlements": standing.of(self._settlements, place=_SEQUENCE),
        }

    def _place(self, sequence: int, before: State, outcomes: Outcomes) -> None:
        laid: Outcome = outcomes[0]
        assert type(laid) is TileLaid, "a tile that is played lies first"
        who = self._labels.seats[laid.seat]
        points, score = 0, before.scores[who[2]]
        is_spinner = False
        for outcome in outcomes:
            if type(outcome) is PointsScored:
                points, score = outcome.points, outcome.score
            elif type(outcome) is SpinnerLaid:
                is_spinner = True
        self._placements.append(
            (
                *self._labels.game,
                sequence,
                before.round,
                *who,
                laid.tile,
                None if laid.arm is None else str(laid.arm),
                laid.ends,
                laid.sum,
                points,
                score,
                is_spinner,
                *self._labels.partition,
            )
        )

    def _settle(self, sequence: int, number: int, settled: HandSettled) -> None:
        self._settlements.append(
            (
                *self._labels.game,
                sequence,
                number,
                *self._labels.seats[settled.seat],
                settled.tiles,
                settled.pips,
                settled.deduction,
                settled.score,
                *self._labels.partition,
            )
        )
