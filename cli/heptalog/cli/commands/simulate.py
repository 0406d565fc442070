"""`heptalog simulate`: as many games as asked, played by bots."""

from typing import Annotated

import typer

from heptalog.cli.exits import Exit, WrongUse, complain
from heptalog.cli.guard import guarded
from heptalog.cli.options import Format, FormatOption, JobsOption

DestinationArgument = Annotated[
    str,
    typer.Argument(
        metavar="DATABASE|grpc://HOST:PORT", help="A database is made where it is missing.", show_default=False
    ),
]
GamesOption = Annotated[int, typer.Option("--games", "-n", min=1, metavar="N", help="So many in all.")]
SeedOption = Annotated[int, typer.Option("--seed", metavar="N", help="Other games for every number.")]
RulesetsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--ruleset",
        metavar="RULESET",
        help="Only games of these rules, as seven_up. May be given several times.",
        show_default=False,
    ),
]
BotsOption = Annotated[
    str, typer.Option("--bots", metavar="random|greedy|mixed", help="How they play; mixed is each as good as it is.")
]
PlayersOption = Annotated[int, typer.Option("--players", min=2, max=1_000_000, metavar="N", help="Members in all.")]
TournamentOption = Annotated[str, typer.Option("--tournament", metavar="NAME", help="All games belong to this one.")]
TournamentsOption = Annotated[
    int, typer.Option("--tournaments", min=1, max=26, metavar="N", help="Weekends with tournaments in a season.")
]
MonthsOption = Annotated[
    int,
    typer.Option("--months", min=1, max=12, metavar="N", help="A season; each has twice the games of the one before."),
]


@guarded
def simulate(
    destination: DestinationArgument,
    games: GamesOption,
    seed: SeedOption = 7,
    ruleset: RulesetsOption = None,
    bots: BotsOption = "mixed",
    players: PlayersOption = 400,
    tournament: TournamentOption = "",
    tournaments: TournamentsOption = 6,
    months: MonthsOption = 6,
    jobs: JobsOption = 0,
    format_: FormatOption = Format.TEXT,
) -> Exit:
    """Play games by bots, into a database or a server.

    A federation of named players, some strong and some weak, holds tournaments through the years; a few games are
    closed by the arbiter, a few moves taken back or refused, and the last games are left running. The same arguments
    make the same events to the last byte. Each game follows from them and from its number alone: more games leave the
    first ones as they are, games that are there already add nothing, and a run that was interrupted goes on.
    """
    from heptalog.analytics.processes import core_count
    from heptalog.cli.connections import Connections
    from heptalog.cli.output import counting, write_document, write_text
    from heptalog.cli.render import counted
    from heptalog.cli.rulesets import ruleset_named
    from heptalog.cli.simulating.opening import opened
    from heptalog.cli.simulating.options import seats_least
    from heptalog.cli.simulating.plans import Bots, Plan
    from heptalog.cli.simulating.running import run
    from heptalog.replay.registry import NEWEST

    named = {ruleset_named(text) for text in ruleset or ()}
    rulesets = tuple(key for key in NEWEST if not named or key in named)
    if bots.lower() not in list(Bots):
        raise WrongUse(f"--bots {bots}: they play {', '.join(Bots)}")
    if players < (least := max(map(seats_least, rulesets))):
        raise WrongUse(f"--players {players}: it takes {least} for these games")
    plan = Plan(rulesets, seed, Bots(bots.lower()), players, tournament, tournaments, months)
    with (
        Connections() as connections,
        opened(destination, connections) as log,
        counting("games simulated", total=games) as counter,
    ):
        result = run(plan, games, log, processes=jobs or core_count(), counter=counter)
    if format_ is Format.TEXT:
        write_text(f"{counted(result.games_added, 'game')} and {counted(result.events_added, 'event')} added")
    else:
        write_document(result, format_)
    known = result.games - result.games_added
    before = f", {known:,} of which were in the log before" if known else ""
    left = result.left_running
    going = f"; the last {f'{left} go' if left > 1 else 'one goes'} on" if left else ""
    complain(f"{counted(result.games, 'game')} simulated{before}{going}")
    return Exit.FINE
