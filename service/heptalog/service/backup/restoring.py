"""Restoring a log: everything in a backup is checked again, every game is played again, and a new database is made.

It is made beside its place, and gets its name when it is whole and right. First come the events, by the same store that
recorded them, which gives them the same positions; then every game is folded by its rules, which tells the endings; and
last the checkpoints. What is there already is never touched.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import groupby, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeAlias, TypeVar

import duckdb
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from heptalog.replay.codec import decode
from heptalog.replay.errors import Code, Conflict, Corrupt, Unavailable
from heptalog.replay.evidence.chain import NOT_THE_NEXT
from heptalog.replay.evidence.merkle import Frontier
from heptalog.replay.evidence.notes import VerifierKey
from heptalog.replay.evidence.texts import to_base64
from heptalog.replay.verify import Report, verify_records
from heptalog.service.backup.checking import Checker
from heptalog.service.backup.contents import Contents
from heptalog.service.store import Batch, Checkpoint, Ending, Entry, Stored, TreeHead
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.duck_faults import meaning
from heptalog.service.store.duck_write import write_checkpoint, write_derived, write_incident
from heptalog.service.store.endings import endings_of
from heptalog.service.store.files import replace_file, sync_folder
from heptalog.service.store.migrate import check_name, open_database
from heptalog.service.store.opening import checkpoint_path
from heptalog.service.store.void import Void

EVENTS_AT_ONCE: Final = 8_192  # in one commit
GAMES_AT_ONCE: Final = 64
ROWS_AT_ONCE: Final = 1_000
# What belongs to a database, the last of it that which makes it one.
_PARTS: Final = (".wal", ".head", ".checkpoint", "")

# An ending, of which game, and when its event was recorded.
_Derived: TypeAlias = tuple[str, Ending, int]
Progress: TypeAlias = Callable[[int], None]
T = TypeVar("T")


class BadGame(Struct, frozen=True, rename="camel"):
    """A game that was restored byte for byte, and that its rules do not allow: the log had it so."""

    game_id: str
    sequence: int
    code: str
    rule: str


class Restored(Struct, frozen=True, rename="camel"):
    """What came of it: what the database holds, or would hold; there is none where the backup was only checked."""

    database: str | None
    made_at: str  # when the backup was
    events: int
    games: int
    refusals: int
    checkpoints: int
    root: str
    checkpoint: int  # the size of the largest, 0 where there is none
    signed_by: tuple[str, ...]  # of the given keys
    bad_games: tuple[BadGame, ...] = ()
    void_names: tuple[str, ...] = ()  # that have signed what is not in it, and sign it no more


def in_the_way(database: Path) -> Path | None:
    """A file that is there where a database is to be restored; a head record alone says that there was a log."""
    for ending in _PARTS:
        path = database.with_name(database.name + ending)
        if path.is_symlink() or path.exists():
            return path
    return None


def check(
    folder: Path,
    *,
    keys: Sequence[VerifierKey] = (),
    to_position: int | None = None,
    progress: Progress = lambda _: None,
) -> Restored:
    """Check all that is in a backup but the rules, without restoring it. Raises Corrupt, Unavailable, NotFound."""
    contents = Contents(folder)
    end = contents.end_at(to_position)
    checker = Checker(Frontier(), keys)
    games = 0
    for entries in _chunks(contents.entries(checker, end), EVENTS_AT_ONCE):
        games += sum(entry.event.sequence == 0 for entry in entries)
        progress(len(entries))
    refusals = sum(1 for _ in contents.refusals())
    return _restored(None, contents, checker, games=games, refusals=refusals)


def restore(
    folder: Path,
    database: Path,
    *,
    clock: Callable[[], int],
    keys: Sequence[VerifierKey] = (),
    to_position: int | None = None,
    progress: Progress = lambda _: None,
) -> Restored:
    """Make a new database of a backup, with the same positions, hashes and root; of all of it, or up to a position.

    Raises Corrupt, Unavailable, NotFound; then there is no database. A game that its rules do not allow is restored as
    the log had it, and told: it must not keep back all the others.
    """
    check_name(database)
    contents = Contents(folder)
    end = contents.end_at(to_position)
    checker = Checker(Frontier(), keys)
    try:
        with TemporaryDirectory(prefix=f".{database.name}.", dir=database.parent) as made_in:
            made = Path(made_in) / database.name
            derived = Path(made_in) / "endings"
            with closing(DuckStore(made, clock=clock)) as store:
                refusals = _record(store, contents, checker, end, progress)
                games, bad = _derive(store, derived)
            head = TreeHead(end, checker.tree.root())
            void_names = contents.void_names(end)
            _complete(made, derived, contents.checkpoints(end), clock)
            if void_names:
                _note_void(made, head, void_names, clock)
            with closing(DuckStore(made, clock=clock)) as store:
                assert store.tree_head() == head, "what was checked is what is there"
            _link(made, database)
    except duckdb.Error as error:
        raise meaning(error, database, is_open=True) from error
    except OSError as error:
        raise Unavailable(Code.WRITE_FAILED, path=str(database), problem=error.strerror or "") from error
    return replace(_restored(str(database), contents, checker, games=games, refusals=refusals), bad_games=bad)


def _restored(database: str | None, contents: Contents, checker: Checker, *, games: int, refusals: int) -> Restored:
    return Restored(
        database,
        contents.manifest.made_at,
        checker.tree.size,
        games,
        refusals,
        checker.checkpoint_count,
        to_base64(checker.tree.root()),
        checker.checkpoint_size,
        tuple(dict.fromkeys(signed.key.name for signed in checker.signed)),
        void_names=contents.void_names(checker.tree.size),
    )


def _record(store: DuckStore, contents: Contents, checker: Checker, end: int, progress: Progress) -> int:
    """Append every event where it was, and every refusal; how many refusals there are."""
    for entries in _chunks(contents.entries(checker, end), EVENTS_AT_ONCE):
        batches = list(_batches(entries))
        for batch, answer in zip(batches, store.append(batches), strict=True):
            if isinstance(answer, Conflict):
                first = batch.entries[0].event
                facts = {"game_id": first.game_id, "at_sequence": first.sequence}
                raise Corrupt(Code.CHAIN_BROKEN, rule="evidence", problem=NOT_THE_NEXT, **facts)
        progress(len(entries))
    count = 0
    for refusals in _chunks(contents.refusals(), ROWS_AT_ONCE):
        store.append((), refusals)
        count += len(refusals)
    return count


def _batches(entries: Iterable[Entry]) -> Iterator[Batch]:
    """Consecutive events as they stand: neighbours of one game in one batch."""
    places = enumerate(entries)
    # Where a game goes on without a gap, sequence and place grow alike.
    runs = groupby(places, lambda place: (place[1].event.game_id, place[1].event.sequence - place[0]))
    for (game_id, _), run in runs:
        some = tuple(entry for _, entry in run)
        yield Batch(game_id, some[0].event.sequence - 1, some)


def _derive(store: DuckStore, derived: Path) -> tuple[int, tuple[BadGame, ...]]:
    """Play every game again, and write down its endings; how many games there are, and which are bad."""
    count = 0
    bad: list[BadGame] = []
    with derived.open("wb") as file:
        for ids in _chunks((game_id for game_id, _ in store.heads()), GAMES_AT_ONCE):
            games: dict[str, list[Stored]] = {game_id: [] for game_id in ids}
            for stored in store.read_games(ids):
                games[stored.game_id].append(stored)
            for game_id, records in games.items():
                report, endings = _played(game_id, records)
                file.writelines(msgspec.json.encode(ending) + b"\n" for ending in endings)
                if report.error is not None:
                    bad.append(BadGame(game_id, report.sequence, report.error.code, report.error.rule))
            count += len(ids)
    return count, tuple(bad)


def _played(game_id: str, records: Sequence[Stored]) -> tuple[Report, list[_Derived]]:
    """What an examination of a game says, and its endings as far as it was right."""
    report, fold = verify_records([stored.record for stored in records])
    endings = () if fold is None else endings_of(fold)
    return report, [(game_id, ending, _recorded_at(records[ending.sequence])) for ending in endings]


def _recorded_at(stored: Stored) -> int:
    event, _ = decode(stored.record)
    return event.recorded_at


def _complete(made: Path, derived: Path, checkpoints: Iterator[Checkpoint], clock: Callable[[], int]) -> None:
    """Write what is not an event into a database that nobody has open, and leave no write-ahead log behind."""
    largest: Checkpoint | None = None
    with closing(open_database(made, is_read_only=False)) as connection, derived.open("rb") as file:
        decoder = msgspec.json.Decoder(tuple[str, Ending, int])
        for lines in _chunks(file, ROWS_AT_ONCE):
            write_derived(connection, map(decoder.decode, lines))
        for first, some in enumerate(_chunks(checkpoints, ROWS_AT_ONCE)):
            connection.execute("BEGIN")
            for number, checkpoint in enumerate(some, first * ROWS_AT_ONCE + 1):
                write_checkpoint(connection, checkpoint, number, clock())
                if largest is None or checkpoint.size >= largest.size:
                    largest = checkpoint
            connection.execute("COMMIT")
        connection.execute("CHECKPOINT")
    if largest is not None:
        replace_file(checkpoint_path(made), largest.note.encode())


def _note_void(made: Path, head: TreeHead, names: Sequence[str], clock: Callable[[], int]) -> None:
    """Put on record that the log goes on without what was signed under these names."""
    with closing(open_database(made, is_read_only=False)) as connection:
        void = Void(0, None, tuple(names))
        write_incident(connection, "RESTORED", head=None, log=head, void=void, time=clock())
        connection.execute("CHECKPOINT")


def _link(made: Path, database: Path) -> None:
    """Give all of it its name, the database last. A link never replaces what is there."""
    if made.with_name(made.name + ".wal").exists():
        raise Unavailable(Code.WRITE_FAILED, path=str(database), problem="its write-ahead log could not be emptied")
    linked: list[Path] = []
    try:
        for ending in _PARTS:
            part, place = made.with_name(made.name + ending), database.with_name(database.name + ending)
            if part.exists():
                os.link(part, place)
                linked.append(place)
    except BaseException:
        for place in linked:
            place.unlink()
        raise
    sync_folder(database.parent)


def _chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk
