"""What commands have in common on the command line: how a game is named, and the form of the answer."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import typer

NAMING: Final = "FILE, DATABASE.duckdb#GAME or grpc://HOST:PORT#GAME."
NAMING_MANY: Final = "Files, folders, databases and servers, or single games in them (DATABASE.duckdb#GAME)."


class Format(StrEnum):
    """The form of an answer."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"


class TableForm(StrEnum):
    """The form of an answer in rows and columns."""

    TEXT = "text"
    CSV = "csv"
    JSON = "json"
    JSONL = "jsonl"
    PARQUET = "parquet"
    ARROW = "arrow"


# A week; nobody waits for longer, and clocks can count it.
SECONDS_MAX: Final = 7 * 86_400


def named_path(text: str) -> Path:
    """The path of an option, which is not empty: that would be the folder one is in. Raises typer.BadParameter."""
    if not text:
        raise typer.BadParameter("it is empty")
    return Path(text)


GameArgument: TypeAlias = Annotated[str, typer.Argument(metavar="GAME", help=NAMING, show_default=False)]
PathsArgument: TypeAlias = Annotated[list[str], typer.Argument(metavar="PATH", help=NAMING_MANY, show_default=False)]
LogArgument: TypeAlias = Annotated[
    str,
    typer.Argument(metavar="DATABASE|grpc://HOST:PORT", help="A database, or a running server.", show_default=False),
]
HistoryArgument: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="A database that no server holds, the folder of an export, or grpc://HOST:PORT.",
        show_default=False,
    ),
]
FormatOption: TypeAlias = Annotated[
    Format,
    typer.Option(
        "--format",
        "-f",
        metavar="|".join(Format),
        case_sensitive=False,
        help="text for people; json is one document, jsonl one object a line.",
    ),
]
AtOption: TypeAlias = Annotated[
    int | None, typer.Option("--at", min=0, metavar="N", help="After event N, instead of the last.", show_default=False)
]
LimitOption: TypeAlias = Annotated[
    int | None, typer.Option("--limit", min=1, metavar="N", help="At most so many.", show_default=False)
]
OutOption: TypeAlias = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FILE", help="Instead of stdout, which is -.", show_default=False)
]
JobsOption: TypeAlias = Annotated[
    int, typer.Option("--jobs", "-j", min=0, max=256, metavar="N", help="Processes that work; 0 is one a core.")
]
# Which there are is known to the registry alone, and it is loaded only when a command runs.
RulesetOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--ruleset", metavar="RULESET", help="Only games of these rules, as seven_up.", show_default=False),
]
TournamentOption: TypeAlias = Annotated[
    str, typer.Option("--tournament", metavar="NAME", help="Only games of this tournament.", show_default=False)
]
QuietOption: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="Only what is wrong, and the total.")]
ARBITER: Final = "arbiter"
AsOption: TypeAlias = Annotated[
    str, typer.Option("--as", metavar="VIEWER", help="arbiter (sees all), public, seat:N, or a player by id or name.")
]
