"""An answer in rows and columns as bytes, in every form that programs read; always a piece at a time.

No form looks whole where the answer is not: the list of JSON stays open, Parquet has no footer, and Arrow announces a
message that does not come. Lines of CSV and JSON have no end of their own; there the exit code tells.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from io import RawIOBase
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Final, TypeAlias, cast

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from heptalog.cli.exits import WrongUse
from heptalog.cli.options import TableForm
from heptalog.cli.output import csv_line
from heptalog.cli.render import csv_cells, row_json
from heptalog.cli.replies import Reply

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

Pieces: TypeAlias = Callable[[Reply], Iterator[bytes]]

# What is written at once: lines, and a row group of Parquet, which is read fast and can still be held.
_LINES: Final = 1000
_GROUP_ROWS: Final = 122_880
_GROUP_BYTES: Final = 64 << 20
# It announces a message of Arrow of so many bytes, and is the end.
_TORN: Final = b"\xff\xff\xff\xff\xff\xff\xff\x7f"

_encoder: Final = msgspec.json.Encoder()


def pieces_of(reply: Reply, form: TableForm) -> Iterator[bytes]:
    """An answer in a form for programs. Raises what reading it raises, WrongUse for a type that the form has not."""
    return _FORMS[form](reply)


def torn(form: TableForm) -> bytes:
    """What follows pieces that are not all, so that nobody takes them for an answer."""
    if form is TableForm.ARROW:
        return _TORN
    return b"\n" if form is TableForm.JSON else b""


def form_named(path: Path) -> TableForm | None:
    """The form that the name of a file asks for."""
    suffix = path.suffix.removeprefix(".").lower()
    return next((form for form in _FORMS if form == suffix), None)


def _csv(reply: Reply) -> Iterator[bytes]:
    yield f"{csv_line(reply.columns)}\n".encode()
    yield from _joined(f"{csv_line(csv_cells(row))}\n".encode() for row in reply.rows())


def _json_lines(reply: Reply) -> Iterator[bytes]:
    columns = reply.columns
    yield from _joined(_encoder.encode(row_json(columns, row)) + b"\n" for row in reply.rows())


def _json(reply: Reply) -> Iterator[bytes]:
    """One list, which is closed once all of it is there."""
    columns = reply.columns
    opening = b"["
    for lines in _joined(b",\n" + _encoder.encode(row_json(columns, row)) for row in reply.rows()):
        yield opening + lines[bool(opening) :]
        opening = b""
    yield b"[]\n" if opening else b"\n]\n"


def _arrow(reply: Reply) -> Iterator[bytes]:
    sink = _Sink()
    writer = pa.ipc.new_stream(sink, reply.schema)
    for batch in reply.batches():
        writer.write_batch(batch)
        yield sink.taken()
    writer.close()
    yield sink.taken()


def _parquet(reply: Reply) -> Iterator[bytes]:
    sink = _Sink()
    try:
        writer = _parquet_writer(sink, reply.schema)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
        raise WrongUse(_unfit(reply.schema)) from error
    for group in _groups(reply.batches()):
        writer.write_table(pa.Table.from_batches(group, reply.schema))
        yield sink.taken()
    writer.close()
    yield sink.taken()


def _parquet_writer(sink: "_Sink", schema: pa.Schema) -> pq.ParquetWriter:
    return pq.ParquetWriter(cast("IO[bytes]", sink), schema, compression="zstd")


def _groups(batches: Iterable[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    """The batches, as many together as make a row group."""
    group: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        group.append(batch)
        rows += batch.num_rows
        size += batch.nbytes
        if rows >= _GROUP_ROWS or size >= _GROUP_BYTES:
            yield group
            group, rows, size = [], 0, 0
    if group:
        yield group


def _unfit(schema: pa.Schema) -> str:
    """Which column no file of Parquet can hold."""
    for field in schema:
        try:
            _parquet_writer(_Sink(), pa.schema([field])).close()
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            return f"the column {field.name} cannot be written as Parquet ({field.type}): CAST it, or take another form"
    raise AssertionError("each of its columns can be written alone")


def _joined(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Many lines at a time."""
    lines = iter(lines)
    while piece := b"".join(islice(lines, _LINES)):
        yield piece


class _Sink(RawIOBase):
    """A file that is written into, and from which is taken what has been written."""

    def __init__(self) -> None:
        self._written: list[bytes] = []
        self._position = 0

    def writable(self) -> bool:
        return True

    def write(self, data: "ReadableBuffer") -> int:
        piece = bytes(data)
        self._written.append(piece)
        self._position += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._position

    def taken(self) -> bytes:
        """What was written since it was last asked."""
        data = b"".join(self._written)
        self._written.clear()
        return data


_FORMS: Final[Mapping[TableForm, Pieces]] = MappingProxyType(
    {
        TableForm.CSV: _csv,
        TableForm.JSON: _json,
        TableForm.JSONL: _json_lines,
        TableForm.PARQUET: _parquet,
        TableForm.ARROW: _arrow,
    }
)
