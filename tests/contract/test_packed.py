"""Columns as bytes: what went in comes out, in another process as in this one."""

import pickle
from array import array
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from heptalog.service.store.duck_whole import columns_of, records_of
from heptalog.service.store.packed import Packed, PackedTexts, packed_numbers, packed_pieces, packed_texts
from heptalog.service.store.whole import WholeGame

NUMBERS = st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), min_size=1)
TEXTS = st.lists(st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"]))), min_size=1)
PIECES = st.lists(st.binary(), min_size=1)


def game_of(packed: PackedTexts, *columns: Packed) -> WholeGame:
    """A game of which only columns are looked at, as another process sends it."""
    sent: WholeGame = pickle.loads(pickle.dumps(WholeGame("game", packed, columns, ("game",), ())))
    return sent


@given(st.lists(NUMBERS, min_size=1, max_size=4))
def test_numbers(lots: list[list[int | None]]) -> None:
    games = [game_of(packed_pieces([b""]), packed_numbers(values)) for values in lots]
    (column,) = columns_of(games)
    assert column.type == pa.int64()
    column.validate(full=True)
    assert column.to_pylist() == [value for values in lots for value in values]


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_texts(lots: list[list[str | None]]) -> None:
    games = [game_of(packed_pieces([b""]), packed_texts(values)) for values in lots]
    (column,) = columns_of(games)
    assert column.type == pa.string()
    column.validate(full=True)
    assert column.to_pylist() == [value for values in lots for value in values]
    assert [piece.decode() for piece in packed_texts(lots[0]).pieces()] == [value or "" for value in lots[0]]


@given(st.lists(PIECES, min_size=1, max_size=4))
def test_pieces(lots: list[list[bytes]]) -> None:
    games = [game_of(packed_pieces(values)) for values in lots]
    column = records_of(games)
    assert column.type == pa.binary()
    column.validate(full=True)
    assert column.to_pylist() == [value for values in lots for value in values]
    assert [game.records for game in games] == list(map(tuple, lots))
    assert [(game.count, game.size) for game in games] == [(len(lot), sum(map(len, lot))) for lot in lots]


@pytest.mark.parametrize("values", [[], ["", None, "x"], [None, None], ["ö", "o", ""]])
def test_a_text_is_absent_or_empty(values: Sequence[Any]) -> None:
    packed = packed_texts(values)
    assert packed.count == len(values)
    assert [bool(flag) for flag in packed.absent] == ([value is None for value in values] if None in values else [])


def test_a_column_too_long_for_its_kind_is_our_bug() -> None:
    long = replace(packed_pieces([b"x"]), lengths=array("i", [2**31 - 1, 1]).tobytes())
    with pytest.raises(AssertionError):
        records_of([game_of(long)])
