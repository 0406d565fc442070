"""What only Seven Up has: kinds of points, and trumps."""

from collections.abc import Sequence
from typing import Final

from heptalog.analytics.reporting import specs
from heptalog.analytics.reporting.answers import Answers, Row
from heptalog.analytics.reporting.figures.figure import Figure, Table
from heptalog.analytics.reporting.words import counted, name_of, number, sentence, share

_FOR: Final = ("elder hand's side", "the dealer's side", "the third side")
_HOW: Final = ("elder hand stands", "the dealer gives a point")


def points(answers: Answers, ruleset: str) -> Figure | None:
    """How often each kind of point is scored, and for whom."""
    rows = answers.of("points", ruleset)
    if not rows:
        return None
    series = _FOR if any(row["for_others"] for row in rows) else _FOR[:2]
    names = ("for_elder", "for_dealer", "for_others")[: len(series)]
    values = [
        {"label": name_of(row["kind"]), "value": row[name], "series": of, "order": order}
        for row in rows
        for order, (name, of) in enumerate(zip(names, series, strict=True))
    ]

    def draw(is_narrow: bool) -> specs.Spec:
        return specs.rows(values, x="points scored", series=series, is_narrow=is_narrow)

    table = Table(
        ("Point", "Scored", *map(sentence, series)),
        tuple((name_of(row["kind"]), f"{row['scored']:,}", *(f"{row[name]:,}" for name in names)) for row in rows),
    )
    return Figure("What points are made of", _points_caption(rows), draw, table)


def trumps(answers: Answers, ruleset: str) -> Figure | None:
    """Which suits become trump, and how."""
    rows = answers.of("trumps", ruleset)
    if not rows:
        return None
    values = [
        {"label": sentence(name_of(row["trump"])), "value": row[name], "series": how, "order": order}
        for row in rows
        for order, (name, how) in enumerate(zip(("stood", "given"), _HOW, strict=True))
    ]

    def draw(is_narrow: bool) -> specs.Spec:
        return specs.rows(values, x="deals", series=_HOW, is_narrow=is_narrow)

    table = Table(
        ("Trump", "Deals", "Elder hand stood", "Dealer gave", "Points of elder hand's side", "Points of the dealer's"),
        tuple(
            (
                sentence(name_of(row["trump"])),
                f"{row['deals']:,}",
                f"{row['stood']:,}",
                f"{row['given']:,}",
                number(row["elder_points"], 2),
                number(row["dealer_points"], 2),
            )
            for row in rows
        ),
    )
    return Figure("Trumps", _trumps_caption(rows), draw, table)


def _points_caption(rows: Sequence[Row]) -> str:
    whole = sum(row["scored"] for row in rows)
    elder, dealer = (sum(row[name] for row in rows) for name in ("for_elder", "for_dealer"))
    first, last = rows[0], rows[-1]
    told = (
        f"Of {counted(whole, 'point')} {share(elder, whole)} go to elder hand's side and {share(dealer, whole)} "
        "to the dealer's."
    )
    if first is not last:
        told += (
            f" {name_of(first['kind'])} is scored most often ({first['scored']:,} times), "
            f"{name_of(last['kind']).lower()} least ({last['scored']:,})."
        )
    return told


def _trumps_caption(rows: Sequence[Row]) -> str:
    deals, stood = sum(row["deals"] for row in rows), sum(row["stood"] for row in rows)
    elder, dealer = (
        sum(row[name] * row["deals"] for row in rows) / deals for name in ("elder_points", "dealer_points")
    )
    most = rows[0]
    return (
        f"In {counted(deals, 'deal')} {name_of(most['trump'])} are trump most often ({share(most['deals'], deals)}). "
        f"Elder hand stands in {share(stood, deals)}; otherwise the dealer gives a point to keep the suit. "
        f"A deal brings elder hand's side {number(elder, 2)} points in the mean and the dealer's {number(dealer, 2)}."
    )
