"""The prompt of `heptalog sql`: one question after the other, each ended by a semicolon, and commands of its own.

A failure ends one question only. Ctrl-C ends what is being asked or typed, Ctrl-D the session.
"""

import os
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Final

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.filters import Condition
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from prompt_toolkit.output import ColorDepth, Output
from pygments.lexers.sql import PostgresLexer  # type: ignore[import-untyped]  # it has none

from heptalog.cli.asking import Asker, Wishes
from heptalog.cli.completing import QuestionCompleter, functions
from heptalog.cli.dotcommands import Session
from heptalog.cli.exits import Exit, WrongUse, complain
from heptalog.cli.histories import OwnHistory, own_history
from heptalog.cli.options import TableForm
from heptalog.cli.output import write_text
from heptalog.cli.render import counted
from heptalog.cli.statements import statements
from heptalog.cli.writing import ask
from heptalog.replay.errors import HeptalogError
from heptalog.replay.sentences import sentence
from heptalog.replay.words import printable

# What somebody types who wants out, or does not know how.
_WORDS: Final = {"quit": ".quit", "exit": ".quit", "help": ".help"}


def prompt(
    asker: Asker, form: TableForm, wishes: Wishes, *, input_: Input | None = None, output: Output | None = None
) -> Exit:
    """Answer what is typed until the end is. Raises what ends the program: nothing that a question can do."""
    session = Session(asker, form, wishes)
    terminal = _terminal(session, input_, output)
    write_text("A question is one SELECT and ends with a semicolon; .help tells more.")
    while not session.is_over:
        try:
            text = terminal.prompt()
        except KeyboardInterrupt:
            continue
        except EOFError:
            break
        _run(session, text)
    return Exit.FINE


def _terminal(session: Session, input_: Input | None, output: Output | None) -> "PromptSession[str]":
    name = f"{printable(session.asker.name.rpartition('/')[2])}> "
    has_colors = "NO_COLOR" not in os.environ or not os.environ["NO_COLOR"]
    return PromptSession(
        name,
        multiline=True,
        prompt_continuation="-> ".rjust(len(name)),
        lexer=PygmentsLexer(PostgresLexer) if has_colors else None,
        color_depth=None if has_colors else ColorDepth.MONOCHROME,
        completer=QuestionCompleter(session.known_entries, functions(), session.completions()),
        complete_while_typing=False,
        history=OwnHistory(own_history()),
        key_bindings=_keys(),
        input=input_,
        output=output,
    )


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @Condition
    def is_choosing() -> bool:
        state = get_app().current_buffer.complete_state
        return state is not None and state.current_completion is not None

    @keys.add("enter", filter=is_choosing)
    def take(event: KeyPressEvent) -> None:
        event.current_buffer.complete_state = None

    @keys.add("enter", filter=~is_choosing)
    def end_line(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if is_ready(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.newline()

    return keys


def is_ready(text: str) -> bool:
    """Whether what was typed can be run, or needs more lines."""
    line = text.strip()
    if not line or line.startswith(".") or _word(line):
        return True
    parts = statements(text)
    return not parts.has_rest and (bool(parts.ended) or line.endswith(";"))


def _word(line: str) -> str | None:
    return _WORDS.get(line.rstrip("; ").lower())


def _run(session: Session, text: str) -> None:
    """Run all that was typed; Ctrl-C ends all of it."""
    line = text.strip()
    try:
        if line.startswith(".") or _word(line):
            _told(lambda: session.run(_word(line) or line))
            return
        parts = statements(text)
        for question in (*parts.ended, *([parts.rest] if parts.has_rest else [])):
            _told(partial(_ask, session, question))
    except (KeyboardInterrupt, RuntimeError) as error:
        # The tables are brought up to date here, by the engine.
        from heptalog.service.store.duck_faults import is_interrupt

        if not is_interrupt(error):
            raise
        complain("cancelled")


def _ask(session: Session, question: str) -> None:
    begun = monotonic()
    written = ask(session.asker, question, session.wishes, session.form)
    seconds = monotonic() - begun
    more = "the first " if written.has_more else ""
    write_text(f"{more}{counted(written.rows, 'row')} · {seconds:,.2f} s · position {written.position:,}")


def _told(work: Callable[[], None]) -> None:
    """Do something, and tell what went wrong."""
    try:
        work()
    except WrongUse as error:
        complain(str(error))
    except HeptalogError as error:
        complain(printable(f"{sentence(error)} [{error.code}]"))
