"""`heptalog report`: a page about a tournament, or about everything."""

from pathlib import Path
from typing import Annotated, Final

import typer

from heptalog.cli.exits import Exit, complain
from heptalog.cli.guard import guarded
from heptalog.cli.options import HistoryArgument, named_path

TournamentArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="TOURNAMENT|all",
        help="The tournament, by its name; without it, or as all where none is called so, everything.",
        show_default=False,
    ),
]
HtmlOption = Annotated[
    Path,
    typer.Option(
        "--html", parser=named_path, metavar="FILE", help="The page, written whole or not at all; - is stdout."
    ),
]

_ALL: Final = "all"


@guarded
def report(source: HistoryArgument, html: HtmlOption, tournament: TournamentArgument = None) -> Exit:
    """Write a page with standings and charts, to be opened anywhere.

    One file that needs no network, no script and nothing else: for a phone, a desk or paper, with the numbers of every
    chart for who does not see it. The same moment of the same log makes the same bytes. What hidden hands held is in
    none of it.
    """
    import pyarrow as pa

    from heptalog.analytics.reporting.answers import has_tournament
    from heptalog.analytics.reporting.report import STEPS
    from heptalog.analytics.reporting.report import report as made
    from heptalog.cli.asking import Wishes, opened
    from heptalog.cli.exporting import write_whole
    from heptalog.cli.output import counting, write_bytes

    with opened(source) as asker:

        def ask(sql: str) -> tuple[int, pa.Table]:
            with asker.ask(sql, Wishes()) as reply:
                batches = list(reply.batches())
                return reply.position, pa.Table.from_batches(batches, reply.schema)

        if tournament == _ALL and not has_tournament(ask, _ALL):
            tournament = None
        with counting("questions", total=STEPS) as counter:
            page = made(ask, tournament, tell=counter.add)
    if html == Path("-"):
        write_bytes(page)
        return Exit.FINE
    write_whole(html, [page])
    complain(f"{html}: {len(page) // 1024:,} KiB")
    return Exit.FINE
