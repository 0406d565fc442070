"""Measure the core: rounds that alternate, medians with their spread, and ratios to the floor of the same bytes."""

import argparse
import gc
import json
import platform
import statistics
import time
from importlib.metadata import version
from pathlib import Path

from bench.games import GAMES_EACH, TABLES, recorded_games
from bench.works import WORKS, Material


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="how often everything is measured, in turn")
    parser.add_argument("--games", type=int, default=GAMES_EACH, help="games of each kind")
    parser.add_argument("--json", type=Path, help="also write every figure to this file")
    arguments = parser.parse_args()
    figures = {}
    print(f"Python {platform.python_version()}, protobuf {version('protobuf')}, msgspec {version('msgspec')}, one core")
    print(
        f"{arguments.games} games a kind, {arguments.rounds} rounds in turn; µs an event: median (fastest to slowest)\n"
    )
    print(f"{'game':<13} {'events':>7} {'bytes':>6}  {'work':<13} {'µs':>6} {'':<16} {'events/s':>10} {'/floor':>8}")
    for name in TABLES:
        material = Material(recorded_games(name, count=arguments.games))
        figures[name] = measured(material, arguments.rounds)
        show(name, material, figures[name])
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n")


def measured(material: Material, rounds: int) -> dict[str, list[float]]:
    """Microseconds of processor time an event of every work in every round.

    The works take turns, so that drift meets them all.
    """
    figures: dict[str, list[float]] = {work: [] for work in WORKS}
    for round_number in range(rounds + 1):
        for name, work in WORKS.items():
            gc.collect()
            # Of one process, so that what else the machine does counts as little as it can.
            begin = time.process_time()
            work(material)
            seconds = time.process_time() - begin
            # The first round warms up and does not count.
            if round_number:
                figures[name].append(seconds / material.events * 1e6)
    return figures


def show(name: str, material: Material, figures: dict[str, list[float]]) -> None:
    """One line a work."""
    floor = statistics.median(figures["floor"])
    for work, values in figures.items():
        median = statistics.median(values)
        spread = f"({min(values):.2f} to {max(values):.2f})"
        first = f"{name:<13} {material.events:>7} {material.bytes_an_event:>6.0f}" if work == "floor" else " " * 28
        print(f"{first}  {work:<13} {median:>6.2f} {spread:<16} {1e6 / median:>10,.0f} {median / floor:>8.2f}")
    print()


if __name__ == "__main__":
    main()
