"""What a server can be told, and the bounds it keeps."""

import os
import time
import uuid
from collections.abc import Callable
from typing import Final

from msgspec import Struct

EVENTS_PER_APPEND_MAX: Final = 512
EVENTS_PER_GAME_MAX: Final = 100_000  # a fold keeps every state, and no table plays so long
EVENT_SIZE_MAX: Final = 256 * 1024  # bytes of one record
MESSAGE_SIZE_MAX: Final = 4 * 1024 * 1024  # bytes of one gRPC message
ID_LENGTH_MAX: Final = 128  # characters of a game's or an event's id, or of who recorded it
EVENTS_PER_READ: Final = 512  # in one message of ReadEvents
STREAMED_BYTES: Final = 1024 * 1024  # with so much of records or notes a message of a stream is full
READER_THREADS: Final = 4  # that read the log for calls
FEEDER_THREADS: Final = 2  # that read it for feeds
ANSWER_BYTES_MAX: Final = 1024 * 1024 * 1024  # of the answer to one question
PAGE_SIZE: Final = 100
PAGE_SIZE_MAX: Final = 1000
LOG_FORMAT: Final = "%(asctime)s %(levelname)s %(message)s"  # of a line on stderr, whichever process writes it


class Surroundings(Struct, frozen=True):
    """Time and chance, passed in so that tests can choose them."""

    clock: Callable[[], int] = time.time_ns  # nanoseconds since 1970 UTC
    new_id: Callable[[], str] = lambda: str(uuid.uuid4())
    salts: Callable[[], bytes] = lambda: os.urandom(16)


class Settings(Struct, frozen=True):
    """How one server runs."""

    database: str
    host: str = "127.0.0.1"
    port: int = 0  # 0 is any free one
    reserve_bytes: int | None = None  # left free on the disk by appends; absent, the smaller of 512 MiB and a twentieth
    store_memory_bytes: int = 1024 * 1024 * 1024  # of the log that the engine keeps in memory
    group_events_max: int = 2000  # events in one commit
    rest_seconds: float = 2.0  # without appends, then the store may put itself in order
    queue_max: int = 4096  # appends waiting for the writer
    live_events_max: int = 400_000  # events of games kept ready in memory, about 0.6 KB each
    calls_max: int = 1024  # at work at once
    feeds_max: int = 256  # of those, that follow the log
    heartbeat_seconds: float = 10.0  # in which a feed tells something
    grace_seconds: float = 10.0  # for running calls at the end
    checkpoint_seconds: float = 60.0  # between two looks at whether there is something new to sign
    health_seconds: float = 1.0  # between two looks at whether the service can still work
    queries_max: int = 2  # questions at work at once; with 0 no tables are kept and none are answered
    queries_waiting_max: int = 16  # questions waiting for their turn
    query_seconds: float = 30.0  # of work for one question
    query_memory_bytes: int = 1024 * 1024 * 1024
    query_rows_max: int = 10_000_000
    tables_seconds: float = 30.0  # that a question waits for the tables to have what was recorded before it
    tables_round_seconds: float = 86_400.0  # in which every file of the tables is read again; 0 is never
    tables_niceness: int = 10  # of the process that keeps the tables: after who records
    query_niceness: int = 15  # of those that answer questions: after both
