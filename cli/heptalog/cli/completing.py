"""What the prompt offers for the word at the cursor: tables, columns, functions, keywords, and what a column says."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from heptalog.cli.asking import Listed
from heptalog.cli.statements import Inside, statements

_WRITTEN: Final = (
    "ALL AND ANTI ANY AS ASC ASOF BETWEEN BY CASE CAST COALESCE COLUMNS CROSS DESC DISTINCT ELSE END EXCEPT EXCLUDE "
    "EXISTS EXTRACT FALSE FILTER FIRST FOLLOWING FROM FULL GROUP HAVING ILIKE IN INNER INTERSECT INTERVAL IS JOIN LAST "
    "LATERAL LEFT LIKE LIMIT NATURAL NOT NULL NULLS OFFSET ON OR ORDER OUTER OVER PARTITION PIVOT PRECEDING QUALIFY "
    "RANGE RECURSIVE REPLACE RIGHT ROW ROWS SELECT SEMI SIMILAR THEN TO TRUE TRY_CAST UNBOUNDED UNION UNPIVOT USING "
    "VALUES WHEN WHERE WINDOW WITH WITHIN"
)
_KEYWORDS: Final = tuple(_WRITTEN.split())
_WORD: Final = re.compile(r"[^\W\d]\w*$")
_QUALIFIED: Final = re.compile(r"([^\W\d]\w*)\s*\.\s*(\w*)$")
# After these a table is named; a list of tables goes on after a comma until another clause begins.
_TABLE_NEXT: Final = re.compile(
    r"\b(?:FROM|JOIN)\s+(?:[^\W\d]\w*(?:\s+(?:AS\s+)?[^\W\d]\w*)?\s*,\s*)*\w*$", re.IGNORECASE
)
_SAID: Final = re.compile(
    r"([^\W\d]\w*)\s*(?:=|<>|!=|\b(?:NOT\s+)?IN\s*\((?:\s*'[^']*'\s*,)*)\s*'([^']*)$", re.IGNORECASE
)
_NAMED: Final = re.compile(r"\b([^\W\d]\w*)(?=(?:\s+(?:AS\s+)?([^\W\d]\w*))?)", re.IGNORECASE)
_COMMON: Final = re.compile(r"(?:\bWITH(?:\s+RECURSIVE)?|,)\s+([^\W\d]\w*)(?:\s*\([^()]*\))?\s+AS\b", re.IGNORECASE)


class QuestionCompleter(Completer):
    """Completions of a question, and of the commands of the prompt."""

    def __init__(
        self,
        entries: Callable[[], Sequence[Listed]],
        functions: Iterable[str],
        commands: Mapping[str, Callable[[], Iterable[str]]],
    ) -> None:
        """`entries` are asked for when they are needed; `commands` begin with a dot, each with what can follow it."""
        self._entries = entries
        self._functions = tuple(functions)
        self._commands = commands

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        """What can stand where the cursor is, the likeliest first."""
        before = document.text_before_cursor
        if before.lstrip().startswith("."):
            yield from self._commanded(before.lstrip())
            return
        parts = statements(before)
        if parts.inside is Inside.TEXT:
            yield from self._sayings(parts.rest, document)
        if parts.inside is not Inside.STATEMENT:
            return
        # What stands behind the cursor counts too: tables are named after the columns that are asked for.
        behind = statements(document.text_after_cursor)
        question = parts.rest + (behind.ended[0] if behind.ended else behind.rest)
        if match := _QUALIFIED.search(parts.rest):
            entry = self._aliases(question).get(match[1].lower())
            yield from _columns([] if entry is None else [entry], match[2])
            return
        word = match[0] if (match := _WORD.search(parts.rest)) else ""
        if _TABLE_NEXT.search(parts.rest):
            yield from _matching(word, ((name, "") for name in _COMMON.findall(question)))
            yield from _matching(word, ((entry.name, entry.meaning) for entry in self._entries()))
            return
        yield from self._words(word, question)

    def _words(self, word: str, question: str) -> Iterator[Completion]:
        named = {entry.name: entry for entry in self._aliases(question).values()}
        yield from _columns(list(named.values()), word)
        if not word:
            return
        if not named:
            # What is asked for is often written before where it is.
            yield from _columns(self._entries(), word)
        # As the word is written so is what completes it.
        yield from _matching(word, ((key.lower() if word.islower() else key, "") for key in _KEYWORDS))
        yield from _matching(word, ((f"{name}(", "function") for name in self._functions))
        yield from _matching(word, ((entry.name, entry.meaning) for entry in self._entries()))

    def _sayings(self, question: str, document: Document) -> Iterator[Completion]:
        """What a column can say, inside the quotes that it is compared with."""
        match = _SAID.search(question)
        if match is None:
            return
        named = self._aliases(question + document.text_after_cursor).values() or self._entries()
        values = {
            value: None
            for entry in named
            for column in entry.columns
            if column.name == match[1].lower()
            for value in column.values
        }
        yield from _matching(match[2], ((value, match[1].lower()) for value in values))

    def _aliases(self, question: str) -> dict[str, Listed]:
        """The tables that a question names, by the names that it gives them too."""
        entries = {entry.name: entry for entry in self._entries()}
        found: dict[str, Listed] = {}
        for match in _NAMED.finditer(question):
            entry = entries.get(match[1].lower())
            if entry is None:
                continue
            found[entry.name] = entry
            if match[2] and match[2].upper() not in _KEYWORDS:
                found[match[2].lower()] = entry
        return found

    def _commanded(self, text: str) -> Iterator[Completion]:
        name, space, rest = text.partition(" ")
        if not space:
            yield from _matching(name, ((command, "") for command in self._commands))
        elif name in self._commands:
            yield from _matching(rest.lstrip(), ((word, "") for word in self._commands[name]()))


def functions() -> list[str]:
    """The functions that a question may call, as far as they have names."""
    from heptalog.analytics.asking.functions import calls

    known = {key.lower() for key in _KEYWORDS}
    return sorted(name for name in calls() if _WORD.fullmatch(name) and name not in known)


def _columns(entries: Sequence[Listed], word: str) -> Iterator[Completion]:
    told: dict[str, str] = {}
    for entry in entries:
        for column in entry.columns:
            told.setdefault(column.name, f"{entry.name}: {column.type.lower()}")
    yield from _matching(word, told.items())


def _matching(word: str, offered: Iterable[tuple[str, str]]) -> Iterator[Completion]:
    """Those that the word can become."""
    for name, told in offered:
        if name.lower().startswith(word.lower()) and name != word:
            yield Completion(name, start_position=-len(word), display_meta=told)
