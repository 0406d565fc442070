"""Where simulated games go, by the name that a person gives it."""

from heptalog.cli.connections import Connections
from heptalog.cli.databases import Database
from heptalog.cli.exits import WrongUse, no_whole_log
from heptalog.cli.files import FileGame
from heptalog.cli.servers import Server
from heptalog.cli.simulating.databases import DatabaseDestination
from heptalog.cli.simulating.servers import ServerDestination
from heptalog.cli.sources import Folder, named


def opened(text: str, connections: Connections) -> DatabaseDestination | ServerDestination:
    """The database or the server of this name; whoever asks for it closes it. Raises Unavailable, Corrupt."""
    target = named(text)
    if isinstance(target, Server):
        return ServerDestination(target.target, connections)
    if isinstance(target, Database | FileGame):
        return DatabaseDestination(target.path)
    if isinstance(target, Folder):
        raise WrongUse(f"{target.name}: a folder is no database")
    raise no_whole_log(text)
