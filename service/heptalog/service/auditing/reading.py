"""Work that meets what cannot be read at all: narrowed down to the place, and all around it done as ever.

A block that the engine finds damaged makes every question fail that touches it, and what was open with it; a value that
nobody would have written may do so too. So the source is opened anew, and the work is cut in halves until only what
cannot be read is left over.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Final

from heptalog.replay.errors import Code, HeptalogError, Unavailable
from heptalog.replay.evidence.notes import VerifierKey
from heptalog.service.auditing.audit import Report, Work, done
from heptalog.service.auditing.chapters import GamesReport, GamesWork, Listed, RefusalsReport, RefusalsWork, in_order
from heptalog.service.auditing.findings import found
from heptalog.service.auditing.sources import Source
from heptalog.service.auditing.spans import Mark, SpanReport, SpanWork
from heptalog.service.auditing.tiles import SPAN_WIDTH

# Fewer positions than this are not told apart where they cannot be read.
_LEAST: Final = 256


class Reader:
    """Does pieces of work, one after the other, on a source that it opens, and opens anew where it has to."""

    def __init__(self, opened: Callable[[], AbstractContextManager[Source]], keys: Sequence[VerifierKey]) -> None:
        self._opened = opened
        self._keys = keys
        self._open = ExitStack()
        self.source = self._open.enter_context(opened())

    def close(self) -> None:
        """Let go of the source."""
        self._open.close()

    def report(self, work: Work) -> Report:
        """Do one piece of work. Raises Unavailable where nothing can be read any more."""
        try:
            return done(self.source, work, self._keys)
        except Unavailable:
            raise
        except Exception as error:  # noqa: BLE001  # its text could quote a hidden card, so only its kind is told
            problem = str(error.code) if isinstance(error, HeptalogError) else type(error).__name__
        self._begin_anew()
        match work:
            case SpanWork():
                return self._span(work, problem)
            case GamesWork():
                return self._games(work, problem)
            case RefusalsWork():
                finding = found(Code.RECORD_DAMAGED, f"they cannot be read, {problem}", table="refusals")
                return RefusalsReport(0, (finding,))

    def _begin_anew(self) -> None:
        self._open.close()
        self.source = self._open.enter_context(self._opened())

    def _span(self, work: SpanWork, problem: str) -> SpanReport:
        low, high = work.span * SPAN_WIDTH + 1, min((work.span + 1) * SPAN_WIDTH, work.last)
        findings = tuple(
            found(Code.RECORD_DAMAGED, f"they cannot be read, {problem}", position=first, last=last)
            for first, last in _joined(self._unreadable(low, high))
        )
        # Nothing is known of the tree over it.
        marks = tuple(Mark(claim, (), is_whole=False) for claim in work.claims)
        return SpanReport(work.span, 0, 0, (bytes(32),), is_whole=False, marks=marks, findings=findings)

    def _unreadable(self, low: int, high: int) -> Iterator[tuple[int, int]]:
        """The parts of a span that cannot be read."""
        try:
            for _ in self.source.links(low, high):
                pass
            return
        except Unavailable:
            raise
        except Exception:  # noqa: BLE001
            self._begin_anew()
        if high - low < _LEAST:
            yield low, high
            return
        middle = (low + high) // 2
        yield from self._unreadable(low, middle)
        yield from self._unreadable(middle + 1, high)

    def _games(self, work: GamesWork, problem: str) -> GamesReport:
        if work.low == work.high:
            finding = found(Code.RECORD_DAMAGED, f"the game cannot be read, {problem}", number=work.low, table="games")
            # It has its number among the others all the same.
            listed = Listed(work.low, None)
            return GamesReport(work.high, 1, 0, 0, listed, listed, (finding,))
        middle = (work.low + work.high) // 2
        halves = self.report(GamesWork(work.low, middle)), self.report(GamesWork(middle + 1, work.high))
        left, right = halves
        assert isinstance(left, GamesReport), "games make a report on games"
        assert isinstance(right, GamesReport), "games make a report on games"
        between = tuple(in_order(left.last, right.first)) if left.last and right.first else ()
        return GamesReport(
            right.high,
            left.games + right.games,
            left.events + right.events,
            (left.total + right.total) % 2**256,
            left.first or right.first,
            right.last or left.last,
            (*left.findings, *between, *right.findings),
        )


def _joined(ranges: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Ranges that follow each other without a gap as one."""
    low = high = 0
    for first, last in ranges:
        if first != high + 1:
            if high:
                yield low, high
            low = first
        high = last
    if high:
        yield low, high
