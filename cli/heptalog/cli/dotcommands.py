"""What the prompt can do beside asking: commands that begin with a dot."""

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from textwrap import wrap
from typing import Final

from msgspec.structs import replace

from heptalog.cli.asking import Asker, Listed, Wishes
from heptalog.cli.exits import WrongUse
from heptalog.cli.options import SECONDS_MAX, TableForm
from heptalog.cli.output import write_lines, write_table, write_text
from heptalog.replay.errors import HeptalogError
from heptalog.replay.words import printable

# What can be seen on a terminal.
_FORMS: Final = (TableForm.TEXT, TableForm.CSV, TableForm.JSON, TableForm.JSONL)
_HELP: Final = (
    (".tables", "The tables and views that can be asked."),
    (".describe NAME", "What the columns of one mean."),
    (".format [FORM]", f"How answers are shown: {', '.join(_FORMS)}."),
    (".timeout [SECONDS]", "How long a question may take; 0 is what is usual."),
    (".help", "This."),
    (".quit", "The end; so is Ctrl-D."),
)
_KEYS: Final = (
    "A question is one SELECT and ends with a semicolon; it may have many lines. Tab completes, the arrow keys fetch "
    "what was asked before, Ctrl-C ends what is being asked."
)


class Session:
    """What holds from one question to the next."""

    def __init__(self, asker: Asker, form: TableForm, wishes: Wishes) -> None:
        self.asker = asker
        self.form = form
        self.wishes = wishes
        self.is_over = False
        self._entries: Sequence[Listed] | None = None
        self._run: Mapping[str, Callable[[str], None]] = {
            ".tables": self._tables,
            ".describe": self._describe,
            ".format": self._format,
            ".timeout": self._timeout,
            ".help": self._help,
            ".quit": self._quit,
        }

    def run(self, line: str) -> None:
        """Run a command. Raises WrongUse, HeptalogError."""
        name, _, argument = line.strip().rstrip(";").rstrip().partition(" ")
        command = self._run.get(name.lower())
        if command is None:
            raise WrongUse(f"{printable(name)}: no such command; .help lists them")
        command(argument.strip())

    def entries(self) -> Sequence[Listed]:
        """The dictionary. Raises HeptalogError."""
        if self._entries is None:
            self._entries = self.asker.dictionary()
        return self._entries

    def known_entries(self) -> Sequence[Listed]:
        """The dictionary, or nothing where it cannot be had: for who would rather not fail."""
        try:
            return self.entries()
        except HeptalogError:
            return ()

    def completions(self) -> Mapping[str, Callable[[], Iterable[str]]]:
        """The commands, each with what can follow it."""
        followed: dict[str, Callable[[], Iterable[str]]] = {
            ".describe": lambda: [entry.name for entry in self.known_entries()],
            ".format": lambda: map(str, _FORMS),
        }
        return {name: followed.get(name, tuple) for name in self._run}

    def _tables(self, argument: str) -> None:
        _takes_nothing(".tables", argument)
        rows = [(entry.name, printable(entry.meaning)) for entry in self.entries()]
        write_table(("name", "meaning"), rows, whole="name")

    def _describe(self, argument: str) -> None:
        entries = {entry.name: entry for entry in self.entries()}
        entry = entries.get(argument.lower())
        if entry is None:
            near = get_close_matches(argument.lower(), entries, n=1)
            hint = f"; did you mean {near[0]}?" if near else "; .tables lists them"
            raise WrongUse(f".describe {printable(argument)}: there is no such table or view{hint}")
        write_lines(_folded(entry.meaning))
        write_text()
        rows = [(column.name, column.type, printable(column.meaning)) for column in entry.columns]
        write_table(("column", "type", "meaning"), rows, whole="column")

    def _format(self, argument: str) -> None:
        if argument:
            if argument not in _FORMS:
                raise WrongUse(f".format {printable(argument)}: the forms here are {', '.join(_FORMS)}")
            self.form = TableForm(argument)
        write_text(f"answers are shown as {self.form}")

    def _timeout(self, argument: str) -> None:
        if argument:
            self.wishes = replace(self.wishes, seconds=_seconds(argument))
        seconds = self.wishes.seconds
        write_text(
            "a question may take as long as is usual" if seconds is None else f"a question may take {seconds:g} s"
        )

    def _help(self, argument: str) -> None:
        _takes_nothing(".help", argument)
        write_table(("command", ""), _HELP, whole="command")
        write_text()
        write_lines(_folded(_KEYS))

    def _quit(self, argument: str) -> None:
        _takes_nothing(".quit", argument)
        self.is_over = True


def _folded(text: str) -> list[str]:
    return wrap(printable(text), shutil.get_terminal_size().columns)


def _takes_nothing(name: str, argument: str) -> None:
    if argument:
        raise WrongUse(f"{name} takes nothing more")


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= SECONDS_MAX:
        raise WrongUse(f".timeout {printable(text)}: write a number of seconds, a week at most")
    return seconds or None
