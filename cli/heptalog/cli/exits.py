"""How the program ends: the four codes, what leads to them, and the talk on stderr. Light, for help loads it too."""

import sys
from collections.abc import Collection
from enum import IntEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from heptalog.replay.errors import Code, HeptalogError


class Exit(IntEnum):
    """What the exit code says."""

    FINE = 0
    FINDING = 1  # something is wrong, or two games differ
    WRONG_USE = 2
    UNREACHABLE = 3  # something could not be opened, reached or written


# Beside the four, what a shell reports for a program that a signal has ended: Ctrl-C, and a pipe that nobody reads from
# any more. Of what was asked neither says that it is fine, for not all of it was done.
INTERRUPTED: Final = 130
UNHEARD: Final = 141


def worst(exits: Collection[Exit]) -> Exit:
    """What many results are together: a finding counts most, and nothing at all is fine."""
    return Exit.FINDING if Exit.FINDING in exits else max(exits, default=Exit.FINE)


class WrongUse(Exception):
    """The command was given something it cannot mean; the text is for the person who gave it."""


def no_whole_log(named: str) -> WrongUse:
    """What is told where a whole log is wanted, and something else is named."""
    return WrongUse(f"{named}: name a database or a server, without a game")


def exit_of(error: "HeptalogError") -> Exit:
    """The exit code that a failure stands for."""
    return exit_of_code(error.code)


def exit_of_code(code: "Code") -> Exit:
    """The exit code that a code of the game file or the service stands for."""
    from heptalog.replay.errors import KINDS, Code, NotFound, Unavailable

    if code in (Code.POSITION_AFTER_HEAD, Code.KEY_INVALID, Code.QUERY_INVALID, Code.VIEW_UNKNOWN):
        return Exit.WRONG_USE
    return Exit.UNREACHABLE if code in KINDS[Unavailable] | KINDS[NotFound] else Exit.FINDING


def complain(text: str) -> None:
    """One line of talk on stderr, after what has been written of the result."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        pass
    except OSError as error:
        # It is raised once, so here is the last place to tell of it.
        sys.stderr.write(f"heptalog: {error.strerror}\n")
    sys.stderr.write(f"heptalog: {text}\n")
