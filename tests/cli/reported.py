"""Reports for tests: of simulated games, and of a tournament whose names would break a careless page."""

from pathlib import Path
from typing import Any, Final

from heptalog.cli.output import Counter
from heptalog.cli.simulating.databases import DatabaseDestination
from heptalog.cli.simulating.plans import Plan
from heptalog.cli.simulating.running import run as simulate
from heptalog.replay.registry import GAMES, NEWEST
from tests.cli.given import bare, changed, write
from tests.cli.running import Ended, run

GAMES_IN_ALL: Final = 100
TOURNAMENT: Final = "Riga Open 1"
HOSTILE_TOURNAMENT: Final = "Cup' OR '1'='1; --</title><script>alert(1)</script>"
HOSTILE_NAMES: Final = (
    "<script>alert(2)</script>",
    '"><img src=x onerror=alert(3)>',
    "A name that is far longer than any label of any chart could ever be and then goes on",
    "</svg></details> &amp; role=\"x\" 'quoted' 七並べ",
)


def simulated_database(path: Path) -> Path:
    """A database with games of all kinds and of several tournaments."""
    with DatabaseDestination(path) as log:
        simulate(Plan(tuple(NEWEST)), GAMES_IN_ALL, log, processes=1, counter=Counter())
    return path


def hostile_database(folder: Path, *, games: int = 6) -> Path:
    """A database with a tournament, and players, of names that are code."""

    def rename(event: dict[str, Any]) -> None:
        started = event["gameStarted"]
        started["tournament"] = HOSTILE_TOURNAMENT
        for seat, player in enumerate(started["players"]):
            player["name"] = HOSTILE_NAMES[seat % len(HOSTILE_NAMES)]

    path = folder / "hostile.duckdb"
    for rules in GAMES:
        for seed in range(games):
            lines = bare(rules, seed, length=2_000)
            write(folder / "games" / f"{rules.key}-{seed}.jsonl", [changed(lines[0], rename), *lines[1:]])
    assert run("import", folder / "games", "--into", path).code == 0
    return path


def reported(source: object, page: Path, *tournament: str) -> Ended:
    """Ask for a report."""
    return run("report", source, *tournament, "--html", page)
