"""Sizes as a person writes them: 512MiB, 2 GB, 0."""

import re
from types import MappingProxyType
from typing import Final

from heptalog.cli.exits import WrongUse
from heptalog.replay.sentences import shown_size

_UNITS: Final = MappingProxyType(
    {
        "": 1,
        "b": 1,
        **{f"{letter}b": 1000**power for power, letter in enumerate("kmgt", start=1)},
        **{f"{letter}ib": 1024**power for power, letter in enumerate("kmgt", start=1)},
    }
)
_SIZE: Final = re.compile(r"(\d{1,18})(?:\.(\d{1,6}))?\s*([a-z]*)", re.IGNORECASE | re.ASCII)


def size_of(text: str, option: str, *, least: int = 0) -> int:
    """The bytes that a text names. Raises WrongUse where it names none, or fewer than these."""
    match = _SIZE.fullmatch(text.strip())
    unit = None if match is None else _UNITS.get(match[3].lower())
    # A part of a byte is nothing that anybody means.
    if match is None or unit is None or (match[2] and unit == 1):
        raise WrongUse(f"{option} {text}: write a size such as 512MiB, 2GB or 0")
    whole, part = match[1], match[2] or ""
    size: int = int(whole + part) * unit // 10 ** len(part)
    if size < least:
        raise WrongUse(f"{option} {text}: it is {shown_size(least)} at least")
    return size
