"""The page of a run: what was measured, by whom, and how ours compares."""

import statistics
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from bench.peers.peer import Figures
from bench.peers.results import Results, Section
from bench.peers.shapes import ALONE

# What a server like ours cannot be without, whatever it does besides: both by their names among the peers.
FLOORS: Final = ("gRPC echo", "DuckDB")

INTRODUCTION: Final = """# Beside others

`make bench` measures Heptalog beside others that do the same or nearly, all in one run on one machine. Each runs in a
process of its own, installed from the package registries as [`bench/peers`](../bench/peers) pins them. In every round
each work is done by all of them, one right after the other, and another one begins each time; a figure is the median
of the rounds, ± half of what lies between the slowest and the fastest round, and a ratio is the median of the ratios
within each round, so that a machine that slows down slows both sides. Servers and clients share the cores. This page
is written by the run."""


def page(results: Results) -> str:
    """The whole page."""
    parts = [INTRODUCTION, f"{results.machine}; {results.taken_on}; {counted(results.rounds)}."]
    if results.is_quick:
        parts.append("**A quick run: it shows that all work, and no more.**")
    for name, section in results.sections.items():
        parts += TABLES[name](section)
        parts.append("\n".join(taken_part(section)))
    return "\n\n".join(part for part in parts if part) + "\n"


def appends(section: Section) -> Iterator[str]:
    """A row for every shape, a column for everybody."""
    yield "## Durable appends and reads"
    yield (
        f"Each append is on the disk before its answer. {section.remark} A batch is of one game. Every measurement "
        f"has a new database and takes {section.seconds:g} s. Callers wait for each answer; on one stream, which "
        "nobody else offers, single events of 64 games are sent without waiting."
    )
    ours, *others = names = [told.name for told in section.peers]
    yield table(
        ["events/s", *names],
        [[work, *(rate(section.figures[work].get(name)) for name in names)] for work in section.figures],
    )
    yield f"{ours} ÷ each of the others, of the same round:"
    yield table(
        ["ratio", *others],
        [[work, *(ratio(section.ratio(work, ours, name)) for name in others)] for work in section.figures],
    )
    yield from floors(section)
    yield "Milliseconds of one append, or of one reading: p50 / p99, medians of the rounds:"
    yield table(
        ["ms", *names],
        [[work, *(latency(section.figures[work].get(name)) for name in names)] for work in section.figures],
    )


def floors(section: Section) -> Iterator[str]:
    """What one caller would have of a server that did nothing, and how much of that, or more, each one has."""
    limits = {work: limits for work in section.figures if work in ALONE and (limits := limits_of(section, work))}
    if not limits:
        return
    others = [told.name for told in section.peers if told.name not in FLOORS]
    yield (
        f"One caller waits for gRPC and for the engine, one after the other: {' and '.join(FLOORS)} together are what "
        "no service with gRPC for Python over this engine can pass, were it to do nothing besides. Each of the others "
        "÷ that:"
    )
    rows = []
    for work, at_most in limits.items():
        ratios = [
            [its / limit for its, limit in zip(section.rates(work, name), at_most, strict=False)] for name in others
        ]
        rows.append([work, number(median(at_most)), *(ratio(median(found)) if found else "" for found in ratios)])
    yield table(["one caller", " + ".join(FLOORS), *others], rows)


def limits_of(section: Section, work: str) -> list[float]:
    """How many a second, in every round, where each waits for all of the floors in turn."""
    rounds = zip(*(section.rates(work, name) for name in FLOORS), strict=False)
    return [1 / sum(1 / rate for rate in rates) for rates in rounds]


