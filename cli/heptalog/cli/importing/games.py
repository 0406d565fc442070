"""Games on their way into a log, in order: what came of each."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from msgspec import Struct

from heptalog.cli.connections import Connections
from heptalog.cli.databases import Database
from heptalog.cli.examine import bad, placed
from heptalog.cli.exits import Exit
from heptalog.cli.files import FileGame, Missing
from heptalog.cli.importing.batches import Counts
from heptalog.cli.importing.preparing import Prepared, outcomes
from heptalog.cli.servers import Server
from heptalog.cli.sources import Game
from heptalog.cli.verdicts import Found, Verdict
from heptalog.replay.errors import Code, HeptalogError, Unavailable

if TYPE_CHECKING:
    from heptalog.cli.importing.databases import DatabaseLog
    from heptalog.cli.importing.servers import ServerLog


class Log(Protocol):
    """Where games are brought to."""

    @property
    def waiting_max(self) -> int:
        """How many games may be on their way at once."""
        ...

    def record(self, game: Prepared) -> "Future[Counts]":
        """Begin to record a game; the future raises what the service raises, with the place in the game."""
        ...

    def flush(self) -> None:
        """Go on at once with what waits for company."""
        ...


class Destination:
    """Where games go: named at once, opened with the first good game, so that bad ones make no database."""

    def __init__(self, source: Database | FileGame | Server, connections: Connections) -> None:
        self._source = source
        self._connections = connections
        self._log: DatabaseLog | ServerLog | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._log is not None:
            self._log.close()

    def log(self) -> Log:
        """The log itself. Raises Unavailable where it cannot be opened."""
        if self._log is None:
            # Loaded here, where other processes have begun to work: an engine takes a third of a second.
            if isinstance(self._source, Server):
                from heptalog.cli.importing.servers import ServerLog

                self._log = ServerLog(self._source.target, self._connections)
            else:
                from heptalog.cli.importing.databases import DatabaseLog

                self._log = DatabaseLog(self._source.path)
        return self._log


class Import(Struct, frozen=True, rename="camel"):
    """What came of one game: `added` events are new, `known` were there; the last four are null where all is well."""

    source: str
    ok: bool
    game_id: str | None = None
    added: int = 0
    known: int = 0
    sequence: int | None = None
    rule: str | None = None
    code: Code | None = None
    message: str | None = None

    @property
    def verdict(self) -> Verdict:
        """The same as a verdict on the game."""
        return Verdict(self.source, self.ok, self.added + self.known, self.sequence, self.rule, self.code, self.message)

    @property
    def exit(self) -> Exit:
        """What the program ends with for it."""
        return self.verdict.exit


def imported(
    games: Iterable[Game | Missing], connections: Connections, opened: Callable[[], Log], *, jobs: int = 0
) -> Iterator[Import]:
    """Bring games into a log, several at once, and tell what came of each, in order. Raises Unavailable for the log.

    `opened` gives the log; it is asked for with the first good game, so that bad ones make no database. `jobs` is how
    many processes may work beside this one; 0 is one a core.
    """
    waiting: deque[tuple[Game | Missing, str, Future[Counts]]] = deque()
    for game, outcome in outcomes(games, connections, jobs=jobs):
        game_id = ""
        if isinstance(outcome, Verdict):
            future: Future[Counts] = Future()
            future.set_exception(Found(outcome))
        else:
            game_id = outcome.game_id
            future = opened().record(outcome)
        waiting.append((game, game_id, future))
        while waiting and waiting[0][2].done():
            yield _result(*waiting.popleft())
        if waiting and len(waiting) >= opened().waiting_max:
            opened().flush()
            yield _result(*waiting.popleft())
    if waiting:
        opened().flush()
    while waiting:
        yield _result(*waiting.popleft())


def _result(game: Game | Missing, game_id: str, future: "Future[Counts]") -> Import:
    try:
        counts = future.result()
    except Found as found:
        return _failed(found.verdict)
    except Unavailable as error:
        if error.code is not Code.RECORD_NEWER:
            # Of no use to any other game either.
            raise
        return _failed(bad(game, 0, error), game_id)
    except HeptalogError as error:
        return _failed(bad(game, 0, error, placed(error)), game_id)
    return Import(game.name, ok=True, game_id=game_id, added=counts.added, known=counts.known)


def _failed(verdict: Verdict, game_id: str | None = None) -> Import:
    return Import(
        verdict.source,
        ok=False,
        game_id=game_id,
        sequence=verdict.sequence,
        rule=verdict.rule,
        code=verdict.code,
        message=verdict.message,
    )
