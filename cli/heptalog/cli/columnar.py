"""`heptalog export` into a folder of tables: how it is begun, and what is said of it."""

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import partial
from importlib.metadata import version
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from heptalog.analytics.parquet.exporting import Begin, Exported, Exporting, Settings, exporting
from heptalog.analytics.parquet.flat import Flattening, flattening
from heptalog.analytics.parquet.manifest import Kind
from heptalog.analytics.processes import core_count, in_order
from heptalog.cli.connections import Connections, shown
from heptalog.cli.databases import Database
from heptalog.cli.exits import Exit, WrongUse, complain, no_whole_log
from heptalog.cli.exports import lying, served
from heptalog.cli.options import Format
from heptalog.cli.output import counting, write_document, write_lines
from heptalog.cli.render import counted
from heptalog.cli.servers import Server
from heptalog.cli.sources import Named
from heptalog.replay.errors import Code
from heptalog.replay.sentences import SENTENCES, shown_size
from heptalog.replay.words import printable


class Wanted(Struct, frozen=True):
    """What is asked for: tables as files of a kind in a folder, without running games, or with them."""

    kind: Kind
    folder: Path
    has_running: bool = False


def wanted_of(parquet: Path | None, arrow: Path | None, csv: Path | None, *, has_running: bool) -> Wanted:
    """What these options ask for. Raises WrongUse where it is nothing, or two things at once."""
    kinds: tuple[tuple[Kind, Path | None], ...] = (("parquet", parquet), ("arrow", arrow), ("csv", csv))
    chosen = [Wanted(kind, folder, has_running) for kind, folder in kinds if folder is not None]
    if not chosen:
        raise WrongUse("--unfinished goes with --parquet, --arrow or --csv: game files are of running games too")
    if len(chosen) > 1:
        raise WrongUse("only one of --parquet, --arrow and --csv at once")
    return chosen[0]


def export_tables(source: Named, wanted: Wanted, format_: Format) -> Exit:
    """Export, and say what came of it. Raises WrongUse, and what the log or the folder raises."""
    if not isinstance(source, Database | Server):
        raise no_whole_log(f"{source.name}: tables are made of a whole log")
    has_fault = False
    with Connections() as connections:
        if isinstance(source, Database):
            # What is left is exported, and that it is not all is told.
            has_fault = connections.fault(source.path) is not None
            connections.complain(source.path)
            begin = lying(source.path)
        else:
            begin = _fetched(source, connections, wanted)
        exported = _exported(begin, wanted)
    for game in exported.unread:
        complain(printable(f"{source.name}#{game.game_id}: {SENTENCES[Code(game.reason)]} [{game.reason}]"))
    if format_ is Format.TEXT:
        write_lines(_lines(exported, wanted))
    else:
        write_document(exported, format_)
    return Exit.FINDING if has_fault or exported.unread else Exit.FINE


def _fetched(source: Server, connections: Connections, wanted: Wanted) -> Begin:
    from heptalog.analytics.parquet.folder import Place
    from heptalog.analytics.parquet.pieces import Opener

    def begin(place: Place) -> Opener:
        with counting("events fetched") as counter:
            return served(source.target, connections, has_running=wanted.has_running, tell=counter.add)(place)

    return begin


def _exported(begin: Begin, wanted: Wanted) -> Exported:
    jobs = core_count()
    settings = Settings(
        at_once=partial(in_order, jobs=jobs, work="exported games"),
        clock=time.time_ns,
        made_by=f"heptalog {version('heptalog')}",
        has_running=wanted.has_running,
    )
    with _begun(begin, wanted, settings) as work, counting("events exported", total=work.events) as counter:
        return replace(work.run(counter.add), folder=shown(wanted.folder))


def _begun(begin: Begin, wanted: Wanted, settings: Settings) -> AbstractContextManager[Exporting | Flattening]:
    if wanted.kind == "parquet":
        return exporting(wanted.folder, begin, settings)
    return flattening(wanted.folder, begin, settings, wanted.kind)


def _lines(exported: Exported, wanted: Wanted) -> Iterator[str]:
    yield f"{counted(exported.new_events, 'new event')} in the log, up to position {exported.position:,}"
    yield (
        f"{exported.folder}: {counted(exported.games, 'game')}, {counted(exported.events, 'event')}, "
        f"{counted(exported.files, 'file')}, {shown_size(exported.size)}"
    )
    if exported.running:
        games = counted(exported.running, "running game")
        if wanted.has_running:
            yield f"{games} among them, whose hidden hands are in the records"
        else:
            yield f"{games} left out"
