"""Answers as CSV, JSON, Parquet and Arrow: every value as it is, and none that looks whole where it is torn."""

import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from heptalog.cli.exits import WrongUse
from heptalog.cli.forms import form_named, pieces_of, torn
from heptalog.cli.options import TableForm
from heptalog.cli.replies import Reply, distinct
from heptalog.replay.errors import Code, HeptalogError, Unavailable
from tests.cli.asked import reply_to, stream_of, torn_reply_to

FORMS = [form for form in TableForm if form is not TableForm.TEXT]
HUGE = str(2**127 - 1)
ID = "9b2e5c1e-0000-4000-8000-000000000001"
# What it is in the engine, in JSON, and in CSV.
VALUES: list[tuple[str, str, str]] = [
    ("NULL", "null", '""'),
    ("true", "true", "true"),
    ("''", '""', '""'),
    (f"{HUGE}::HUGEINT", HUGE, HUGE),
    ("-9223372036854775808", "-9223372036854775808", "-9223372036854775808"),
    ("1.50::DECIMAL(9, 2)", "1.50", "1.50"),
    ("1e300::DOUBLE", "1e300", "1e+300"),
    ("'nan'::DOUBLE", "null", '""'),
    ("'-inf'::DOUBLE", "null", '""'),
    ("'x\\x01'::BLOB", '"7801"', "7801"),
    ("'七'", '"七"', "七"),
    ("'a'::ENUM('a', 'b')", '"a"', "a"),
    (f"'{ID}'::UUID", f'"{ID}"', ID),
    ("DATE '2026-01-31'", '"2026-01-31"', "2026-01-31"),
    ("TIME '12:00:01.5'", '"12:00:01.500000"', "12:00:01.500000"),
    ("TIMESTAMPTZ '2026-01-31 12:00:00+01'", '"2026-01-31T11:00:00Z"', "2026-01-31T11:00:00.000000Z"),
    ("TIMESTAMP '2026-01-31 12:00:00.25'", '"2026-01-31T12:00:00.250000"', "2026-01-31T12:00:00.250000"),
    ("'2026-01-31 12:00:00.123456789'::TIMESTAMP_NS", '"2026-01-31T12:00:00.123456"', "2026-01-31T12:00:00.123456"),
    ("'infinity'::TIMESTAMPTZ", '"infinity"', "infinity"),
    ("TIMESTAMPTZ '12000-01-01 00:00:00+00'", '"12000-01-01 00:00:00.000000Z"', "12000-01-01 00:00:00.000000Z"),
    ("'12:00:00.123456789'::TIME_NS", '"12:00:00.123456"', "12:00:00.123456"),
    (
        "{'a': ['12:00:00.123456789'::TIME_NS], 'b': MAP {1: '2026-01-31 12:00:00.123456789'::TIMESTAMP_NS}}",
        '{"a":["12:00:00.123456"],"b":{"1":"2026-01-31T12:00:00.123456"}}',
        '"{""a"":[""12:00:00.123456""],""b"":{""1"":""2026-01-31T12:00:00.123456""}}"',
    ),
    ("'infinity'::TIMESTAMP", '"infinity"', "infinity"),
    ("'-infinity'::DATE", '"-infinity"', "-infinity"),
    ("DATE '-0044-03-15'", '"-0044-03-15"', "-0044-03-15"),
    ("['infinity'::TIMESTAMP, NULL]", '["infinity",null]', '"[""infinity"",null]"'),
    ("INTERVAL '1 day 3 seconds'", '"P1DT3S"', "P1DT3S"),
    ("[1, NULL]", "[1,null]", '"[1,null]"'),
    ("[1, 2]::INTEGER[2]", "[1,2]", '"[1,2]"'),
    (
        "{'a': TIMESTAMPTZ '2026-01-31 12:00+01'}",
        '{"a":"2026-01-31T11:00:00Z"}',
        '"{""a"":""2026-01-31T11:00:00Z""}"',
    ),
    ("[{'b': [INTERVAL 1 DAY]}]", '[{"b":["P1D"]}]', '"[{""b"":[""P1D""]}]"'),
    ("MAP {'a': 1}", '{"a":1}', '"{""a"":1}"'),
    ("MAP {[1]: INTERVAL 1 DAY}", '{"[1]":"P1D"}', '"{""[1]"":""P1D""}"'),
    ("union_value(n := 2)", "2", "2"),
]


def written(reply: Reply, form: TableForm) -> bytes:
    return b"".join(pieces_of(reply, form))


@pytest.mark.parametrize(("value", "in_json", "in_csv"), VALUES)
def test_values_of_every_kind_are_told_exactly(value: str, in_json: str, in_csv: str) -> None:
    sql = f"SELECT {value} AS x"
    assert written(reply_to(sql), TableForm.JSONL).decode() == f'{{"x":{in_json}}}\n'
    assert written(reply_to(sql), TableForm.CSV).decode() == f"x\n{in_csv}\n"
    # In a column that has also nothing in it it is the same.
    mixed = written(reply_to(f"{sql} UNION ALL SELECT NULL"), TableForm.JSONL).decode().splitlines()
    assert sorted(mixed) == sorted([f'{{"x":{in_json}}}', '{"x":null}'])


