"""The log of record behind one interface: what every store promises, and what is passed to it and back.

A store holds, for each game, its records in sequence, and for all games the one order in which they were accepted: the
position, 1, 2, 3 … without gaps, given inside the commit. The promises, each of them a test in `tests/contract`:

- `append` is one durable commit of any number of batches. When it returns they are on disk; when it raises, nothing of
  any of them is there. A batch whose game has another head than the one it names and is chained to is answered with a
  Conflict, changes nothing and never fails its neighbours; batches of one game in one commit follow each other.
- Nothing is visible to any reader before it is durable, and a record is never changed, moved or removed.
- What is read is what was written, byte for byte.
- Readers do not wait for the writer, and each sees one moment from beginning to end.
- All events are the leaves of one Merkle tree (`heptalog.replay.evidence.merkle`), and `tree_head` is that of a log
  that is durable. What is durable never changes, so a tile or a root of an earlier size needs no moment of its own.
- `append` is called from one thread at a time; everything else from any thread.

A shared log on another engine keeps the same promises behind the same interface; nothing here names an engine.
"""

from collections.abc import Generator, Sequence
from typing import Protocol, TypeAlias, TypeVar

from msgspec import Struct

from heptalog.replay.errors import Conflict
from heptalog.replay.events import Event, GameStarted
from heptalog.replay.fold import Status as Status  # what an ending says

NO_GAME = -1  # what a batch expects where there must be no such game yet


class Entry(Struct, frozen=True, gc=False):
    """One event to record: its exact bytes, chain included, and what they say."""

    record: bytes
    event: Event


class Ending(Struct, frozen=True, gc=False):
    """A change of a game's status by one of its events: it ended, or a takeback reopened it. Derived, for readers."""

    sequence: int
    status: Status
    scores: tuple[int, ...]
    winners: tuple[int, ...]


class Batch(Struct, frozen=True, gc=False):
    """Events of one game, recorded whole or not at all, after the sequence that is expected to be its last."""

    game_id: str
    expected: int
    entries: tuple[Entry, ...]
    endings: tuple[Ending, ...] = ()


class Head(Struct, frozen=True, gc=False):
    """The last durable event of a game. `position` is its place among all events of all games."""

    sequence: int
    hash: bytes
    position: int


class Stored(Struct, frozen=True, gc=False):
    """One record as it is read back."""

    position: int
    game_id: str
    sequence: int
    record: bytes


T = TypeVar("T")
# What is on its way to a reader, who may close it early: even before its beginning it lets go of the moment it holds.
Reading: TypeAlias = Generator[T, None, None]
Records: TypeAlias = Reading[Stored]


class Refusal(Struct, frozen=True):
    """An event that the rules did not allow: who asked, when, for what, and which rule said no."""

    game_id: str
    sequence: int  # it would have had
    refused_at: int  # nanoseconds since 1970 UTC
    recorded_by: str
    kind: str  # of the event, as in a game file
    code: str
    rule: str
    content: bytes  # the event as it was asked for, in canonical protobuf


class TreeHead(Struct, frozen=True):
    """The Merkle tree over all events at one size: how many there are, which is the last position, and their root."""

    size: int
    root: bytes


class Checkpoint(Struct, frozen=True):
    """A signed tree head: the whole note, and the size that it says."""

    size: int
    note: str


class GameEntry(Struct, frozen=True):
    """One game as a list shows it.

    Where its first record cannot be read here, because it is newer or damaged, the options in `started` are `Options`
    of no game, and the rest is what the store keeps beside the record.
    """

    game_id: str
    ruleset: str
    rules_version: int
    started: GameStarted
    created_at: int  # nanoseconds since 1970 UTC
    status: Status
    head: Head


class NumberedGame(GameEntry, frozen=True):
    """The same in its store, where its number orders it by creation, and grows with time."""

    number: int


class GameFilter(Struct, frozen=True):
    """Which games a list shows; everything that is set must hold. Times are nanoseconds, `created_before` exclusive.

    `player` is the id or the whole name of one who plays, `player_id` an id alone.
    """

    ruleset: str = ""
    player_id: str = ""
    player: str = ""
    tournament: str = ""
    status: Status | None = None
    created_from: int = 0
    created_before: int = 0

    def fits(self, entry: GameEntry) -> bool:
        """Whether a list shows this game."""
        return (
            self.ruleset in ("", entry.ruleset)
            and (not self.player_id or any(player.id == self.player_id for player in entry.started.players))
            and (not self.player or any(self.player in (each.id, each.name) for each in entry.started.players))
            and self.tournament in ("", entry.started.tournament)
            and self.status in (None, entry.status)
            and (not self.created_from or entry.created_at >= self.created_from)
            and (not self.created_before or entry.created_at < self.created_before)
        )


