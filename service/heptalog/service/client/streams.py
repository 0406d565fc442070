"""A stream of appends for threads: many on their way, each answered on its own, going on after a cut connection."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from threading import Condition, Event, Thread, current_thread
from types import TracebackType
from typing import Any, Self

import grpc

from heptalog.replay.errors import Code, HeptalogError, Unavailable
from heptalog.service.appends import Append, Receipt
from heptalog.service.client import calls
from heptalog.service.client.calls import Retries
from heptalog.service.client.flight import Flight, settle
from heptalog.service.client.line import Line, may_go_on


class AppendStream:
    """Appends on one call, taken in the order in which they are given; any thread may give some.

    Leaving it waits for all answers. After a cut connection, and where the service is unavailable, what has no answer
    is sent again in its order; that is safe where every event has its id. Where that does not help in the end, or the
    service says no to the stream as such, everybody who still waits is told so, and so is whoever appends then.

    Callbacks of its futures run in the thread that hears the answers: until they return no other answer is heard.
    """

    def __init__(
        self,
        open_call: Callable[..., Any],
        line: Line,
        timeout: float,
        retries: Retries,
        pause: Callable[[float], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._open = open_call
        self._line = line
        self._retries = retries
        self._pause = pause
        self._changed = Condition()
        self._flight: Flight[Future[Receipt]] = Flight(clock, timeout)
        self._connection = 0
        self._call: Any = None
        self._is_closing = False
        self._is_overdue = False
        self._failure: HeptalogError | None = None
        self._has_ended = Event()
        self._thread = Thread(target=self._run, name="heptalog-append-stream", daemon=True)
        self._watcher = Thread(target=self._watch, name="heptalog-append-stream-watcher", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def append(self, append: Append) -> "Future[Receipt]":
        """Send events; the future has the receipt once they are durable, or why they are not.

        Waits while too much is on its way. Raises why the stream has ended, where it has. Raises RuntimeError where the
        stream has not been entered, and in a callback of its futures where it would have to wait: for itself.
        """
        if self._thread.ident is None:
            raise RuntimeError("the stream has not been entered: with client.stream() as stream")
        future: Future[Receipt] = Future()
        # What is on its way cannot be called back.
        future.set_running_or_notify_cancel()
        with self._changed:
            while self._flight.is_full and self._failure is None and not self._is_closing:
                if current_thread() is self._thread:
                    raise RuntimeError(
                        "too much is on its way, and a callback of the stream cannot wait for its answers"
                    )
                self._changed.wait()
            if self._failure is not None:
                raise self._failure.again()
            if self._is_closing:
                raise Unavailable(Code.SERVER_UNREACHABLE, problem="the stream has been left")
            self._flight.take(append, future)
            self._changed.notify_all()
        return future

    def close(self) -> None:
        """Take no more, and wait for all answers. A second time does nothing.

        Raises RuntimeError in a callback of its futures, which would wait for itself.
        """
        if current_thread() is self._thread:
            raise RuntimeError("a callback of the stream cannot wait for its answers: close it elsewhere")
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        try:
            self._watcher.start()
            self._serve()
        except HeptalogError as error:
            self._fail(error)
        except BaseException:
            self._fail(Unavailable(Code.SERVER_UNREACHABLE, problem="the stream was not served"))
            raise
        finally:
            self._has_ended.set()
            if self._watcher.is_alive():
                self._watcher.join()

    def _serve(self) -> None:
        pauses = self._retries.pauses()
        while self._has_work():
            try:
                for response in self._connected():
                    self._hear(response)
                    pauses = self._retries.pauses()
                failure: HeptalogError = Unavailable(Code.SERVER_UNREACHABLE, problem="the stream ended early")
            except grpc.RpcError as error:
                failure = self._line.failure(error)
                if not self._is_overdue and not may_go_on(error):
                    raise failure from None
            finally:
                self._disconnect()
            if self._is_overdue:
                raise Unavailable(Code.DEADLINE_PASSED)
            if not self._flight:
                pauses = self._retries.pauses()
                continue
            seconds = next(pauses, None)
            if seconds is None:
                raise failure
            self._pause(seconds)

    def _has_work(self) -> bool:
        """Wait for something to send; False where there will be nothing any more."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._flight) > 0 or self._is_closing)
            return len(self._flight) > 0

    def _connected(self) -> Any:
        """A new connection, on which all that has no answer is sent again."""
        with self._changed:
            self._connection += 1
            self._flight.begin_again()
            # Whoever sent on the connection before goes.
            self._changed.notify_all()
            self._call = self._open(self._requests(self._connection), timeout=calls.READ_TIMEOUT_SECONDS)
        return self._call

    def _disconnect(self) -> None:
        with self._changed:
            call, self._call = self._call, None
        if call is not None:
            call.cancel()

    def _watch(self) -> None:
        """End a call on which no answer comes; in a thread of its own, since gRPC's may be held back by the server."""
        seconds: float | None = self._flight.timeout
        while seconds is not None and not self._has_ended.wait(seconds):
            seconds = self._watched()

    def _watched(self) -> float | None:
        """How long nothing can be overdue; None where the call has been ended."""
        with self._changed:
            # Between two connections nobody can answer.
            if self._call is None or (seconds := self._flight.seconds_left) is None:
                return self._flight.timeout
            if seconds == 0.0:
                self._is_overdue = True
                self._call.cancel()
                return None
            return seconds

    def _requests(self, connection: int) -> Iterator[bytes]:
        """What is sent on one connection; in a thread of gRPC's own, which asks for more as the server takes it."""
        while True:
            with self._changed:
                while self._connection == connection and not self._flight.has_unsent:
                    if self._is_closing:
                        return
                    self._changed.wait()
                if self._connection != connection or self._failure is not None:
                    return
                message = self._flight.next_message()
            yield message

    def _hear(self, response: Any) -> None:
        with self._changed:
            told = list(self._flight.answered(response))
            self._changed.notify_all()
        for future, outcome in told:
            settle(future, outcome)

    def _fail(self, error: HeptalogError) -> None:
        with self._changed:
            self._failure = error
            self._connection += 1
            waiting = self._flight.give_up()
            self._changed.notify_all()
        for future in waiting:
            settle(future, error.again())
