"""Work that Ctrl-C cannot come into the middle of: it is waited for, ended, and gives up its place."""

import signal
import threading
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Self

import pytest

from heptalog.cli.apart import Apart
from tests.cli.running import WAIT_SECONDS


class Pieces:
    """Three pieces, or as many as there are until it is cancelled; it notes what was done with it."""

    position = 7

    def __init__(self, *, is_endless: bool = False, fails_at: str = "") -> None:
        self.is_endless = is_endless
        self.fails_at = fails_at
        self.is_cancelled = threading.Event()
        self.is_left = threading.Event()
        self.is_read = threading.Event()
        self.given = 0

    def __enter__(self) -> Self:
        if self.fails_at == "enter":
            raise ValueError("enter")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.is_left.set()

    def __iter__(self) -> Iterator[bytes]:
        while self.given < 3 or self.is_endless:
            if self.fails_at == str(self.given):
                raise ValueError(self.fails_at)
            self.given += 1
            yield b"%d" % self.given
            if self.is_cancelled.is_set():
                return
        if self.fails_at == "wait":
            self.is_read.set()
            assert self.is_cancelled.wait(WAIT_SECONDS)
            raise ValueError("cancelled")

    def cancel(self) -> None:
        self.is_cancelled.set()


def test_what_comes_of_it_is_what_it_would_be() -> None:
    place = Apart()
    assert place.call(lambda: 3) == 3
    assert place.call(threading.get_ident) != threading.get_ident()
    with pytest.raises(ValueError, match="x"):
        place.call(lambda: int("x"))
    with place.flow(Pieces()) as (position, pieces):
        assert (position, list(pieces)) == (7, [b"1", b"2", b"3"])
    assert place.call(lambda: 4) == 4


def read(place: Apart, flow: Pieces) -> list[bytes]:
    with place.flow(flow) as (_, pieces):
        return list(pieces)


@pytest.mark.parametrize("place", ["enter", "0", "2"])
def test_a_failure_is_raised_where_it_is_waited_for(place: str) -> None:
    apart = Apart()
    with pytest.raises(ValueError, match=place):
        read(apart, Pieces(fails_at=place))
    assert apart.call(lambda: 4) == 4


def test_leaving_it_ends_it_and_it_does_not_run_ahead() -> None:
    place = Apart()
    flow = Pieces(is_endless=True)
    with place.flow(flow) as (_, pieces):
        assert next(pieces) == b"1"
    assert flow.is_left.wait(WAIT_SECONDS)
    assert flow.given < 10
    assert place.call(lambda: 4) == 4


def interrupted(work: Callable[[], object], ready: threading.Event) -> None:
    """Do this and interrupt it as Ctrl-C would, once it is ready."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    def press() -> None:
        assert ready.wait(WAIT_SECONDS)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, interrupt)
    presser = threading.Thread(target=press)
    presser.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
    finally:
        presser.join()
        signal.signal(signal.SIGUSR1, before)


def test_ctrl_c_while_it_is_waited_for_ends_it() -> None:
    place = Apart()
    for _ in range(20):
        flow = Pieces(fails_at="wait")
        interrupted(lambda: read(place, flow), flow.is_read)  # noqa: B023  # it is done at once
        assert flow.is_left.wait(WAIT_SECONDS)
        assert flow.is_cancelled.is_set()
        assert place.call(lambda: 4) == 4
