"""The log by position, a span at a time: every position once, the Merkle tree anew, and what was said of its root."""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any, Final

from msgspec import Struct

from heptalog.replay.errors import Code, Corrupt, HeptalogError
from heptalog.replay.evidence.checkpoints import checkpoint_in, open_checkpoint
from heptalog.replay.evidence.merkle import TILE_WIDTH, leaf_hash
from heptalog.replay.evidence.notes import VerifierKey, parse_note
from heptalog.replay.times import SECOND, TIME_END, rfc3339
from heptalog.service.auditing.findings import Finding, Tell, found, found_by
from heptalog.service.auditing.sources import Claim, Source, ordered
from heptalog.service.auditing.tiles import SPAN_LEVEL, SPAN_WIDTH, Tiles
from heptalog.service.evidence.keys import verify

# What stands in the tree for an event that is not there, so that the others keep their places.
_NOTHING: Final = bytes(32)


class Signer(Struct, frozen=True):
    """Somebody who has signed a checkpoint, and when by their own word, where they say."""

    name: str
    time: str


class SpanWork(Struct, frozen=True):
    """A span to look at: its number, the last position of the log, and the claims from elsewhere that are of it.

    What lies in the tables that it does `without` is not looked at.
    """

    span: int
    last: int
    claims: tuple[Claim, ...] = ()
    without: tuple[str, ...] = ()


class Mark(Struct, frozen=True):
    """The right edge of a span at the size that a claim is of."""

    claim: Claim
    edge: tuple[bytes, ...]
    is_whole: bool


class SpanReport(Struct, frozen=True):
    """What a span came to. `total` is the same whatever order its events are added up in."""

    span: int
    events: int
    total: int
    edge: tuple[bytes, ...]
    is_whole: bool
    marks: tuple[Mark, ...]
    findings: tuple[Finding, ...]


def audit_span(source: Source, work: SpanWork, keys: Sequence[VerifierKey]) -> SpanReport:
    """Look at all of a span."""
    return _Span(source, work, keys).report()


def added(total: int, position: int, digest: bytes) -> int:
    """A total with one more event: its position, and the hash in its record."""
    both = max(position, 0).to_bytes(8, "big") + digest
    return (total + int.from_bytes(sha256(both).digest(), "big")) % 2**256


def claimed(rows: Iterator[tuple[int, int, str]], keys: Sequence[VerifierKey], tell: Tell) -> Iterator[Claim]:
    """What the checkpoints say that are kept in the log; those that say nothing, or of another size, are told of."""
    for number, size, note in rows:
        place: dict[str, Any] = {"table": "checkpoints", "number": number}
        try:
            body = checkpoint_in(note)
        except HeptalogError as error:
            tell(found_by(error, column="note", **place))
            continue
        if body.size != size:
            # It is in nobody's hands at this size, and what it says of its own is not what the log keeps it for.
            tell(found(Code.COLUMNS_DIFFER, f"its note says {body.size}", column="size", **place))
            continue
        try:
            check_signed(note, keys)
        except HeptalogError as error:
            tell(found_by(error, column="note", **place))
        yield Claim(size, body.root, Code.CHECKPOINT_DIFFERS, **place)


def check_signed(note: str | bytes, keys: Sequence[VerifierKey]) -> None:
    """Raise Corrupt unless one of these keys, where there are any, has signed a checkpoint, and in all of its manners.

    A log's key signs twice, so a signature of one manner alone says that the other was taken away.
    """
    if not keys:
        return
    try:
        _, signed = open_checkpoint(note, keys, verify)
    except Corrupt as error:
        if error.code is Code.SIGNATURE_MISSING:
            error.facts["signed_by"] = signer_names(note)
        raise
    signers = {(item.key.name, item.key.public) for item in signed}
    missing = {key for key in keys if (key.name, key.public) in signers} - {item.key for item in signed}
    if missing:
        raise Corrupt(Code.SIGNATURE_MISSING, rule="evidence", problem="one of its two is not there")


