"""The process that workers are forked from: everything is loaded in it, and nothing else is.

    python -I -m heptalog.analytics.asking.nursery SOCKET NICENESS

Starting an interpreter and making an engine costs a third of a second, forking one that has them two thousandths.
An order comes with two sockets: the worker's, on which it is asked and answers, and a leash. When the other end of the
leash closes, or the time is over, the worker is killed; when the worker has ended, its verdict is sent there. When the
socket of orders closes, whoever gave them is gone, and so are all workers.

It has one thread, because a fork copies only one: the libraries are told so by their environment (workers.py).
"""

import contextlib
import gc
import os
import resource
import selectors
import signal
import socket
import sys
import time
from typing import Final

import duckdb
from msgspec import Struct

from heptalog.analytics.asking import answering, confining, engine
from heptalog.analytics.asking.frames import ORDER, VERDICT
from heptalog.analytics.own_process import without_pandas

_SOCKETS: Final = 2
_DEADLINE_SLICE: Final = 60.0


class _Worker(Struct):
    leash: socket.socket
    deadline: float
    is_late: bool = False


class _Nursery:
    def __init__(self, orders: socket.socket, made: duckdb.DuckDBPyConnection) -> None:
        self.orders = orders
        self.made = made
        self.workers: dict[int, _Worker] = {}
        self.selector = selectors.DefaultSelector()
        self.selector.register(orders, selectors.EVENT_READ)
        # A worker that ends wakes the selector.
        woken, waker = socket.socketpair()
        woken.setblocking(False)
        waker.setblocking(False)
        self.woken, self.waker = woken, waker
        self.selector.register(woken, selectors.EVENT_READ)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)

    def run(self) -> None:
        """Fork, kill and bury until nobody orders any more."""
        while True:
            for key, _ in self.selector.select(self._patience()):
                if key.fileobj is self.orders:
                    if not self._order():
                        # A worker may end after all that it would wake has gone.
                        signal.set_wakeup_fd(-1)
                        self._kill_all()
                        return
                elif key.fileobj is self.woken:
                    self.woken.recv(4096)
                elif (process := key.data) in self.workers:
                    self._let_go(process)
            self._bury()
            self._kill_late()

    def _order(self) -> bool:
        """Start a worker; False where the orders have ended."""
        try:
            message, places, _, _ = socket.recv_fds(self.orders, ORDER.size, _SOCKETS)
        except ConnectionError:
            return False
        if len(message) != ORDER.size or len(places) != _SOCKETS:
            return False
        answer, leash = (socket.socket(fileno=place) for place in places)
        seconds: float
        (seconds,) = ORDER.unpack(message)
        deadline = time.monotonic() + seconds
        nursery = os.getpid()
        try:
            process = os.fork()
        except OSError:
            # Not now: whoever asked reads that there is no verdict.
            answer.close()
            leash.close()
            return True
        if process == 0:
            _be_worker(answer, nursery, self.made)
        answer.close()
        leash.setblocking(False)
        self.workers[process] = _Worker(leash, deadline)
        self.selector.register(leash, selectors.EVENT_READ, process)
        return True

    def _let_go(self, process: int) -> None:
        """The asker has closed its end, or said something, which it never does."""
        os.kill(process, signal.SIGKILL)
        self.selector.unregister(self.workers[process].leash)

    def _kill_late(self) -> None:
        now = time.monotonic()
        for process, worker in self.workers.items():
            if worker.deadline <= now and not worker.is_late:
                worker.is_late = True
                os.kill(process, signal.SIGKILL)

    def _kill_all(self) -> None:
        for process in self.workers:
            os.kill(process, signal.SIGKILL)

    def _bury(self) -> None:
        """Tell the verdicts of those that have ended."""
        while self.workers:
            process, status = os.waitpid(-1, os.WNOHANG)
            if process == 0:
                return
            worker = self.workers.pop(process)
            if worker.leash in self.selector.get_map():
                self.selector.unregister(worker.leash)
            # Perhaps nobody waits for it any more.
            with contextlib.suppress(OSError):
                worker.leash.send(VERDICT.pack(status, worker.is_late))
            worker.leash.close()

    def _patience(self) -> float:
        deadlines = [worker.deadline for worker in self.workers.values() if not worker.is_late]
        return min(max(min(deadlines) - time.monotonic(), 0.0), _DEADLINE_SLICE) if deadlines else _DEADLINE_SLICE


def _be_worker(answer: socket.socket, nursery: int, made: duckdb.DuckDBPyConnection) -> None:
    """Be the process of one question, and end."""
    status = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        confining.leave_alone(nursery)
        place = _only(answer)
        answering.answer(place, made)
        status = 0
    finally:
        # Nothing of the nursery's may be undone or written here.
        os._exit(status)


def _only(answer: socket.socket) -> int:
    """Close every descriptor but this one, which gets the number after the standard ones."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(nothing, standard)
    place = 3
    kept = answer.detach()
    if kept != place:
        os.dup2(kept, place)
    os.closerange(place + 1, confining.files_max())
    return place


def main(orders: int, niceness: int) -> None:
    """Take orders from a socket until it ends."""
    without_pandas()
    # So that closing all descriptors is closing those that there can be.
    resource.setrlimit(resource.RLIMIT_NOFILE, (confining.files_max(), confining.files_max()))
    answering.warm_up()
    # Never asked anything here: every worker has the engine as it was made, and none what another was asked.
    made = engine.born()
    gc.collect()
    gc.freeze()
    # Not before: the first question waits for this.
    confining.be_nice(niceness)
    with socket.socket(fileno=orders) as given:
        _Nursery(given, made).run()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
