"""An audit as a whole: the work it is cut into, and what comes of it, piece by piece and in order.

Whoever runs it takes the pieces of `works`, has each done by `done` in whatever process, and gives the reports back to
`take` in the order of the pieces. `progress` can be written down after any of them.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final, TypeAlias

from msgspec import Struct

from heptalog.replay.errors import Code
from heptalog.replay.evidence.merkle import EMPTY_ROOT, TILE_WIDTH, node_hash
from heptalog.replay.evidence.notes import VerifierKey
from heptalog.service.auditing.asking import Asking
from heptalog.service.auditing.beginning import (
    HOLDING,
    checkpoint_shape,
    declared_otherwise,
    kept_claims,
    not_kept,
    of_more,
    of_nothing,
    shapes,
    strays,
    unusable,
)
from heptalog.service.auditing.chapters import (
    GamesReport,
    GamesWork,
    RefusalsReport,
    RefusalsWork,
    audit_games,
    audit_refusals,
    misplaced,
)
from heptalog.service.auditing.findings import Finding, found
from heptalog.service.auditing.incidents import Incident, incident_claims, incident_of, strange_incidents
from heptalog.service.auditing.progress import Progress
from heptalog.service.auditing.sources import Given, Source, ordered
from heptalog.service.auditing.spans import Mark, Signer, SpanReport, SpanWork, audit_span, differing_entry, signers_of
from heptalog.service.auditing.tiles import SPAN_LEVEL, SPAN_WIDTH, Tiles
from heptalog.service.store.duck_kept import BUCKET_WIDTH, KeptIncident
from heptalog.service.store.duck_schema import Difference

# About so many events are looked at as one piece of work by game.
GAMES_EVENTS: Final = 20_000
_UNKNOWN: Final = "events before its size are missing, or cannot be read"
_BY_GAME: Final = ("events", "games", "endings")

Work: TypeAlias = SpanWork | RefusalsWork | GamesWork
Report: TypeAlias = SpanReport | RefusalsReport | GamesReport


class Summary(Struct, frozen=True, rename="camel"):
    """What an audit came to. Without a root, positions are missing.

    `checkpoints` are those that the log keeps; `checkpoint_size` is how many events the greatest covers that holds,
    be it kept or given, and 0 where there is none; where it is kept, `signed_by` are those who signed it of whom a key
    was given. `refusals` are None where they are not looked at. Of the readings of
    events, each once by position and once by game, `from_state` were done by an audit that was gone on with.
    """

    ok: bool
    size: int
    root: bytes | None
    events: int
    games: int
    refusals: int | None
    checkpoints: int
    checkpoint_size: int
    signed_by: tuple[Signer, ...]
    readings: int
    from_state: int
    incidents: tuple[Incident, ...]
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

    def __init__(
        self, source: Callable[[], Source], given: Given, progress: Progress, *, anew: Callable[[], None] = lambda: None
    ) -> None:
        """`source` is what is read now; after a question that failed it is opened `anew`."""
        self._now = source
        self._given = given
        self.progress: Final = progress
        self._last = progress.bound.last
        self._tiles = Tiles(SPAN_LEVEL, progress.edges)
        self._from_state = progress.by_position + progress.by_game
        # Told with what comes next.
        self._pending: list[Finding] = []
        self._asked = Asking(source, anew, self._told_once)
        nothing: list[Difference] = []
        self._differences = self._asked((), lambda source: source.differences(), nothing)
        self._asked.without = unusable(self._differences)
        never: list[KeptIncident] = []
        self._incidents = self._asked(("incidents",), lambda source: source.incidents(), never)
        self._signers: tuple[Signer, ...] = ()
        self._claims = ordered([*given.claims, *incident_claims(self._incidents, self._last)])

    def begin(self) -> list[Finding]:
        """What can be said before any event is read; nothing where the audit is gone on with."""
        if self.progress.has_begun:
            return []
        self.progress.has_begun = True
        asked, last, keys = self._asked, self._last, self._given.keys
        findings = [*declared_otherwise(self._differences), *strays(asked), *shapes(asked, last)]
        findings += strange_incidents(self._incidents, last, checkpoint_shape(asked).entries)
        if self._has_events:
            findings += of_more(asked, last, self._claims, keys)
            findings += of_nothing(asked, self._claims, keys)
            findings += not_kept(asked, last, self._claims)
        else:
            self.progress.is_whole = False
        return self._added(findings)

    @property
    def _has_events(self) -> bool:
        """Whether the table of events is one that can be read."""
        return "events" not in self._asked.without

    def works(self) -> Iterator[Work]:
        """The pieces of work that are left."""
        without = tuple(sorted(self._asked.without))
        for span in self._spans():
            if span >= self.progress.spans:
                low, high = span * SPAN_WIDTH, (span + 1) * SPAN_WIDTH
                claims = tuple(claim for claim in self._claims if low < claim.size <= high)
                yield SpanWork(span, self._last, claims, without)
        if not self.progress.has_refusals and "refusals" not in without:
            yield RefusalsWork()
        if self._has_events:
            yield from self._games_works(without)

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
        is_read = progress.is_whole and progress.has_all_games
        if not is_same and is_read and Code.POSITION_DAMAGED not in progress.counts:
            problem = f"{progress.by_position} events by position, {progress.by_game} by game, and not the same ones"
            findings.append(found(Code.POSITION_DAMAGED, problem))
        has_claim = progress.checkpoints or any(claim.code is Code.CHECKPOINT_DIFFERS for claim in self._claims)
        if self._given.keys and self._last and not has_claim and not self._asked.without.intersection(HOLDING):
            findings.append(found(Code.SIGNATURE_MISSING, "there is no checkpoint that holds"))
        self._signers = self._signed_by(progress.checkpoint_size)
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
            refusals=progress.refusals if self._now().has_columns else None,
            checkpoints=progress.checkpoints,
            checkpoint_size=progress.checkpoint_size,
            signed_by=self._signers,
            readings=progress.by_position + progress.by_game,
            from_state=self._from_state,
            incidents=tuple(map(incident_of, self._incidents)),
            counts=progress.counts,
        )

    def _signed_by(self, size: int) -> tuple[Signer, ...]:
        """Who has signed the checkpoint of this size that the log keeps."""
        keys = self._given.keys
        if not (size and keys):
            return ()
        nothing: list[tuple[int, int, str]] = []
        kept = self._asked(HOLDING, lambda source: list(source.checkpoints(size, size)), nothing)
        return max((signers_of(note, keys) for *_, note in kept), key=len, default=())

    # By position.

    def _spans(self) -> Iterator[int]:
        """The spans that are to be looked at; all that there should be where those that there are cannot be found."""
        if not self._has_events:
            return
        unknown: list[tuple[int, int]] | None = None
        spans = self._asked(("events",), lambda source: source.spans(SPAN_WIDTH), unknown)
        if spans is not None:
            yield from (span for span, _ in spans)
        else:
            # One position far away must not make an endless log of it.
            last = min(self._last, 2 * self.progress.bound.events + SPAN_WIDTH)
            yield from range((last + SPAN_WIDTH - 1) // SPAN_WIDTH)

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
            for _, stored in self._entries(level, index):
                if stored != entry and self.progress.is_whole:
                    yield differing_entry(level, index)
        self.progress.edges = self._tiles.edges

    def _entries(self, level: int, index: int) -> list[tuple[int, bytes]]:
        none: list[tuple[int, bytes]] = []
        return self._asked(("tree",), lambda source: list(source.tree(level, index, index)), none)

    def _judge(self, mark: Mark) -> Iterator[Finding]:
        """One claim on the root."""
        claim = mark.claim
        is_checkpoint = claim.code is Code.CHECKPOINT_DIFFERS
        self.progress.checkpoints += is_checkpoint and claim.number is not None
        if not (mark.is_whole and self.progress.is_whole):
            yield found(claim.code, _UNKNOWN, last=claim.size, **claim.place)
        elif _root((*self._tiles.edge, *mark.edge)) != claim.root:
            yield found(claim.code, f"size {claim.size}", last=claim.size, **claim.place)
        elif is_checkpoint:
            self.progress.checkpoint_size = max(self.progress.checkpoint_size, claim.size)

    def _of_holes(self, low: int, high: int) -> list[Finding]:
        """The claims of sizes at which there are no events."""
        findings: list[Finding] = []
        kept = kept_claims(self._asked, low, high, self._given.keys, findings.append)
        claims = [*(claim for claim in self._claims if low <= claim.size <= high), *kept]
        return findings + [found(claim.code, _UNKNOWN, last=claim.size, **claim.place) for claim in claims]

    # By game.

    def _games_works(self, without: tuple[str, ...]) -> Iterator[Work]:
        low: int | None = None
        high = weight = 0
        done_to = self.progress.games_done
        for bucket, events in self._buckets():
            if done_to is not None and bucket <= done_to:
                continue
            if low is not None and weight + events > GAMES_EVENTS:
                yield GamesWork(low, high, without)
                low, weight = None, 0
            low = bucket if low is None else low
            high, weight = bucket + BUCKET_WIDTH - 1, weight + events
        if low is not None:
            yield GamesWork(low, high, without)

    def _buckets(self) -> list[tuple[int, int]]:
        """How much there is of the games, by their numbers, as far as that can be found."""
        counts: Counter[int] = Counter()
        unknown: list[tuple[int, int]] | None = None
        for table in _BY_GAME:
            found_in = self._asked((table,), partial(_buckets_in, table=table), unknown)
            if found_in is not None:
                counts.update(dict(found_in))
            elif table == "events":
                # As many games as the list has, and each as long as the others.
                games = self._asked(("games",), lambda source: source.game_count(), 0)
                events = self.progress.bound.events * BUCKET_WIDTH // max(games, 1) + 1
                counts.update(dict.fromkeys(range(0, games + 1, BUCKET_WIDTH), events))
        return sorted(counts.items())

    def _take_games(self, report: GamesReport) -> Iterator[Finding]:
        progress = self.progress
        progress.games_done = report.high
        progress.games += report.games
        progress.by_game += report.events
        progress.games_total = _sum(progress.games_total, report.total)
        progress.has_all_games = progress.has_all_games and report.is_whole
        if report.first is not None:
            yield from misplaced(progress.last_game, report.first)
            progress.last_game = report.last

    # What is told.

    def _told_once(self, finding: Finding) -> None:
        if finding not in self._pending and finding not in self.progress.findings:
            self._pending.append(finding)

    def _added(self, findings: list[Finding]) -> list[Finding]:
        findings = [*self._pending, *findings]
        self._pending.clear()
        for finding in findings:
            self.progress.add(finding)
        return findings


def _root(edge: Sequence[bytes]) -> bytes:
    """The root over complete subtrees, the largest first; two of one size may still stand side by side."""
    root = edge[-1]
    for left in reversed(edge[:-1]):
        root = node_hash(left, root)
    return root


def _buckets_in(source: Source, table: str) -> list[tuple[int, int]] | None:
    return source.buckets(table)


def _sum(total: bytes, more: int) -> bytes:
    """A total as it can be written down."""
    return ((int.from_bytes(total, "big") + more) % 2**256).to_bytes(32, "big")
