"""Ourselves, replaying, with the core compiled from the same source."""

from functools import partial
from typing import ClassVar

from bench.games import TABLES
from bench.peers.heptalog_replay import HeptalogReplay, recorded, titled
from bench.peers.peer import Absent, Settings, answer
from heptalog.replay.form import IS_COMPILED


class HeptalogCompiled(HeptalogReplay):
    """The same works, in the form that `make compiled` makes."""

    name = "Heptalog, compiled"
    note = "the same, its core compiled by mypyc"
    games: ClassVar = {
        f"{titled(name)}, compiled {work}": partial(recorded, name, work)
        for name in TABLES
        for work in ("rules", "verify")
    }

    def __init__(self, settings: Settings) -> None:
        if not IS_COMPILED:
            raise Absent("make compiled has not made it")
        super().__init__(settings)


if __name__ == "__main__":
    answer(HeptalogCompiled)