def replay(section: Section) -> Iterator[str]:
    """A row for every game, the fastest first."""
    yield "## Replay with every move checked"
    yield (
        "Recorded games are played again on one core, and every move is looked at before it is made. A move is what "
        "a player decides; an action is also what chance does, which for OpenSpiel is every card dealt and for us a "
        "whole deal. The time is that of everything, by the clock of the processor. The last two columns: moves of "
        "our slowest game ÷ moves of this one, by the rules alone and with all that `heptalog verify` does."
    )
    ours = section.peers[0].name
    rows = []
    for work, by_peer in section.figures.items():
        for name, rounds in by_peer.items():
            moves = median(figures.rate for figures in rounds)
            actions = median(figures.others["actions"] for figures in rounds)
            ratios = (
                ["", ""] if name == ours else [slowest(section, ours, part, rounds) for part in ("rules", "verify")]
            )
            rows.append((moves, [name, work, rate(rounds), number(actions), *ratios]))
    rows.sort(key=lambda row: -row[0])
    yield table(["", "game", "moves/s", "actions/s", "rules ÷", "verify ÷"], [row for _, row in rows])


def queries(section: Section) -> Iterator[str]:
    """A row for every question."""
    yield "## Questions over the history"
    yield (
        f"{section.remark} The same text of the same rows, the whole answer fetched as Python's values; milliseconds, "
        "p50 of a question, medians of the rounds. In brackets: how many times as long as ours."
    )
    ours, *others = names = [told.name for told in section.peers]
    rows = []
    for work, by_peer in section.figures.items():
        answers = {(figures.others["rows"], figures.others["sum"]) for rounds in by_peer.values() for figures in rounds}
        said = work if len(answers) == 1 else f"{work} (**answers differ**)"
        cells = [milliseconds(by_peer.get(ours))]
        for name in others:
            times = section.ratio(work, ours, name)
            cells.append(f"{milliseconds(by_peer.get(name))} ({ratio(times)})" if times is not None else "")
        rows.append([said, f"{min(answers)[0]:,.0f}", *cells])
    yield table(["question", "rows", *names], rows)


TABLES = {"appends": appends, "replay": replay, "queries": queries}


def taken_part(section: Section) -> Iterator[str]:
    """Who it was, with what each promises, and who could not take part."""
    for told in section.peers:
        yield f"- **{told.name}** {told.version}: {told.note}."
    for module, reason in section.absent.items():
        yield f"- Left out: `{module}`: {reason}."


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def slowest(section: Section, ours: str, part: str, rounds: Sequence[Figures]) -> str:
    """The slowest of our games ÷ these rounds of somebody else's game."""
    games = [by_peer[ours] for work, by_peer in section.figures.items() if ours in by_peer and work.endswith(part)]
    ratios = [
        min(game[number].rate for game in games) / figures.rate
        for number, figures in enumerate(rounds)
        if all(number < len(game) for game in games)
    ]
    return ratio(median(ratios)) if games and ratios else ""


def median(values: Iterable[float]) -> float:
    """The middle of them."""
    return statistics.median(values)


def rate(rounds: Sequence[Figures] | None) -> str:
    """How many a second, and how far the rounds lie apart."""
    if not rounds:
        return ""
    rates = [figures.rate for figures in rounds]
    middle = statistics.median(rates)
    spread = (max(rates) - min(rates)) / 2 / middle
    return f"{number(middle)} ± {spread:.0%}" if len(rates) > 1 else number(middle)


def latency(rounds: Sequence[Figures] | None) -> str:
    """Both quantiles."""
    if not rounds:
        return ""
    p50 = median(figures.p50 or 0.0 for figures in rounds)
    p99 = median(figures.p99 or 0.0 for figures in rounds)
    return f"{short(p50)} / {short(p99)}"


def milliseconds(rounds: Sequence[Figures] | None) -> str:
    """The middle of the rounds' p50."""
    return short(median(figures.p50 or 0.0 for figures in rounds)) if rounds else ""


def number(value: float) -> str:
    """Three digits that count."""
    digits = max(len(f"{value:.0f}") - 3, 0)
    return f"{round(value, -digits):,.0f}"


def short(value: float) -> str:
    """As many decimals as tell something."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def ratio(value: float | None) -> str:
    """How many times."""
    if value is None:
        return ""
    return f"{value:,.0f}×" if value >= 100 else f"{value:.1f}×" if value >= 10 else f"{value:.2f}×"


def counted(rounds: int) -> str:
    """How many rounds."""
    return "1 round" if rounds == 1 else f"{rounds} rounds"
