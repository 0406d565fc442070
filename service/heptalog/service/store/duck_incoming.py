"""How events come to the engine: as one Arrow batch a commit, from a source that it is told of once.

The engine asks a registered source for its rows at every statement. To register anew what is to be written would cost
as much as a small commit, and columns of Python objects would be looked at once more for their types.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from heptalog.service.store.kept import EVENT_COLUMNS

# The name by which statements know it.
NAME: Final = "incoming"
_KINDS: Final[Mapping[str, pa.DataType]] = {
    "sequence": pa.int64(),
    "kind": pa.string(),
    "seat": pa.int64(),
    "event_id": pa.string(),
    "occurred_at": pa.int64(),
    "recorded_at": pa.int64(),
    "recorded_by": pa.string(),
}
_SCHEMA: Final = pa.schema(
    {
        "position": pa.int64(),
        "game_number": pa.int64(),
        **{name: _KINDS[name] for name in EVENT_COLUMNS},
        "event": pa.binary(),
    }
)


class Incoming:
    """The events that are to be inserted next."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Have this connection know it as `incoming`."""
        self._batches: list[pa.RecordBatch] = []
        connection.register(NAME, self)

    @contextmanager
    def held(
        self, first: int, game_numbers: NDArray[np.int64], columns: Iterable[Sequence[Any]], records: Sequence[bytes]
    ) -> Iterator[None]:
        """Hold these for one statement, numbered from the position `first` on; `columns` are by EVENT_COLUMNS."""
        values = (np.arange(first, first + len(records)), game_numbers, *columns, records)
        arrays = [pa.array(column, field.type) for column, field in zip(values, _SCHEMA, strict=True)]
        self._batches = [pa.record_batch(arrays, schema=_SCHEMA)]
        try:
            yield
        finally:
            self._batches = []

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """What it holds, once more from its beginning, as the Arrow PyCapsule interface has it."""
        reader = pa.RecordBatchReader.from_batches(_SCHEMA, self._batches)
        capsule: object = reader.__arrow_c_stream__(requested_schema)  # type: ignore[no-untyped-call]
        return capsule
