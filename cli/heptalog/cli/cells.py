"""Values of an answer as Python has them: what `render` puts into CSV and JSON."""

from collections.abc import Callable, Iterator
from datetime import UTC, timedelta
from itertools import repeat
from typing import Any, Final, TypeAlias

import pyarrow as pa

from heptalog.cli.exits import WrongUse

Change: TypeAlias = Callable[[Any], Any]

_DAYS_OF_MONTH: Final = 30  # as the engine itself counts where it must


def rows_of(batch: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
    """The rows of a batch. Raises WrongUse for a type that is none of SQL's common ones."""
    if not batch.num_columns:
        return repeat((), batch.num_rows)
    columns = (_values(field.name, column) for field, column in zip(batch.schema, batch.columns, strict=True))
    return zip(*columns, strict=True)


def _values(name: str, column: "pa.Array[Any]", *, is_strict: bool = False) -> list[Any]:
    change = _change(name, column.type)
    try:
        values = _microseconds(column).to_pylist()
    except (OverflowError, ValueError):
        if is_strict:
            raise
        # Python has no year before 1 or after 9999, and nothing without end.
        return [_one(name, value) for value in column]
    return values if change is None else [None if value is None else change(value) for value in values]


def _microseconds(column: "pa.Array[Any]") -> "pa.Array[Any]":
    """Times as precise as Python has them. Arrow would make of others what it can: with pandas else than without."""
    kind = _coarser(column.type)
    return column if kind == column.type else column.cast(kind, safe=False)


def _coarser(kind: pa.DataType) -> pa.DataType:
    """A type with microseconds where it has nanoseconds."""
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return pa.timestamp("us", kind.tz)
    if pa.types.is_time64(kind) and kind.unit == "ns":
        return pa.time64("us")
    if pa.types.is_list(kind):
        return pa.list_(_coarser(kind.value_type))
    if pa.types.is_fixed_size_list(kind):
        fixed: pa.DataType = pa.list_(_coarser(kind.value_type), kind.list_size)
        return fixed
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_coarser(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(_coarser(kind.key_type), _coarser(kind.item_type))
    return kind


def _change(name: str, kind: pa.DataType) -> Change | None:
    """What is to be done with each value of a type; None where it is as it should be."""
    if isinstance(kind, pa.BaseExtensionType):
        raise _unshown(name)
    if pa.types.is_timestamp(kind):
        return None if kind.tz in (None, "UTC") else lambda time: time.astimezone(UTC)
    if pa.types.is_interval(kind):
        return _duration
    if pa.types.is_map(kind):
        return _mapping(_change(name, kind.item_type))
    if pa.types.is_struct(kind):
        fields = {field.name: _change(name, field.type) for field in kind}
        return _fields(fields) if any(fields.values()) else None
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        inner = _change(name, kind.value_type)
        return None if inner is None else _items(inner)
    return None


def _duration(interval: Any) -> timedelta:
    months, days, nanoseconds = interval
    return timedelta(days=months * _DAYS_OF_MONTH + days, microseconds=nanoseconds // 1000)


def _mapping(change: Change | None) -> Change:
    # A key can be a list, which no key of Python's can be.
    return lambda pairs: {
        str(key) if isinstance(key, list | dict) else key: _changed(change, item) for key, item in pairs
    }


def _fields(changes: dict[str, Change | None]) -> Change:
    return lambda struct: {name: _changed(changes[name], item) for name, item in struct.items()}


def _items(change: Change) -> Change:
    return lambda items: [_changed(change, item) for item in items]


def _changed(change: Change | None, value: Any) -> Any:
    return value if change is None or value is None else change(value)


def _one(name: str, value: "pa.Scalar[Any]") -> Any:
    """A value of a column in which some are none of Python's; those are text."""
    kind = value.type
    if not value.is_valid:
        return None
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return [_one(name, item) for item in value]  # type: ignore[attr-defined]  # a list can be iterated
    if pa.types.is_struct(kind):
        return {field: _one(name, item) for field, item in value.items()}  # type: ignore[attr-defined]  # so can a struct
    try:
        alone: pa.Array[Any] = pa.repeat(value, 1)  # type: ignore[call-overload]  # the stubs want one kind of scalar
        return _values(name, alone, is_strict=True)[0]
    except (OverflowError, ValueError):
        return _beyond(name, value)


def _beyond(name: str, value: "pa.Scalar[Any]") -> str:
    """A date or a time that Python has no value for."""
    if not pa.types.is_temporal(value.type):
        raise _unshown(name)
    is_date = pa.types.is_date32(value.type)
    whole = value.cast(pa.int32() if is_date else pa.int64()).as_py()
    if abs(whole) == (2**31 if is_date else 2**63) - 1:
        return "infinity" if whole > 0 else "-infinity"
    return str(value.cast(pa.string()).as_py())


def _unshown(name: str) -> WrongUse:
    return WrongUse(f"the column {name} has values that cannot be shown as they are: CAST({name} AS VARCHAR)")
