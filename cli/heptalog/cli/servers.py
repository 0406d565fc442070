"""Games of a running server, read through the client like anybody else does."""

from collections import deque
from collections.abc import Iterator
from contextlib import closing

from msgspec import Struct

from heptalog.cli.connections import Connections, PartUnreadable, reachable
from heptalog.cli.databases import weight_of
from heptalog.cli.files import Missing
from heptalog.replay.errors import Code, Corrupt, HeptalogError
from heptalog.replay.events import Event
from heptalog.replay.fold import Fold
from heptalog.service.config import PAGE_SIZE_MAX
from heptalog.service.examining.records import decoded
from heptalog.service.store import GameEntry, GameFilter

SCHEME = "grpc://"


class ServerGame(Struct, frozen=True):
    """One game of a server."""

    target: str
    game_id: str
    size: int = 0
    has_lines: bool = False

    @property
    def name(self) -> str:
        """How a person names it."""
        return f"{SCHEME}{self.target}#{self.game_id}"

    def entries(self, connections: Connections) -> Iterator[tuple[Event, bytes | None]]:
        """The events as the server gives them, with their public form. Raises what the server raises."""
        try:
            records = connections.client(self.target).read(self.game_id)
            with closing(records):
                for stored in records:
                    yield decoded(stored, self.game_id)
        except HeptalogError as error:
            raise _as_read(error, self.target) from error

    def check_derived(self, fold: Fold, connections: Connections) -> None:
        """What else a server keeps is for who holds its database to examine."""


class Server(Struct, frozen=True):
    """All games of a server."""

    target: str

    @property
    def name(self) -> str:
        """How a person names it."""
        return SCHEME + self.target

    def games(self, connections: Connections) -> Iterator[ServerGame | Missing]:
        """Its games, in the order of creation; in place of one that cannot be listed, why."""
        for entry in self.listed(GameFilter(), connections):
            if isinstance(entry, Missing):
                yield entry
            else:
                yield ServerGame(self.target, entry.game_id, weight_of(entry.head.sequence))

    def game(self, game_id: str) -> ServerGame:
        """One of its games."""
        return ServerGame(self.target, game_id)

    def listed(self, wanted: GameFilter, connections: Connections) -> Iterator[GameEntry | Missing]:
        """Those that fit, in the order of creation; in place of one that cannot be listed, why."""
        unread: deque[Missing] = deque()

        def told(game_id: str, error: HeptalogError) -> None:
            unread.append(Missing(self.game(game_id).name, _as_read(error, self.target)))

        try:
            for entry in connections.client(self.target).games(wanted, page_size=PAGE_SIZE_MAX, unread=told):
                while unread:
                    yield unread.popleft()
                yield entry
        except HeptalogError as error:
            raise _as_read(error, self.target) from error
        yield from unread


def _as_read(error: HeptalogError, target: str) -> HeptalogError:
    """The failure to read games of a server as a person needs it."""
    # The engine names its file, as it does where a database is read here: that is no finding about the game.
    if isinstance(error, Corrupt) and "path" in error.facts and "last" not in error.facts:
        problem = f"the database of the server is damaged here; `heptalog audit {SCHEME}{target}` says where"
        return PartUnreadable(Code.SOURCE_UNREADABLE, problem=problem)
    return reachable(error, target)