def signer_names(note: str | bytes) -> tuple[str, ...]:
    """Who has signed a note, by its own word."""
    return tuple(dict.fromkeys(signature.name for signature in parse_note(note).signatures))


def signers_of(note: str, keys: Sequence[VerifierKey]) -> tuple[Signer, ...]:
    """Which of these keys have signed a checkpoint, and when; none where that cannot be said."""
    try:
        _, signed = open_checkpoint(note, keys, verify)
    except HeptalogError:
        return ()
    times = dict.fromkeys((item.key.name for item in signed), "")
    for item in signed:
        if item.time is not None and item.time < TIME_END:
            times[item.key.name] = rfc3339(item.time * SECOND)
    return tuple(Signer(name, time) for name, time in times.items())


class _Span:
    def __init__(self, source: Source, work: SpanWork, keys: Sequence[VerifierKey]) -> None:
        self._source = source
        self._span = work.span
        self._first = work.span * SPAN_WIDTH + 1
        self._end = min(self._first + SPAN_WIDTH - 1, work.last)
        self._findings: list[Finding] = []
        self._tell = self._findings.append
        self._without = work.without
        kept: list[Claim] = []
        if "checkpoints" not in self._without:
            kept += claimed(source.checkpoints(self._first, self._end), keys, self._tell)
        # Taken from the end.
        self._claims = ordered([*work.claims, *kept])[::-1]
        self._marks: list[Mark] = []
        self._tiles = Tiles(0)
        self._entries: dict[tuple[int, int], bytes] = {}
        self._next = self._first
        self._holes: set[int] = set()  # the entries of level 1 with a hole in them

    def report(self) -> SpanReport:
        """Go through it."""
        events = total = 0
        for position, digest in self._source.links(self._first, self._end):
            events += 1
            total = added(total, position, digest)
            if position < self._next:
                self._tell(found(Code.POSITION_DAMAGED, "it is there more than once", position=position))
                continue
            self._miss(position - 1)
            self._add(leaf_hash(digest))
        self._miss(self._end)
        self._compare()
        return SpanReport(
            self._span, events, total, self._tiles.edge, not self._holes, tuple(self._marks), tuple(self._findings)
        )

    def _miss(self, last: int) -> None:
        """Whatever lacks up to a position."""
        if self._next > last:
            return
        problem = "it is missing" if self._next == last else "they are missing"
        reaching = None if self._next == last else last
        self._tell(found(Code.POSITION_DAMAGED, problem, position=self._next, last=reaching))
        while self._next <= last:
            self._holes.add((self._next - 1) // TILE_WIDTH)
            self._add(_NOTHING)

    def _add(self, leaf: bytes) -> None:
        for level, digest in self._tiles.add(leaf):
            self._entries[level, (self._next - 1) // TILE_WIDTH**level] = digest
        while self._claims and self._claims[-1].size <= self._next:
            claim = self._claims.pop()
            self._marks.append(Mark(claim, self._tiles.edge, not self._holes))
        self._next += 1

    def _compare(self) -> None:
        """The stored tree against the one made here."""
        if "tree" in self._without:
            return
        for level in range(1, SPAN_LEVEL + 1):
            width = TILE_WIDTH**level
            low, high = (self._first - 1) // width, (self._end - 1) // width
            for index, digest in self._source.tree(level, low, high):
                made = self._entries.get((level, index))
                is_whole = index not in self._holes if level == 1 else not self._holes
                if made is not None and is_whole and made != digest:
                    self._tell(differing_entry(level, index))


def differing_entry(level: int, index: int) -> Finding:
    """What is said of an entry of the stored tree: the events that it is over."""
    width = TILE_WIDTH**level
    place = {"position": index * width + 1, "last": (index + 1) * width}
    return found(Code.TREE_DIFFERS, f"level {level}", table="tree", column="hash", number=index, **place)
