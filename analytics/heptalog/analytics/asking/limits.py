"""How far one question may go."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from heptalog.replay.errors import Code, Malformed

# A longer statement is no person's, and costs the parser more than its rows would.
STATEMENT_SIZE_MAX: Final = 100_000
# The pieces of an answer: well below what one gRPC message may be.
PIECE_SIZE_MAX: Final = 1 << 20
# From where to where a limit can be: what the clock, the operating system and the engine can count. With no time, no
# memory or no rows a question fails as one does that takes too much.
_RANGES: Final[Mapping[str, tuple[int, int]]] = MappingProxyType(
    {
        "seconds": (0, 366 * 86_400),
        "memory_bytes": (0, 1 << 60),
        "rows": (0, 1 << 60),
        "result_bytes": (0, 1 << 60),
        "threads": (1, 1 << 12),
    }
)


class Limits(Struct, frozen=True):
    """How far one question may go; one that would go further fails, and is never cut short.

    `seconds` is all the time until the answer is whole, with what its reader takes to read it. `memory_bytes` is what
    the worker may take beyond what it was born with. `result_bytes` counts the Arrow stream.
    """

    seconds: float = 30.0
    memory_bytes: int = 1 << 30
    rows: int = 10_000_000
    result_bytes: int = 1 << 30
    threads: int = 1


def check(limits: Limits) -> None:
    """Raise Malformed QUERY_INVALID for a limit that is none, such as not-a-number seconds."""
    for name, (least, most) in _RANGES.items():
        # What is no number is not between any two.
        if not least <= getattr(limits, name) <= most:
            raise Malformed(Code.QUERY_INVALID, problem=f"the limit {name} is not between {least:,} and {most:,}")
