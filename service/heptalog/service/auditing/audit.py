"""An audit as a whole: the work it is cut into, and what comes of it, piece by piece and in order.

Whoever runs it takes the pieces of `works`, has each done by `done` in whatever process, and gives the reports back to
`take` in the order of the pieces. `progress` can be written down after any of them.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from heptalog.replay.errors import Code
from heptalog.replay.evidence.merkle import EMPTY_ROOT, TILE_WIDTH, node_hash
from heptalog.replay.evidence.notes import VerifierKey
from heptalog.service.auditing.chapters import (
    GamesReport,
    GamesWork,
    RefusalsReport,
    RefusalsWork,
    audit_games,
    audit_refusals,
    in_order,
)
from heptalog.service.auditing.findings import Finding, found
from heptalog.service.auditing.progress import Progress
from heptalog.service.auditing.sources import Claim, Given, Source, ordered, shapes_differ
from heptalog.service.auditing.spans import Mark, SpanReport, SpanWork, audit_span, claimed, differing_entry
from heptalog.service.auditing.tiles import SPAN_LEVEL, SPAN_WIDTH, Tiles
from heptalog.service.store.duck_kept import BUCKET_WIDTH

# About so many events are looked at as one piece of work by game.
GAMES_EVENTS: Final = 20_000
# Rows without a place that are told one by one.
_STRAYS_MAX: Final = 1000
_SIZE_MAX: Final = 2**63 - 1

Work: TypeAlias = SpanWork | RefusalsWork | GamesWork
Report: TypeAlias = SpanReport | RefusalsReport | GamesReport


class Summary(Struct, frozen=True, rename="camel"):
    """What an audit came to. Without a root, positions are missing.

    `checkpoints` are those that the log keeps; `checkpoint_size` is how many events the greatest covers that holds,
    be it kept or given, and 0 where there is none.
    """

    ok: bool
    size: int
    root: bytes | None
    events: int
    games: int
    refusals: int
    checkpoints: int
    checkpoint_size: int
    counts: dict[str, int]


def done(source: Source, work: Work, keys: Sequence[VerifierKey]) -> Report:
    """Do one piece of work."""
    match work:
        case SpanWork():
            return audit_span(source, work, keys)
        case GamesWork():
            return audit_games(source, work)
        case RefusalsWork():
            return audit_refusals(source)


class Audit:
    """One audit of one source, begun or gone on with."""

    def __init__(self, source: Callable[[], Source], given: Given, progress: Progress) -> None:
        """`source` is what is read now: it may have to be opened anew on the way."""
        self._now = source
        self._given = given
        self.progress: Final = progress
        self._last = progress.bound.last
        self._tiles = Tiles(SPAN_LEVEL, progress.edges)
        self._claims = ordered(given.claims)

    @property
    def _source(self) -> Source:
        return self._now()

    def begin(self) -> list[Finding]:
        """What can be said before any event is read; nothing where the audit is gone on with."""
        if self.progress.has_begun:
            return []
        self.progress.has_begun = True
        return self._added([*self._strays(), *self._shapes(), *self._lost(), *self._of_nothing()])

    def works(self) -> Iterator[Work]:
        """The pieces of work that are left."""
        progress = self.progress
        for span, _ in self._source.spans(SPAN_WIDTH):
            if span >= progress.spans:
                low, high = span * SPAN_WIDTH, (span + 1) * SPAN_WIDTH
                yield SpanWork(span, self._last, tuple(claim for claim in self._claims if low < claim.size <= high))
        if not progress.has_refusals:
            yield RefusalsWork()
        yield from self._games_works()

    def take(self, report: Report) -> list[Finding]:
        """Take in what a piece of work came to; what was found by it, or shows only now."""
        findings = list(report.findings)
        match report:
            case SpanReport():
                findings = [*self._take_span(report), *findings]
            case RefusalsReport():
                self.progress.has_refusals = True
                self.progress.refusals = report.refusals
            case GamesReport():
                findings += self._take_games(report)
        return self._added(findings)

    def end(self) -> list[Finding]:
        """What can be said only when all is read."""
        progress = self.progress
        findings = []
        is_same = (progress.by_position, progress.positions_total) == (progress.by_game, progress.games_total)
        # Where positions are wrong it has been told already, and in which place.
        if not is_same and progress.is_whole and Code.POSITION_DAMAGED not in progress.counts:
            problem = f"{progress.by_position} events by position, {progress.by_game} by game, and not the same ones"
            findings.append(found(Code.POSITION_DAMAGED, problem))
        has_claim = progress.checkpoints or any(claim.code is Code.CHECKPOINT_DIFFERS for claim in self._claims)
        if self._given.keys and self._last and not has_claim:
            findings.append(found(Code.SIGNATURE_MISSING, "there is no checkpoint at all"))
        return self._added(findings)

    def summary(self) -> Summary:
        """What it came to."""
        progress = self.progress
        root = (progress.root or EMPTY_ROOT) if progress.is_whole else None
        return Summary(
            ok=not progress.counts,
            size=self._last,
            root=root,
            events=progress.by_position,
            games=progress.games,
            refusals=progress.refusals,
            checkpoints=progress.checkpoints,
            checkpoint_size=progress.checkpoint_size,
            counts=progress.counts,
        )

    # By position.

    def _take_span(self, report: SpanReport) -> Iterator[Finding]:
        progress = self.progress
        if report.span > progress.spans:
            low, high = progress.spans * SPAN_WIDTH + 1, report.span * SPAN_WIDTH
            yield found(Code.POSITION_DAMAGED, "they are missing", position=low, last=high)
            progress.is_whole = False
            yield from self._of_holes(low, high)
        for mark in report.marks:
            yield from self._judge(mark)
        progress.spans = report.span + 1
        progress.by_position += report.events
        progress.positions_total = _sum(progress.positions_total, report.total)
        progress.is_whole = progress.is_whole and report.is_whole
        if progress.spans * SPAN_WIDTH <= self._last:
            yield from self._grow(report.edge[0])
            progress.root = _root(self._tiles.edge)
        else:
            progress.root = _root((*self._tiles.edge, *report.edge))

    def _grow(self, digest: bytes) -> Iterator[Finding]:
        """One more whole span; the entries of the stored tree above it that it completes."""
        for level, entry in self._tiles.add(digest):
            index = self.progress.spans * SPAN_WIDTH // TILE_WIDTH**level - 1
            for _, stored in list(self._source.tree(level, index, index)):
                if stored != entry and self.progress.is_whole:
                    yield differing_entry(level, index)
        self.progress.edges = self._tiles.edges

    def _judge(self, mark: Mark) -> Iterator[Finding]:
        """One claim on the root."""
        claim = mark.claim
        is_checkpoint = claim.code is Code.CHECKPOINT_DIFFERS
        self.progress.checkpoints += is_checkpoint and claim.number is not None
        if not (mark.is_whole and self.progress.is_whole):
            yield found(claim.code, "events are missing before its size", last=claim.size, **claim.place)
        elif _root((*self._tiles.edge, *mark.edge)) != claim.root:
            yield found(claim.code, f"size {claim.size}", last=claim.size, **claim.place)
        elif is_checkpoint:
            self.progress.checkpoint_size = max(self.progress.checkpoint_size, claim.size)

    def _of_holes(self, low: int, high: int) -> Iterator[Finding]:
        """The claims of sizes at which there are no events."""
        for claim in self._claims_between(low, high):
            yield found(claim.code, "events are missing before its size", last=claim.size, **claim.place)

    def _claims_between(self, low: int, high: int) -> Iterator[Claim]:
        yield from (claim for claim in self._claims if low <= claim.size <= high)
        yield from claimed(self._source.checkpoints(low, high), (), lambda _: None)

    # By game.

    def _games_works(self) -> Iterator[Work]:
        low: int | None = None
        high = weight = 0
        done_to = self.progress.games_done
        for bucket, events in self._source.buckets():
            if done_to is not None and bucket <= done_to:
                continue
            if low is not None and weight + events > GAMES_EVENTS:
                yield GamesWork(low, high)
                low, weight = None, 0
            low = bucket if low is None else low
            high, weight = bucket + BUCKET_WIDTH - 1, weight + events
        if low is not None:
            yield GamesWork(low, high)

    def _take_games(self, report: GamesReport) -> Iterator[Finding]:
        progress = self.progress
        progress.games_done = report.high
        progress.games += report.games
        progress.by_game += report.events
        progress.games_total = _sum(progress.games_total, report.total)
        if report.first is not None:
            yield from in_order(progress.last_game, report.first)
            progress.last_game = report.last

    # Before and after.

    def _strays(self) -> Iterator[Finding]:
        """What lies outside of everything that will be looked at."""
        for position, number, sequence in self._source.strays(_STRAYS_MAX):
            yield found(Code.POSITION_DAMAGED, f"game number {number}", position=position, sequence=sequence)
        names, endings = self._source.without_number(_STRAYS_MAX)
        place = {"column": "game_number"}
        for name in names:
            yield found(Code.COLUMNS_DIFFER, "it is absent", game=name, table="games", **place)
        if endings:
            yield found(Code.ENDINGS_DIFFER, f"it is absent {endings} times", table="endings", **place)

    def _shapes(self) -> Iterator[Finding]:
        """What is numbered, and is not there once each."""
        shape = self._source.checkpoint_shape()
        if shapes_differ(shape, shape.entries, 1):
            place = {"table": "checkpoints", "column": "checkpoint_number"}
            yield found(Code.COLUMNS_DIFFER, "not every number is there once", **place)
        stored = self._source.tree_shape()
        below = self._last
        for level, entries in stored.items():
            whole = below // TILE_WIDTH
            # All that waits is stored together, so a level has as many entries as the one below it makes whole.
            expected = min(entries.entries, whole) if level == 1 else whole
            if level - 1 not in (0, *stored) or shapes_differ(entries, expected, 0):
                yield found(Code.TREE_DIFFERS, f"not every entry of level {level} is there once", table="tree")
            below = entries.entries
        if stored and below >= TILE_WIDTH:
            yield found(Code.TREE_DIFFERS, f"the entries above level {max(stored)} are missing", table="tree")

    def _lost(self) -> Iterator[Finding]:
        """What somebody has said of a longer log."""
        for claim in self._claims_between(self._last + 1, _SIZE_MAX):
            yield found(Code.EVENTS_LOST, position=self._last + 1, last=claim.size, **claim.place)

    def _of_nothing(self) -> Iterator[Finding]:
        """What somebody has said of a log without events."""
        for claim in self._claims_between(-_SIZE_MAX, 0):
            if claim.size or claim.root != EMPTY_ROOT:
                yield found(claim.code, f"size {claim.size}", **claim.place)

    def _added(self, findings: list[Finding]) -> list[Finding]:
        for finding in findings:
            self.progress.add(finding)
        return findings


def _root(edge: Sequence[bytes]) -> bytes:
    """The root over complete subtrees, the largest first; two of one size may still stand side by side."""
    root = edge[-1]
    for left in reversed(edge[:-1]):
        root = node_hash(left, root)
    return root


def _sum(total: bytes, more: int) -> bytes:
    """A total as it can be written down."""
    return ((int.from_bytes(total, "big") + more) % 2**256).to_bytes(32, "big")
