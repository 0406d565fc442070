"""`heptalog games`: which games there are."""

from enum import StrEnum
from itertools import islice
from typing import Annotated

import typer

from heptalog.cli.exits import Exit, complain, worst
from heptalog.cli.guard import guarded
from heptalog.cli.options import Format, FormatOption, LimitOption, PathsArgument, RulesetOption, TournamentOption


class GameStatus(StrEnum):
    """Where a game is in its life."""

    RUNNING = "running"
    WON = "won"
    CLOSED = "closed"


PlayerOption = Annotated[
    str,
    typer.Option(
        "--player",
        metavar="PLAYER",
        help="Only games of a player by id or name: the whole of it, as it is recorded.",
        show_default=False,
    ),
]
StatusOption = Annotated[
    GameStatus | None,
    typer.Option(
        "--status",
        metavar="|".join(GameStatus),
        case_sensitive=False,
        help="Only games that go on, were won, or were closed by the arbiter.",
    ),
]
ResultsOption = Annotated[
    bool, typer.Option("--results", help="Replay each game for its scores and winners; for files that is done anyway.")
]


@guarded
def games(
    paths: PathsArgument,
    ruleset: RulesetOption = None,
    player: PlayerOption = "",
    tournament: TournamentOption = "",
    status: StatusOption = None,
    results: ResultsOption = False,
    limit: LimitOption = None,
    format_: FormatOption = Format.TEXT,
) -> Exit:
    """List games.

    Of a database or server in the order they were created, of a folder by name. Files are replayed to know how they
    stand; a bad one is told on stderr, and the exit code is 1.
    """
    from heptalog.cli.connections import Connections
    from heptalog.cli.listing import Row, rows
    from heptalog.cli.output import Objects
    from heptalog.cli.render import GAME_COLUMNS, RESULT_COLUMNS, SPARE_COLUMNS, finding_text, row_cells
    from heptalog.cli.rulesets import ruleset_named
    from heptalog.cli.verdicts import Verdict
    from heptalog.cli.wordtables import write_words
    from heptalog.service.store import GameFilter, Status

    wanted = GameFilter(
        ruleset="" if ruleset is None else ruleset_named(ruleset),
        player=player,
        tournament=tournament,
        status=Status(status.upper()) if status else None,
    )
    bad: list[Verdict] = []
    listed: list[list[str]] = []

    def good(found: Row | Verdict) -> bool:
        if isinstance(found, Verdict):
            bad.append(found)
            complain(finding_text(found))
        return isinstance(found, Row)

    with (
        Connections() as connections,
        Objects(is_list=format_ is Format.JSON, is_silent=format_ is Format.TEXT) as out,
    ):
        found = rows(paths, wanted, connections, with_results=results)
        for row in islice(filter(good, found), limit):
            assert isinstance(row, Row), "only rows pass"
            if format_ is Format.TEXT:
                listed.append(row_cells(row))
            else:
                out.write(row)
    if format_ is Format.TEXT and listed:
        # Scores and winners are not looked for unless they are asked for.
        shown = [
            index
            for index, name in enumerate(GAME_COLUMNS)
            if name not in RESULT_COLUMNS or any(cells[index] for cells in listed)
        ]
        table = [[cells[index] for index in shown] for cells in listed]
        columns = [GAME_COLUMNS[index] for index in shown]
        write_words(columns, table, numbers=("events",), whole="game", spare=SPARE_COLUMNS)
    elif not bad and not listed and format_ is Format.TEXT:
        complain("no game fits")
    exits = {verdict.exit for verdict in bad}
    return worst(exits)
