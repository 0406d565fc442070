"""Columns as bytes: what one process makes of many small values, and another takes over without looking at each.

Sent as they are, a few hundred texts and numbers of a game cost as much as it takes to insert them; packed they are a
few pieces of memory. Both processes are of one machine, so numbers are as it holds them.
"""

from array import array
from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec import Struct

NUMBER: Final = "q"  # 8 bytes, signed
LENGTH: Final = "i"  # 4 bytes, as Arrow counts in its texts


class Packed(Struct, frozen=True):
    """A column. Its values one after the other, and of each that is absent a number or a text that says nothing.

    `absent` has a byte for each value, 1 where it is absent; nothing where all are there.
    """

    data: bytes
    absent: bytes = b""


class PackedTexts(Packed, frozen=True):
    """The same of texts or bytes, with the length of each, in bytes."""

    lengths: bytes = b""

    @property
    def count(self) -> int:
        """How many values there are."""
        return len(self.lengths) // array(LENGTH).itemsize

    @property
    def size(self) -> int:
        """How many bytes all of them have."""
        return len(self.data)

    def pieces(self) -> Iterator[bytes]:
        """Each of them, a text as its UTF-8; an absent one as nothing."""
        start = 0
        for length in array(LENGTH, self.lengths):
            yield self.data[start : start + length]
            start += length


def packed_numbers(values: Sequence[int | None]) -> Packed:
    """A column of numbers."""
    absent = _absent(values) if None in values else b""
    numbers: Any = [value or 0 for value in values] if absent else values
    return Packed(array(NUMBER, numbers).tobytes(), absent)


def packed_texts(values: Sequence[str | None]) -> PackedTexts:
    """A column of texts."""
    absent = _absent(values) if None in values else b""
    texts: Any = [value or "" for value in values] if absent else values
    joined = "".join(texts)
    if joined.isascii():
        return PackedTexts(joined.encode(), absent, _lengths(texts))
    return packed_pieces([text.encode() for text in texts], absent)


def packed_pieces(values: Sequence[bytes], absent: bytes = b"") -> PackedTexts:
    """A column of bytes."""
    return PackedTexts(b"".join(values), absent, _lengths(values))


def _absent(values: Sequence[object]) -> bytes:
    return bytes([value is None for value in values])


def _lengths(values: Sequence[str | bytes]) -> bytes:
    return array(LENGTH, map(len, values)).tobytes()
