"""What a database must still be when it is opened: as long as its head record says, and the same log up to there.

A crash between a commit and its head record leaves a database that is longer than its head, by whole commits that were
not acknowledged: that is fine. A shorter one has lost what was acknowledged; one with another root is another log, or
was changed. Both are told before anything is opened for writing, because the engine, which takes the torn end of its
write-ahead log for a crash, would clear the traces away.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import duckdb
from msgspec import Struct

from heptalog.replay.errors import Code, Corrupt, HeptalogError, Malformed, Unavailable
from heptalog.replay.evidence.checkpoints import checkpoint_in
from heptalog.replay.evidence.merkle import nodes_from_tiles, root_at
from heptalog.replay.evidence.notes import NOTE_SIZE_MAX
from heptalog.service.store import TreeHead
from heptalog.service.store.duck_faults import meaning
from heptalog.service.store.duck_tree import Ask, catch_up, load, tile
from heptalog.service.store.heads import ADVICE, HeadRecord, head_path, make_head, read_head
from heptalog.service.store.tree import Tree

POSITION: Final = "SELECT coalesce(max(position), 0) FROM log.events"
# What is said of a log that was there, and of which nothing can be read.
IN_DOUBT: Final = "it cannot be read as the log that it was, so what was acknowledged is in doubt"
# The first schema with evidence over all games; logs of earlier ones have no head record yet.
EVIDENCE_VERSION: Final = 2


class Promise(Struct, frozen=True):
    """A tree head that the log must still have, and the file beside it that says so."""

    path: Path
    tree: TreeHead
    differs: Code  # what it is called when the log has another root


def checkpoint_path(database: Path) -> Path:
    """Where the last signed checkpoint of a database is."""
    return database.with_name(database.name + ".checkpoint")


def promises(database: Path, head: HeadRecord | None) -> list[Promise]:
    """What the files beside a database say of it, the most first. Raises Corrupt where the checkpoint is none."""
    found = [] if head is None else [Promise(head_path(database), head.tree, Code.HEAD_DIFFERS)]
    path = checkpoint_path(database)
    if (tree := read_checkpoint(path)) is not None:
        found.append(Promise(path, tree, Code.CHECKPOINT_DIFFERS))
    return sorted(found, key=lambda promise: -promise.tree.size)


def read_checkpoint(path: Path) -> TreeHead | None:
    """The tree head in a checkpoint file, whoever signed it; None where there is no file."""
    try:
        with path.open("rb") as file:
            note = file.read(4 * NOTE_SIZE_MAX + 1)
        body = checkpoint_in(note)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unavailable(Code.SOURCE_UNREADABLE, path=str(path), problem=error.strerror or "") from error
    except Malformed as error:
        problem = f"the checkpoint beside the database cannot be read; {ADVICE}"
        raise Corrupt(Code.CHECKPOINT_DIFFERS, rule="evidence", problem=problem, path=str(path)) from error
    return TreeHead(body.size, body.root)


def lost(promise: Promise, size: int) -> Corrupt:
    """What is said of a log that is shorter than it was."""
    return Corrupt(
        Code.EVENTS_LOST,
        rule="evidence",
        problem=ADVICE,
        first=size + 1,
        last=promise.tree.size,
        path=str(promise.path),
    )


def missing_head(database: Path) -> Corrupt:
    """What is said of a log whose head record is not there."""
    return Corrupt(Code.HEAD_MISSING, rule="evidence", problem=ADVICE, path=str(head_path(database)))


def in_doubt(database: Path, error: HeptalogError) -> HeptalogError:
    """What is said instead of an error about bytes that no log can be read from, by the files that lie beside them.

    Where one of those says how many events were acknowledged it is a loss, and told by its positions; without any it
    stays what it was: nobody can tell what such a file has been.
    """
    if error.code is not Code.DATABASE_FOREIGN and not (error.code is Code.RECORD_DAMAGED and "path" in error.facts):
        return error
    size = max(_said(lambda: read_head(head_path(database))), _said(lambda: read_checkpoint(checkpoint_path(database))))
    if not size or is_in_doubt(error):
        return error
    return Corrupt(
        Code.RECORD_DAMAGED,
        rule="evidence",
        problem=f"{IN_DOUBT}; {ADVICE}",
        first=1,
        last=size,
        path=str(database),
    )


def is_in_doubt(error: HeptalogError) -> bool:
    """Whether an error says of a whole log that it cannot be read, and up to which position it was acknowledged."""
    return error.code is Code.RECORD_DAMAGED and "path" in error.facts and "last" in error.facts


def _said(read: Callable[[], HeadRecord | TreeHead | None]) -> int:
    """How many events a file beside the database speaks of; 0 where it cannot be read either."""
    try:
        found = read()
    except HeptalogError:
        return 0
    return 0 if found is None else found.size


def findings(ask: Ask, tree: Tree, wanted: Sequence[Promise]) -> Iterator[Corrupt]:
    """Every promise that a log does not keep."""
    nodes = nodes_from_tiles(lambda level, index, width: tile(ask, tree, level, index, width), size=tree.head.size)
    for promise in wanted:
        size = promise.tree.size
        if size > tree.head.size:
            yield lost(promise, tree.head.size)
        elif (tree.head.root if size == tree.head.size else root_at(size, nodes)) != promise.tree.root:
            yield Corrupt(promise.differs, rule="evidence", problem=ADVICE, size=size, path=str(promise.path))


class Guard:
    """Looks at a database while it is opened, and keeps what it has found for who opens it."""

    def __init__(self, path: Path, clock: Callable[[], int], *, is_checked: bool = True) -> None:
        self._path = path
        self._clock = clock
        self._is_checked = is_checked
        self.tree: Tree | None = None
        self.head: HeadRecord | None = None

    @property
    def found(self) -> tuple[Tree, HeadRecord]:
        """What who writes goes on with."""
        assert self.tree is not None, "it has been looked at"
        assert self.head is not None, "it has been held"
        return self.tree, self.head

    def absent(self) -> None:
        """Before a new database is made: raises Corrupt where there was one."""
        if self._is_checked:
            for promise in promises(self._path, read_head(head_path(self._path))):
                if promise.tree.size:
                    raise lost(promise, 0)

    def look(self, connection: duckdb.DuckDBPyConnection, version: int, *, is_read_only: bool) -> None:
        """Raise Corrupt where it is not what was promised; nothing is changed by it.

        A copy that is only to be read need not have its head record with it.
        """
        if not self._is_checked:
            return

        def ask(statement: str, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
            return connection.execute(statement, parameters).fetchall()

        try:
            self.head = read_head(head_path(self._path))
            wanted = promises(self._path, self.head)
            ((position,),) = ask(POSITION, [])
            if wanted and wanted[0].tree.size > position:
                raise lost(wanted[0], position)
            if is_read_only and not wanted:
                return
            self.tree = self._tree_at(ask, position, version)
            for finding in findings(ask, self.tree, wanted):
                raise finding
        except duckdb.Error as error:
            raise meaning(error, self._path, is_open=True) from error
        if not is_read_only and self.head is None and position and version >= EVIDENCE_VERSION:
            raise missing_head(self._path)

    def hold(self, connection: duckdb.DuckDBPyConnection, version: int) -> None:
        """Look again, now that nobody else can write, and see to it that there is a head record."""
        self.look(connection, version, is_read_only=False)
        if self._is_checked and self.head is None:
            assert self.tree is not None, "it has been looked at"
            make_head(head_path(self._path), self.tree.head, self._clock())
            self.head = read_head(head_path(self._path))

    def _tree_at(self, ask: Ask, position: int, version: int) -> Tree:
        tree = self.tree
        if tree is None or tree.head.size > position:
            return load(ask, position, has_nodes=version >= EVIDENCE_VERSION)
        catch_up(tree, ask, position)
        return tree
