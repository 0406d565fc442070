"""Measure everything in one go: the core, commits, tables, appends, reads, feeds, costs, ourselves beside others."""

import argparse
import shlex
import subprocess
import sys
import time
from typing import Final, NamedTuple


class Piece(NamedTuple):
    """One program, what it is told, and what it is told where it must be quick; None where it is left out then."""

    module: str
    options: str
    quick: str | None


PIECES: Final = (
    Piece("bench", "--rounds 5", "--rounds 1 --games 8"),
    Piece("bench.commits", "--rounds 2", "--rounds 1"),
    Piece("bench.tables", "--rounds 2 --games 24", "--rounds 1 --games 8"),
    Piece("bench.appends", "--rounds 1 --seconds 2", "--rounds 1 --seconds 0.5 --shape '64 callers'"),
    Piece("bench.queries", "--rounds 1 --seconds 2", None),
    Piece("bench.reads", "--rounds 1", None),
    Piece("bench.feeds", "", "--games 4 --appends 100 --followers 0 10"),
    Piece("bench.imports", "", None),
    Piece("bench.costs", "--rounds 2", None),
    Piece("bench.peers", "", "--quick"),
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.everything", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="short: to see that all work, not to cite")
    parser.add_argument(
        "--only", action="append", choices=[piece.module for piece in PIECES], help="this one alone; may be given again"
    )
    arguments = parser.parse_args()
    pieces = [piece for piece in PIECES if not arguments.only or piece.module in arguments.only]
    long = [piece.module for piece in pieces if arguments.quick and piece.quick is None]
    if long and arguments.only:
        parser.error(f"no quick form: {', '.join(long)}")
    if long:
        print(f"left out, having no quick form: {', '.join(long)}", flush=True)
    failed = []
    start = time.monotonic()
    for piece in pieces:
        options = piece.quick if arguments.quick else piece.options
        if options is None:
            continue
        print(f"\n=== python -m {piece.module} {options}\n", flush=True)
        begin = time.monotonic()
        if subprocess.run([sys.executable, "-m", piece.module, *shlex.split(options)], check=False).returncode:
            failed.append(piece.module)
        print(f"\n{piece.module}: {time.monotonic() - begin:.0f} s", flush=True)
    print(f"\n{time.monotonic() - start:.0f} s in all{'; failed: ' if failed else ''}{', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
