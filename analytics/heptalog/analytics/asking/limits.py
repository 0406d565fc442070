"""How far one question may go."""

from typing import Final

from msgspec import Struct

# A longer statement is no person's, and costs the parser more than its rows would.
STATEMENT_SIZE_MAX: Final = 100_000
# The pieces of an answer: well below what one gRPC message may be.
PIECE_SIZE_MAX: Final = 1 << 20


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
