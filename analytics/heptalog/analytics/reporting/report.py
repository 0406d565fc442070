"""The report of a tournament, or of everything: from who answers questions to the bytes of the page."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from heptalog.analytics.reporting.answers import QUESTIONS, Answers, Ask, Row, gather
from heptalog.analytics.reporting.figures import overview
from heptalog.analytics.reporting.figures.every import figures
from heptalog.analytics.reporting.figures.figure import Figure, Table
from heptalog.analytics.reporting.page import Ranking, Section, hidden, page, paragraph, ranked, shown
from heptalog.analytics.reporting.words import counted, number, share
from heptalog.replay.registry import LOWEST_IS_BEST
from heptalog.replay.words import title_of

# How many steps `tell` is told of, at most.
STEPS: Final = len(QUESTIONS)
_SHOWN: Final = 30  # players of a table; those behind them are there to be opened
_NOTHING: Final = "No games have been recorded yet."


def report(ask: Ask, tournament: str | None, *, tell: Callable[[], None]) -> bytes:
    """The page, whole; the same answers give the same bytes. `tell` is called after each question.

    Raises what `ask` raises, and NotFound (TOURNAMENT_UNKNOWN).
    """
    answers = gather(ask, tournament, tell=tell)
    totals = answers.rows["totals"][0]
    title = "All tournaments" if tournament is None else tournament
    sections = [Section("overview", "Overview", _overview(answers))]
    sections += [Section(f"game-{key}", title_of(key), _game(answers, key)) for key in answers.rulesets]
    text = page(
        title=title,
        about=_about(answers, totals),
        numbers=_numbers(totals, tournament),
        sections=sections,
        footer=_footer(answers),
    )
    return text.encode()


def _about(answers: Answers, totals: Row) -> str:
    if not totals["games"]:
        return _NOTHING
    games = counted(totals["games"], "game")
    kinds = counted(len(answers.rulesets), "kind of game", "kinds of game")
    told = f"{games} of {kinds} by {counted(totals['players'], 'player')}"
    first, last = totals["first_day"], totals["last_day"]
    if first is not None:
        told += f" on {first}" if first == last else f" from {first} to {last}"
    if totals["running"]:
        told += f"; {totals['running']:,} still go on"
    return f"{told}."


def _numbers(totals: Row, tournament: str | None) -> Iterator[tuple[str, str]]:
    yield "Games", f"{totals['games']:,}"
    yield "Players", f"{totals['players']:,}"
    if tournament is None:
        yield "Tournaments", f"{totals['tournaments']:,}"
    yield "Rounds", f"{totals['rounds'] or 0:,}"
    yield "Turns", f"{totals['turns'] or 0:,}"


def _overview(answers: Answers) -> str:
    rows = answers.rows["coverage"]
    if not rows:
        return paragraph(_NOTHING)
    table = Table(
        ("Game", "Games", "Won", "Closed", "Running", "Players", "Rounds", "Turns"),
        tuple(
            (
                title_of(row["ruleset"]),
                *(f"{row[name]:,}" for name in ("games", "won", "closed", "running", "players", "rounds", "turns")),
            )
            for row in rows
        ),
    )
    caption = "Won by the rules, closed by the arbiter, or still running."
    body = ranked(Ranking(caption, table, spare=("Players", "Rounds", "Turns")))
    return "\n".join((body, *_drawn([overview.months(answers)], "overview")))


def _game(answers: Answers, ruleset: str) -> str:
    made = list(figures(answers, ruleset))
    return "\n".join((*_standings(answers.of("standings", ruleset), ruleset), *_drawn(made, ruleset)))


def _drawn(made: Sequence[Figure | None], prefix: str) -> Iterator[str]:
    for place, figure in enumerate(made):
        if figure is not None:
            yield shown(figure, f"{prefix.replace('_', '-')}-{place + 1}")


def _standings(rows: Sequence[Row], ruleset: str) -> Iterator[str]:
    if not rows:
        yield paragraph("No game has ended yet.")
        return
    players = rows[0]["players"]
    first, rest = rows[:_SHOWN], rows[_SHOWN:]
    points = "Penalties" if ruleset in LOWEST_IS_BEST else "Points"
    spare = ("Lost", "Undecided", points)
    caption = (
        "Standings: by games won, then by margin, which is how much better than the other sides a player's side did."
    )
    if rest:
        caption += f" The first {len(first)} of {players:,} players."
    yield ranked(Ranking(caption, _standing(first, points), spare))
    if rest:
        which = f"Places {len(first) + 1} to {len(rows)}"
        yield hidden(which, ranked(Ranking("", _standing(rest, points), spare)))


def _standing(rows: Sequence[Row], points: str) -> Table:
    return Table(
        ("Place", "Player", "Games", "Won", "Lost", "Undecided", "Win rate", points, "Margin"),
        tuple(
            (
                f"{row['rank']:,}",
                row["player_name"] or row["player_id"],
                *(f"{row[name]:,}" for name in ("games", "won", "lost", "undecided")),
                share(row["won"], row["won"] + row["lost"]),
                number(row["points_for"], 0),
                number(row["margin"]),
            )
            for row in rows
        ),
        names=1,
    )


def _footer(answers: Answers) -> str:
    first, last = answers.first_position, answers.last_position
    if first == last:
        moment = f"Everything in it follows from the events of the log up to position {last:,}."
    else:
        moment = (
            f"Everything in it follows from the events of the log up to position {first:,}; the log went on while "
            f"it was made, and some of it follows from later ones, up to position {last:,}."
        )
    return f"Made by Heptalog. {moment} What hidden hands held is in none of it."
