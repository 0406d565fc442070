"""Measure ourselves beside others: all of them in one run on one machine, taking turns, medians of several rounds.

Every peer runs in a process of its own, those from the registries in an environment of their own. What is not installed
is reported and left out.
"""

import argparse
import signal
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from msgspec import json

from bench.peers.cluster import running
from bench.peers.page import page
from bench.peers.peer import Settings
from bench.peers.results import PAGE, RESULTS, Results, Section, Told, machine, today
from bench.peers.running import Fallen, Running, take_turns
from bench.peers.sections import SECTIONS, Plan


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.peers", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one short round, of which no page is written")
    parser.add_argument("--rounds", type=int, help="how often everything is measured, in turn")
    parser.add_argument("--only", choices=SECTIONS, help="one section alone; nothing is written")
    parser.add_argument("--games", type=int, help="of the history that questions are asked of")
    parser.add_argument("--json", type=Path, help="also write every figure to this file")
    arguments = parser.parse_args()
    # Ended from outside it still takes its servers along.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    games = arguments.games or (300 if arguments.quick else 2_000)
    rounds = arguments.rounds or (1 if arguments.quick else 3)
    results = Results(taken_on=today(), machine=machine(), rounds=rounds, is_quick=arguments.quick, sections={})
    with tempfile.TemporaryDirectory(prefix="heptalog-bench-", dir=Path.cwd()) as folder, ExitStack() as stack:
        port = stack.enter_context(running(Path(folder)))
        for name, plan in SECTIONS.items():
            if arguments.only in (None, name):
                print(f"\n{plan.title}", flush=True)
                results.sections[name] = measured(
                    plan, Path(folder) / name, port=port, rounds=rounds, games=games, is_quick=arguments.quick
                )
    text = page(results)
    print(f"\n{text}")
    if arguments.json:
        arguments.json.write_bytes(json.format(json.encode(results)) + b"\n")
    if not arguments.only and not arguments.quick:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_bytes(json.format(json.encode(results), indent=1) + b"\n")
        PAGE.write_text(text)


def measured(plan: Plan, folder: Path, *, port: int, rounds: int, games: int, is_quick: bool) -> Section:
    """One section: what it needs is made, every peer started, all of them measured in turns."""
    material = folder / "material"
    material.mkdir(parents=True)
    remark = plan.prepare(material, games)
    seconds = plan.quick_seconds if is_quick else plan.seconds
    peers: dict[str, Running] = {}
    told: dict[str, Told] = {}
    absent: dict[str, str] = {}
    with ExitStack() as stack:
        for module, (python, before) in plan.peers.items():
            if not python.exists():
                absent[module] = "its environment is not installed"
                continue
            place = folder / module
            place.mkdir()
            peer = Running(module, python, before, Settings(place, material, seconds, port))
            stack.callback(peer.end)
            try:
                told[module] = peer.hello()
            except Fallen as error:
                absent[module] = str(error)
                continue
            peers[module] = peer
        section = take_turns(peers, told, rounds)
    section.absent.update(absent)
    section.seconds, section.remark = seconds, remark
    for module, reason in section.absent.items():
        print(f"left out: {module}: {reason}", flush=True)
    return section


if __name__ == "__main__":
    main()
