"""The answer of the engine with values that Arrow has: what does not fit fails, and is never told as something else."""

from collections.abc import Callable
from typing import Final

import duckdb
from duckdb.sqltypes import DuckDBPyType

# Counts and sums are as wide as the engine can make them, and Arrow has no such integer: it would be told as a decimal
# of 38 digits, which programs read as objects, and what needs more than those would come out as another number.
_WIDE: Final = {"hugeint": "BIGINT", "uhugeint": "BIGINT"}
# Beside months and days the engine counts microseconds in 64 bits and Arrow nanoseconds, and nobody looks whether they
# fit. All of them are in these three parts.
_FITTING: Final = (
    "date_part('hour', {0}) * 3600000000 + date_part('minute', {0}) * 60000000 + date_part('microsecond', {0}) "
    "BETWEEN -9223372036854775 AND 9223372036854775"
)
_TOO_LONG: Final = "an interval of it has 292 years or more in hours, which Arrow has not: it can be cast to VARCHAR"


class Narrowed:
    """The same rows as those of a relation, with values that Arrow has; one that does not fit raises when it is met."""

    def __init__(self, relation: duckdb.DuckDBPyRelation) -> None:
        told = [_told(f"#{number}", kind) for number, kind in enumerate(relation.types, 1)]
        self._is_same = not any(told)
        if self._is_same:
            self.relation = relation
            return
        columns = [
            f"{value or f'#{number}'} AS {_quoted(name)}"
            for number, (name, value) in enumerate(zip(relation.columns, told, strict=True), 1)
        ]
        self.relation = relation.project(", ".join(columns))

    def start_of(self, sql: str) -> int | None:
        """Where the statement begins in what the engine is given, in bytes; None where it is not there as it was."""
        if self._is_same:
            return 0
        # A query is read up to its semicolon.
        start = self.relation.sql_query().encode().find(sql.rstrip("; \t\r\n").encode())
        return None if start < 0 else start


def _told(value: str, kind: DuckDBPyType) -> str | None:
    """The value as it is told; None where it can stay as it is."""
    narrow, fitting = _narrow(kind), _fitting(value, kind)
    told = f"CAST({value} AS {narrow})" if narrow else value
    if fitting:
        return f"CASE WHEN ({fitting}) IS FALSE THEN error('{_TOO_LONG}') ELSE {told} END"
    return told if narrow else None


def _narrow(kind: DuckDBPyType) -> str | None:
    """The type as which a value is told; None where it can stay as it is."""
    if (narrow := _WIDE.get(kind.id)) is not None:
        return narrow
    types = _parts(kind)
    narrowed_types = [_narrow(part) for _, part in types]
    if not any(narrowed_types):
        return None
    told = [narrow or str(part) for narrow, (_, part) in zip(narrowed_types, types, strict=True)]
    match kind.id:
        case "list":
            return f"{told[0]}[]"
        case "array":
            return f"{told[0]}[{dict(kind.children)['size']}]"
        case "struct":
            named = zip(types, told, strict=True)
            return f"STRUCT({', '.join(f'{_quoted(name)} {part}' for (name, _), part in named)})"
        case _:
            return f"{kind.id}({', '.join(told)})"


def _fitting(value: str, kind: DuckDBPyType, depth: int = 0) -> str | None:
    """The condition, false where an interval in a value does not fit; None where there is none in its type."""
    if kind.id == "interval":
        return _FITTING.format(value)
    conditions = [
        condition
        for place, (_, part) in enumerate(_parts(kind))
        if (condition := _PARTS_FITTING[kind.id](value, place, part, depth)) is not None
    ]
    return " AND ".join(f"({condition})" for condition in conditions) or None


def _all_fitting(values: str, kind: DuckDBPyType, depth: int) -> str | None:
    one = f"value_{depth}"
    condition = _fitting(one, kind, depth + 1)
    return condition and f"NOT list_contains(list_transform({values}, lambda {one}: {condition}), false)"


def _in_list(value: str, _: int, part: DuckDBPyType, depth: int) -> str | None:
    return _all_fitting(value, part, depth)


def _in_struct(value: str, place: int, part: DuckDBPyType, depth: int) -> str | None:
    return _fitting(f"struct_extract_at({value}, {place + 1})", part, depth)


def _in_map(value: str, place: int, part: DuckDBPyType, depth: int) -> str | None:
    return _all_fitting(f"{('map_keys', 'map_values')[place]}({value})", part, depth)


_PARTS_FITTING: Final[dict[str, Callable[[str, int, DuckDBPyType, int], str | None]]] = {
    "list": _in_list,
    "array": _in_list,
    "struct": _in_struct,
    "tuple": _in_struct,
    "map": _in_map,
}


def _parts(kind: DuckDBPyType) -> list[tuple[str, DuckDBPyType]]:
    """The types that a type is made of, with their names."""
    if kind.id not in _PARTS_FITTING:
        return []
    # An array has its length beside its type.
    return [(name, part) for name, part in kind.children if isinstance(part, DuckDBPyType)]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
