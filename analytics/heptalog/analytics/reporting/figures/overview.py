"""What is about all kinds of game, and what is about the players: months and ratings."""

from collections.abc import Sequence
from typing import Final

from heptalog.analytics.reporting import specs
from heptalog.analytics.reporting.answers import Answers, Row
from heptalog.analytics.reporting.figures.figure import Figure, Table
from heptalog.analytics.reporting.words import counted, number
from heptalog.replay.words import title_of

_MONTHS_LEAST: Final = 3
_SERIES_MAX: Final = len(specs.SERIES)
_SIGMAS: Final = 2
_PLAYERS_LEAST: Final = 2


def months(answers: Answers) -> Figure | None:
    """How many games began in each month."""
    rows = answers.rows["months"]
    labels = list(dict.fromkeys(row["month"] for row in rows))
    if len(labels) < _MONTHS_LEAST or len(answers.rulesets) > _SERIES_MAX:
        return None
    series = tuple(map(title_of, answers.rulesets))
    values = [
        {
            "label": row["month"],
            "count": row["games"],
            "series": title_of(row["ruleset"]),
            "order": answers.rulesets.index(row["ruleset"]),
        }
        for row in rows
    ]

    def draw(is_narrow: bool) -> specs.Spec:
        return specs.columns(values, y="games begun", series=series, is_narrow=is_narrow, labels=labels)

    counts = {label: sum(row["games"] for row in rows if row["month"] == label) for label in labels}
    most = max(labels, key=lambda label: (counts[label], label))
    told = (
        f"Games were begun in {counted(len(labels), 'month')} from {labels[0]} to {labels[-1]}, "
        f"most of them in {most}: {counts[most]:,}."
    )
    cells = {(row["month"], row["ruleset"]): row["games"] for row in rows}
    table = Table(
        ("Month", *series),
        tuple((label, *(f"{cells.get((label, ruleset), 0):,}" for ruleset in answers.rulesets)) for label in labels),
    )
    return Figure("When it was played", told, draw, table)


def ratings(answers: Answers, ruleset: str) -> Figure | None:
    """What the best are thought to play like."""
    rows = answers.of("ratings", ruleset)
    if len(rows) < _PLAYERS_LEAST:
        return None
    values = [
        {
            "label": f"{row['rank']:,}  {row['player_name'] or row['player_id']}",
            "value": round(row["mu"], 2),
            "low": round(row["mu"] - _SIGMAS * row["sigma"], 2),
            "high": round(row["mu"] + _SIGMAS * row["sigma"], 2),
        }
        for row in rows
    ]

    def draw(is_narrow: bool) -> specs.Spec:
        return specs.ranges(values, x="rating, ± 2 standard deviations", is_narrow=is_narrow)

    table = Table(
        ("Place", "Player", "Games", "Rating", "Uncertainty", "At least"),
        tuple(
            (
                f"{row['rank']:,}",
                row["player_name"] or row["player_id"],
                f"{row['games']:,}",
                number(row["mu"]),
                number(row["sigma"]),
                number(row["ordinal"]),
            )
            for row in rows
        ),
        names=1,
    )
    return Figure("Ratings", _ratings_caption(rows, answers.tournament), draw, table)


def _ratings_caption(rows: Sequence[Row], tournament: str | None) -> str:
    first, others = rows[0], rows[1:]
    reach = _SIGMAS * first["sigma"]
    close = sum(row["mu"] + _SIGMAS * row["sigma"] >= first["mu"] - reach for row in others)
    leader = first["player_name"] or first["player_id"]
    told = (
        f"{leader} leads {counted(first['players'], 'rated player')} with {number(first['mu'])} ± {number(reach)} "
        f"after {counted(first['games'], 'game')}. "
    )
    if not close:
        told += "No other range shown reaches into that. "
    elif close == len(others):
        told += "Every other range shown reaches into that, so the order is not certain. "
    else:
        told += f"{close} of the {len(others)} other ranges shown reach into that: their order is not certain. "
    whose = "All games" if tournament is None else "All games of these players, here and elsewhere,"
    return told + (
        f"{whose} count. Places, among everybody who is rated, go by what is almost sure: the rating less three "
        "standard deviations."
    )
