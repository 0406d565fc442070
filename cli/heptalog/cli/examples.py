"""Examples of every command, for its help. They are run, or at least understood, by the tests."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

EXAMPLES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "serve": ("heptalog serve season.duckdb", "heptalog serve season.duckdb --port 8000 --key season.key"),
        "append": (
            'heptalog append season.duckdb#final noteAdded text="the clock was stopped"',
            'heptalog append season.duckdb#final movesRetracted toSequence=3 reason="out of turn" --after 4 --dry-run',
        ),
        "import": (
            "heptalog import final.jsonl --into season.duckdb",
            "heptalog import games/ --into grpc://127.0.0.1:7777 --quiet",
        ),
        "export": (
            "heptalog export season.duckdb#final --as public --out final.public.jsonl",
            "heptalog export season.duckdb --parquet season.parquet",
        ),
        "games": (
            'heptalog games season.duckdb --ruleset "Seven Up" --status won --results',
            "heptalog games final.jsonl games/ --player Ana --format jsonl",
        ),
        "show": ("heptalog show final.jsonl", "heptalog show season.duckdb#final --at 2 --as Ana"),
        "replay": (
            "heptalog replay season.duckdb#final",
            "heptalog replay final.jsonl --from 2 --to 4 --format jsonl --outcomes",
        ),
        "follow": (
            "heptalog follow grpc://127.0.0.1:7777#final --as public --until-over",
            "heptalog follow grpc://127.0.0.1:7777 --ruleset seven_up --after-position 0 --format jsonl",
        ),
        "verify": ("heptalog verify season.duckdb games/", "heptalog verify final.bundle --key season.pub"),
        "diff": (
            "heptalog diff final.jsonl season.duckdb#final",
            "heptalog diff season.duckdb#final --options target=100",
        ),
        "legal": ("heptalog legal final.jsonl --limit 5", "heptalog legal season.duckdb#final --at 2 --seat Ana"),
        "sql": (
            'heptalog sql season.duckdb "FROM standings LIMIT 10"',
            'heptalog sql grpc://127.0.0.1:7777 "FROM ratings WHERE rank <= 3" --out best.csv',
        ),
        "rebuild": ("heptalog rebuild season.duckdb", "heptalog rebuild season.duckdb --check"),
        "views": ("heptalog views", "heptalog views standings --sql"),
        "report": (
            "heptalog report season.duckdb --html season.html",
            'heptalog report season.duckdb "Spring Cup" --html cup.html',
        ),
        "doctor": ("heptalog doctor season.duckdb",),
        "audit": ("heptalog audit season.duckdb", "heptalog audit season.duckdb --key season.pub --jobs 1"),
        "keygen": (
            "heptalog keygen example.org/season --out season.key --public season.pub",
            "heptalog keygen example.org/witness --cosigner --out witness.key",
        ),
        "checkpoint": (
            "heptalog checkpoint season.duckdb --fresh --key season.key",
            "heptalog checkpoint grpc://127.0.0.1:7777 --out latest.checkpoint",
        ),
        "cosign": (
            "heptalog cosign grpc://127.0.0.1:7777 --key witness.key --log-key season.pub --state cosigned.state",
        ),
        "bundle": (
            "heptalog bundle season.duckdb#final --out final.bundle --key season.key",
            "heptalog bundle grpc://127.0.0.1:7777#final --as arbiter --out whole.bundle",
        ),
        "reveal": ("heptalog reveal season.duckdb#final --seat Ana --round 1 --out ana.reveal",),
        "backup": (
            "heptalog backup season.duckdb season.backup",
            "heptalog backup grpc://127.0.0.1:7777 season.backup --key season.pub",
        ),
        "restore": (
            "heptalog restore season.backup --check",
            "heptalog restore season.backup restored.duckdb",
        ),
        "simulate": (
            "heptalog simulate season.duckdb --games 20",
            "heptalog simulate season.duckdb --games 50 --ruleset seven_bridge --bots greedy --jobs 1",
        ),
        "demo": ("heptalog demo",),
    }
)
