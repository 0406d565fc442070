"""How rounds end, and who passes on the way there."""

from collections.abc import Sequence
from typing import Any, Final

from heptalog.analytics.reporting import specs
from heptalog.analytics.reporting.answers import Answers, Row
from heptalog.analytics.reporting.counting import correlation
from heptalog.analytics.reporting.figures.figure import Figure, Table
from heptalog.analytics.reporting.words import counted, name_of, number, sentence, share, spelled

_GAMES_LEAST: Final = 3
_PLAYERS_LEAST: Final = 4
_ROWS_MAX: Final = 30
# From here on two numbers go together as far as anybody sees.
_CORRELATED: Final = 0.2


def endings(answers: Answers, ruleset: str) -> Figure | None:
    """How rounds end. A game in which they all end alike has nothing to show."""
    rows = answers.of("endings", ruleset)
    if len(rows) < 2:
        return None
    whole = sum(row["rounds"] for row in rows)
    values = [_bar(sentence(name_of(row["ended_by"])), row["rounds"], share(row["rounds"], whole)) for row in rows]

    def draw(is_narrow: bool) -> specs.Spec:
        return specs.rows(values, x="number of rounds", has_text=True, is_narrow=is_narrow)

    table = Table(
        ("Ended by", "Rounds", "Share", "Turns in the mean"),
        tuple(
            (
                sentence(name_of(row["ended_by"])),
                f"{row['rounds']:,}",
                share(row["rounds"], whole),
                number(row["mean_turns"]),
            )
            for row in rows
        ),
    )
    first, second = rows[:2]
    told = (
        f"Of {counted(whole, 'round')} {share(first['rounds'], whole)} end by {name_of(first['ended_by'])}, after "
        f"{number(first['mean_turns'])} turns in the mean, and {share(second['rounds'], whole)} by "
        f"{name_of(second['ended_by'])}, after {number(second['mean_turns'])}."
    )
    return Figure("How rounds end", told, draw, table)


def passes(answers: Answers, ruleset: str) -> Figure | None:
    """How often each player passes, and how often they win."""
    rows = [row for row in answers.of("passes", ruleset) if row["games"] >= _GAMES_LEAST]
    if len(rows) < _PLAYERS_LEAST or not any(row["passes"] for row in rows):
        return None
    pairs = [(row["passes"] / row["turns"], row["won"] / row["games"]) for row in rows]
    values = [{"x": round(x, 4), "value": round(y, 4)} for x, y in pairs]

    def draw(is_narrow: bool) -> specs.Spec:
        return specs.points(values, x="turns passed", y="games won, one dot a player", is_narrow=is_narrow)

    shown = rows[:_ROWS_MAX]
    table = Table(
        ("Player", "Turns", "Passed", "Games", "Won"),
        tuple(
            (
                row["player_name"] or row["player_id"],
                f"{row['turns']:,}",
                share(row["passes"], row["turns"]),
                f"{row['games']:,}",
                share(row["won"], row["games"]),
            )
            for row in shown
        ),
    )
    return Figure("Who passes", _passes_caption(rows, pairs, len(shown)), draw, table)


def ghosts(answers: Answers, ruleset: str) -> Figure | None:
    """How often a round makes a ghost of a player."""
    rows = [row for row in answers.of("ghosts", ruleset) if row["rounds"] >= _GAMES_LEAST]
    if not any(row["ghosts"] for row in rows):
        return None
    values = [
        _bar(
            f"{spelled(row['player_count'])} play",
            100 * row["ghosts"] / row["rounds"],
            share(row["ghosts"], row["rounds"]),
        )
        for row in rows
    ]

    def draw(is_narrow: bool) -> specs.Spec:
        return specs.rows(values, x="percent of hands that become a ghost", has_text=True, is_narrow=is_narrow)

    table = Table(
        ("Players", "Hands", "Ghosts", "Rate", "A ghost pays", "Others pay"),
        tuple(
            (
                str(row["player_count"]),
                f"{row['rounds']:,}",
                f"{row['ghosts']:,}",
                share(row["ghosts"], row["rounds"]),
                number(row["penalty_ghost"]),
                number(row["penalty_other"]),
            )
            for row in rows
        ),
    )
    return Figure("Ghosts", _ghosts_caption(rows), draw, table)


def _bar(label: str, value: float, text: str) -> dict[str, Any]:
    return {"label": label, "value": round(value, 3), "text": text}


def _passes_caption(rows: Sequence[Row], pairs: Sequence[tuple[float, float]], shown: int) -> str:
    turns, passed = sum(row["turns"] for row in rows), sum(row["passes"] for row in rows)
    together = correlation(pairs)
    if abs(together) < _CORRELATED:
        seen = "Who passes more wins neither more nor less, as far as can be seen"
    else:
        seen = f"Who passes more wins {'more' if together > 0 else 'less'}"
    told = (
        f"{counted(len(rows), 'player')} pass on {share(passed, turns)} of their turns. {seen} "
        f"(correlation {number(together, 2)})."
    )
    return told if shown == len(rows) else told + f" The numbers are of the {shown} with most turns."


def _ghosts_caption(rows: Sequence[Row]) -> str:
    hands, made = sum(row["rounds"] for row in rows), sum(row["ghosts"] for row in rows)
    cost = sum(row["ghosts"] * (row["penalty_ghost"] or 0) for row in rows) / made
    others = sum((row["rounds"] - row["ghosts"]) * (row["penalty_other"] or 0) for row in rows) / max(hands - made, 1)
    most = max(rows, key=lambda row: (row["ghosts"] / row["rounds"], row["player_count"]))
    told = f"Of {counted(hands, 'hand')} {share(made, hands)} become a ghost"
    if len(rows) > 1:
        told += f", most often where {spelled(most['player_count'])} play ({share(most['ghosts'], most['rounds'])})"
    return f"{told}. A ghost pays {number(cost)} in the mean, everybody else {number(others)}."
