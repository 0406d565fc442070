"""Fuzzing for as long as one likes: every decoder, every format of evidence, every call of a server, databases.

    python -m tests.trials.fuzz --minutes 60 [--seed N] [--only record --only request …]

Each target has its turn, a few seconds at a time. What fails is written into `tests/fuzz/corpus/`, where the tests try
it from then on, and the exit code is 1. Figures are printed at the end, and after each minute on stderr.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import Final

from tests.fuzz import databases, requests
from tests.fuzz.proofs import PROOFS
from tests.fuzz.running import CORPUS, Figures, run
from tests.fuzz.targets import LIBRARY, Target

TURN_SECONDS: Final = 3.0
TURNS_A_SERVER: Final = 20  # what a server has taken in is with it for ever, so now and then there is a new one
NAMES: Final = (*(target.name for target in (*LIBRARY, *PROOFS)), "request", "database")


@contextmanager
def targets_of(names: tuple[str, ...]) -> Iterator[tuple[list[Target], databases.Verifying | None]]:
    """The targets of these names, with the server and the process that they need."""
    with ExitStack() as stack:
        targets = [target for target in (*LIBRARY, *PROOFS) if target.name in names]
        if "request" in names:
            server = requests.Fuzzed(Path(stack.enter_context(requests.temporary())))
            stack.callback(server.close)
            targets.append(requests.target_of(server))
        verifying = None
        if "database" in names:
            verifying = databases.Verifying()
            stack.callback(verifying.close)
            targets.append(databases.target_of(verifying))
        yield targets, verifying


def fuzz(names: tuple[str, ...], *, seed: int, seconds: float) -> tuple[dict[str, Figures], int]:
    """Give each target its turns until the time is over; what came of it, and how often the engine died."""
    figures = {name: Figures(name) for name in names}
    died = turn = 0
    begun = told = time.monotonic()
    while time.monotonic() - begun < seconds:
        with targets_of(names) as (targets, verifying):
            for _ in range(TURNS_A_SERVER):
                for target in targets:
                    turn += 1
                    is_over = _clock(min(time.monotonic() + TURN_SECONDS, begun + seconds))
                    random = Random(f"{seed} {target.name} {turn}")
                    run(target, random, figures[target.name], is_over=is_over, keep=CORPUS)
                if time.monotonic() - told > 60:
                    told = time.monotonic()
                    print(f"{sum(each.inputs for each in figures.values()):,} inputs", file=sys.stderr, flush=True)
                if time.monotonic() - begun >= seconds:
                    break
            died += 0 if verifying is None else verifying.died
    return figures, died


def _clock(end: float) -> Callable[[], bool]:
    return lambda: time.monotonic() >= end


def main() -> int:
    """Fuzz, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", action="append", choices=NAMES)
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    names = tuple(arguments.only or NAMES)
    figures, died = fuzz(names, seed=arguments.seed, seconds=60 * arguments.minutes)
    for each in figures.values():
        print(each)
    if "database" in names:
        print(f"the engine died {died:,} times behind checksums that were made to fit")
    failures = [path for each in figures.values() for path in each.failures]
    print(f"{sum(each.inputs for each in figures.values()):,} inputs, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
