"""How scores grow, and where they end."""

from collections.abc import Sequence
from typing import Final

from heptalog.analytics.reporting import specs
from heptalog.analytics.reporting.answers import Answers, Row
from heptalog.analytics.reporting.counting import Bin, bins_for, mean, quantile
from heptalog.analytics.reporting.figures.figure import Figure, Table
from heptalog.analytics.reporting.words import counted, number
from heptalog.replay.registry import LOWEST_IS_BEST

_GROUPS: Final = ("sides that win", "other sides")
_BINS_MAX: Final = 24
# A mean of so few says nothing: rounds that fewer games reach are left out, or one in so many of those that begin.
_GAMES_LEAST: Final = 3
_REACHED_ONE_IN: Final = 20


def progress(answers: Answers, ruleset: str) -> Figure | None:
    """The mean score after each round, of those who win in the end and of the others."""
    rows = answers.of("progress", ruleset)
    least = max(_GAMES_LEAST, rows[0]["games"] / _REACHED_ONE_IN) if rows else 0
    rows = [row for row in rows if row["games"] >= least and row["others"] is not None]
    if len(rows) < 2:
        return None
    values = [
        {"x": row["round"], "value": round(row[name], 2), "series": series}
        for row in rows
        for name, series in zip(("winners", "others"), _GROUPS, strict=True)
    ]
    y = _score_name(ruleset)

    def draw(is_narrow: bool) -> specs.Spec:
        return specs.lines(values, x="after round", y=f"mean {y}", series=_GROUPS, is_narrow=is_narrow)

    table = Table(
        ("Round", "Games", "Sides that win", "Other sides"),
        tuple((str(row["round"]), f"{row['games']:,}", number(row["winners"]), number(row["others"])) for row in rows),
    )
    return Figure("How scores grow", _progress_caption(rows, y), draw, table)


def distribution(answers: Answers, ruleset: str) -> Figure | None:
    """How often a side has ended with each score."""
    rows = answers.of("scores", ruleset)
    if not rows:
        return None
    bins = bins_for(rows[0]["score"], rows[-1]["score"], bins_max=_BINS_MAX)
    counts = [_count(rows, each) for each in bins]
    values = [
        {"start": each.start, "end": each.end, "count": count, "series": series, "order": order}
        for each, pair in zip(bins, counts, strict=True)
        for order, (count, series) in enumerate(zip(pair, _GROUPS, strict=True))
    ]

    def draw(is_narrow: bool) -> specs.Spec:
        return specs.histogram(
            values, x=f"final {_score_name(ruleset)}", y="number of sides", series=_GROUPS, is_narrow=is_narrow
        )

    table = Table(
        ("Score", "Sides that win", "Other sides"),
        tuple((each.label, f"{won:,}", f"{lost:,}") for each, (won, lost) in zip(bins, counts, strict=True)),
    )
    return Figure("Where scores end", _distribution_caption(rows, ruleset), draw, table)


def _score_name(ruleset: str) -> str:
    return "penalty" if ruleset in LOWEST_IS_BEST else "score"


def _count(rows: Sequence[Row], each: Bin) -> tuple[int, int]:
    inside = [row for row in rows if each.start <= row["score"] < each.end]
    won = sum(row["won"] for row in inside)
    return won, sum(row["sides"] for row in inside) - won


def _progress_caption(rows: Sequence[Row], name: str) -> str:
    first, last = rows[0], rows[-1]
    gaps = [abs(row["winners"] - row["others"]) for row in (first, last)]
    growth = "grows" if gaps[1] > gaps[0] else "shrinks"
    return (
        f"After round {first['round']} the later winners have a mean {name} of {number(first['winners'])}, "
        f"the others of {number(first['others'])}. The difference {growth} from {number(gaps[0])} to {number(gaps[1])} "
        f"after round {last['round']}, which {counted(last['games'], 'game')} of {first['games']:,} have reached."
    )


def _distribution_caption(rows: Sequence[Row], ruleset: str) -> str:
    sides = [(row["score"], row["sides"]) for row in rows]
    low, high = (quantile(sides, part) for part in (0.25, 0.75))
    winners = mean((row["score"], row["won"]) for row in rows)
    others = mean((row["score"], row["sides"] - row["won"]) for row in rows)
    name = _score_name(ruleset)
    return (
        f"Half of all sides end with a {name} from {number(low, 0)} to {number(high, 0)}; "
        f"winners with {number(winners)} in the mean, the others with {number(others)}."
    )
