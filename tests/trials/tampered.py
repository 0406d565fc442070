"""A whole log in memory, as rows that can be changed, and an audit of it without a database: a thousandth of a second.

The rows are those that an audit reads out of a real database, and `written` puts them into one, so that what is found
here can be held against what is found there.
"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar, Final, TypeAlias

import duckdb
from msgspec import Struct
from msgspec.structs import replace

from heptalog.cli.auditing import AuditedDatabase, Auditor
from heptalog.replay.errors import Code, Malformed
from heptalog.replay.evidence.checkpoints import checkpoint_in
from heptalog.replay.evidence.notes import VerifierKey
from heptalog.service.auditing.audit import Audit, done
from heptalog.service.auditing.findings import Finding, found
from heptalog.service.auditing.progress import Bound, Progress
from heptalog.service.auditing.sources import Claim, Given
from heptalog.service.auditing.spans import claimed
from heptalog.service.store import TreeHead
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.duck_kept import BUCKET_WIDTH, KeptIncident, KeptRefusal, Shape
from heptalog.service.store.duck_schema import Difference
from heptalog.service.store.heads import head_path, make_head, read_head
from heptalog.service.store.kept import EVENT_COLUMNS, GAME_COLUMNS, KeptEnding, KeptEvent, KeptGame
from heptalog.service.store.opening import checkpoint_path

Row: TypeAlias = tuple[Any, ...]

NAMES: Final[dict[str, tuple[str, ...]]] = {
    "events": ("position", "game_number", "event", *EVENT_COLUMNS),
    "games": ("game_number", *GAME_COLUMNS),
    "endings": ("game_number", "sequence", "status", "scores", "winners", "recorded_at"),
    "tree": ("level", "index", "hash"),
    "checkpoints": ("checkpoint_number", "size", "note"),
    "refusals": ("refusal_number", *KeptRefusal._fields[1:]),
}
_WHOLE: Final = (-(2**63), 2**63 - 1)
_KEPT_AT: Final = 1_790_000_000_000_000


class Log(Struct, frozen=True):
    """The tables of a log, its head record, and the checkpoint beside it."""

    tables: dict[str, tuple[Row, ...]]
    head: TreeHead | None
    note: str | None

    def rows(self, table: str) -> tuple[Row, ...]:
        """The rows of a table."""
        return self.tables[table]

    def with_rows(self, **tables: Sequence[Row]) -> "Log":
        """The log with other rows in some tables."""
        return replace(self, tables=self.tables | {name: tuple(rows) for name, rows in tables.items()})

    def with_row(self, table: str, index: int, *rows: Row) -> "Log":
        """The log with these rows in place of one."""
        before = self.tables[table]
        return self.with_rows(**{table: (*before[:index], *rows, *before[index + 1 :])})

    def with_value(self, table: str, index: int, column: str, value: object) -> "Log":
        """The log with another value in one place."""
        row = self.tables[table][index]
        place = NAMES[table].index(column)
        return self.with_row(table, index, (*row[:place], value, *row[place + 1 :]))


def read(database: Path) -> Log:
    """The log in a database."""
    store = DuckStore(database, is_read_only=True)
    with closing(store.kept()) as kept:
        tables: dict[str, Sequence[Row]] = {
            "events": [tuple(row) for row in kept.events(*_WHOLE)],
            "games": [(row.number, *row.columns) for row in kept.games(*_WHOLE)],
            "endings": [(row.number, *row.columns) for row in kept.endings(*_WHOLE)],
            "tree": [(level, *row) for level in kept.tree_shape() for row in kept.tree(level, *_WHOLE)],
            "checkpoints": list(kept.checkpoints(*_WHOLE)),
            "refusals": [tuple(row) for row in kept.refusals()],
        }
    store.close()
    head = read_head(head_path(database))
    path = checkpoint_path(database)
    return Log(
        {name: tuple(rows) for name, rows in tables.items()},
        None if head is None else head.tree,
        path.read_text() if path.exists() else None,
    )


def audited(log: Log, *, keys: Sequence[VerifierKey] = (), outside: Sequence[str] = ()) -> list[Finding]:
    """All that an audit finds in it; `outside` are checkpoints that somebody else has kept."""
    findings: list[Finding] = []
    source = Rows(log)
    last, count = source.extent()
    claims = _beside(log, keys, findings)
    for note in outside:
        claims += _said(note, "outside", keys, findings)
    audit = Audit(lambda: source, Given(tuple(claims), tuple(keys)), Progress(Bound("", count, last, b"", (), b"")))
    findings += audit.begin()
    for work in audit.works():
        findings += audit.take(done(source, work, keys))
    return findings + audit.end()


def written(log: Log, before: Log, template: Path, folder: Path) -> Path:
    """The log in a database of its own, made from that of the log that it was changed from."""
    path = folder / "tampered.duckdb"
    shutil.copy(template, path)
    with duckdb.connect(path) as connection:
        connection.execute("BEGIN")
        for name, rows in log.tables.items():
            if rows != before.tables[name]:
                connection.execute(f"DELETE FROM log.{name}")
                for row in rows:
                    connection.execute(_INSERTS[name], row)
        connection.execute("COMMIT")
    head_path(path).unlink(missing_ok=True)
    if log.head is not None:
        make_head(head_path(path), log.head, 0)
    checkpoint_path(path).unlink(missing_ok=True)
    if log.note is not None:
        checkpoint_path(path).write_text(log.note)
    return path


def audited_file(path: Path, *, keys: Sequence[VerifierKey] = (), outside: Sequence[Path] = ()) -> list[Finding]:
    """All that an audit of a real database finds."""
    with Auditor(AuditedDatabase(path), outside, keys, state=None) as auditor:
        return [finding for finding in auditor.findings(jobs=1) if finding is not None]


_INSERTS: Final = {
    "events": "INSERT INTO log.events SELECT $1, $2, $4, $5, $6, $7, make_timestamptz($8::BIGINT), "
    "make_timestamptz($9::BIGINT), $10, $3",
    "games": "INSERT INTO log.games SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, make_timestamptz($10::BIGINT), $11, $12",
    "endings": "INSERT INTO log.endings SELECT $1, $2, $3, $4, $5, make_timestamptz($6::BIGINT)",
    "tree": "INSERT INTO log.tree SELECT $1, $2, $3",
    "checkpoints": f"INSERT INTO log.checkpoints SELECT $1, $2, $3, make_timestamptz({_KEPT_AT})",
    "refusals": "INSERT INTO log.refusals SELECT $1, $2, $3, make_timestamptz($4::BIGINT), $5, $6, $7, $8, $9, $10",
}


def _beside(log: Log, keys: Sequence[VerifierKey], findings: list[Finding]) -> list[Claim]:
    """What stands beside the log, as `heptalog.service.auditing.beside` says it of files."""
    claims = []
    if log.head is None:
        findings.append(found(Code.HEAD_MISSING, path="head"))
    else:
        claims.append(Claim(log.head.size, log.head.root, Code.HEAD_DIFFERS, path="head"))
    if log.note is not None:
        claims += [replace(claim, is_kept=True) for claim in _said(log.note, "checkpoint", keys, findings)]
    return claims


def _said(note: str, path: str, keys: Sequence[VerifierKey], findings: list[Finding]) -> Iterator[Claim]:
    """What a checkpoint says that stands in a file."""
    try:
        size = checkpoint_in(note).size
    except Malformed:
        size = 0
    told: list[Finding] = []
    for claim in claimed(iter([(0, size, note)]), keys, told.append):
        yield replace(claim, table=None, number=None, path=path)
    findings += [replace(finding, table=None, column=None, number=None, path=path) for finding in told]


class Rows:
    """The rows of a log as a source for an audit: what `Kept` says in SQL, in Python."""

    has_columns: ClassVar[bool] = True

    def __init__(self, log: Log) -> None:
        self._log = log
        self._events = sorted(log.rows("events"), key=lambda row: (row[1], row[0]))

    def begin_anew(self) -> bool:
        return True

    def extent(self) -> tuple[int, int]:
        positions = [row[0] for row in self._events]
        return max(positions, default=0), len(positions)

    def spans(self, width: int) -> list[tuple[int, int]]:
        return _counts((row[0] - 1) // width for row in self._events if row[0] > 0)

    def strays(self, limit: int) -> list[Row]:
        return [(row[0], row[1], row[3]) for row in self._events if row[0] < 1][:limit]

    def links(self, low: int, high: int) -> Iterator[tuple[int, bytes]]:
        return iter(sorted((row[0], row[2][36:68]) for row in self._events if low <= row[0] <= high))

    def tree_shape(self) -> dict[int, Shape]:
        levels = sorted({row[0] for row in self._log.rows("tree")})
        return {level: _shape([row[1] for row in self._log.rows("tree") if row[0] == level]) for level in levels}

    def tree(self, level: int, low: int, high: int) -> Iterator[tuple[int, bytes]]:
        rows = [row[1:] for row in self._log.rows("tree") if row[0] == level and low <= row[1] <= high]
        return iter(sorted(rows, key=lambda row: row[0]))

    def checkpoints(self, low: int, high: int) -> Iterator[tuple[int, int, str]]:
        rows = [row for row in self._log.rows("checkpoints") if low <= row[1] <= high]
        return iter(sorted(rows, key=lambda row: (row[1], row[0])))

    def checkpoint_shape(self) -> Shape:
        return _shape([row[0] for row in self._log.rows("checkpoints")])

    def refusals(self) -> Iterator[KeptRefusal]:
        return map(KeptRefusal._make, sorted(self._log.rows("refusals"), key=lambda row: row[0]))

    def incidents(self) -> list[KeptIncident]:
        return []

    def differences(self) -> list[Difference]:
        return []

    def buckets(self, table: str) -> list[tuple[int, int]]:
        numbers = [row[NAMES[table].index("game_number")] for row in self._log.rows(table)]
        return _counts(number // BUCKET_WIDTH * BUCKET_WIDTH for number in numbers)

    def game_count(self) -> int:
        return len(self._log.rows("games"))

    def games(self, low: int, high: int) -> list[KeptGame]:
        rows = [row for row in self._log.rows("games") if low <= row[0] <= high]
        return [KeptGame(row[0], row[1:]) for row in sorted(rows, key=lambda row: row[0])]

    def endings(self, low: int, high: int) -> list[KeptEnding]:
        rows = [row for row in self._log.rows("endings") if low <= row[0] <= high]
        return [KeptEnding(row[0], row[1:]) for row in sorted(rows, key=lambda row: row[:2])]

    def events(self, low: int, high: int) -> Iterator[KeptEvent]:
        return (KeptEvent._make(row) for row in self._events if low <= row[1] <= high)

    def without_number(self, limit: int) -> tuple[list[str], int]:
        return [], 0


def _counts(numbers: Iterator[int]) -> list[tuple[int, int]]:
    counts: dict[int, int] = {}
    for number in numbers:
        counts[number] = counts.get(number, 0) + 1
    return sorted(counts.items())


def _shape(numbers: Sequence[int]) -> Shape:
    if not numbers:
        return Shape(0, 0, 1, 0)
    return Shape(len(numbers), len(set(numbers)), min(numbers), max(numbers))
