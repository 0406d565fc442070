"""What is measured in one run: who takes part in which kind of work, and what they are given."""

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from bench.peers.history import write_history
from bench.peers.material import write_facts


class Environment(NamedTuple):
    """Which Python a peer runs in, and what it finds before what is installed there."""

    python: Path
    before: str = ""


OURS: Final = Environment(Path(".venv/bin/python"))
THEIRS: Final = Environment(Path(".venv-bench/bin/python"))
# What `make compiled` leaves.
COMPILED: Final = Environment(OURS.python, "build/compiled/site")


class Plan(NamedTuple):
    """One kind of work."""

    title: str
    # Who takes part: the module of each.
    peers: dict[str, Environment]
    seconds: float  # of one measurement
    quick_seconds: float
    # What they all are given, into a folder, with so many games of history; what is to be said of it is given back.
    prepare: Callable[[Path, int], str]


def facts(folder: Path, games: int) -> str:
    """The same events for every store."""
    del games
    return write_facts(folder)


def history(folder: Path, games: int) -> str:
    """Seasons of simulated games."""
    return f"{games:,} simulated games, {write_history(folder, games):,} events."


SECTIONS: Final[dict[str, Plan]] = {
    "appends": Plan(
        "Durable appends and reads",
        {
            "heptalog_log": OURS,
            "umadb_store": THEIRS,
            "eventsourcing_sqlite": THEIRS,
            "eventsourcing_postgres": THEIRS,
            "message_db": THEIRS,
            "floor_file": OURS,
            "floor_duckdb": OURS,
            "floor_echo": OURS,
        },
        seconds=0.8,
        quick_seconds=0.3,
        prepare=facts,
    ),
    "replay": Plan(
        "Replay with every move checked",
        {
            "heptalog_replay": OURS,
            "heptalog_compiled": COMPILED,
            "open_spiel_games": THEIRS,
            "python_chess": THEIRS,
            "rlcard_games": THEIRS,
            "pokerkit_hands": THEIRS,
            "floor_bytes": OURS,
        },
        seconds=0.4,
        quick_seconds=0.2,
        prepare=lambda folder, games: "",
    ),
    "queries": Plan(
        "Questions over the history",
        {"heptalog_tables": OURS, "sqlite_tables": THEIRS, "postgres_tables": THEIRS},
        seconds=0.4,
        quick_seconds=0.2,
        prepare=history,
    ),
}
