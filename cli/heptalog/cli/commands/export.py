"""`heptalog export`: recorded games as game files, or the whole history as tables."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heptalog.cli.exits import Exit, WrongUse, complain, worst
from heptalog.cli.guard import guarded
from heptalog.cli.options import ARBITER, AsOption, Format, FormatOption, named_path

if TYPE_CHECKING:
    from heptalog.cli.connections import Connections
    from heptalog.cli.databases import Database
    from heptalog.cli.servers import Server
    from heptalog.cli.sources import Named

SourceArgument = Annotated[
    str,
    typer.Argument(
        metavar="GAME",
        help="FILE, DATABASE.duckdb#GAME or grpc://HOST:PORT#GAME; without #GAME all games, into a folder.",
        show_default=False,
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE|FOLDER",
        help="Instead of stdout, which is -; a folder for all games.",
        readable=False,
        show_default=False,
    ),
]


ParquetOption = Annotated[
    Path | None,
    typer.Option(
        "--parquet",
        parser=named_path,
        metavar="FOLDER",
        help="All games that have ended as tables; later what is new.",
        show_default=False,
    ),
]
ArrowOption = Annotated[
    Path | None,
    typer.Option(
        "--arrow",
        parser=named_path,
        metavar="FOLDER",
        help="The same as one Arrow file a table; made anew each time.",
        show_default=False,
    ),
]
CsvOption = Annotated[
    Path | None,
    typer.Option(
        "--csv",
        parser=named_path,
        metavar="FOLDER",
        help="The same as one CSV file a table; made anew each time.",
        show_default=False,
    ),
]
UnfinishedOption = Annotated[
    bool, typer.Option("--unfinished", help="With running games in the tables: their hidden hands are in the records.")
]


@guarded
def export(
    source: SourceArgument,
    as_: AsOption = ARBITER,
    out: OutOption = None,
    parquet: ParquetOption = None,
    arrow: ArrowOption = None,
    csv: CsvOption = None,
    unfinished: UnfinishedOption = False,
    format_: FormatOption = Format.TEXT,
) -> Exit:
    """Export a game as a game file, or the whole history as tables.

    Each event as it is recorded, one a line: ids, times, seals and hashes included. A file is written whole or not at
    all; a pipe is written into. With --out FOLDER all games of a database or server are written, as FOLDER/GAME.jsonl;
    one that cannot be read is told on stderr, and never stops the others. With --as what is hidden from that viewer is
    left out, and the hashes are the same.

    With --parquet, --arrow or --csv all games that have ended are written as tables, the records with them: for other
    engines, and --parquet for import. An interrupted export leaves the former one as it was; a folder that has the
    export of another log, or of a longer one, is refused.
    """
    from heptalog.cli.sources import named

    name = named(source)
    if parquet is not None or arrow is not None or csv is not None or unfinished:
        from heptalog.cli.columnar import export_tables, wanted_of

        if out is not None or as_ != ARBITER:
            raise WrongUse("--out and --as are for game files: tables are of all games, as they are recorded")
        return export_tables(name, wanted_of(parquet, arrow, csv, has_running=unfinished), format_)
    if format_ is not Format.TEXT:
        raise WrongUse("--format goes with --parquet, --arrow or --csv: a game file has one form")
    return _export_games(name, as_, out)


def _export_games(name: "Named", as_: str, out: Path | None) -> Exit:
    from heptalog.cli.connections import Connections
    from heptalog.cli.databases import Database
    from heptalog.cli.exporting import events_for, file_name, lines_of, write_whole
    from heptalog.cli.output import write_bytes
    from heptalog.cli.servers import Server
    from heptalog.cli.sources import Folder
    from heptalog.replay.errors import Code, Unavailable

    if out == Path("-"):
        out = None
    with Connections() as connections:
        if isinstance(name, Database) and not name.path.exists():
            raise Unavailable(Code.SOURCE_NOT_FOUND, path=name.name)
        if isinstance(name, Database | Server | Folder):
            if isinstance(name, Folder):
                raise WrongUse(f"{name.name}: a folder is many games: name one of its files")
            if out is None or (out.exists() and not out.is_dir()):
                raise WrongUse(f"{name.name}: name one of its games (as {name.name}#GAME), or a folder with --out")
            with _folder_at(out):
                return _export_all(name, as_, out, connections)
        events = events_for(as_, name, connections)
    if out is None:
        for line in lines_of(events):
            write_bytes(line)
    else:
        game_id = next((event.game_id for event in events if event.game_id), "game")
        write_whole(out / file_name(game_id) if out.is_dir() else out, lines_of(events))
    return Exit.FINE


def _export_all(log: "Database | Server", as_: str, out: Path, connections: "Connections") -> Exit:
    from heptalog.cli.databases import Database
    from heptalog.cli.exporting import exported
    from heptalog.cli.render import counted

    count = 0
    bad: set[Exit] = set()
    if isinstance(log, Database) and connections.fault(log.path) is not None:
        # What is left is exported, and that it is not all is told.
        connections.complain(log.path)
        bad.add(Exit.FINDING)
    for result in exported(log.games(connections), as_, out, connections):
        if result.exit is Exit.FINE:
            count += 1
        else:
            complain(result.problem)
            bad.add(result.exit)
    complain(f"{counted(count, 'game')} written to {out}")
    return worst(bad)


@contextmanager
def _folder_at(path: Path) -> Iterator[None]:
    """A folder to write into; where it is made for that and nothing comes into it for an error, it goes again."""
    is_new = not path.exists()
    path.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        if is_new and not any(path.iterdir()):
            path.rmdir()
        raise