def test_a_value_that_nothing_can_show_is_told() -> None:
    for value in ("1::BIGNUM", "MAP {'a': 'infinity'::TIMESTAMP}"):
        with pytest.raises(WrongUse, match=r"the column x .* CAST\(x AS VARCHAR\)"):
            written(reply_to(f"SELECT {value} AS x"), TableForm.JSON)


def test_no_column_is_there_twice() -> None:
    assert distinct(["a", "a", "a_2", "a"]) == ["a", "a_2", "a_2_2", "a_3"]
    assert written(reply_to("SELECT 1 AS a, 2 AS a"), TableForm.JSONL) == b'{"a":1,"a_2":2}\n'
    assert read(written(reply_to("SELECT 1 AS a, 2 AS a"), TableForm.PARQUET)).column_names == ["a", "a_2"]


def read(data: bytes) -> pa.Table:
    return pq.read_table(BytesIO(data))


TYPED = (
    "SELECT range AS a, 'x' || range AS b, [range, NULL] AS c, {'d': range / 3} AS d, range::DECIMAL(18, 3) AS e, "
    "TIMESTAMPTZ '2026-01-31 12:00:00+01' + to_seconds(range) AS f, range % 2 = 0 AS g, DATE '2026-01-31' AS h, "
    "NULL::VARCHAR AS i, (range % 3)::VARCHAR::ENUM('0', '1', '2') AS j, MAP {'k': range} AS k FROM range(5000)"
)


def test_parquet_and_arrow_keep_every_type() -> None:
    with pa.ipc.open_stream(b"".join(stream_of(TYPED))) as stream:
        expected = stream.read_all()
    arrow = pa.ipc.open_stream(written(reply_to(TYPED), TableForm.ARROW)).read_all()
    assert arrow.schema == expected.schema
    assert arrow.equals(expected)
    parquet = read(written(reply_to(TYPED), TableForm.PARQUET))
    assert parquet.num_rows == 5000
    for name in expected.column_names:
        assert parquet.column(name).to_pylist() == expected.column(name).to_pylist()
        # Parquet has a name of its own for what is in a list.
        if name not in ("c",):
            assert parquet.schema.field(name).type == expected.schema.field(name).type


def test_parquet_is_written_in_groups_that_are_worth_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heptalog.cli.forms._GROUP_ROWS", 2500)
    file = pq.ParquetFile(BytesIO(written(reply_to("SELECT range AS a FROM range(5500)"), TableForm.PARQUET)))
    assert [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)] == [3000, 2500]


def test_a_type_that_parquet_has_not_is_told_before_anything_is_written() -> None:
    pieces = pieces_of(reply_to("SELECT 1 AS a, INTERVAL 1 DAY AS b"), TableForm.PARQUET)
    with pytest.raises(WrongUse, match="the column b cannot be written as Parquet"):
        next(pieces)


@pytest.mark.parametrize("form", FORMS)
def test_an_answer_without_rows_has_its_columns(form: TableForm) -> None:
    data = written(reply_to("SELECT 1 AS a WHERE false"), form)
    match form:
        case TableForm.CSV:
            assert data == b"a\n"
        case TableForm.JSON:
            assert data == b"[]\n"
        case TableForm.JSONL:
            assert data == b""
        case TableForm.PARQUET:
            assert read(data).schema.names == ["a"]
        case TableForm.ARROW:
            assert pa.ipc.open_stream(data).read_all().schema.names == ["a"]
        case _:
            raise AssertionError(form)


def everything(form: TableForm, data: bytes) -> Any:
    """The rows in a document, as a program would read them."""
    match form:
        case TableForm.JSON:
            return json.loads(data)
        case TableForm.PARQUET:
            return read(data)
        case _:
            return pa.ipc.open_stream(data).read_all()


@pytest.mark.parametrize("form", [TableForm.JSON, TableForm.PARQUET, TableForm.ARROW])
@pytest.mark.parametrize("after", [2, 5, 20, len(stream_of("FROM range(5000)"))])
def test_what_is_torn_does_not_look_whole(form: TableForm, after: int) -> None:
    error = Unavailable(Code.QUERY_TOO_LONG)
    given: list[bytes] = []
    with pytest.raises(HeptalogError) as raised:
        given.extend(pieces_of(torn_reply_to("FROM range(5000)", error, after=after), form))
    assert raised.value is error
    with pytest.raises((ValueError, pa.ArrowException)):
        everything(form, b"".join(given) + torn(form))


def test_a_stream_that_is_none_is_told() -> None:
    for pieces in ([], [b"\0" * 100], stream_of("FROM range(5000)")[:5]):
        with pytest.raises(Unavailable) as raised:
            written(Reply(1, iter(pieces)), TableForm.JSONL)
        assert raised.value.code is Code.QUERY_FAILED


def test_only_as_much_is_read_as_is_written() -> None:
    taken = 0

    def pieces() -> Iterator[bytes]:
        nonlocal taken
        for piece in stream_of("FROM range(50000)"):
            taken += len(piece)
            yield piece

    for form in FORMS:
        taken = 0
        next(pieces_of(Reply(1, pieces()), form), None)
        assert taken < 20_000 or form is TableForm.PARQUET


def test_the_name_of_a_file_says_the_form() -> None:
    for form in FORMS:
        assert form_named(Path(f"x.{form}")) is form
        assert form_named(Path(f"x.{form.upper()}")) is form
    for name in ("x.txt", "x", "csv", "x.text", "x.csv.gz"):
        assert form_named(Path(name)) is None
