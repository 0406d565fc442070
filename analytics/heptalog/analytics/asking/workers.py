"""The asker's side: one process for each question, whatever it does, and an answer that is whole or none."""

import contextlib
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Final, Self

from heptalog.analytics.asking import confining
from heptalog.analytics.asking.frames import (
    ARROW,
    DONE,
    FAILED,
    FRAME_SIZE_MAX,
    HEADER,
    ORDER,
    VERDICT,
    Question,
    failure_of,
    question_bytes,
    rows_of,
)
from heptalog.analytics.asking.limits import STATEMENT_SIZE_MAX, Limits, check
from heptalog.analytics.signals import ending
from heptalog.analytics.snapshots import Snapshot
from heptalog.replay.errors import Code, HeptalogError, Malformed, Unavailable

# How long after a deadline the nursery's word on it may take to come.
_GRACE_SECONDS: Final = 5.0
# No other variable is set: no path, no home, no proxy. These keep the libraries from starting threads, and the
# allocator from setting memory aside for each.
_ENVIRONMENT: Final = {
    "OPENBLAS_NUM_THREADS": "1",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "MALLOC_ARENA_MAX": "2",
}
_COMMAND: Final = (sys.executable, "-I", "-m", "heptalog.analytics.asking.nursery")


class Workers:
    """Processes that answer one question each. Safe from several threads; it bounds nothing but each question.

    The first question waits for the nursery, which takes a third of a second to load; `start` begins it.
    """

    def __init__(self, *, niceness: int = 10) -> None:
        self._niceness = niceness
        self._lock = threading.Lock()
        self._orders: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._is_closed = False

    @property
    def confinement(self) -> tuple[str, ...]:
        """Which walls of the operating system stand around a worker here, beside its limits."""
        return confining.walls()

    def start(self) -> None:
        """Load what workers are made from, without waiting for it."""
        with self._lock:
            self._started()

    def ask(self, sql: str, snapshot: Snapshot, limits: Limits) -> "Answer":
        """Ask one question; what it comes to, and why it comes to nothing, is told while the answer is read.

        Raises Malformed QUERY_INVALID for a text or a limit that is none, Unavailable QUERY_FAILED where there is no
        worker. The files of the snapshot must stay until the answer is closed.
        """
        check(limits)
        text = _text(sql)
        deadline = time.monotonic() + limits.seconds
        ours, theirs = socket.socketpair()
        leash, held = socket.socketpair()
        answer = Answer(ours, leash, limits, deadline)
        try:
            with theirs, held:
                self._order(limits.seconds, theirs, held)
            answer.ask(question_bytes(Question(text, snapshot, limits)))
        except BaseException:
            answer.close()
            raise
        return answer

    def close(self) -> None:
        """End the nursery, and with it every worker."""
        with self._lock:
            self._is_closed = True
            self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _order(self, seconds: float, *places: socket.socket) -> None:
        """Give the nursery an order; one that has died is followed by another."""
        message = ORDER.pack(seconds)
        failure: OSError | None = None
        with self._lock:
            for _ in range(2):
                try:
                    orders = self._started()
                    # The socket of a question and its leash go with the message, which is one because it is short.
                    socket.send_fds(orders, [message], [place.fileno() for place in places])
                    return
                except OSError as error:
                    failure = error
                    self._end()
        raise Unavailable(Code.QUERY_FAILED, problem="no process can be started for it") from failure

    def _started(self) -> socket.socket:
        if self._is_closed:
            raise Unavailable(Code.QUERY_FAILED, problem="nothing is asked any more")
        if self._orders is not None and self._process is not None and self._process.poll() is None:
            return self._orders
        self._end()
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                self._process = subprocess.Popen(  # noqa: S603  # this program, with our own arguments
                    [*_COMMAND, str(theirs.fileno()), str(self._niceness)],
                    env=_ENVIRONMENT,
                    cwd="/",
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
        except BaseException:
            ours.close()
            raise
        # Orders are short; one that is not taken says that the nursery hangs.
        ours.settimeout(_GRACE_SECONDS)
        self._orders = ours
        return ours

    def _end(self) -> None:
        if self._orders is not None:
            self._orders.close()
            self._orders = None
        if self._process is not None:
            # It ends by itself when there are no more orders; but not while it loads.
            self._process.kill()
            self._process.wait()
            self._process = None


class Answer:
    """One answer as it comes. Leaving it as a context ends its worker, whether it is whole or not."""

    def __init__(self, pipe: socket.socket, leash: socket.socket, limits: Limits, deadline: float) -> None:
        self.rows = 0
        self._pipe = pipe
        self._leash = leash
        self._limits = limits
        self._deadline = deadline
        self._is_cancelled = False

    def ask(self, question: bytes) -> None:
        """Say the question. One that nobody hears is told while the answer is read."""
        with contextlib.suppress(OSError):
            self._pipe.settimeout(self._patience())
            self._pipe.sendall(question)
            self._pipe.shutdown(socket.SHUT_WR)

    def __iter__(self) -> Iterator[bytes]:
        """The pieces of one Arrow IPC stream. Raises HeptalogError where it fails; without that it is whole."""
        total = 0
        while True:
            kind, data = self._frame()
            if kind == ARROW:
                total += len(data)
                if total > self._limits.result_bytes:
                    raise Unavailable(Code.RESULT_TOO_LARGE, bytes_max=self._limits.result_bytes)
                yield data
            elif kind == DONE:
                try:
                    self.rows = rows_of(data)
                except struct.error:
                    raise Unavailable(Code.QUERY_FAILED, problem="the worker said nothing sensible") from None
                return
            else:
                raise failure_of(data)

    def cancel(self) -> None:
        """End the worker at once, from any thread: whoever reads the answer is told that there is none."""
        self._is_cancelled = True
        with contextlib.suppress(OSError):
            self._leash.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """End the worker, and let go of everything."""
        self._pipe.close()
        self._leash.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _frame(self) -> tuple[bytes, bytes]:
        kind, size = HEADER.unpack(self._exactly(HEADER.size))
        if kind not in (ARROW, DONE, FAILED) or size > FRAME_SIZE_MAX:
            raise Unavailable(Code.QUERY_FAILED, problem="the worker said nothing sensible")
        return kind, self._exactly(size)

    def _exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            try:
                self._pipe.settimeout(self._patience())
                part = self._pipe.recv(size - len(data))
            except TimeoutError:
                raise self._too_long() from None
            except OSError:
                part = b""
            if not part:
                raise self._verdict()
            data += part
        return bytes(data)

    def _verdict(self) -> HeptalogError:
        """Why the worker ended before its answer did."""
        if self._is_cancelled:
            return Unavailable(Code.QUERY_FAILED, problem="it was cancelled")
        try:
            self._leash.settimeout(_GRACE_SECONDS)
            told = self._leash.recv(VERDICT.size)
            status, is_late = VERDICT.unpack(told)
        except (OSError, struct.error):
            return Unavailable(Code.QUERY_FAILED, problem="its process was lost")
        if is_late:
            return self._too_long()
        return Unavailable(Code.QUERY_FAILED, problem=f"its process {ending(os.waitstatus_to_exitcode(status))}")

    def _too_long(self) -> HeptalogError:
        return Unavailable(Code.QUERY_TOO_LONG, seconds_max=self._limits.seconds)

    def _patience(self) -> float:
        # The nursery keeps the deadline; this is for the case that it is gone too.
        return max(self._deadline - time.monotonic(), 0.0) + _GRACE_SECONDS


def _text(sql: str) -> str:
    """A statement that can be sent."""
    try:
        size = len(sql.encode())
    except UnicodeEncodeError:
        raise Malformed(Code.QUERY_INVALID, problem="it is not Unicode text") from None
    if size > STATEMENT_SIZE_MAX:
        raise Malformed(Code.QUERY_INVALID, problem="the statement is too long", bytes_max=STATEMENT_SIZE_MAX)
    if "\0" in sql:
        raise Malformed(Code.QUERY_INVALID, problem="there is a NUL in it")
    return sql
