"""What can be said of a log before any event is read: how its tables are made, and what lies outside of all events."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from heptalog.replay.errors import Code, HeptalogError
from heptalog.replay.evidence.checkpoints import checkpoint_in
from heptalog.replay.evidence.merkle import EMPTY_ROOT, TILE_WIDTH
from heptalog.replay.evidence.notes import VerifierKey
from heptalog.replay.evidence.texts import NUMBER_MAX
from heptalog.service.auditing.asking import Asking
from heptalog.service.auditing.findings import Finding, Tell, found
from heptalog.service.auditing.sources import Claim, shapes_differ
from heptalog.service.auditing.spans import claimed
from heptalog.service.store.duck_kept import NO_SHAPE, Shape
from heptalog.service.store.duck_schema import Difference

# Rows without a place that are told one by one.
_STRAYS_MAX: Final = 1000
# What is asked to know which checkpoints there are that hold.
HOLDING: Final = ("checkpoints", "incidents")


def unusable(differences: Sequence[Difference]) -> frozenset[str]:
    """The tables of which nothing can be asked, because they are not declared as they should be."""
    tables = frozenset(difference.table for difference in differences if not difference.is_usable)
    return tables.union(HOLDING) if tables.intersection(HOLDING) else tables


def declared_otherwise(differences: Sequence[Difference]) -> Iterator[Finding]:
    """Tables and columns that are not declared as they should be."""
    for table, column, problem, is_usable in differences:
        others = " and log.".join(HOLDING if table in HOLDING else (table,))
        rest = "" if is_usable else f"; nothing in log.{others} is looked at"
        yield found(Code.COLUMNS_DIFFER, f"{problem}{rest}", table=table, column=column)


def strays(asked: Asking) -> Iterator[Finding]:
    """What lies outside of everything that will be looked at."""
    nowhere: list[tuple[Any, ...]] = []
    for position, number, sequence in asked(("events",), lambda source: source.strays(_STRAYS_MAX), nowhere):
        yield found(Code.POSITION_DAMAGED, f"game number {number}", position=position, sequence=sequence)
    nameless: tuple[list[str], int] = ([], 0)
    names, endings = asked(("games", "endings"), lambda source: source.without_number(_STRAYS_MAX), nameless)
    place = {"column": "game_number"}
    for name in names:
        yield found(Code.COLUMNS_DIFFER, "it is absent", game_id=name, table="games", **place)
    if endings:
        yield found(Code.ENDINGS_DIFFER, f"it is absent {endings} times", table="endings", **place)


def checkpoint_shape(asked: Asking) -> Shape:
    """Which numbers of checkpoints there are."""
    return asked(("checkpoints",), lambda source: source.checkpoint_shape(), NO_SHAPE)


def shapes(asked: Asking, last: int) -> Iterator[Finding]:
    """What is numbered, and is not there once each."""
    shape = checkpoint_shape(asked)
    if shapes_differ(shape, shape.entries, 1):
        place = {"table": "checkpoints", "column": "checkpoint_number"}
        yield found(Code.COLUMNS_DIFFER, "not every number is there once", **place)
    none: dict[int, Shape] = {}
    stored = asked(("tree",), lambda source: source.tree_shape(), none)
    below = last
    for level, entries in stored.items():
        whole = below // TILE_WIDTH
        # All that waits is stored together, so a level has as many entries as the one below it makes whole.
        expected = min(entries.entries, whole) if level == 1 else whole
        if level - 1 not in (0, *stored) or shapes_differ(entries, expected, 0):
            yield found(Code.TREE_DIFFERS, f"not every entry of level {level} is there once", table="tree")
        below = entries.entries
    if stored and below >= TILE_WIDTH:
        yield found(Code.TREE_DIFFERS, f"the entries above level {max(stored)} are missing", table="tree")


def kept_claims(asked: Asking, low: int, high: int, keys: Sequence[VerifierKey], tell: Tell) -> list[Claim]:
    """What the checkpoints say that the log keeps for some sizes."""
    none: list[tuple[int, int, str]] = []
    rows = asked(HOLDING, lambda source: list(source.checkpoints(low, high)), none)
    return list(claimed(iter(rows), keys, tell))


def of_more(asked: Asking, last: int, claims: Sequence[Claim], keys: Sequence[VerifierKey]) -> list[Finding]:
    """What somebody has said of a longer log."""
    findings: list[Finding] = []
    kept = kept_claims(asked, last + 1, NUMBER_MAX, keys, findings.append)
    kept = [*(claim for claim in claims if claim.size > last), *kept]
    return findings + [found(Code.EVENTS_LOST, position=last + 1, last=claim.size, **claim.place) for claim in kept]


def of_nothing(asked: Asking, claims: Sequence[Claim], keys: Sequence[VerifierKey]) -> list[Finding]:
    """What somebody has said of a log without events."""
    findings: list[Finding] = []
    kept = kept_claims(asked, -NUMBER_MAX, 0, keys, findings.append)
    wrong = [claim for claim in [*claims, *kept] if claim.size < 0 or (not claim.size and claim.root != EMPTY_ROOT)]
    return findings + [found(claim.code, f"size {claim.size}", **claim.place) for claim in wrong]


def not_kept(asked: Asking, last: int, claims: Sequence[Claim]) -> Iterator[Finding]:
    """Checkpoints that are the log's own and are not among those in it; where the end of it is lost, so may they be."""
    for claim in claims:
        if not claim.is_kept or claim.size > last:
            continue
        found_at = _notes(asked, claim.size)
        if found_at is not None and not any(_root_in(note) == claim.root for note in found_at):
            problem = "the checkpoint is not among those that the log keeps"
            yield found(Code.COLUMNS_DIFFER, problem, path=claim.path, table="checkpoints")


def _notes(asked: Asking, size: int) -> list[str] | None:
    """The notes of a size; None where they cannot be read."""
    nothing: list[tuple[int, int, str]] | None = None
    rows = asked(HOLDING, lambda source: list(source.checkpoints(size, size)), nothing)
    return None if rows is None else [note for _, _, note in rows]


def _root_in(note: str) -> bytes | None:
    try:
        return checkpoint_in(note).root
    except HeptalogError:
        return None
