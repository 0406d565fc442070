"""The processes of the peers: started, asked in turns, and ended."""

import json
import os
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Protocol

from bench.peers.peer import Figures, Settings
from bench.peers.results import Section, Told

# Longer than any measurement takes.
_DEADLINE_SECONDS: Final = 180.0


class Fallen(Exception):
    """A peer ended, or did not answer in time."""


class Measured(Protocol):
    """Whom to ask; raises Fallen where there is nobody left."""

    def measure(self, work: str) -> Figures:
        """Have one work done."""
        ...


class Running:
    """One peer's process."""

    def __init__(self, module: str, python: Path, before: str, settings: Settings) -> None:
        options = [f"--{name}={value}" for name, value in vars(settings).items()]
        self._complaints = (settings.folder / "complaints.txt").open("w+")
        self._process = subprocess.Popen(
            [python, "-m", f"bench.peers.{module}", *options],
            env=os.environ | ({"PYTHONPATH": before} if before else {}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            text=True,
        )

    def hello(self) -> Told:
        """What it says of itself. Raises Fallen where what it needs is not there."""
        message = self._told()
        if "absent" in message:
            raise Fallen(message["absent"])
        return Told(**message)

    def measure(self, work: str) -> Figures:
        """Have it do one work."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{work}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise Fallen(self._last_words()) from None
        return Figures(**self._told())

    def end(self) -> None:
        """Have it end, by itself where it can."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=10.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._complaints.close()

    def _told(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        timer = threading.Timer(_DEADLINE_SECONDS, self._process.kill)
        timer.start()
        try:
            line = self._process.stdout.readline()
        finally:
            timer.cancel()
        if not line:
            raise Fallen(self._last_words())
        message: dict[str, Any] = json.loads(line)
        return message

    def _last_words(self) -> str:
        self._process.wait()
        self._complaints.seek(0)
        lines = self._complaints.read().split("\n")
        return next((line for line in reversed(lines) if line.strip()), f"ended with {self._process.returncode}")


def take_turns(peers: Mapping[str, Measured], told: Mapping[str, Told], rounds: int) -> Section:
    """Every work of every peer in every round; another one begins each time, and who falls is asked no more."""
    section = Section(list(told.values()), {}, {})
    works = list(dict.fromkeys(work for one in told.values() for work in one.works))
    for round_number in range(rounds):
        for place, work in enumerate(works):
            those = [module for module in peers if work in told[module].works and module not in section.absent]
            first = (round_number + place) % max(len(those), 1)
            for module in those[first:] + those[:first]:
                name = told[module].name
                try:
                    figures = peers[module].measure(work)
                except Fallen as error:
                    section.absent[module] = f"{name} fell at {work!r}: {error}"
                    continue
                section.figures.setdefault(work, {}).setdefault(name, []).append(figures)
                say(round_number, work, name, figures)
    return section


def say(round_number: int, work: str, name: str, figures: Figures) -> None:
    """One line of what was just measured."""
    latency = "" if figures.p50 is None else f"  p50 {figures.p50:>8.2f} ms  p99 {figures.p99:>8.2f} ms"
    print(f"{round_number + 1}  {work:<24} {name:<28} {figures.rate:>12,.0f}/s{latency}", flush=True)
