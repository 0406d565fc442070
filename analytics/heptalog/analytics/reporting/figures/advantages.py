"""Who is at an advantage by the place alone: seats, openers and dealers."""

from collections.abc import Iterable, Sequence
from typing import Final

from heptalog.analytics.reporting import specs
from heptalog.analytics.reporting.answers import Answers, Row
from heptalog.analytics.reporting.counting import standard_error
from heptalog.analytics.reporting.figures.figure import Figure, Table
from heptalog.analytics.reporting.words import counted, number, sentence, share, spelled
from heptalog.replay.phrases import in_a_row

# Rows of fewer games say nothing, and only lengthen the chart.
_GAMES_LEAST: Final = 5
# Of thirty rows one lies beyond two standard errors by chance alone; beyond three, hardly any. The lines reach as far,
# so that what is told and what is drawn say the same.
_ERRORS: Final = 3
_ROLES: Final = {"OPENER": "who opens", "DEALER": "who deals"}


def seats(answers: Answers, ruleset: str) -> Figure | None:
    """How often each seat wins."""
    rows = [row for row in answers.of("seats", ruleset) if row["games"] >= _GAMES_LEAST and row["seat"] < _sides(row)]
    if not rows:
        return None
    values = [_seat(row) for row in rows]

    def draw(is_narrow: bool) -> specs.Spec:
        return specs.ranges(values, x="percentage points over fair", zero=0, is_narrow=is_narrow)

    table = Table(
        ("Seats", "Games", "Won", "Win rate", "Fair"),
        tuple(
            (
                _seat_label(row),
                f"{row['games']:,}",
                f"{row['won']:,}",
                share(row["won"], row["games"]),
                share(row["fair_rate"], 1),
            )
            for row in rows
        ),
    )
    return Figure("Where to sit", _seats_caption(rows), draw, table)


def openers(answers: Answers, ruleset: str) -> Figure | None:
    """What a round brings who opens and who deals."""
    rows = [row for row in answers.of("openers", ruleset) if row["rounds"] >= _GAMES_LEAST]
    rows = [row for row in rows if row["mean_gain_of_others"] is not None]
    if not rows:
        return None
    values = [{"label": _role_label(row), "value": round(_lead(row), 3)} for row in rows]

    def draw(is_narrow: bool) -> specs.Spec:
        return specs.rows(values, x="lead a round over another side", is_narrow=is_narrow)

    table = Table(
        ("Role", "Rounds", "Ahead in", "Mean gain", "Of another side"),
        tuple(
            (
                _role_label(row),
                f"{row['rounds']:,}",
                share(row["ahead"], row["rounds"]),
                number(row["mean_gain"], 2),
                number(row["mean_gain_of_others"], 2),
            )
            for row in rows
        ),
    )
    return Figure("To open, to deal", _openers_caption(rows), draw, table)


def _sides(row: Row) -> int:
    fair_rate: float = row["fair_rate"]
    return round(1 / fair_rate)


def _seat_label(row: Row) -> str:
    held = [str(seat) for seat in range(row["seat"], row["player_count"], _sides(row))]
    return f"{spelled(row['player_count'])} play, {'seat' if len(held) == 1 else 'seats'} {in_a_row(held)}"


def _seat(row: Row) -> dict[str, object]:
    rate, fair = row["won"] / row["games"], row["fair_rate"]
    error = _ERRORS * standard_error(fair, row["games"])
    points = [round(100 * (value - fair), 3) for value in (rate, rate - error, rate + error)]
    return {"label": _seat_label(row), "value": points[0], "low": points[1], "high": points[2]}


def _seats_caption(rows: Sequence[Row]) -> str:
    most = max(rows, key=lambda row: (_deviation(row), -row["seat"]))
    games = sum(row["games"] for row in rows if row["seat"] == 0)
    told = (
        f"Of {counted(games, 'game')} won by the rules, the farthest from fair is “{_seat_label(most)}”: "
        f"it wins {share(most['won'], most['games'])} where {share(most['fair_rate'], 1)} would be fair. "
    )
    if _deviation(most) > _ERRORS:
        told += "Chance alone hardly ever makes that much."
    else:
        told += "Chance alone may make that much, so no seat is known to be better."
    return (
        f"{told} Lines reach {spelled(_ERRORS).lower()} standard errors to each side: a seat is known to be better or "
        "worse where its line does not meet zero."
    )


def _deviation(row: Row) -> float:
    error = standard_error(row["fair_rate"], row["games"])
    distance: float = abs(row["won"] / row["games"] - row["fair_rate"])
    return distance / error


def _lead(row: Row) -> float:
    lead: float = row["mean_gain"] - row["mean_gain_of_others"]
    return lead


def _role_label(row: Row) -> str:
    return f"{spelled(row['player_count'])} play, {_ROLES.get(row['role'], row['role'].lower())}"


def _openers_caption(rows: Sequence[Row]) -> str:
    counts = {row["player_count"]: row["rounds"] for row in rows if row["role"] == "OPENER"}
    usual = max(counts, key=lambda count: (counts[count], -count), default=rows[0]["player_count"])
    told = list(_gains(row for row in rows if row["player_count"] == usual))
    return sentence(f"where {spelled(usual)} play, {in_a_row(told)}.")


def _gains(rows: Iterable[Row]) -> Iterable[str]:
    for row in rows:
        lead = _lead(row)
        way = "better" if lead >= 0 else "worse"
        who = _ROLES.get(row["role"], row["role"].lower())
        yield f"{who} comes out {number(abs(lead), 2)} {way} than another side ({counted(row['rounds'], 'round')})"
