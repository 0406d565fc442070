"""What a run gave, as it is kept."""

import datetime
import platform
import statistics
from pathlib import Path
from typing import Final

from msgspec import Struct

from bench.peers.peer import Figures

RESULTS: Final = Path("bench/results/peers.json")
PAGE: Final = Path("docs/benchmarks.md")


class Told(Struct, frozen=True):
    """What a peer said of itself."""

    name: str
    version: str
    note: str
    works: list[str]


class Section(Struct):
    """One kind of work: who was measured, who could not be, and every figure by work and by peer, a list of rounds."""

    peers: list[Told]
    absent: dict[str, str]
    figures: dict[str, dict[str, list[Figures]]]
    remark: str = ""
    seconds: float = 0.0  # of one measurement

    def rates(self, work: str, peer: str) -> list[float]:
        """How many a second, in every round."""
        return [figures.rate for figures in self.figures.get(work, {}).get(peer, [])]

    def ratio(self, work: str, ours: str, peer: str) -> float | None:
        """How often ours goes into theirs: the median of the rounds, each of which had both."""
        pairs = zip(self.rates(work, ours), self.rates(work, peer), strict=False)
        ratios = [ours_rate / peer_rate for ours_rate, peer_rate in pairs]
        return statistics.median(ratios) if ratios else None


class Results(Struct, kw_only=True):
    """One run."""

    taken_on: str
    machine: str
    rounds: int
    is_quick: bool
    sections: dict[str, Section]


def today() -> str:
    """The day of a run."""
    return datetime.datetime.now(tz=datetime.UTC).date().isoformat()


def machine() -> str:
    """What is measured on."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    model = f"{len(models)} × {models[0]}" if models else platform.processor()
    return f"{model}, Linux {release()}, Python {platform.python_version()}"


def release() -> str:
    """The kernel's version, without what whoever built it added."""
    return ".".join(platform.release().split("-")[0].split(".")[:2])
