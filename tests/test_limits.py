"""Limits that are told in more than one place, in documents, on the command line and in code, are the same in all."""

import inspect
import re
from pathlib import Path

import pytest

from heptalog.analytics.asking import Workers
from heptalog.analytics.asking.frames import _PROBLEM_LENGTH_MAX
from heptalog.analytics.asking.limits import PIECE_SIZE_MAX, STATEMENT_SIZE_MAX, Limits
from heptalog.cli.commands.serve import serve
from heptalog.cli.render import ROWS_MAX
from heptalog.cli.sizes import size_of
from heptalog.replay.evidence.notes import NOTE_SIZE_MAX, SIGNATURES_MAX
from heptalog.replay.gamefile import LINE_SIZE_MAX
from heptalog.service import config
from heptalog.service.appending import streaming
from heptalog.service.client import flight, joint
from heptalog.service.config import ANSWER_BYTES_MAX, Settings
from heptalog.service.tables import room

ROOT = Path(__file__).parent.parent
BY_DEFAULT = Settings("")


def size(count: int) -> str:
    """A size as documents tell it: 256 KiB."""
    return next(f"{count >> power} {unit}" for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")) if count >> power)


def text_of(name: str) -> str:
    """A document."""
    return (ROOT / name).read_text()


def rows_of(name: str) -> dict[str, str]:
    """What the tables of a document say: the second cell of a row, by its first; the first of two counts."""
    return dict(reversed(re.findall(r"^\| ([^|]+) \| ([^|]*) \|", text_of(name), re.MULTILINE)))


def test_the_limits_of_the_service_are_those_of_its_document() -> None:
    told = rows_of("docs/service.md")
    assert told["events in one append"] == str(config.EVENTS_PER_APPEND_MAX)
    assert told["of the log that the engine keeps in memory"] == size(BY_DEFAULT.store_memory_bytes)
    assert told["one event"] == size(config.EVENT_SIZE_MAX)
    assert told["one message"] == size(config.MESSAGE_SIZE_MAX)
    assert told["a game's or an event's id"].startswith(f"{config.ID_LENGTH_MAX} characters without spaces ")
    assert told["who recorded it"] == f"{config.ID_LENGTH_MAX} characters"
    assert told["a line of a game file"] == size(LINE_SIZE_MAX)
    assert told["a checkpoint with its signatures"] == f"{SIGNATURES_MAX} signatures, {size(NOTE_SIZE_MAX)}"


def test_the_limits_of_a_question_are_those_of_its_document() -> None:
    told = rows_of("docs/queries.md")
    limits = Limits()
    assert told["time until the answer is whole"] == f"{limits.seconds:.0f} s"
    assert told["memory of the worker, beyond what it was born with"].startswith(f"{size(limits.memory_bytes)}, ")
    assert told["rows"] == f"{limits.rows:,}"
    assert told["the Arrow stream"] == size(limits.result_bytes)
    niceness = inspect.signature(Workers).parameters["niceness"].default
    assert told["processors"] == (
        f"{limits.threads} thread, nice {niceness}, behind a server nice {BY_DEFAULT.query_niceness}"
    )
    assert told["the statement"].startswith(f"{STATEMENT_SIZE_MAX:,} bytes, ")
    assert told["`--queries N`: questions at work at once"] == str(BY_DEFAULT.queries_max)
    assert told["`--query-seconds N`: work for one question"] == f"{BY_DEFAULT.query_seconds:.0f} s"
    assert told["`--query-memory SIZE`"] == default_of("query_memory")
    assert told["waiting for the tables, as after a first start"] == f"{BY_DEFAULT.tables_seconds:.0f} s"


@pytest.mark.parametrize(
    ("name", "phrase"),
    [
        (
            "docs/service.md",
            f"{streaming.APPENDS_MAX:,} batches, {streaming.EVENTS_MAX:,} events and {size(streaming.BYTES_MAX)} of",
        ),
        ("docs/service.md", f"while {flight.EVENTS_MAX:,} events or {size(flight.BYTES_MAX)} have no answer"),
        ("docs/service.md", f"({flight.EVENTS_MAX:,} events or {size(flight.BYTES_MAX)} without an answer)"),
        ("docs/service.md", f"those larger than {size(flight.MESSAGE_BYTES)}"),
        ("docs/service.md", f"up to {joint._LONGEST_SECONDS:.0f}."),
        ("docs/queries.md", f"Pieces are at most {size(PIECE_SIZE_MAX)};"),
        ("docs/queries.md", f"in at most {_PROBLEM_LENGTH_MAX:,} characters"),
        ("docs/queries.md", f"they wait, up to {BY_DEFAULT.queries_waiting_max} of them"),
        ("docs/queries.md", f"than twice the reserve and {size(room._MARGIN)} "),
        ("cli/heptalog/cli/commands/sql.py", f"has the first {ROWS_MAX:,} rows"),
    ],
)
def test_what_is_told_in_a_sentence_is_so(name: str, phrase: str) -> None:
    assert phrase in text_of(name)


def test_a_server_has_the_same_limits_whoever_starts_it() -> None:
    assert default_of("checkpoint_seconds") == BY_DEFAULT.checkpoint_seconds
    assert default_of("queries") == BY_DEFAULT.queries_max
    assert default_of("query_seconds") == BY_DEFAULT.query_seconds
    assert size_of(str(default_of("query_memory")), "") == BY_DEFAULT.query_memory_bytes
    assert default_of("host") == BY_DEFAULT.host


def test_a_question_has_the_same_limits_whoever_answers_it() -> None:
    assert Limits() == Limits(
        BY_DEFAULT.query_seconds, BY_DEFAULT.query_memory_bytes, BY_DEFAULT.query_rows_max, ANSWER_BYTES_MAX
    )


def default_of(option: str) -> object:
    """What `heptalog serve` takes where an option is not given."""
    return inspect.signature(serve).parameters[option].default
