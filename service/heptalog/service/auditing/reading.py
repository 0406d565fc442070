"""Work that meets what cannot be read at all: narrowed down to the place, and all around it done as ever.

A block that the engine finds damaged makes every question fail that touches it, and what was open with it; a value that
nobody would have written may do so too. So the source is begun anew, and the work is cut in halves until only what
cannot be read is left over.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Final

from msgspec.structs import replace

from heptalog.replay.errors import Code, Unavailable
from heptalog.replay.evidence.merkle import TILE_WIDTH
from heptalog.replay.evidence.notes import VerifierKey
from heptalog.service.auditing.audit import Report, Work, done
from heptalog.service.auditing.chapters import GamesReport, GamesWork, Listed, RefusalsReport, RefusalsWork, misplaced
from heptalog.service.auditing.findings import Finding, because, found
from heptalog.service.auditing.sources import Source
from heptalog.service.auditing.spans import Mark, SpanReport, SpanWork, claimed
from heptalog.service.auditing.tiles import SPAN_WIDTH
from heptalog.service.store.duck_faults import let_through

# Fewer positions than this are not told apart where they cannot be read: the engine reads blocks. A server gives what
# it can, to the last event.
_LEAST: Final = 256
_QUESTIONS_MAX: Final = 4096  # in one span, however much of it cannot be read


class Reader:
    """Does pieces of work, one after the other, on a source that it opens, and opens anew where it has to."""

    def __init__(self, opened: Callable[[], AbstractContextManager[Source]], keys: Sequence[VerifierKey]) -> None:
        self._opened = opened
        self._keys = keys
        self._open = ExitStack()
        self.source = self._open.enter_context(opened())
        self._questions_left = _QUESTIONS_MAX

    def close(self) -> None:
        """Let go of the source."""
        self._open.close()

    def report(self, work: Work) -> Report:
        """Do one piece of work. Raises Unavailable where nothing can be read any more."""
        report, problem = self._tried(work)
        if report is not None:
            return report
        match work:
            case SpanWork():
                return self._span(work, problem)
            case GamesWork():
                return self._games(work, problem)
            case RefusalsWork():
                finding = found(Code.RECORD_DAMAGED, f"they cannot be read{problem}", table="refusals")
                return RefusalsReport(0, (finding,))

    def _tried(self, work: Work) -> tuple[Report | None, str]:
        """What a piece of work comes to, or why it cannot be done."""
        try:
            return done(self.source, work, self._keys), ""
        except Unavailable:
            raise
        except Exception as error:  # noqa: BLE001  # its text could quote a hidden card, so only its kind is told
            let_through(error)
            problem = because(error)
        self.begin_anew()
        return None, problem

    def begin_anew(self) -> None:
        """Go on with the source after a failure; it is opened again only where nothing more may be asked of it."""
        if self.source.begin_anew():
            return
        self._open.close()
        self.source = self._open.enter_context(self._opened())

    def _span(self, work: SpanWork, problem: str) -> SpanReport:
        low, high = work.span * SPAN_WIDTH + 1, min((work.span + 1) * SPAN_WIDTH, work.last)
        questions = {
            "checkpoints": lambda: list(self.source.checkpoints(low, high)),
            "tree": lambda: list(self.source.tree(1, (low - 1) // TILE_WIDTH, (high - 1) // TILE_WIDTH)),
        }
        findings, without = self._unreadable_tables(questions, work.without, f"of positions {low} to {high}")
        self._questions_left = _QUESTIONS_MAX
        ranges = list(_joined(self._unreadable(low, high)))
        if not ranges and without != work.without:
            report = self.report(replace(work, without=without))
            assert isinstance(report, SpanReport), "a span makes a report on a span"
            return replace(report, findings=(*findings, *report.findings))
        for first, last in ranges or [(low, high)]:
            place = {"position": first, "last": None if first == last else last}
            findings.append(found(Code.RECORD_DAMAGED, f"{_they(first, last)} cannot be read{problem}", **place))
        end = (ranges or [(low, high)])[0][0] - 1
        before = self._up_to(replace(work, without=without), end) if end >= low else None
        claims = [claim for claim in work.claims if claim.size > end]
        if "checkpoints" not in without:
            claims += claimed(self.source.checkpoints(end + 1, high), self._keys, findings.append)
        # Beyond there nothing is known of the tree, whoever says something of it.
        marks = [Mark(claim, (), is_whole=False) for claim in claims]
        if before is not None:
            marks = [*before.marks, *marks]
            findings = [*before.findings, *findings]
        events, total = (before.events, before.total) if before is not None else (0, 0)
        edge = (bytes(32),)
        return SpanReport(work.span, events, total, edge, is_whole=False, marks=tuple(marks), findings=tuple(findings))

    def _up_to(self, work: SpanWork, end: int) -> SpanReport:
        """What the beginning of a span comes to, which can be read."""
        claims = tuple(claim for claim in work.claims if claim.size <= end)
        report = done(self.source, replace(work, last=end, claims=claims), self._keys)
        assert isinstance(report, SpanReport), "a span makes a report on a span"
        return report

    def _unreadable_tables(
        self, questions: Mapping[str, Callable[[], object]], without: tuple[str, ...], place: str
    ) -> tuple[list[Finding], tuple[str, ...]]:
        """Which tables cannot be read, and those that an audit can do without."""
        findings = []
        for table, question in questions.items():
            if table not in without and (problem := self._failure(question)) is not None:
                finding = found(Code.RECORD_DAMAGED, f"what is kept {place} cannot be read{problem}", table=table)
                findings.append(finding)
                without = (*without, table)
        return findings, without

    def _failure(self, question: Callable[[], object]) -> str | None:
        """Why a question cannot be answered; None where it can."""
        try:
            question()
        except Unavailable:
            raise
        except Exception as error:  # noqa: BLE001
            let_through(error)
            problem = because(error)
        else:
            return None
        self.begin_anew()
        return problem

    def _unreadable(self, low: int, high: int) -> Iterator[tuple[int, int]]:
        """The parts of a span that cannot be read."""
        self._questions_left -= 1
        if self._failure(lambda: deque(self.source.links(low, high), maxlen=0)) is None:
            return
        least = _LEAST if self.source.has_columns else 1
        if high - low < least or self._questions_left <= 0:
            yield low, high
            return
        middle = (low + high) // 2
        yield from self._unreadable(low, middle)
        yield from self._unreadable(middle + 1, high)

    def _games(self, work: GamesWork, problem: str) -> GamesReport:
        questions = {
            "games": lambda: self.source.games(work.low, work.high),
            "endings": lambda: self.source.endings(work.low, work.high),
        }
        place = f"of the games with numbers {work.low} to {work.high}"
        findings, without = self._unreadable_tables(questions, work.without, place)
        if findings:
            report = self.report(replace(work, without=without))
            assert isinstance(report, GamesReport), "games make a report on games"
            return replace(report, findings=(*findings, *report.findings))
        return self._halved(work, problem)

    def _halved(self, work: GamesWork, problem: str) -> GamesReport:
        """Games of which not all events can be read, and all else can."""
        if work.low == work.high:
            words, name = f"the game cannot be read{problem}", self._name_of(work)
            finding = found(Code.RECORD_DAMAGED, words, game_id=name, number=work.low, table="games")
            # It has its number among the others all the same.
            listed = Listed(work.low, None)
            return GamesReport(work.high, 1, 0, 0, listed, listed, (finding,), is_whole=False)
        middle = (work.low + work.high) // 2
        left, right = self._half(replace(work, high=middle)), self._half(replace(work, low=middle + 1))
        between = tuple(misplaced(left.last, right.first)) if left.last and right.first else ()
        return GamesReport(
            right.high,
            left.games + right.games,
            left.events + right.events,
            (left.total + right.total) % 2**256,
            left.first or right.first,
            right.last or left.last,
            (*left.findings, *between, *right.findings),
            is_whole=left.is_whole and right.is_whole,
        )

    def _half(self, work: GamesWork) -> GamesReport:
        report, problem = self._tried(work)
        if report is None:
            return self._halved(work, problem)
        assert isinstance(report, GamesReport), "games make a report on games"
        return report

    def _name_of(self, work: GamesWork) -> str | None:
        """The name of the one game, where the list of games can be read and has it."""
        if "games" in work.without:
            return None
        return next((game.game_id for game in self.source.games(work.low, work.high)), None)


def _they(first: int, last: int) -> str:
    return "it" if first == last else "they"


def _joined(ranges: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Ranges that follow each other without a gap as one."""
    joined: tuple[int, int] | None = None
    for first, last in ranges:
        if joined is not None and first != joined[1] + 1:
            yield joined
            joined = None
        joined = (first if joined is None else joined[0], last)
    if joined is not None:
        yield joined
