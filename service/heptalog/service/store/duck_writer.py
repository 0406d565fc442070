"""What only a database that is written has: the connection that commits, and in memory what is durable.

The head of each live game is in memory, so that an append asks the database nothing. What is in memory is only ever
what is durable: it changes after COMMIT has returned, and a commit that fails makes the writer forget all of it and ask
the database again. Then the head record beside the database is written and synced, and only then is anything
acknowledged.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from functools import partial
from typing import Final

import duckdb
from msgspec.structs import replace

from heptalog.replay.errors import Code, Conflict, HeptalogError, Unavailable
from heptalog.service.store import Batch, Checkpoint, Head, Refusal
from heptalog.service.store.duck_commit import Commit, of_batches, of_games
from heptalog.service.store.duck_counters import Counters, count
from heptalog.service.store.duck_database import Database
from heptalog.service.store.duck_evidence import Evidence
from heptalog.service.store.duck_faults import is_fatal, why_unwritten
from heptalog.service.store.duck_finder import Finder
from heptalog.service.store.duck_incoming import Incoming, run_all
from heptalog.service.store.duck_live import Live, decided, grow
from heptalog.service.store.duck_tables import TABLES
from heptalog.service.store.duck_tree import load, write_nodes
from heptalog.service.store.duck_write import write_checkpoint
from heptalog.service.store.files import sync_folder
from heptalog.service.store.migrate import USE
from heptalog.service.store.space import Reserve, wal_size
from heptalog.service.store.whole import WholeGame

# How many games are live at once: beyond that the one longest untouched is forgotten, and looked up when it goes on.
LIVE_MAX: Final = 65_536
# So large a write-ahead log is put in order in an idle moment, so that a busy one need not wait for more.
REST_SIZE: Final = 1024 * 1024  # bytes


class DuckWriter:
    """Writes one database. One thread at a time; what is durable may be read by any, and is replaced as a whole."""

    def __init__(
        self,
        database: Database,
        connection: duckdb.DuckDBPyConnection,
        *,
        counters: Counters,
        evidence: Evidence,
        finder: Finder,
        reserve: Reserve,
    ) -> None:
        """Take over a connection, which commits and is asked nothing, and the evidence; `begin` is called first."""
        self.connection = connection
        self.counters = counters
        self.evidence = evidence
        self.live: dict[str, Live] = {}
        self._path: Final = database.path
        self._database = database
        self._finder = finder
        self._reserve = reserve
        self._incoming: Incoming | None = None

    def begin(self) -> None:
        """Make the connection ready, and write what waits of the tree."""
        self.connection.execute(USE)
        self._incoming = Incoming(self.connection, TABLES)
        if self.evidence.tree.is_due:
            self.store_nodes()

    def append(self, batches: Sequence[Batch], refusals: Sequence[Refusal]) -> list[Head | Conflict]:
        """Commit what fits; for each batch the new head of its game, or why it was left out."""
        live = self._look_up(dict.fromkeys(batch.game_id for batch in batches))
        answers, accepted = decided(batches, live, self.counters)
        if accepted or refusals:
            self._commit(of_batches(accepted, refusals, live, self.counters))
        return answers

    def append_games(self, games: Sequence[WholeGame], refusals: Sequence[Refusal]) -> list[Head | None]:
        """Commit whole games; for each its head, or None where it was there already and is left out."""
        known = self._look_up(dict.fromkeys(game.game_id for game in games))
        new = [game for game in games if game.game_id not in known]
        commit = of_games(new, refusals, self.counters)
        if new or refusals:
            self._commit(commit)
        return [live.head if (live := commit.live.get(game.game_id)) else None for game in games]

    def keep_checkpoint(self, checkpoint: Checkpoint, now: int) -> None:
        """Keep it, and put it beside the database."""
        number = self.counters.checkpoint_number + 1
        self._transact([lambda: write_checkpoint(self.connection, checkpoint, number, now)])
        self.counters = replace(self.counters, checkpoint_number=number)
        self.evidence.publish(checkpoint)

    def rest(self) -> None:
        """Put the file in order, where that is worth it. Raises Unavailable where that fails."""
        self.evidence.publish_waiting()
        try:
            size = wal_size(self._path)
        except OSError as error:
            problem = error.strerror or ""
            raise Unavailable(Code.WRITE_FAILED, path=str(self._path), problem=problem) from error
        # On a disk that fills up in the middle of it the engine is of no further use, so there must be room.
        if size < REST_SIZE or not self._reserve.has_room_twice(size):
            return
        self.store_nodes()
        try:
            self.connection.execute("CHECKPOINT")
        except duckdb.Error as error:
            self._forget(error)
            raise self._database.meaning(error) from error

    def store_nodes(self) -> None:
        """Write what waits of the tree by itself; where that fails it is made again at the next opening."""
        nodes = self.evidence.tree.waiting
        if nodes:
            with suppress(Unavailable):
                self._transact([lambda: write_nodes(self.connection, nodes)])
                self.evidence.tree.stored(nodes)

    def close(self) -> None:
        """Let go of the connection and of the head record."""
        with suppress(duckdb.Error):  # a database that is broken cannot be put in order any more
            self.connection.close()
        self.evidence.close()

    def _look_up(self, game_ids: Iterable[str]) -> dict[str, Live]:
        """Those of these games that there are."""
        found = {game_id: self.live.get(game_id) for game_id in game_ids}
        live = {game_id: game for game_id, game in found.items() if game is not None}
        resting = self._finder.numbers([game_id for game_id, game in found.items() if game is None])
        if resting:
            with closing(self._database.snapshot(known=self.counters.position)) as snapshot:
                heads = snapshot.heads_of(list(resting.values()))
            live |= {game_id: Live(number, heads[number]) for game_id, number in resting.items()}
        return live

    def _commit(self, commit: Commit) -> None:
        assert self._incoming is not None, "it has begun"
        self._reserve.check(commit.size)
        tree = self.evidence.tree
        nodes = tree.waiting if tree.is_due else ()

        first = self.counters.game_number
        self._finder.expect(game_id for game_id, game in commit.live.items() if game.number > first)

        statements = [partial(self._incoming.insert, self.connection, rows) for rows in commit.rows]
        if nodes:
            statements.append(partial(write_nodes, self.connection, nodes))
        self._transact(statements)
        tree.stored(nodes)
        try:
            # It is true now: what follows is what is remembered, and the head record says so.
            self.counters = commit.counters
            grow(self.live, commit.live, LIVE_MAX)
            if commit.hashes:
                self.evidence.extend(commit.hashes)
        except BaseException as error:
            # It is durable, and nobody was told: opening the store again puts that in order.
            self._database.wear_out(error)
            raise

    def _transact(self, statements: Sequence[Callable[[], object]]) -> None:
        """Run these in one transaction. Raises Unavailable where it is not durable, or nobody knows whether it is."""
        try:
            is_first = not wal_size(self._path)
            run_all(self.connection, statements)
            if is_first:
                # The engine syncs the write-ahead log that it begins here, but not its name.
                sync_folder(self._path.parent)
        except (duckdb.Error, OSError) as error:
            self._forget(error)
            raise Unavailable(Code.WRITE_FAILED, path=str(self._path), problem=why_unwritten(error)) from error
        except BaseException as error:
            self._forget(error)
            raise

    def _forget(self, error: BaseException) -> None:
        """Roll back, and ask the database what is true: nothing, half a word or all of it may have reached the disk."""
        self.live.clear()
        try:
            with suppress(duckdb.Error):  # the engine has rolled back already
                self.connection.execute("ROLLBACK")
            with closing(self._database.connected()) as asking:
                asking.execute(USE)
                self.counters = count(asking)
                tree = load(lambda *question: asking.execute(*question).fetchall(), self.counters.position)
                self.evidence.replace(tree)
        except (duckdb.Error, HeptalogError) as unknown:
            self._database.wear_out(unknown)
        if isinstance(error, duckdb.Error) and is_fatal(error):
            self._database.wear_out(error)
