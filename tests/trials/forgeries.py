"""What somebody can do who holds the whole database and knows how it is made, but has not the key that signs for it.

A forger can make every hash anew. What remains is what was signed, where somebody else has kept it; where nobody has,
a consistent forgery cannot be told from the truth, and these trials say so too.
"""

from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from heptalog.replay.codec import chained, decode
from heptalog.replay.errors import Code
from heptalog.replay.evidence.chain import GENESIS
from heptalog.replay.evidence.merkle import TILE_WIDTH, Frontier, leaf_hash
from heptalog.service.auditing.findings import Finding
from heptalog.service.auditing.tiles import Tiles
from heptalog.service.store import TreeHead
from heptalog.service.store.kept import event_columns, game_columns
from tests.trials.tampered import Log, Row
from tests.trials.tampers import NUMBER, POSITION, RECORD, SEQUENCE, Judge, any_of, by_code

_OUTSIDE: Final = "outside"


class Forgery(Struct, frozen=True):
    """A log made anew, and what is found of it: by who holds nothing but the log, and by who has kept a checkpoint."""

    name: str
    log: Log
    alone: Judge | None
    outside: Judge


def forgeries(log: Log) -> Iterator[Forgery]:
    """Every forgery."""
    yield from _rewritten(log)
    yield from _cut(log)
    yield from _renumbered(log)


