"""What is asked of the whole history, and what is said to it; the same for the service and its clients."""

from typing import TypeAlias

from msgspec import Struct


class Question(Struct, frozen=True):
    """What somebody asks in SQL, how many rows they will take, and how long they will wait for the whole."""

    sql: str
    rows_max: int | None = None
    seconds: float | None = None


class Started(Struct, frozen=True):
    """What an answer is about: everything up to this position, and nothing after it."""

    position: int


class Finished(Struct, frozen=True):
    """An answer is whole; one that ends without this is none."""

    rows: int


# Between the two, the pieces of an Arrow IPC stream.
Part: TypeAlias = Started | bytes | Finished


class ViewColumn(Struct, frozen=True):
    """One column, its type in the words of DuckDB; `values` are all that it can say, where those are names."""

    name: str
    type: str
    meaning: str
    values: tuple[str, ...] = ()


class View(Struct, frozen=True):
    """A table, or a view over others (`is_derived`), and what a row of it is."""

    name: str
    meaning: str
    columns: tuple[ViewColumn, ...]
    is_derived: bool = False


class Rebuilding(Struct, frozen=True):
    """How far tables are that are made anew: up to `position` of `head`."""

    position: int
    head: int
