"""Verifying a recorded game: what came of examining all of it; findings, never prose."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from heptalog.replay.codec import decode
from heptalog.replay.errors import Code, HeptalogError, Malformed
from heptalog.replay.events import Event
from heptalog.replay.examiner import Examiner as Examiner  # who verifies may bring one
from heptalog.replay.fold import Fold
from heptalog.replay.plain import plain_game


class Report(Struct, frozen=True):
    """What came of an examination. `events` were accepted; where something is wrong, `sequence` is its own."""

    events: int
    error: HeptalogError | None = None
    sequence: int = -1

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return self.error is None


def verify(entries: Iterable[tuple[Event, bytes | None]], examiner: Examiner | None = None) -> Report:
    """Examine a whole game: events in order, each with its public form where that is at hand.

    Who brings an examiner of their own can ask it for the fold afterwards.
    """
    examiner = examiner or Examiner()
    return fault_in(entries, examiner) or concluded(examiner)


def fault_in(entries: Iterable[tuple[Event, bytes | None]], examiner: Examiner) -> Report | None:
    """Examine the next events of a game; None where nothing is wrong with them.

    A part that is left out is no fault of its event: only what is `concluded` of the game tells of it.
    """
    sequence = 0
    try:
        for event, public in entries:
            sequence = event.sequence
            examiner.advance(event, public)
    except HeptalogError as error:
        own = error.facts.get("sequence")
        return Report(examiner.accepted, error, own if isinstance(own, int) else sequence)
    return None


def concluded(examiner: Examiner) -> Report:
    """What came of a game of which no event has a fault."""
    if examiner.redacted is not None:
        return Report(examiner.accepted, examiner.redacted, examiner.redacted_at)
    if examiner.fold is None:
        return Report(0, Malformed(Code.GAME_EMPTY, rule="game-file"), 0)
    return Report(examiner.accepted)


def verify_records(records: Sequence[bytes]) -> tuple[Report, Fold | None]:
    """Examine a whole game by its records, as `verify` does with what `decode` makes of them; its fold with it."""
    if (game := plain_game(records)) is not None:
        return Report(game.fold.sequence + 1), game.fold
    examiner = Examiner()
    return verify(map(decode, records), examiner), examiner.fold
