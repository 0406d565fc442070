"""The answer of the engine as the pieces of one Arrow IPC stream, within its limits."""

import io
from collections.abc import Callable, Iterator
from typing import Any, Final

import duckdb
import pyarrow as pa

from heptalog.analytics.asking.limits import PIECE_SIZE_MAX, Limits
from heptalog.replay.errors import Code, Unavailable

# What one batch of the engine's has: rows can be lists of thousands, and a batch is in memory whole.
_BATCH_ROWS: Final = 2_048
_BATCH_SIZE: Final = PIECE_SIZE_MAX // 2


class Results:
    """Pieces are given to `send` as they fill; `rows` counts what went."""

    def __init__(self, send: Callable[[memoryview], None], limits: Limits) -> None:
        self.rows = 0
        self._bytes = 0
        self._send = send
        self._limits = limits

    def write(self, relation: duckdb.DuckDBPyRelation) -> None:
        """Write all rows of a relation that Arrow can tell. Raises Unavailable RESULT_TOO_LARGE for too many."""
        reader = relation.to_arrow_reader(_BATCH_ROWS)
        pieces = _Pieces(self._take)
        sink = pa.PythonFile(pieces, mode="w")
        with pa.ipc.new_stream(sink, reader.schema) as stream:
            for batch in reader:
                self.rows += batch.num_rows
                if self.rows > self._limits.rows:
                    raise Unavailable(Code.RESULT_TOO_LARGE, rows_max=self._limits.rows)
                for part in _parts(batch):
                    stream.write_batch(part)
        pieces.flush()

    def _take(self, piece: memoryview) -> None:
        self._bytes += len(piece)
        if self._bytes > self._limits.result_bytes:
            raise Unavailable(Code.RESULT_TOO_LARGE, bytes_max=self._limits.result_bytes)
        self._send(piece)


def _parts(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """A batch in parts of about one size; one row can be larger."""
    count = max(1, -(-batch.get_total_buffer_size() // _BATCH_SIZE))
    rows = max(1, -(-batch.num_rows // count))
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)


class _Pieces(io.RawIOBase):
    """A file for Arrow that gives away what is written to it, in pieces of one size."""

    def __init__(self, take: Callable[[memoryview], None]) -> None:
        super().__init__()
        self._take = take
        self._waiting = bytearray()

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, data: Any) -> int:
        """Take bytes, and give away what is a whole piece."""
        with memoryview(data) as view:
            for start in range(0, len(view), PIECE_SIZE_MAX):
                part = view[start : start + PIECE_SIZE_MAX]
                if len(self._waiting) + len(part) > PIECE_SIZE_MAX:
                    self.flush()
                self._waiting += part
            return len(view)

    def flush(self) -> None:
        """Give away what waits."""
        if self._waiting:
            self._take(memoryview(bytes(self._waiting)))
            self._waiting.clear()
