"""Chance from a text: the same numbers in every process, on every machine and in every version of Python."""

from collections.abc import Sequence
from hashlib import sha256
from random import Random
from typing import Final, TypeVar

from heptalog.replay.identity import uuid_of

T = TypeVar("T")

MILLISECOND: Final = 1_000_000  # in nanoseconds


class Chance:
    """One stream of numbers. Only plain ones are asked of the library: how it chooses by them has changed before."""

    def __init__(self, text: str) -> None:
        # Nothing here is a secret: it is all to be made again from the arguments.
        random = Random(text)  # noqa: S311
        self._number = random.random
        self._bits = random.getrandbits

    def choose(self, count: int) -> int:
        """A number from 0 to `count` - 1, each with the same chance."""
        return int(self._number() * count)

    def one_of(self, things: Sequence[T]) -> T:
        """One of these."""
        return things[int(self._number() * len(things))]

    def is_one_in(self, count: int) -> bool:
        """True once in so many times."""
        return self._number() * count < 1

    def salt(self) -> bytes:
        """Sixteen bytes, for a seal."""
        return self._bits(128).to_bytes(16, "big")

    def uuid(self, time: int) -> str:
        """A UUID of version 7 for something that happened then, in nanoseconds since 1970 UTC."""
        return uuid_of(time, self._bits(74))


def bits_of(text: str) -> int:
    """74 bits that follow from a text."""
    return int.from_bytes(sha256(text.encode()).digest()[:10], "big") >> 6
