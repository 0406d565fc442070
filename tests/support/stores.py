"""An empty store of each kind. A database is made once; the others are copies of it, which take half as long."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from heptalog.service.store import LogStore
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.memory import MemoryStore


@cache
def _new_files() -> dict[str, bytes]:
    """What lies on the disk of a database that was just made, by how each name ends."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "log.duckdb"
        DuckStore(path).close()
        return {file.name.removeprefix(path.name): file.read_bytes() for file in path.parent.iterdir()}


def empty_database(path: Path) -> DuckStore:
    """A store over a database at this path in which nothing was recorded."""
    for ending, content in _new_files().items():
        path.with_name(path.name + ending).write_bytes(content)
    return DuckStore(path)


STORES: Final[dict[str, Callable[[Path], LogStore]]] = {
    "memory": lambda _: MemoryStore(),
    "duck": lambda folder: empty_database(folder / "log.duckdb"),
}
