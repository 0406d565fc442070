"""The edge of every command: it ends with one of the exit codes and no traceback, whatever happens."""

import functools
import os
import sys
from collections.abc import Callable
from typing import ParamSpec

import typer

from heptalog.cli.exits import INTERRUPTED, UNHEARD, Exit, WrongUse, complain, exit_of

P = ParamSpec("P")


def guarded(command: Callable[P, Exit]) -> Callable[P, None]:
    """A command that ends with its exit code, and tells any failure in one line on stderr."""

    @functools.wraps(command)
    def run(*arguments: P.args, **options: P.kwargs) -> None:
        code = int(_ended(lambda: command(*arguments, **options)))
        if code:
            raise typer.Exit(code)

    # What is returned is raised; typer must not take it for an annotation of its own.
    run.__annotations__ = {**command.__annotations__, "return": None}
    return run


def _ended(work: Callable[[], Exit]) -> int:
    try:
        code: int = work()
        sys.stdout.flush()
    except (typer.Exit, typer.BadParameter):
        raise
    except WrongUse as error:
        complain(str(error))
        return Exit.WRONG_USE
    except KeyboardInterrupt:
        return INTERRUPTED
    except typer.Abort:
        # So typer tells a Ctrl-C where it asks, and does not end the line.
        sys.stderr.write("\n")
        return INTERRUPTED
    except BrokenPipeError:
        # Who reads has gone, and needs no word of it.
        return UNHEARD
    except OSError as error:
        complain(f"{error.strerror or type(error).__name__}{f': {error.filename}' if error.filename else ''}")
        return Exit.UNREACHABLE
    except Exception as error:  # noqa: BLE001  # whatever it was, it is told in one line
        return _failed(error)
    return code


def _failed(error: Exception) -> int:
    from heptalog.cli.render import finding_text
    from heptalog.cli.verdicts import Found
    from heptalog.replay.errors import HeptalogError
    from heptalog.replay.sentences import sentence
    from heptalog.replay.words import printable

    if isinstance(error, Found):
        complain(finding_text(error.verdict))
        return error.verdict.exit
    if isinstance(error, HeptalogError):
        complain(printable(f"{sentence(error)} [{error.code}]"))
        return exit_of(error)
    from heptalog.service.store.duck_faults import is_interrupt

    if is_interrupt(error):
        return INTERRUPTED
    if os.environ.get("HEPTALOG_TRACEBACK"):
        raise error
    # Our own bug. Its text could quote a hidden card, so only its kind and its place are told.
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = f" at {place.tb_frame.f_globals.get('__name__')}:{place.tb_lineno}" if place is not None else ""
    complain(f"internal error: {type(error).__name__}{where} (HEPTALOG_TRACEBACK=1 shows more)")
    return Exit.UNREACHABLE
