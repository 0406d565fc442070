"""Where one statement of SQL ends and the next begins, as far as a prompt needs to know it."""

import re
from enum import StrEnum
from typing import Final

from msgspec import Struct

_TOKEN: Final = re.compile(
    r"""
    (?P<comment>--[^\n]*(?P<comment_end>\n)?)
    | (?P<block>/\*)
    | (?P<escaped>[eE]'(?:[^'\\]|''|\\.)*(?P<escaped_end>')?)
    | (?P<text>'(?:[^']|'')*(?P<text_end>')?)
    | (?P<name>"(?:[^"]|"")*(?P<name_end>")?)
    | (?P<dollar>\$(?:[A-Za-z_]\w*)?\$)
    | (?P<semicolon>;)
    | (?P<word>\w+|\s+|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_BLOCK: Final = re.compile(r"/\*|\*/")


class Inside(StrEnum):
    """In what the end of a text lies."""

    STATEMENT = "statement"
    COMMENT = "comment"
    TEXT = "text"
    NAME = "name"


_INSIDE: Final = {
    "comment": Inside.COMMENT,
    "block": Inside.COMMENT,
    "escaped": Inside.TEXT,
    "text": Inside.TEXT,
    "dollar": Inside.TEXT,
    "name": Inside.NAME,
}


class Statements(Struct, frozen=True):
    """The statements of a text that are ended, without their semicolons, and what follows the last of them."""

    ended: tuple[str, ...]
    rest: str
    inside: Inside

    @property
    def has_rest(self) -> bool:
        """Whether anything but space and comments follows the last semicolon."""
        return bool(self.rest.strip()) and not _is_remark(self.rest)


def statements(text: str) -> Statements:
    """A text in statements; empty ones are none."""
    ended: list[str] = []
    begin = place = 0
    inside = Inside.STATEMENT
    while (match := _TOKEN.match(text, place)) is not None:
        kind = match.lastgroup or ""
        kind = kind.removesuffix("_end")
        end, is_whole = _end(text, match, kind)
        if kind == "semicolon":
            ended.append(text[begin:place])
            begin = end
        inside = Inside.STATEMENT if is_whole else _INSIDE[kind]
        place = end
    return Statements(tuple(one for one in ended if not _is_remark(one)), text[begin:], inside)


def _end(text: str, match: re.Match[str], kind: str) -> tuple[int, bool]:
    """Where a token ends, and whether it does."""
    if kind == "block":
        return _block_end(text, match.end())
    if kind == "dollar":
        place = text.find(match[kind], match.end())
        return (len(text), False) if place < 0 else (place + len(match[kind]), True)
    return match.end(), kind not in _INSIDE or match[f"{kind}_end"] is not None


def _block_end(text: str, place: int) -> tuple[int, bool]:
    """Where a comment ends that others can lie in."""
    depth = 1
    for match in _BLOCK.finditer(text, place):
        depth += 1 if match[0] == "/*" else -1
        if not depth:
            return match.end(), True
    return len(text), False


def _is_remark(text: str) -> bool:
    """Whether a text is nothing but space and comments."""
    place = 0
    while (match := _TOKEN.match(text, place)) is not None:
        kind = (match.lastgroup or "").removesuffix("_end")
        if kind not in ("comment", "block") and not match[0].isspace():
            return False
        place, _ = _end(text, match, kind)
    return True