class LogStore(Protocol):
    """The log of record. Calls raise Unavailable where a store cannot do its work now, Corrupt where it is damaged."""

    @property
    def is_broken(self) -> bool:
        """Whether it can do no work any more, until it is opened anew."""
        ...

    def append(self, batches: Sequence[Batch], refusals: Sequence[Refusal] = ()) -> list[Head | Conflict]:
        """Commit all of this durably; for each batch the new head of its game, or why it was left out.

        A Conflict is SEQUENCE_MISMATCH with the facts `expected`, `actual` (NO_GAME where there is none) and
        `head_hash` in hex, or GAME_EXISTS where no game was expected and there is one.
        """
        ...

    def head(self, game_id: str) -> Head | None:
        """The head of a game, or None where there is no such game."""
        ...

    def heads(self) -> Reading[tuple[str, Head]]:
        """Every game's id and head, in the order of creation."""
        ...

    def position(self) -> int:
        """The position of the last event of all; 0 where there is none."""
        ...

    def read_game(
        self, game_id: str, *, start: int | None = None, limit: int = 0, is_backwards: bool = False
    ) -> Records:
        """One game's records from the sequence `start` on (absent: its beginning, or its head backwards).

        `limit` 0 is all. Nothing where there is no such game or nothing there.
        """
        ...

    def read_games(self, game_ids: Sequence[str]) -> Records:
        """The records of several games, each whole and in sequence, one game after the other in the order given.

        For who reads many games: far fewer questions than one by one. A game that is not there has no records.
        """
        ...

    def read_all(self, *, start: int | None = None, limit: int = 0, is_backwards: bool = False) -> Records:
        """All games' records by position from `start` on (absent: the beginning, or the end backwards); 0 is all."""
        ...

    def game(self, game_id: str) -> NumberedGame | None:
        """One game as a list shows it."""
        ...

    def games(self, wanted: GameFilter, *, after: int = 0, limit: int = 100) -> list[NumberedGame]:
        """The games that fit, in the order of creation, those with a greater number than `after`; `limit` 0 is all."""
        ...

    def game_names(self, wanted: GameFilter, *, after: int = 0, limit: int = 100) -> list[tuple[int, str]]:
        """The numbers and ids of the same games: none of their events is read, so a damaged one hides no other."""
        ...

    def endings(self, game_id: str) -> Reading[Ending]:
        """Every change of a game's status, in sequence."""
        ...

    def endings_of(self, game_ids: Sequence[str]) -> dict[str, tuple[Ending, ...]]:
        """The same of several games; one that is not there, or that goes on, has none."""
        ...

    def refusals(self, game_id: str = "", *, after: int = 0) -> Reading[Refusal]:
        """What was refused, oldest first, without the first `after` of them; of one game, or of all."""
        ...

    def refusal_count(self) -> int:
        """How many refusals there are."""
        ...

    def tree_head(self) -> TreeHead:
        """The Merkle tree over all that is durable."""
        ...

    def tile(self, level: int, index: int, width: int) -> list[bytes]:
        """The first `width` entries, at most 256, of a tile: complete subtrees of 256**level leaves each.

        Entry i is the hash of the one with the number 256 * index + i. Raises NotFound (POSITION_AFTER_HEAD) where not
        all of them are complete.
        """
        ...

    def keep_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Keep it durably. A later note of the same size takes the place of an earlier one for who reads."""
        ...

    def checkpoints(self, *, after: int = 0) -> Reading[Checkpoint]:
        """The checkpoints of a greater size than `after`, ascending, one of each size.

        Not those that hold no longer, because events were lost and somebody let the log go on without them.
        """
        ...

    def void_names(self) -> frozenset[str]:
        """The names under which checkpoints were signed that hold no longer; the log signs under none of them."""
        ...

    def rest(self) -> None:
        """Use a moment in which nobody appends to put things in order. Raises Unavailable where that fails."""
        ...

    def close(self) -> None:
        """Let go of everything. Calling it again does nothing."""
        ...
