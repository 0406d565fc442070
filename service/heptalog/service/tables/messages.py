"""What the server and the process that follows it say to each other, in frames over a socket."""

import socket
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, Generic, TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from heptalog.analytics.snapshots import Snapshot
from heptalog.replay.errors import Code, HeptalogError, error_of
from heptalog.service.store import Refusal

# One piece of the log is about a megabyte; a snapshot names every file of the tables.
FRAME_SIZE_MAX: Final = 64 * 1024 * 1024
_LENGTH_SIZE: Final = 4

Sent = TypeVar("Sent")
Received = TypeVar("Received")


class ReadAll(Struct, frozen=True, tag=True):
    """Asks for all games' records by position; `limit` 0 is all."""

    start: int
    limit: int


class ReadGames(Struct, frozen=True, tag=True):
    """Asks for the records of several games, one after the other."""

    game_ids: tuple[str, ...]


class ReadRefusals(Struct, frozen=True, tag=True):
    """Asks for what was refused, without the first `after` of them."""

    game_id: str
    after: int


class ReadTile(Struct, frozen=True, tag=True):
    """Asks for the first entries of a tile of the Merkle tree over all events."""

    level: int
    index: int
    width: int


class AskEnd(Struct, frozen=True, tag=True):
    """Asks how long the log is."""


class Record(Struct, frozen=True, array_like=True, gc=False):
    """One record as it is sent; many of them are, so without the names of its fields."""

    position: int
    game_id: str
    sequence: int
    record: bytes


class Records(Struct, frozen=True, tag=True):
    """The next records; the last of an answer `is_last`."""

    records: list[Record]
    is_last: bool = False


class Refusals(Struct, frozen=True, tag=True):
    """The next refusals."""

    refusals: list[Refusal]
    is_last: bool = False


class Tile(Struct, frozen=True, tag=True):
    """They are these."""

    entries: list[bytes]


class End(Struct, frozen=True, tag=True):
    """How long the log is."""

    position: int
    refusals: int


class Failed(Struct, frozen=True, tag=True):
    """What was asked for could not be done."""

    code: Code
    rule: str
    facts: Mapping[str, str | int]

    @property
    def error(self) -> HeptalogError:
        """The same as it is raised."""
        return error_of(self.code, rule=self.rule, **self.facts)


class Follow(Struct, frozen=True, tag=True):
    """Tells the follower to apply what comes next, so many events at most."""

    events_max: int


class Take(Struct, frozen=True, tag=True):
    """Tells it to hand out the moment that it has reached."""


class Rest(Struct, frozen=True, tag=True):
    """Tells it to put one thing in order, while nothing else is to be done."""


class Release(Struct, frozen=True, tag=True):
    """Tells it that nobody reads a moment any more."""

    number: int


class Verify(Struct, frozen=True, tag=True):
    """Asks whether all files are what was written."""


class Scrub(Struct, frozen=True, tag=True):
    """Tells it to read about so many bytes of its files again."""

    size: int


class Stop(Struct, frozen=True, tag=True):
    """Tells it to end in order."""


class Followed(Struct, frozen=True, tag=True):
    """How far the tables are, and whether there may be more."""

    position: int
    refusals: int
    has_more: bool


class Built(Struct, frozen=True, tag=True):
    """How far tables are that are made anew."""

    position: int
    head: int


class Taken(Struct, frozen=True, tag=True):
    """A moment, and the number by which it is released."""

    number: int
    snapshot: Snapshot


class Rested(Struct, frozen=True, tag=True):
    """Whether there is more to put in order."""

    has_more: bool


class Verified(Struct, frozen=True, tag=True):
    """Whether they are; where not, the next process begins anew."""

    is_whole: bool


class Scrubbed(Struct, frozen=True, tag=True):
    """How many bytes it has read of how many in a round; where a file is `damaged`, the next process begins anew."""

    read: int
    total: int
    is_over: bool
    damaged: str


class Done(Struct, frozen=True, tag=True):
    """It is done, and there is nothing to say."""


class Alive(Struct, frozen=True, tag=True):
    """Sent now and then in between: it still works."""


Question: TypeAlias = ReadAll | ReadGames | ReadRefusals | ReadTile | AskEnd
Answer: TypeAlias = Records | Refusals | Tile | End | Failed
Command: TypeAlias = Follow | Take | Rest | Release | Verify | Scrub | Stop
Reply: TypeAlias = Followed | Built | Taken | Rested | Verified | Scrubbed | Done | Alive | Failed


class Wire(Generic[Sent, Received]):
    """One end of a socket: sends messages of one kind, receives those of another. Raises OSError where it is cut."""

    def __init__(self, connection: socket.socket, received: Any) -> None:
        """`received` is the union of what may come: no type that a type can be written for."""
        self._connection = connection
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder: msgspec.msgpack.Decoder[Received] = msgspec.msgpack.Decoder(received)

    def send(self, message: Sent) -> None:
        """Send one message; it waits while the other end takes none."""
        data = self._encoder.encode(message)
        self._connection.sendall(len(data).to_bytes(_LENGTH_SIZE, "big") + data)

    def receive(self) -> Received:
        """The next message. Raises EOFError where the other end has closed."""
        size = int.from_bytes(self._exactly(_LENGTH_SIZE), "big")
        if size > FRAME_SIZE_MAX:
            raise ConnectionAbortedError(f"a frame of {size} bytes")
        return self._decoder.decode(self._exactly(size))

    def close(self) -> None:
        """Let go of the socket; whoever waits at either end is told."""
        with suppress(OSError):  # it is cut already
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()

    def _exactly(self, size: int) -> bytes:
        data = bytearray(size)
        view = memoryview(data)
        while view:
            count = self._connection.recv_into(view)
            if not count:
                raise EOFError
            view = view[count:]
        return bytes(data)


def failed(error: HeptalogError) -> Failed:
    """A failure as it is sent."""
    facts = {name: value if isinstance(value, int) else str(value) for name, value in error.facts.items()}
    return Failed(error.code, error.rule, facts)
