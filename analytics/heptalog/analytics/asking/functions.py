"""Which functions a question may call, and which types it may cast to: what computes from what it is given."""

from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Final

_EVERY: Final = "*"


class Place(StrEnum):
    """Where a name stands, as the files write it before the name: the same name may be several things."""

    CALL = ""
    FROM = "from:"
    TYPE = "type:"


def is_allowed(name: str, place: Place = Place.CALL) -> bool:
    """Whether a question may use it; names are the same in every case."""
    return _known(name, place) in _words("allowed")


def is_refused(name: str, place: Place = Place.CALL) -> bool:
    """Whether it was looked at and refused. What is neither allowed nor refused is new to us, and refused too."""
    if is_allowed(name, place):
        return False
    known = _known(name, place)
    return any(known.startswith(word[:-1]) if word.endswith(_EVERY) else known == word for word in _words("refused"))


def calls() -> frozenset[str]:
    """Every function that a question may call."""
    return frozenset(word for word in _words("allowed") if ":" not in word)


def _known(name: str, place: Place) -> str:
    return place + name.lower().replace(" ", "_")


@cache
def _words(name: str) -> frozenset[str]:
    text = (resources.files("heptalog.analytics") / "asking" / f"{name}.txt").read_text("utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("# ") for word in line.split())
