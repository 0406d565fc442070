"""A stream of appends for threads: many on their way, each answered on its own, going on after a cut connection."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from copy import copy
from threading import Condition, Thread
from types import TracebackType
from typing import Any, Self

import grpc

from heptalog.replay.errors import Code, HeptalogError, Unavailable
from heptalog.service.appends import Append, Receipt
from heptalog.service.client import calls
from heptalog.service.client.calls import Retries
from heptalog.service.client.flight import Flight, settle


class AppendStream:
    """Appends on one call, taken in the order in which they are given; any thread may give some.

    Leaving it waits for all answers. After a cut connection, and where the service is unavailable, what has no answer
    is sent again in its order; that is safe where every event has its id. Where that does not help in the end, or the
    service says no to the stream as such, everybody who still waits is told so, and so is whoever appends then.
    """

    def __init__(
        self,
        open_call: Callable[..., Any],
        timeout: float,
        retries: Retries,
        pause: Callable[[float], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._open = open_call
        self._retries = retries
        self._pause = pause
        self._changed = Condition()
        self._flight: Flight[Future[Receipt]] = Flight(clock, timeout)
        self._connection = 0
        self._call: Any = None
        self._is_closing = False
        self._is_overdue = False
        self._failure: HeptalogError | None = None
        self._thread = Thread(target=self._run, name="heptalog-append-stream", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def append(self, append: Append) -> "Future[Receipt]":
        """Send events; the future has the receipt once they are durable, or why they are not.

        Waits while too much is on its way. Raises why the stream has ended, where it has.
        """
        future: Future[Receipt] = Future()
        # What is on its way cannot be called back.
        future.set_running_or_notify_cancel()
        with self._changed:
            self._changed.wait_for(lambda: not self._flight.is_full or self._failure is not None or self._is_closing)
            if self._failure is not None:
                raise copy(self._failure)
            if self._is_closing:
                raise Unavailable(Code.SERVER_UNREACHABLE, problem="the stream has been left")
            self._flight.take(append, future)
            self._changed.notify_all()
        return future

    def close(self) -> None:
        """Take no more, and wait for all answers. A second time does nothing."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        try:
            self._serve()
        except HeptalogError as error:
            self._fail(error)
        except BaseException:
            self._fail(Unavailable(Code.SERVER_UNREACHABLE, problem="the stream was not served"))
            raise

    def _serve(self) -> None:
        pauses = self._retries.pauses()
        while self._has_work():
            try:
                for response in self._connected():
                    self._hear(response)
                    pauses = self._retries.pauses()
                if not self._flight:
                    continue
                failure: HeptalogError = Unavailable(Code.SERVER_UNREACHABLE, problem="the stream ended early")
            except grpc.RpcError as error:
                failure = calls.failure(error)
                if self._is_overdue:
                    raise Unavailable(Code.DEADLINE_PASSED) from None
                if not calls.may_go_on(error):
                    raise failure from None
            finally:
                if self._call is not None:
                    self._call.cancel()
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

    def _requests(self, connection: int) -> Iterator[bytes]:
        """What is sent on one connection; in a thread of gRPC's own, which is where it is seen that nothing comes."""
        while True:
            with self._changed:
                while self._connection == connection and not self._flight.has_unsent:
                    if self._is_closing:
                        return
                    seconds = self._flight.seconds_left
                    if not self._changed.wait(seconds) and self._flight.seconds_left == 0.0:
                        self._is_overdue = True
                        self._call.cancel()
                        return
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
            settle(future, copy(error))
