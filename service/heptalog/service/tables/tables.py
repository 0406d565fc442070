"""The tables of one service: everything that stands between its log and a question about all of it."""

import logging
import shutil
import tempfile
from collections.abc import AsyncGenerator
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Final

from heptalog.analytics.asking import Workers
from heptalog.replay.errors import Code, HeptalogError, Malformed, Unavailable
from heptalog.service.answering import Readers
from heptalog.service.asked import Rebuilding
from heptalog.service.commits import Commits
from heptalog.service.config import Settings
from heptalog.service.store import LogStore
from heptalog.service.tables.feed import Feed
from heptalog.service.tables.keeper import Keeper
from heptalog.service.tables.messages import Built
from heptalog.service.tables.process import Gone, Process
from heptalog.service.tables.questions import Questions
from heptalog.service.tables.room import check_room
from heptalog.service.tables.rounds import Rounds
from heptalog.service.tables.serving import Place

# Of the operating system; beside them there are the limits of a worker, and what it lets pass.
_WALLS: Final = ("landlock", "seccomp")
_log = logging.getLogger(__name__)


def check_kept(tables: "Tables | None") -> "Tables":
    """The tables of a server. Raises Malformed where it was told to keep none."""
    if tables is None:
        raise Malformed(Code.QUERY_INVALID, rule="api", problem="this server keeps no tables")
    return tables


class Tables:
    """Kept from the start on where the log is in a file; else from the first question on, in a temporary folder."""

    def __init__(self, store: LogStore, settings: Settings, commits: Commits) -> None:
        self._settings = settings
        self._store = store
        # Whoever reads the files beside it may have another working directory.
        self._database = Path(settings.database).resolve() if settings.database else None
        self._temporary: Path | None = None
        self._feed: Feed | None = None
        self._gate = Lock()
        self._recent = commits.recent
        self._is_begun = False
        self._is_rebuilding = False
        self._building: Process | None = None
        self._rebuilders = Readers(1)
        rounds = Rounds(settings.tables_round_seconds)
        self._keeper = Keeper(lambda: self._process("following"), self._check_room, rounds=rounds)
        self._workers = Workers(niceness=settings.query_niceness)
        self._questions = Questions(store, self._keeper, self._workers, settings)
        commits.listen(self._tell)
        if self._database is not None:
            self.begin()

    @property
    def questions(self) -> Questions:
        """What answers from them."""
        self.begin()
        return self._questions

    def _tell(self) -> None:
        """Hear of a commit, in the writer's thread."""
        if self._is_begun:
            self._keeper.tell()

    def begin(self) -> None:
        """Begin to follow the log; a second time does nothing."""
        if self._is_begun:
            # Every question comes here, and must not wait for a process that is being started.
            return
        with self._gate:
            if not self._is_begun:
                self._is_begun = True
                self._keeper.begin()
                # Begun early it is there when it is needed; what fails now is told when it is.
                with suppress(OSError, HeptalogError):
                    self._workers.start()
                walls = " ".join(self._workers.confinement)
                if missing := [name for name in _WALLS if name not in walls]:
                    _log.warning("questions are answered without %s here: see docs/queries.md", " and ".join(missing))

    async def rebuild(self) -> AsyncGenerator[Rebuilding, None]:
        """Make the tables anew and say how far that is; the old ones answer until the new ones are whole.

        Raises Unavailable where somebody does so already, or it fails. Who goes away ends it, and nothing has changed.
        """
        self.begin()
        if self._is_rebuilding:
            raise Unavailable(Code.OVERLOADED, rule="api", problem="the tables are being made anew already")
        self._is_rebuilding = True
        begun: list[Process] = []

        def begin() -> Process:
            # Who goes away while it is started still has it to end.
            self._building = self._process("building")
            begun.append(self._building)
            return self._building

        try:
            _log.info("the tables are made anew: it was asked for")
            process = await self._rebuilders.run(begin)
            while isinstance(built := await self._rebuilders.run(process.listen, process.end), Built):
                yield Rebuilding(built.position, built.head)
            _log.info("the tables are made anew, and take the place of the old ones")
            self._keeper.forget()
            # They have as much as a question that is asked now would see.
            wanted = self._questions.end()
            lease = await self._questions.lease(wanted, self._settings.tables_seconds)
            self._keeper.release(lease)
            yield Rebuilding(wanted.position, wanted.position)
        except Gone as error:
            raise Unavailable(Code.TABLES_BEHIND, rule="api", problem=str(error)) from error
        finally:
            try:
                for process in begun:
                    await self._rebuilders.run(process.hang_up)
            finally:
                self._is_rebuilding = False

    @property
    def is_failing(self) -> bool:
        """Whether the tables cannot be kept, for as long as that lasts."""
        return self._keeper.is_failing

    def close(self) -> None:
        """End every question and the process, and let go of the store."""
        self._workers.close()
        self._questions.close()
        if self._building is not None:
            self._building.end()
        self._rebuilders.close()
        if self._building is not None:
            # It may have been started in between.
            self._building.kill()
        self._keeper.close()
        if self._feed is not None:
            self._feed.close()
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)

    def _check_room(self) -> None:
        if self._database is not None:
            check_room(self._database.parent, self._settings.reserve_bytes)

    def _process(self, program: str) -> Process:
        with self._gate:
            if self._feed is None:
                self._feed = Feed(self._store, self._recent)
            if self._database is not None:
                place = Place(self._feed.path, str(self._database), self._settings.reserve_bytes)
            else:
                # A log in memory has nothing to fear from a full disk.
                self._temporary = self._temporary or Path(tempfile.mkdtemp(prefix="heptalog-tables-"))
                place = Place(self._feed.path, str(self._temporary / "log"), 0)
            return Process(program, place, niceness=self._settings.tables_niceness)
