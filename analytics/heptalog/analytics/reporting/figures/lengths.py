"""How long games are, and how long their moves take."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from heptalog.analytics.reporting import specs
from heptalog.analytics.reporting.answers import Answers
from heptalog.analytics.reporting.counting import bins_for, quantile
from heptalog.analytics.reporting.figures.figure import Figure, Table
from heptalog.analytics.reporting.words import counted, name_of, seconds, sentence

_BINS_MAX: Final = 24
_MICROSECONDS: Final = 1_000_000
_PARTS: Final = (0.1, 0.25, 0.5, 0.75, 0.9)
_TURNS_LEAST: Final = 10


class _Kind(NamedTuple):
    """A kind of turn: how many there were, and how long they took, by `_PARTS`."""

    name: str
    turns: int
    times: tuple[float, ...]


def games(answers: Answers, ruleset: str) -> Figure | None:
    """How many turns a game has."""
    rows = answers.of("lengths", ruleset)
    if not rows:
        return None
    bins = bins_for(rows[0]["turns"], rows[-1]["turns"], bins_max=_BINS_MAX)
    counts = [sum(row["games"] for row in rows if each.start <= row["turns"] < each.end) for each in bins]
    values = [{"start": each.start, "end": each.end, "count": count} for each, count in zip(bins, counts, strict=True)]

    def draw(is_narrow: bool) -> specs.Spec:
        return specs.histogram(values, x="turns in the game", y="number of games", is_narrow=is_narrow)

    lengths = [(row["turns"], row["games"]) for row in rows]
    whole = sum(count for _, count in lengths)
    mean_seconds = sum(row["microseconds"] or 0 for row in rows) / _MICROSECONDS / whole
    told = (
        f"Half of {counted(whole, 'game')} won by the rules have no more than {quantile(lengths, 0.5):,} turns, "
        f"nine in ten no more than {quantile(lengths, 0.9):,}; the longest had {rows[-1]['turns']:,}."
    )
    # Games that were imported may have been accepted all in one moment.
    if mean_seconds >= 1:
        told += f" A game takes {seconds(mean_seconds)} in the mean."
    table = Table(
        ("Turns", "Games"), tuple((each.label, f"{count:,}") for each, count in zip(bins, counts, strict=True))
    )
    return Figure("How long games are", told, draw, table)


def thinking(answers: Answers, ruleset: str) -> Figure | None:
    """How long a turn takes, by what is done."""
    rows = answers.of("thinking", ruleset)
    kinds: list[_Kind] = []
    for kind in dict.fromkeys(row["kind"] for row in rows):
        counts = [(row["half_seconds"] / 2, row["turns"]) for row in rows if row["kind"] == kind]
        turns = sum(count for _, count in counts)
        if turns >= _TURNS_LEAST:
            kinds.append(_Kind(name_of(kind), turns, tuple(quantile(counts, part) for part in _PARTS)))
    if not kinds:
        return None
    kinds.sort(key=lambda kind: (-kind.times[2], kind.name))
    names = ("low", "inner_low", "value", "inner_high", "high")
    values = [{"label": sentence(kind.name), **dict(zip(names, kind.times, strict=True))} for kind in kinds]

    def draw(is_narrow: bool) -> specs.Spec:
        return specs.ranges(values, x="seconds", has_inner=True, is_narrow=is_narrow)

    table = Table(
        ("Turn", "Timed", "One in ten within", "Half within", "Nine in ten within"),
        tuple(
            (sentence(kind.name), f"{kind.turns:,}", *(seconds(kind.times[place]) for place in (0, 2, 4)))
            for kind in kinds
        ),
    )
    return Figure("How long they think", _thinking_caption(kinds), draw, table)


def _thinking_caption(kinds: Sequence[_Kind]) -> str:
    usual = max(kinds, key=lambda kind: (kind.turns, kind.name))
    told = (
        f"{sentence(usual.name)} takes no longer than {seconds(usual.times[2])} half of the time, and more than "
        f"{seconds(usual.times[4])} one time in ten."
    )
    if kinds[0].times[2] > kinds[-1].times[2]:
        told += (
            f" {sentence(kinds[0].name)} takes longest, {kinds[-1].name} is quickest ({seconds(kinds[-1].times[2])})."
        )
    return (
        told + " The dot is the median; half of all turns lie in the thick part of the line, eight in ten on all of it."
    )