def _rewritten(log: Log) -> Iterator[Forgery]:
    """An event told otherwise, with ever more of what depends on it made anew."""
    row = log.rows("events")[len(log.rows("events")) // 2]
    position, game, sequence = row[POSITION], row[NUMBER], row[SEQUENCE]
    after = [other for other in log.rows("events") if other[NUMBER] == game and other[SEQUENCE] == sequence + 1]
    outside = by_code(Code.CHECKPOINT_DIFFERS, path=_OUTSIDE)

    one = rewritten(log, game, sequence, is_chained=False)
    broken = by_code(Code.CHAIN_BROKEN, position=after[0][POSITION]) if after else by_code(Code.HEAD_DIFFERS)
    yield Forgery("one event", one, broken, any_of(broken, outside))
    chain = rewritten(log, game, sequence)
    yield Forgery("its whole chain", chain, by_code(Code.HEAD_DIFFERS), outside)
    tree = with_tree(chain)
    signed = [row for row in log.rows("checkpoints") if row[1] >= position]
    kept = by_code(Code.CHECKPOINT_DIFFERS, number=signed[0][0])
    yield Forgery("chain, tree and head record", tree, kept, outside)
    # Who has the key knows that something was signed; not what.
    yield Forgery("everything, and nothing signed", without_checkpoints(tree), by_code(Code.SIGNATURE_MISSING), outside)


def _cut(log: Log) -> Iterator[Forgery]:
    """The end of the log gone: as a disk loses it, as somebody takes it away, and as an older copy put back."""
    size = len(log.rows("events")) * 2 // 3
    lost = by_code(Code.EVENTS_LOST, position=size + 1)
    outside = by_code(Code.EVENTS_LOST, position=size + 1, path=_OUTSIDE)
    events = [row for row in log.rows("events") if row[POSITION] <= size]
    yield Forgery("the last events lost", log.with_rows(events=events), lost, any_of(lost, outside))
    short = cut(log, size)
    yield Forgery("cut, with the head record left", short, lost, any_of(lost, outside))
    fitting = without_checkpoints(with_tree(short))
    yield Forgery("cut, with everything made to fit", fitting, by_code(Code.SIGNATURE_MISSING), outside)
    older = with_tree(cut(log, log.rows("checkpoints")[1][1]))
    kept = [row for row in log.rows("checkpoints") if row[1] <= len(older.rows("events"))]
    older = replace(older.with_rows(checkpoints=kept), note=kept[-1][2])
    first = by_code(Code.EVENTS_LOST, position=len(older.rows("events")) + 1, path=_OUTSIDE)
    yield Forgery("an older copy of everything", older, None, first)
    newer_head = replace(older, head=log.head)
    yield Forgery("an older database with the newer head record", newer_head, by_code(Code.EVENTS_LOST), first)


def _renumbered(log: Log) -> Iterator[Forgery]:
    """Two whole games in each other's place."""
    one, other = sorted({row[NUMBER] for row in log.rows("events")})[:2]
    numbers = {one: other, other: one}
    tables: dict[str, list[Row]] = {
        "events": [(row[0], numbers.get(row[1], row[1]), *row[2:]) for row in log.rows("events")],
        "games": [(numbers.get(row[0], row[0]), *row[1:]) for row in log.rows("games")],
        "endings": [(numbers.get(row[0], row[0]), *row[1:]) for row in log.rows("endings")],
    }
    order = by_code(Code.COLUMNS_DIFFER, table="games", column="game_number")
    yield Forgery("the numbers of two games exchanged", log.with_rows(**tables), order, order)
    exchanged = with_tree(_with_places_exchanged(log, one, other))
    kept = by_code(Code.CHECKPOINT_DIFFERS, table="checkpoints")
    outside = by_code(Code.CHECKPOINT_DIFFERS, path=_OUTSIDE)
    yield Forgery("the positions of two games exchanged", exchanged, any_of(kept, order), any_of(outside, order))


def rewritten(log: Log, game: int, sequence: int, *, is_chained: bool = True) -> Log:
    """The log with one event told otherwise, and its game linked anew from there, or that event alone."""
    previous = GENESIS
    events: dict[int, Row] = {}
    games = list(log.rows("games"))
    for row in sorted((row for row in log.rows("events") if row[NUMBER] == game), key=lambda row: row[SEQUENCE]):
        event, _ = decode(row[RECORD])
        if event.sequence == sequence:
            event = replace(event, recorded_by="another hand")
        if event.sequence == sequence or (is_chained and event.sequence > sequence):
            event, record = chained(event, previous)
            events[row[POSITION]] = (*row[:2], record, *event_columns(event))
            if event.sequence == 0:
                place = next(place for place, kept in enumerate(games) if kept[0] == game)
                games[place] = (game, *game_columns(event, record))
        previous = event.hash
    changed = [events.get(row[POSITION], row) for row in log.rows("events")]
    return log.with_rows(events=changed, games=games)


def with_tree(log: Log) -> Log:
    """The log with the tree and the head record of its events."""
    frontier, tiles = Frontier(), Tiles(0)
    entries: list[Row] = []
    counts: dict[int, int] = {}
    for row in sorted(log.rows("events"), key=lambda row: row[POSITION]):
        leaf = leaf_hash(row[RECORD][36:68])
        frontier.append(leaf)
        for level, digest in tiles.add(leaf):
            entries.append((level, counts.get(level, 0), digest))
            counts[level] = counts.get(level, 0) + 1
    # What is stored late may not be there at all.
    is_stored = bool(log.rows("tree"))
    return replace(log.with_rows(tree=entries if is_stored else ()), head=TreeHead(frontier.size, frontier.root()))


def without_checkpoints(log: Log) -> Log:
    """The log as if nothing had ever been signed."""
    return replace(log.with_rows(checkpoints=()), note=None)


def cut(log: Log, size: int) -> Log:
    """The log up to a position, in every table."""
    events = [row for row in log.rows("events") if row[POSITION] <= size]
    heads: dict[int, int] = {}
    for row in events:
        heads[row[NUMBER]] = max(heads.get(row[NUMBER], 0), row[SEQUENCE])
    return log.with_rows(
        events=events,
        games=[row for row in log.rows("games") if row[0] in heads],
        endings=[row for row in log.rows("endings") if row[1] <= heads.get(row[0], -1)],
        tree=[row for row in log.rows("tree") if (row[1] + 1) * TILE_WIDTH ** row[0] <= size],
    )


def _with_places_exchanged(log: Log, one: int, other: int) -> Log:
    """The events of two games in each other's positions, as far as both go."""
    ours = {
        game: sorted((row for row in log.rows("events") if row[NUMBER] == game), key=lambda row: row[SEQUENCE])
        for game in (one, other)
    }
    moved: dict[tuple[Any, ...], int] = {}
    for left, right in zip(ours[one], ours[other], strict=False):
        moved[one, left[SEQUENCE]] = right[POSITION]
        moved[other, right[SEQUENCE]] = left[POSITION]
    events = [(moved.get((row[NUMBER], row[SEQUENCE]), row[POSITION]), *row[1:]) for row in log.rows("events")]
    return log.with_rows(events=events)


def judged(forgery: Forgery, alone: list[Finding], with_outside: list[Finding]) -> str:
    """What is wrong with what was found; nothing where it is what should be."""
    if forgery.alone is None and alone:
        return f"found, though nothing could show it: {alone[:2]}"
    if forgery.alone is not None and not any(map(forgery.alone, alone)):
        return f"missed without a checkpoint from outside: {alone[:2]}"
    if not any(map(forgery.outside, with_outside)):
        return f"missed with a checkpoint from outside: {with_outside[:2]}"
    return ""
