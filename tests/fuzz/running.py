"""Running targets: input after input, each with its deadline; what comes of it is counted, what fails is kept."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from random import Random
from types import FrameType
from typing import Final, NamedTuple, NoReturn

from tests.fuzz.targets import Target

CORPUS: Final = Path(__file__).parent / "corpus"
# For one input; how long the slowest took is told as well. A busy machine takes its time.
DEADLINE_SECONDS: Final = 60


class TooSlow(Exception):
    """An input took longer than any may."""


class Figures:
    """What came of the inputs of one target."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.accepted = 0
        self.refused = 0
        self.slowest = 0.0
        self.failures: list[Path] = []

    @property
    def inputs(self) -> int:
        return self.accepted + self.refused + len(self.failures)

    def __str__(self) -> str:
        return (
            f"{self.name:<12} {self.inputs:>9,} inputs  {self.refused:>9,} refused  {self.accepted:>8,} accepted"
            f"  {len(self.failures):>3} failed  slowest {self.slowest * 1000:>7,.0f} ms"
        )


class Tried(NamedTuple):
    """What came of one input."""

    is_accepted: bool
    seconds: float
    failure: BaseException | None = None


def attempt(target: Target, data: bytes) -> Tried:
    """Try one input; whatever it raises is a failure."""
    begun = time.perf_counter()
    try:
        with _deadline():
            is_accepted = target.check(data)
    except Exception as error:  # noqa: BLE001  # this is what is looked for
        return Tried(False, time.perf_counter() - begun, error)
    return Tried(is_accepted, time.perf_counter() - begun)


def inputs(target: Target, random: Random) -> Iterator[bytes]:
    """Spoilt seeds without end, now and then spoilt twice."""
    seeds = target.seeds()
    while True:
        data = target.spoil(random.choice(seeds), random)
        yield target.spoil(data, random) if random.random() < 0.15 else data


def run(target: Target, random: Random, figures: Figures, *, is_over: Callable[[], bool], keep: Path | None) -> None:
    """Try inputs until it is over; those that fail are written into the folder `keep`."""
    for data in inputs(target, random):
        if is_over():
            return
        tried = attempt(target, data)
        figures.slowest = max(figures.slowest, tried.seconds)
        if tried.failure is not None:
            if keep is None:
                raise AssertionError(f"{target.name}: {data!r}") from tried.failure
            path = keep / f"{sha256(data).hexdigest()[:12]}.{target.name}"
            path.write_bytes(data)
            figures.failures.append(path)
            print(f"{path}: {type(tried.failure).__name__}: {tried.failure}", flush=True)
        elif tried.is_accepted:
            figures.accepted += 1
        else:
            figures.refused += 1


@contextmanager
def _deadline() -> Iterator[None]:
    def end(number: int, frame: FrameType | None) -> NoReturn:
        raise TooSlow(f"over {DEADLINE_SECONDS} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, DEADLINE_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
