"""Where recorded events come from: a log of ours, here or behind a pipe. Every store of the service is one."""

from collections.abc import Iterator, Sequence
from typing import Protocol


class Recorded(Protocol):
    """One record and its place among all."""

    @property
    def position(self) -> int: ...
    @property
    def game_id(self) -> str: ...
    @property
    def sequence(self) -> int: ...
    @property
    def record(self) -> bytes: ...


class Refused(Protocol):
    """One event that the rules did not allow; times are nanoseconds since 1970 UTC, `content` is canonical protobuf."""

    @property
    def game_id(self) -> str: ...
    @property
    def sequence(self) -> int: ...
    @property
    def refused_at(self) -> int: ...
    @property
    def recorded_by(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def code(self) -> str: ...
    @property
    def rule(self) -> str: ...
    @property
    def content(self) -> bytes: ...


class Source(Protocol):
    """A log that is read. What it has given once it gives again: events are only ever added."""

    def position(self) -> int:
        """The position of the last event of all; 0 where there is none."""
        ...

    def read_all(self, *, start: int | None = None, limit: int = 0) -> Iterator[Recorded]:
        """All games' records by position from `start` on; `limit` 0 is all."""
        ...

    def read_games(self, game_ids: Sequence[str]) -> Iterator[Recorded]:
        """The records of several games, each whole and in sequence, one game after the other in the order given."""
        ...

    def refusals(self, game_id: str = "", *, after: int = 0) -> Iterator[Refused]:
        """What was refused, oldest first, without the first `after` of them; of one game, or of all."""
        ...

    def refusal_count(self) -> int:
        """How many refusals there are."""
        ...


class Log(Source, Protocol):
    """A source that also has the Merkle tree over all of its events (`heptalog.replay.evidence.merkle`)."""

    def tile(self, level: int, index: int, width: int) -> Sequence[bytes]:
        """The first `width` entries of a tile. Raises NotFound where they are not complete; Corrupt."""
        ...
