"""`heptalog sql`: the whole history in every form, to stdout and into files, and what cannot be asked."""

import csv
import json
import subprocess
import sys
from collections.abc import Iterator
from io import BytesIO, StringIO
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from heptalog.cli.app import app
from tests.cli.given import copied
from tests.cli.running import PROGRAM, WAIT_SECONDS, Serving, only, run, run_program, serving

pytestmark = pytest.mark.usefixtures("lent_workers")
QUESTION = "SELECT ruleset, events, status FROM games ORDER BY ruleset"
RULESETS = ["seven_bridge", "seven_rocks", "seven_up"]


@pytest.fixture(scope="module")
def made_server(made_log: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server that holds that database, to which nothing is added."""
    with serving(copied(made_log, tmp_path_factory.mktemp("served") / "log.duckdb")) as server:
        yield server


@pytest.fixture(params=["database", "server"])
def source(request: pytest.FixtureRequest) -> str:
    """Those games, held by nobody or by a server."""
    if request.param == "database":
        return str(request.getfixturevalue("log"))
    server: Serving = request.getfixturevalue("made_server")
    return server.url


@pytest.fixture
def served(log: Path) -> Iterator[Serving]:
    """A server of one's own."""
    with serving(log) as server:
        yield server


def test_a_question_is_answered_in_every_form(source: str, tmp_path: Path) -> None:
    rows = run("sql", source, QUESTION, "--format", "json").document
    assert [(row["ruleset"], row["status"]) for row in rows] == [
        ("seven_bridge", "CLOSED"),
        ("seven_rocks", "RUNNING"),
        ("seven_up", "WON"),
    ]
    assert run("sql", source, QUESTION, "--format", "jsonl").lines == rows
    read = list(csv.DictReader(StringIO(run("sql", source, QUESTION, "--format", "csv").out)))
    assert read == [{name: str(value) for name, value in row.items()} for row in rows]
    text = run("sql", source, QUESTION).out.splitlines()
    assert text[0].split() == ["ruleset", "events", "status"]
    assert [line.split() for line in text[2:]] == [[str(value) for value in row.values()] for row in rows]
    for form in ("parquet", "arrow"):
        out = tmp_path / f"answer.{form}"
        assert run("sql", source, QUESTION, "--out", out) == (0, "", "")
        table = pq.read_table(out) if form == "parquet" else pa.ipc.open_stream(out.read_bytes()).read_all()
        assert table.to_pylist() == rows
        assert table.schema.types == [pa.string(), pa.int32(), pa.string()]


def test_what_was_recorded_a_moment_ago_is_in_the_answer(served: Serving, game: Path) -> None:
    counts = "SELECT count(*) AS games, sum(events) AS events FROM games"
    before = only(run("sql", served.url, counts, "--format", "json").document)
    added = run("import", game, "--into", served.url, "--format", "jsonl").lines
    after = only(run("sql", served.url, counts, "--format", "json").document)
    assert after == {"games": before["games"] + 1, "events": before["events"] + added[0]["added"]}


def test_an_export_can_be_asked(log: Path, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    assert run("export", log, "--parquet", folder).code == 0
    question = "SELECT ruleset FROM games ORDER BY ruleset"
    rows = run("sql", folder, question, "--format", "json").document
    assert [row["ruleset"] for row in rows] == ["seven_bridge", "seven_up"]
    ended = run("sql", tmp_path, question)
    assert (ended.code, ended.err.count("\n")) == (3, 1)
    assert "[EXPORT_FOREIGN]" in ended.err


# Where the question comes from.


def bytes_of(source: str, question: str, form: str) -> tuple[int, bytes, str]:
    """How a question ended, and what it wrote, to the byte."""
    result = CliRunner().invoke(app, ["sql", source, question, "--format", form])
    return result.exit_code, result.stdout_bytes, result.stderr


def asked_on_stdin(text: str | bytes, *arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["sql", *map(str, arguments)], input=text)
    return result.exit_code, result.stdout, result.stderr


def test_a_question_can_come_from_a_file_or_from_stdin(log: Path, tmp_path: Path) -> None:
    expected = run("sql", log, QUESTION)
    assert expected.code == 0
    file = tmp_path / "question.sql"
    file.write_text(f"\ufeff-- What there is\n{QUESTION};\n")
    assert run("sql", log, "--file", file) == expected
    assert asked_on_stdin(file.read_text(), log) == expected
    assert asked_on_stdin(QUESTION, log, "-") == expected
    assert asked_on_stdin(QUESTION, log, "--file", "-") == expected


def test_a_question_that_is_none_is_wrong_use(log: Path, tmp_path: Path) -> None:
    file = tmp_path / "question.sql"
    file.write_bytes(b"SELECT '\xff'")
    assert run("sql", log, "--file", file).err == f"heptalog: {file}: a question is text in UTF-8\n"
    file.write_bytes(b" " * ((1 << 20) + 1))
    assert run("sql", log, "--file", file).err == f"heptalog: {file}: a question of more than 1 MiB\n"
    assert run("sql", log, QUESTION, "--file", file).code == 2
    assert run("sql", log, "--file", tmp_path / "nothing").code == 3
    assert asked_on_stdin("", log)[0] == 2


# What may not be asked, and of whom.


REFUSED = (
    ";",
    "SELEC 1",
    "SELECT nothing FROM games",
    "SELECT 1; SELECT 2",
    "DELETE FROM games",
    "WITH x AS (DELETE FROM games RETURNING *) SELECT * FROM x",
    "CREATE TABLE t (i INT)",
    "COPY (SELECT 1) TO 'out.csv'",
    "ATTACH 'other.duckdb'",
    "SET enable_external_access = true",
    "connect 'x'",
    "SELECT * FROM log.events",
    "SELECT * FROM read_text('/etc/hostname')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT 'x'::INT",
    "SELECT error('stop')",
)


def test_what_may_not_be_asked_is_wrong_use(log: Path, tmp_path: Path) -> None:
    before = log.read_bytes()
    for question in REFUSED:
        ended = run("sql", log, question)
        assert (ended.code, ended.out) == (2, ""), question
        assert ended.err.count("\n") == 1, question
        assert ended.err.endswith("[QUERY_INVALID]\n"), question
    assert log.read_bytes() == before
    assert not (tmp_path / "out.csv").exists()


def test_a_table_that_is_none_is_told_with_the_nearest(source: str) -> None:
    ended = run("sql", source, "SELECT * FROM gmaes")
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "did you mean games?" in ended.err


def test_a_column_that_is_none_is_told_with_its_place_and_the_nearest(source: str) -> None:
    ended = run("sql", source, "SELECT 'é', statu FROM games")
    told = "this question cannot be asked: there is no column statu here; did you mean status?, character 13"
    assert (ended.code, ended.out, ended.err) == (2, "", f"heptalog: {told} [QUERY_INVALID]\n")


def test_what_is_no_source_is_told(log: Path, game: Path, tmp_path: Path) -> None:
    told = {
        tmp_path / "nothing": (3, "[SOURCE_NOT_FOUND]"),
        tmp_path / "nothing.duckdb": (3, "[SOURCE_NOT_FOUND]"),
        game: (3, "[DATABASE_FOREIGN]"),
        "grpc://nowhere": (2, "HOST:PORT"),
        "grpc://127.0.0.1:1": (3, "[SERVER_UNREACHABLE]"),
        f"{log}#x": (2, f"all games are asked at once: {log}"),
        "grpc://127.0.0.1:1#x": (2, "all games are asked at once: grpc://127.0.0.1:1"),
    }
    for name, (code, said) in told.items():
        ended = run("sql", name, "SELECT 1")
        assert (ended.code, ended.out, ended.err.count("\n")) == (code, "", 1), ended
        assert said in ended.err


def test_a_database_that_a_server_holds_is_to_be_asked_there(served: Serving, log: Path) -> None:
    assert served.url
    ended = run("sql", log, "SELECT 1")
    assert (ended.code, ended.err.count("\n")) == (3, 1)
    assert "[DATABASE_LOCKED]" in ended.err
    assert "grpc://HOST:PORT" in ended.err


# Limits.

ENDLESS = "SELECT count(*) FROM range(1000000000000) WHERE hash(range) = 3"


def test_a_question_that_takes_too_long_is_three(source: str) -> None:
    # A server that has just started has no tables yet, and to wait for them counts too.
    assert run("sql", source, "SELECT 1").code == 0
    ended = run("sql", source, ENDLESS, "--timeout", "1")
    assert (ended.code, ended.out, ended.err.count("\n")) == (3, "", 1)
    assert "[QUERY_TOO_LONG]" in ended.err


@pytest.mark.parametrize("form", ["text", "json", "parquet"])
def test_an_answer_with_too_many_rows_is_three_and_no_answer(source: str, form: str, tmp_path: Path) -> None:
    out = () if form == "text" else ("--out", tmp_path / "answer", "--format", form)
    ended = run("sql", source, "FROM range(11)", "--rows", "10", *out)
    assert (ended.code, ended.out, ended.err.count("\n")) == (3, "", 1)
    assert "[RESULT_TOO_LARGE]" in ended.err
    assert not (tmp_path / "answer").exists()
    assert run("sql", source, "FROM range(10)", "--rows", "10", *out).code == 0


def test_a_question_that_takes_too_much_memory_is_three(log: Path) -> None:
    ended = run("sql", log, "SELECT list(range) FROM range(100000000)", "--memory", "200MB")
    assert (ended.code, ended.out, ended.err.count("\n")) == (3, "", 1)
    assert "[QUERY_TOO_LARGE]" in ended.err


def test_a_server_has_its_own_limit_of_memory(made_server: Serving) -> None:
    ended = run("sql", made_server.url, "SELECT 1", "--memory", "1GB")
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "--memory is for databases and exports" in ended.err


@pytest.mark.parametrize("option", [("--timeout", "0"), ("--rows", "-1"), ("--memory", "much"), ("--format", "xml")])
def test_an_option_that_is_none_is_wrong_use(option: tuple[str, str], log: Path) -> None:
    assert run("sql", log, "SELECT 1", *option).code == 2


# Where the answer goes.


TORN = "SELECT CASE WHEN range < 60000 THEN range ELSE error('stop') END AS n FROM range(80000)"


def test_a_failure_on_the_way_leaves_no_file_and_no_document(source: str, tmp_path: Path) -> None:
    out = tmp_path / "answer.json"
    out.write_text("what was there")
    ended = run("sql", source, TORN, "--out", out)
    assert (ended.code, ended.out) == (2, "")
    assert out.read_text() == "what was there"
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []
    for form in ("json", "jsonl", "csv", "arrow"):
        code, told, said = bytes_of(source, TORN, form)
        assert (code, said.count("\n")) == (2, 1)
        assert "stop" in said
        if form == "json":
            with pytest.raises(json.JSONDecodeError):
                json.loads(told)
        if form == "arrow":
            with pytest.raises(pa.ArrowInvalid):
                pa.ipc.open_stream(told).read_all()


def test_a_failure_on_the_way_into_a_pipe_leaves_no_document(log: Path) -> None:
    done = subprocess.run(
        [PROGRAM, "sql", log, TORN, "--format", "json"], capture_output=True, timeout=WAIT_SECONDS, check=False
    )
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert b"stop" in done.stderr
    with pytest.raises(json.JSONDecodeError):
        json.loads(done.stdout)


def test_parquet_and_arrow_go_into_a_pipe(log: Path) -> None:
    for form in ("parquet", "arrow"):
        command = [str(PROGRAM), "sql", str(log), "SELECT range AS a FROM range(3)", "--format", form]
        done = subprocess.run(command, capture_output=True, timeout=WAIT_SECONDS, check=True)
        read = pq.read_table if form == "parquet" else lambda data: pa.ipc.open_stream(data).read_all()
        assert read(BytesIO(done.stdout)).to_pylist() == [{"a": 0}, {"a": 1}, {"a": 2}]


def test_the_form_of_a_file_is_said_somewhere(log: Path, tmp_path: Path) -> None:
    for options in (("--out", "answer.txt"), ("--out", "answer"), ("--out", "answer.csv", "--format", "text")):
        ended = run("sql", log, "SELECT 1", *options)
        assert (ended.code, ended.err.count("\n")) == (2, 1)
        assert "--format csv, json, jsonl, parquet or arrow" in ended.err
    out = tmp_path / "below" / "answer.csv"
    ended = run("sql", log, "SELECT 1", "--out", out)
    assert (ended.code, ended.err.count("\n")) == (3, 1)
    assert "[WRITE_FAILED]" in ended.err


def test_a_log_is_no_place_for_an_answer(log: Path) -> None:
    before = log.read_bytes()
    assert run("sql", log, "SELECT 1", "--format", "csv", "--out", log).code == 3
    assert log.read_bytes() == before


ODD = (
    "SELECT E'a\\r\\nb,\"c' AS a, NULL AS b, '' AS c, ['x' || chr(8238) || 'y'] AS d, E'p\\rq' AS \"e\\f\", ' g ' AS g"
)


@pytest.mark.parametrize("seconds", ["inf", "nan", "1e10", "1e300", "0", "-1"])
def test_a_time_that_is_none_is_wrong_use(log: Path, seconds: str) -> None:
    ended = run("sql", log, "SELECT 1", "--timeout", seconds)
    assert (ended.code, ended.out) == (2, "")
    assert "--timeout" in ended.err


@pytest.mark.parametrize("options", [("--query-memory", "1B"), ("--query-memory", "63MiB"), ("--query-seconds", "nan")])
def test_a_limit_with_which_nothing_is_answered_is_wrong_use(log: Path, options: tuple[str, str]) -> None:
    ended = run("serve", log, "--port", "0", *options)
    assert (ended.code, ended.out) == (2, "")
    assert options[0] in ended.err


def test_a_dash_is_stdout(log: Path) -> None:
    question = ("sql", log, QUESTION, "--format", "csv")
    assert run(*question, "--out", "-") == run(*question)
    assert not Path("-").exists()


def test_the_select_of_a_view_can_be_asked(log: Path) -> None:
    select = run("views", "standings", "--sql").out
    asked, named = (run("sql", log, question, "-f", "jsonl") for question in (select, "FROM standings"))
    assert asked.code == 0
    # Neither promises an order.
    assert sorted(asked.out.splitlines()) == sorted(named.out.splitlines())


def test_csv_is_faithful(log: Path) -> None:
    # Whoever reads it as text would make one newline of two characters.
    done = subprocess.run([PROGRAM, "sql", log, ODD, "--format", "csv"], capture_output=True, check=True)
    out = done.stdout.decode()
    assert out.count("\n") == 3
    (row,) = csv.DictReader(StringIO(out, newline=""))
    assert row == {"a": 'a\r\nb,"c', "b": "", "c": "", "d": '["x\u202ey"]', "e\\f": "p\rq", "g": " g "}
    assert ',,"",' in out


def test_text_does_nothing_to_a_terminal(log: Path) -> None:
    out = run("sql", log, ODD + ", E'\\x1b[2J' AS \"\x1b[2J\"").out
    assert out.count("\n") == 3
    assert all(character.isprintable() or character == "\n" for character in out)
    assert '["x\\u202ey"]' in out


def test_no_row_is_no_error(source: str) -> None:
    question = "SELECT game_id FROM games WHERE events < 0"
    assert run("sql", source, question).out.splitlines()[0] == "game_id"
    assert run("sql", source, question, "--format", "json").document == []
    assert run("sql", source, question, "--format", "csv").out == "game_id\n"


def test_a_long_answer_is_cut_for_people_only(source: str) -> None:
    question = "SELECT range AS n FROM range(2500)"
    text = run("sql", source, question)
    assert len(text.out.splitlines()) == 1002
    assert "the first 1,000 rows" in text.err
    assert len(run("sql", source, question, "--format", "jsonl").lines) == 2500


def test_who_stops_reading_ends_the_question(log: Path) -> None:
    command = f'"{PROGRAM}" sql "{log}" "FROM range(100000000)" --format csv | head -n 2'
    done = subprocess.run(["sh", "-c", command], capture_output=True, timeout=WAIT_SECONDS, check=True)
    assert (done.stdout, done.stderr) == (b"range\n0\n", b"")


def test_help_needs_none_of_this() -> None:
    program = "import sys, heptalog.cli.app; print({'duckdb', 'pyarrow', 'prompt_toolkit'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout == b"set()\n"
    assert "SELECT" in run_program("sql", "--help").out
