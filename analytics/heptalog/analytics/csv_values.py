"""Values as CSV has them, the same whether the engine writes them or Python does.

Times are those of RFC 3339 with six digits of a second and a Z where they have a zone, which is always UTC; what is
nested is JSON, bytes are hexadecimal, intervals are ISO 8601, and a number that is none is empty, as JSON has null.
"""

from datetime import datetime, timedelta
from math import isfinite
from types import MappingProxyType
from typing import Final

import msgspec

from heptalog.analytics.tables import Column

_IN_SQL: Final = MappingProxyType(
    {
        "TIMESTAMP WITH TIME ZONE": "strftime({name} AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ')",
        "BLOB": "lower(hex({name}))",
        "DOUBLE": "CASE WHEN isfinite({name}) THEN {name} END",
    }
)
_NESTED: Final = "to_json({name})::VARCHAR"


def value_in_sql(column: Column) -> str:
    """The expression that gives a column as CSV is to have it, where the engine writes it."""
    is_nested = column.type.endswith("[]") or column.type.startswith("STRUCT")
    return (_NESTED if is_nested else _IN_SQL.get(column.type, "{name}")).format(name=column.name)


def value_in_text(value: datetime | timedelta | float) -> str | None:
    """A value that Python would write in another way than CSV is to have it; None is empty."""
    if isinstance(value, datetime):
        text = value.replace(tzinfo=None).isoformat(timespec="microseconds")
        return text if value.tzinfo is None else f"{text}Z"
    if isinstance(value, timedelta):
        return msgspec.to_builtins(value)  # type: ignore[no-any-return]  # a string in ISO 8601
    return str(value) if isfinite(value) else None
