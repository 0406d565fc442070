"""What a peer is: its name, its version, what it promises, and the works that can be measured of it.

Only the standard library is imported here, since each peer runs in a process of its own, most of them in another
environment. The runner writes the name of a work on a line, and gets a line of figures.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Final, Protocol


@dataclass(frozen=True)
class Figures:
    """What one measurement gave: how many a second, and milliseconds of one where each was timed."""

    rate: float
    p50: float | None = None
    p99: float | None = None
    # Other figures of the same measurement, by what they are.
    others: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Settings:
    """What the runner tells a peer."""

    folder: Path  # empty, and on the disk that is measured
    material: Path  # what the runner has made for all of them
    seconds: float  # how long one measurement takes
    postgres: int  # the port of a cluster of PostgreSQL, 0 where there is none


class Peer(Protocol):
    """Somebody else's program, or ours, in the form in which it is measured."""

    @property
    def name(self) -> str:
        """What it is called in the tables."""
        ...

    @property
    def version(self) -> str:
        """What was measured, to the last digit."""
        ...

    @property
    def note(self) -> str:
        """What it has done when it answers, and where its work is not equal."""
        ...

    @property
    def works(self) -> Sequence[str]:
        """The works that it can be asked for; what is not among them it does not have."""
        ...

    def measure(self, work: str) -> Figures:
        """Do one work for as long as the settings say."""
        ...


class Absent(Exception):
    """What the peer needs is not on this machine."""


OPTIONS: Final = (("--folder", Path), ("--material", Path), ("--seconds", float), ("--postgres", int))


def answer(make: Callable[[Settings], Peer]) -> None:
    """Measure what is asked on stdin until it ends; what cannot be made says why, and is no failure."""
    parser = argparse.ArgumentParser()
    for option, kind in OPTIONS:
        parser.add_argument(option, type=kind, required=True)
    settings = Settings(**vars(parser.parse_args()))
    try:
        peer = make(settings)
    except (ImportError, PackageNotFoundError, Absent) as error:
        tell({"absent": str(error)})
        return
    tell({"name": peer.name, "version": peer.version, "note": peer.note, "works": list(peer.works)})
    for line in sys.stdin:
        tell(asdict(peer.measure(line.strip())))


def tell(message: Mapping[str, object]) -> None:
    """One line to the runner."""
    print(json.dumps(message), flush=True)


def quantile(ascending: Sequence[float], share: float) -> float:
    """The value below which this share of them lies."""
    return ascending[min(int(len(ascending) * share), len(ascending) - 1)]


def numbered(prefix: str) -> Iterator[Path]:
    """Ever new paths."""
    number = 0
    while True:
        number += 1
        yield Path(f"{prefix}{number}")
