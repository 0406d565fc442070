"""Games of a running server, read through the client like anybody else does."""

from collections.abc import Iterator
from contextlib import closing

from msgspec import Struct

from heptalog.cli.connections import Connections, reachable
from heptalog.cli.databases import decoded, weight_of
from heptalog.replay.errors import Code, HeptalogError
from heptalog.replay.events import Event
from heptalog.replay.fold import Fold
from heptalog.service.config import PAGE_SIZE_MAX
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
            raise reachable(error, self.target) from error

    def check_derived(self, fold: Fold, connections: Connections) -> None:
        """What else a server keeps is for who holds its database to examine."""


class Server(Struct, frozen=True):
    """All games of a server."""

    target: str

    @property
    def name(self) -> str:
        """How a person names it."""
        return SCHEME + self.target

    def games(self, connections: Connections) -> Iterator[ServerGame]:
        """Its games, in the order of creation."""
        for entry in self.listed(GameFilter(), connections):
            yield ServerGame(self.target, entry.game_id, weight_of(entry.head.sequence))

    def game(self, game_id: str) -> ServerGame:
        """One of its games."""
        return ServerGame(self.target, game_id)

    def listed(self, wanted: GameFilter, connections: Connections) -> Iterator[GameEntry]:
        """Those that fit, in the order of creation."""
        try:
            yield from connections.client(self.target).games(wanted, page_size=PAGE_SIZE_MAX)
        except HeptalogError as error:
            if error.code is Code.RECORD_DAMAGED:
                # One game of a page hides the others of it.
                problem = f"the list of its games ends there; `heptalog audit {self.name}` goes on around it"
                error.facts.setdefault("problem", problem)
            raise reachable(error, self.target) from error
