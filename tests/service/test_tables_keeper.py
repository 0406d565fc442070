"""Who waits for the tables is given a moment that has it all as soon as there is one, whatever happens meanwhile."""

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event

import pytest

from heptalog.analytics.snapshots import Snapshot
from heptalog.replay.errors import Code, Unavailable
from heptalog.service.tables import keeper as keeping
from heptalog.service.tables.keeper import End, Keeper, Lease
from heptalog.service.tables.messages import (
    Command,
    Follow,
    Followed,
    Release,
    Reply,
    Rest,
    Rested,
    Take,
    Taken,
    Verified,
    Verify,
)
from heptalog.service.tables.process import Gone
from tests.support.serving import WAIT_SECONDS, Hold

Trouble = Callable[[Command], None]


class Log:
    """How long the log is, and what the processes that follow it do and meet."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.position = 0
        self.refusals = 0
        self.started: list[Follows] = []
        self.troubles: list[Trouble] = []
        self.trouble: Trouble | None = None
        self.step = 1_000_000
        self.is_whole = True

    def start(self) -> "Follows":
        """Another process."""
        self.started.append(Follows(self))
        return self.started[-1]


class Follows:
    """A process that follows, without a process."""

    number = 7

    def __init__(self, log: Log) -> None:
        self.log = log
        self.position = 0
        self.refusals = 0
        self.out: set[int] = set()
        self.count = 0
        self.ended = ""
        self.told: list[str] = []
        self.has_rested = Event()
        self.has_ended = Event()

    def tell(self, command: Command) -> Reply:
        assert not self.ended, "it has ended"
        self.told.append(type(command).__name__)
        if self.log.trouble is not None:
            self.log.trouble(command)
        if self.log.troubles:
            self.log.troubles.pop(0)(command)
        match command:
            case Follow():
                self.position = min(self.position + self.log.step, self.log.position)
                self.refusals = self.log.refusals
                return Followed(self.position, self.refusals, self.position < self.log.position)
            case Take():
                self.count += 1
                self.out.add(self.count)
                return Taken(self.count, Snapshot(self.position, self.refusals, (str(self.log.folder),), {}))
            case Release(number=number):
                self.out.remove(number)
                return Rested(has_more=False)
            case Verify():
                return Verified(self.log.is_whole)
            case Rest():
                self.has_rested.set()
                return Rested(has_more=False)
            case _:
                raise AssertionError(command)

    def stop(self) -> None:
        self.ended = "stopped"

    def end(self) -> None:
        self.has_ended.set()

    def kill(self) -> None:
        self.ended = "killed"


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path)


@contextmanager
def kept(log: Log, *, pace: float = 0.0, clock: Callable[[], float] = lambda: 0.0) -> Iterator[Keeper]:
    with closing(Keeper(log.start, pace_seconds=pace, clock=clock)) as keeper:
        keeper.begin()
        yield keeper


def leased(keeper: Keeper, position: int = 0, refusals: int = 0) -> Lease:
    return keeper.lease(End(position, refusals)).result(WAIT_SECONDS)


def gone(_: Command) -> None:
    raise Gone("killed")


def full(_: Command) -> None:
    raise Unavailable(Code.SOURCE_UNREADABLE, path="/tables", problem="No space left on device")


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> Callable[[], float]:
    """A clock on which every look is an hour later, so that nothing is waited for."""
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += 3600.0
        return now

    return clock


def test_a_moment_has_what_was_there_when_it_was_asked_for(log: Log) -> None:
    with kept(log) as keeper:
        for position in range(1, 200):
            log.position, log.refusals = position, position // 2
            keeper.tell()
            lease = leased(keeper, position, position // 2)
            assert lease.end.reaches(End(position, position // 2))
            keeper.release(lease)


def test_a_long_way_is_gone_in_steps_and_a_moment_is_given_as_soon_as_it_has_what_was_asked(log: Log) -> None:
    log.position, log.step = 1000, 10
    with kept(log) as keeper:
        assert leased(keeper, 55).end.position >= 55
        assert leased(keeper, 1000).end.position == 1000


def test_who_asks_for_nothing_newer_shares_the_moment_that_there_is(log: Log) -> None:
    log.position = 5
    with kept(log) as keeper:
        first = leased(keeper, 5)
        assert leased(keeper, 5) is first
        assert leased(keeper, 3) is first
        log.position = 6
        assert leased(keeper, 6) is not first


def test_those_who_come_together_are_given_one_moment(log: Log) -> None:
    hold = Hold()
    log.troubles.append(lambda _: hold.stop_here())
    log.position = 9
    with kept(log) as keeper:
        hold.wait_until_reached()
        futures = [keeper.lease(End(position, 0)) for position in (7, 8, 9)]
        hold.release()
        leases = [future.result(WAIT_SECONDS) for future in futures]
        assert leases[0] is leases[1] is leases[2]
        assert log.started[0].count == 1


def test_a_moment_is_given_back_once_nobody_reads_it_and_there_is_a_newer_one(log: Log) -> None:
    with kept(log) as keeper:
        (first, second) = (leased(keeper), leased(keeper))
        (follower,) = log.started
        log.position = 1
        newer = leased(keeper, 1)
        keeper.release(first)
        log.position = 2
        keeper.release(leased(keeper, 2))
        assert follower.out == {1, 2, 3}
        keeper.release(second)
        keeper.release(newer)
        log.position = 3
        leased(keeper, 3)
        log.position = 4
        leased(keeper, 4)
        assert follower.out <= {3, 4, 5}
        assert not {1, 2} & follower.out


def test_who_goes_away_while_waiting_holds_nothing(log: Log) -> None:
    hold = Hold()
    log.troubles.append(lambda _: hold.stop_here())
    log.position = 1
    with kept(log) as keeper:
        hold.wait_until_reached()
        future, other = keeper.lease(End(1, 0)), keeper.lease(End(1, 0))
        assert future.cancel()
        hold.release()
        lease = other.result(WAIT_SECONDS)
        assert lease.users == 1
        with pytest.raises(CancelledError):
            future.result()


def test_between_steps_there_is_a_pause_but_not_for_who_asks(log: Log) -> None:
    """The clock stands still, so a pace of an hour never passes by itself."""
    with kept(log, pace=3600.0) as keeper:
        for position in range(1, 20):
            log.position = position
            leased(keeper, position)
            keeper.tell()
        (follower,) = log.started
        assert follower.told.count("Follow") in (19, 20)


def test_while_nothing_is_to_do_it_puts_things_in_order(log: Log, ticking: Callable[[], float]) -> None:
    with kept(log, clock=ticking) as keeper:
        leased(keeper)
        assert log.started[0].has_rested.wait(WAIT_SECONDS)


@pytest.mark.parametrize("command", [Follow, Take])
def test_a_process_that_is_killed_is_replaced_and_who_waits_is_answered(
    log: Log, ticking: Callable[[], float], command: type[Command]
) -> None:
    killed = 0

    def trouble(told: Command) -> None:
        nonlocal killed
        if isinstance(told, command) and killed < keeping.FAILURES_MAX - 1:
            killed += 1
            raise Gone("killed")

    log.trouble = trouble
    log.position = 4
    with kept(log, clock=ticking) as keeper:
        assert leased(keeper, 4).end.position == 4
        assert [follower.ended for follower in log.started] == ["killed"] * killed + [""]


def test_what_a_dead_process_gave_out_is_told_apart_and_asked_for_no_more(
    log: Log, ticking: Callable[[], float]
) -> None:
    with kept(log, clock=ticking) as keeper:
        old = leased(keeper)
        log.position = 1
        log.troubles.append(gone)
        new = leased(keeper, 1)
        assert keeper.doubt(old).result(0)
        assert not keeper.doubt(new).result(WAIT_SECONDS)
        keeper.release(old)
        log.position = 2
        leased(keeper, 2)
        assert "Release" not in log.started[1].told


def test_after_failures_without_end_who_waits_is_told_why_and_it_goes_on_once_it_can(
    log: Log, ticking: Callable[[], float], caplog: pytest.LogCaptureFixture
) -> None:
    log.trouble = full
    with kept(log, clock=ticking) as keeper:
        for _ in range(3):
            with pytest.raises(Unavailable) as caught:
                leased(keeper)
            assert caught.value.code is Code.TABLES_BEHIND
            assert caught.value.facts == {"problem": "No space left on device", "path": "/tables"}
        log.trouble = None
        log.position = 1
        assert leased(keeper, 1).end.position == 1
    assert caplog.text.count("No space left on device") <= 2


def test_whoever_is_answered_has_heard_that_the_tables_are_kept_again(
    log: Log, ticking: Callable[[], float], caplog: pytest.LogCaptureFixture
) -> None:
    found: list[tuple[int, bool]] = []
    log.troubles += [full, full]
    with closing(Keeper(log.start, clock=ticking)) as keeper:
        waiting = keeper.lease(End(0, 0))
        # In the thread that gives it out, at that moment.
        waiting.add_done_callback(lambda _: found.append((keeper._failures, "are kept again" in caplog.text)))
        keeper.begin()
        waiting.result(WAIT_SECONDS)
    assert found == [(0, True)]


def test_a_process_that_cannot_be_started_is_one_that_failed(tmp_path: Path, ticking: Callable[[], float]) -> None:
    def start() -> Follows:
        raise OSError(11, "Resource temporarily unavailable")

    with closing(Keeper(start, clock=ticking)) as keeper:
        keeper.begin()
        with pytest.raises(Unavailable) as caught:
            leased(keeper)
        assert "Resource temporarily unavailable" in str(caught.value.facts["problem"])


def test_a_moment_that_was_forgotten_is_given_to_nobody_else(log: Log) -> None:
    with kept(log) as keeper:
        old = leased(keeper)
        keeper.forget()
        assert leased(keeper) is not old


@pytest.mark.parametrize("is_whole", [True, False])
def test_files_in_doubt_are_looked_at_and_what_is_damaged_is_left_to_another_process(
    log: Log, ticking: Callable[[], float], is_whole: bool
) -> None:
    log.is_whole = is_whole
    with kept(log, clock=ticking) as keeper:
        old = leased(keeper)
        assert keeper.doubt(old).result(WAIT_SECONDS) is not is_whole
        assert (leased(keeper) is old) is is_whole
        assert log.started[0].told.count("Verify") == 1
        assert [follower.ended for follower in log.started] == ([""] if is_whole else ["stopped", ""])


def test_who_doubts_again_and_again_is_heard_once_in_a_while(log: Log) -> None:
    with kept(log) as keeper:
        lease = leased(keeper)
        assert [keeper.doubt(lease).result(WAIT_SECONDS) for _ in range(5)] == [False] * 5
        assert log.started[0].told.count("Verify") == 1


def test_an_end_ends_the_process_in_order_and_tells_who_waits(log: Log) -> None:
    hold = Hold()
    log.troubles.append(lambda _: hold.stop_here())
    keeper = Keeper(log.start, clock=lambda: 0.0)
    keeper.begin()
    hold.wait_until_reached()
    future = keeper.lease(End(1, 0))
    hold.release()
    keeper.close()
    for waiting in (future, keeper.lease(End(0, 0))):
        with pytest.raises(Unavailable) as caught:
            waiting.result(WAIT_SECONDS)
        assert caught.value.code is Code.DRAINING
    assert log.started[0].ended == "stopped"


def test_an_end_does_not_wait_for_what_takes_long(
    log: Log, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(keeping, "_CLOSING_SECONDS", 0.0)
    hold = Hold()

    def make_anew(_: Command) -> None:
        hold.stop_here()
        assert log.started[0].has_ended.wait(WAIT_SECONDS)
        raise Gone("killed")

    log.troubles.append(make_anew)
    keeper = Keeper(log.start, clock=lambda: 0.0)
    keeper.begin()
    hold.wait_until_reached()
    hold.release()
    keeper.close()
    assert log.started[0].ended == "killed"
    assert caplog.text == ""


def test_one_that_was_never_begun_ends_too(log: Log) -> None:
    Keeper(log.start).close()
    assert not log.started
