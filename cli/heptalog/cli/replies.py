"""An answer on its way: the pieces of an Arrow IPC stream as batches and as rows.

It is whole only when its batches have been read to their end. Whatever ends them earlier is raised, and what was read
until then is no answer.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Final

import pyarrow as pa

from heptalog.cli.cells import rows_of
from heptalog.replay.errors import Code, Unavailable

# A stream that ends too soon is an OSError to its reader.
_UNREADABLE: Final = (pa.ArrowException, OSError)
_DAMAGED: Final = "what came is not the answer that was announced"


class Reply:
    """One answer: what it is about, its columns, and its rows once. Raises what the pieces raise, at every step."""

    def __init__(self, position: int, pieces: Iterator[bytes]) -> None:
        """Wait for the first piece, which has the columns."""
        self.position = position
        self.rows_read = 0
        self._stream = _Stream(pieces)
        try:
            self._reader = pa.ipc.open_stream(self._stream)  # type: ignore[arg-type]  # read() is all that it takes
        except _UNREADABLE as error:
            raise _damaged() from error
        names = distinct(self._reader.schema.names)
        self.schema = pa.schema([field.with_name(name) for field, name in zip(self._reader.schema, names, strict=True)])

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns, none of them twice."""
        return tuple(self.schema.names)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns that hold numbers."""
        return tuple(field.name for field in self.schema if _is_number(field.type))

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows, many at a time, with the types that they have."""
        try:
            for batch in self._reader:
                self.rows_read += batch.num_rows
                yield pa.RecordBatch.from_arrays(batch.columns, schema=self.schema)
        except _UNREADABLE as error:
            raise _damaged() from error
        # Only the end of the pieces says that it is whole.
        self._stream.drain()

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """The rows, one by one, as Python has their values. Raises WrongUse for a type that it has nothing for."""
        return chain.from_iterable(map(rows_of, self.batches()))


class _Stream:
    """The pieces as a file, which is what reads a stream wants."""

    closed = False

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = b""

    def read(self, size: int) -> bytes:
        """The next bytes; fewer only where there are no more."""
        taken, count = [self._rest], len(self._rest)
        while count < size and (piece := next(self._pieces, None)) is not None:
            taken.append(piece)
            count += len(piece)
        data = b"".join(taken)
        self._rest = data[size:]
        return data[:size]

    def drain(self) -> None:
        """Read what is left, for how it ends."""
        for _ in self._pieces:
            pass

    def close(self) -> None:
        """Whoever asked closes what the pieces come from."""


def distinct(names: Sequence[str]) -> list[str]:
    """The names of columns, none of them twice: `x`, `x_2`."""
    taken: set[str] = set()
    result: list[str] = []
    for name in names:
        count, candidate = 1, name
        while candidate in taken:
            count += 1
            candidate = f"{name}_{count}"
        taken.add(candidate)
        result.append(candidate)
    return result


def _is_number(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def _damaged() -> Unavailable:
    return Unavailable(Code.QUERY_FAILED, problem=_DAMAGED)
