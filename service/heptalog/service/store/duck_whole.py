"""Whole games as one commit has them: their packed columns put together, which no single value is looked at for."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from heptalog.replay.codec import CONTENT_START
from heptalog.replay.evidence.chain import HASH_SIZE
from heptalog.service.store.packed import Packed, PackedTexts
from heptalog.service.store.whole import WholeGame

_OFFSET_MAX: Final = 2**31 - 1  # of a text in its column


def assert_whole(games: Sequence[WholeGame]) -> None:
    """Fail where a game contradicts itself, or is given twice, which only our own bug could bring about."""
    assert len({game.game_id for game in games}) == len(games), "each game is given once"
    for game in games:
        assert game.game[0] == game.game_id, "a game has one name"
        assert game.count, "a game has a beginning"
        for column in game.columns:
            count = column.count if isinstance(column, PackedTexts) else len(column.data) // 8
            assert count == game.count, "each record has its columns"
            assert len(column.absent) in (0, count), "each value is there or absent"


def hashes_of(games: Sequence[WholeGame]) -> list[bytes]:
    """The hashes of all records in order. Fails where those of a game are no chain, which only our own bug could do."""
    if not games:
        return []
    data = np.frombuffer(b"".join(game.packed.data for game in games), np.uint8)
    offsets = _offsets([game.packed for game in games])
    assert offsets[-1] == len(data), "each record is as long as it says"
    assert int(np.diff(offsets).min()) > CONTENT_START, "each record has its links"
    links = data[offsets[:-1, None] + np.arange(CONTENT_START)]
    hashes = np.ascontiguousarray(links[:, CONTENT_START - HASH_SIZE :])
    expected = np.zeros_like(hashes)
    expected[1:] = hashes[:-1]
    firsts = np.cumsum([0, *(game.count for game in games[:-1])])
    expected[firsts] = 0
    assert np.array_equal(links[:, 2 : 2 + HASH_SIZE], expected), "the records of a game are a chain"
    joined = hashes.tobytes()
    return [joined[start : start + HASH_SIZE] for start in range(0, len(joined), HASH_SIZE)]


def sequences_of(games: Sequence[WholeGame]) -> NDArray[np.int64]:
    """The place of each event in its game."""
    return np.concatenate([np.arange(game.count) for game in games])


def records_of(games: Sequence[WholeGame]) -> "pa.Array[Any]":
    """All records, as the table of events has them."""
    return _texts([game.packed for game in games], pa.binary())


def columns_of(games: Sequence[WholeGame]) -> "Iterator[pa.Array[Any]]":
    """What stands beside the records, by EVENT_COLUMNS without the sequence."""
    for parts in zip(*(game.columns for game in games), strict=True):
        texts = [part for part in parts if isinstance(part, PackedTexts)]
        yield _texts(texts, pa.string()) if texts else _numbers(parts)


def _numbers(parts: Sequence[Packed]) -> "pa.Array[Any]":
    data = b"".join(part.data for part in parts)
    count = len(data) // 8
    validity = _validity(parts, [len(part.data) // 8 for part in parts])
    return pa.Array.from_buffers(pa.int64(), count, [validity, pa.py_buffer(data)])


def _texts(parts: Sequence[PackedTexts], kind: pa.DataType) -> "pa.Array[Any]":
    offsets = _offsets(parts)
    assert offsets[-1] <= _OFFSET_MAX, "a commit is bounded"
    validity = _validity(parts, [part.count for part in parts])
    places = pa.py_buffer(offsets.astype(np.int32).tobytes())
    data = pa.py_buffer(b"".join(part.data for part in parts))
    return pa.Array.from_buffers(kind, len(offsets) - 1, [validity, places, data])


def _offsets(parts: Sequence[PackedTexts]) -> NDArray[np.int64]:
    """Where each text of these columns begins, and where the last one ends."""
    lengths = np.frombuffer(b"".join(part.lengths for part in parts), np.int32)
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _validity(parts: Sequence[Packed], counts: Sequence[int]) -> pa.Buffer | None:
    """A bit for each value that is there, as Arrow has it; None where all are."""
    if not any(part.absent for part in parts):
        return None
    absent = b"".join(part.absent or bytes(count) for part, count in zip(parts, counts, strict=True))
    return pa.py_buffer(np.packbits(np.frombuffer(absent, np.uint8) == 0, bitorder="little").tobytes())
