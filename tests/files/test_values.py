"""Numbers, bytes and depth in a line of a game file."""

import pytest

from heptalog.replay.errors import Code
from heptalog.replay.events import Draw, Lot
from heptalog.replay.gamefile import decode_line
from tests.files.reading import NOTE, put, refusal


@pytest.mark.parametrize(
    "number",
    [
        "1.0",
        "0.0",
        "-0.0",
        "1e0",
        "1E2",
        "1.5",
        "-1",
        "4294967296",
        "4294967296.0",
        "1e400",
        "18446744073709551616",
        "true",
        "false",
        "null",
        '"1"',
        '""',
        "[]",
        "[1]",
        "{}",
    ],
)
def test_what_is_not_a_32_bit_number_is_refused(number: str) -> None:
    for line, field in (
        ('{"sequence":%s,"noteAdded":{}}', "sequence"),
        ('{"sequence":2,"turnPassed":{"seat":%s}}', "turnPassed.seat"),
        ('{"sequence":2,"movesRetracted":{"toSequence":%s}}', "movesRetracted.toSequence"),
        ('{"sequence":2,"gameClosed":{"winners":[0,%s]}}', "gameClosed.winners[1]"),
        ('{"sequence":2,"dealerDrawn":{"lots":[{"draws":[{"seat":%s}]}]}}', "dealerDrawn.lots[0].draws[0].seat"),
        ('{"sequence":2,"gameStarted":{"players":[],"sevenUp":{"target":%s}}}', "gameStarted.sevenUp.target"),
        ('{"sequence":2,"gameStarted":{"players":[],"sevenUp":{},"rulesVersion":%s}}', "gameStarted.rulesVersion"),
        ('{"sequence":2,"cardsDealt":{"hands":[{"seal":{"count":%s}}]}}', "cardsDealt.hands[0].seal.count"),
    ):
        error = refusal(line % number)
        assert (error.code, error.facts["field"], error.facts["sequence"]) == (Code.FIELD_INVALID, field, 2)


@pytest.mark.parametrize("number", ["01", "+1", "1.", ".5", "0x1", "NaN", "Infinity", "-", "1_000", "\u0661"])
def test_what_is_not_a_number_of_json_is_refused(number: str) -> None:
    assert refusal(put('{"sequence":%s,"noteAdded":{}}', number)).code is Code.NOT_JSON


@pytest.mark.parametrize("number", ["-2147483649", "2147483648", "1.0"])
def test_a_drawn_value_has_32_bits_and_a_sign(number: str) -> None:
    line = '{"sequence":5,"openerDrawn":{"lots":[{"draws":[{"value":%s}]}]}}'
    assert refusal(line % number).facts["field"] == "openerDrawn.lots[0].draws[0].value"
    for value in (-(2**31), 2**31 - 1):
        drawn = decode_line((line % value).encode()).body
        assert drawn.lots == (Lot((Draw(0, value),)),)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "text",
    [
        "A",
        "AA",
        "AAA",
        "AA=A",
        "A===",
        "====",
        "AB==",
        "AAB=",
        "__8=",
        "-_8=",
        "AA==AA==",
        " AA==",
        "AA==\\n",
        "é",
        "AAAA====",
    ],
)
def test_bytes_are_base64_in_one_spelling(text: str) -> None:
    for line, field in (
        (NOTE % f',"hash":"{text}"', "hash"),
        (NOTE % f',"previousHash":"{text}"', "previousHash"),
        (put('{"sequence":5,"cardsDealt":{"hands":[{},{"seal":{"salt":"%s"}}]}}', text), "salt"),
        (put('{"sequence":5,"cardsRun":{"dealer":{"seal":{"commitment":"%s"}}}}', text), "commitment"),
        (put('{"sequence":5,"cardsDiscarded":{"seal":{"salt":"%s"}}}', text), "salt"),
    ):
        error = refusal(line)
        assert (error.code, error.facts["sequence"]) == (Code.FIELD_INVALID, 5)
        assert str(error.facts["field"]).endswith(field)


def test_a_list_of_numbers_is_not_bytes() -> None:
    assert refusal(NOTE % ',"hash":[1,2]').facts["field"] == "hash"
    assert refusal(NOTE % ',"hash":null').facts["field"] == "hash"


def test_many_names_are_looked_through_in_one_go() -> None:
    # Comparing each with each would take minutes.
    names = ",".join(f'"{number}":1' for number in range(80_000))
    assert refusal(f'{{{names},"79999":1}}').facts["field"] == "79999"
    assert refusal(f"{{{names}}}").facts["field"] == "0"


@pytest.mark.parametrize("depth", [10, 300, 450, 600, 900, 990, 1_100])
@pytest.mark.parametrize("shape", ["[", '{"a":', '[{"cards":', '[[{"cards":['])
def test_no_depth_is_too_deep(depth: int, shape: str) -> None:
    closing = shape.translate({ord("["): "]", ord("{"): "}", **{ord(mark): None for mark in 'acrds":'}})[::-1]
    for place in ('{"sequence":5,"cardsDealt":{"hands":%s}}', '{"sequence":5,"x":%s}', NOTE % ',"hash":%s'):
        assert refusal(place % (shape * depth + "1" + closing * depth)).rule == "game-file"
