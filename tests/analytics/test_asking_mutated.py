"""Statements changed at random: whatever passes, it reads no file and changes nothing."""

import re
from pathlib import Path
from typing import Final

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heptalog.analytics.asking import Workers
from heptalog.analytics.snapshots import Snapshot
from heptalog.replay.errors import Code, HeptalogError
from tests.analytics.asking import CANARY, SHORT, asked, fingerprint
from tests.analytics.statements import ALLOWED, REFUSED

TOKENS: Final = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|\w+|\s+|.", re.DOTALL)
NAME: Final = re.compile(r"'.*'|\".*\"|\w+", re.DOTALL)
STATEMENTS: Final = (*ALLOWED, *(sql for sql, _ in REFUSED))
# What somebody would try; {inside} and {outside} are canaries.
PIECES: Final = (
    "'{inside}.csv'",
    "'{inside}.parquet'",
    "'{outside}.csv'",
    '"{inside}.parquet"',
    "read_csv('{inside}.csv')",
    "read_text('{outside}.csv')",
    "read_parquet('{inside}.parquet')",
    "parquet_scan(['{inside}.parquet'])",
    "glob('{inside}*')",
    "query('FROM ''{inside}.parquet''')",
    "query_table('{inside}.parquet')",
    "kept.games",
    "memory.kept.refusals",
    "duckdb_settings()",
    "(INSERT INTO games VALUES (1) RETURNING *)",
    "(DELETE FROM kept.games RETURNING *)",
    "WITH x AS (COPY games TO '{inside}.new') FROM x",
    "UNION ALL FROM '{inside}.parquet'",
    "; COPY (SELECT 1) TO '{inside}.new'",
    "nextval('s')",
    "/*",
    "--",
    "$$",
    ";",
    "\x01",
    "é",
)


def changed(draw: st.DrawFn) -> str:
    """A statement with some of its words exchanged, replaced by others, repeated or left out."""
    words = TOKENS.findall(draw(st.sampled_from(STATEMENTS))) or [" "]
    for _ in range(draw(st.integers(1, 3))):
        named = [place for place, word in enumerate(words) if NAME.fullmatch(word)] or [0]
        place = draw(st.sampled_from(named))
        donor = TOKENS.findall(draw(st.sampled_from(STATEMENTS))) or [" "]
        match draw(st.sampled_from(("piece", "piece", "name", "exchange", "part", "nothing"))):
            case "piece":
                words[place] = draw(st.sampled_from(PIECES))
            case "name":
                words[place] = draw(st.sampled_from([word for word in donor if NAME.fullmatch(word)] or ["1"]))
            case "exchange":
                other = draw(st.sampled_from(named))
                words[place], words[other] = words[other], words[place]
            case "part":
                start = draw(st.integers(0, len(donor)))
                words[place:place] = donor[start : start + draw(st.integers(1, 8))]
            case _:
                del words[place : place + draw(st.integers(1, 3))]
                words = words or [" "]
    return "".join(words)


def outcome(workers: Workers, sql: str, snapshot: Snapshot) -> str:
    """What an asker is told: rows, or why there are none. Only what is its own fault, or takes too much."""
    try:
        return str(asked(workers, sql, snapshot, SHORT).to_pylist())
    except HeptalogError as error:
        if error.code is Code.QUERY_FAILED:
            raise
        return str(error)


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(st.composite(changed)())
def test_no_change_of_a_statement_reaches_a_file(workers: Workers, snapshot: Snapshot, sql: str) -> None:
    folder = Path(snapshot.folders[0])
    text = sql.replace("{inside}", str(folder / "canary")).replace("{outside}", str(folder.parent / "canary"))
    assert CANARY not in outcome(workers, text, snapshot)


def test_the_corpus_leaves_the_files_as_they_were(workers: Workers, snapshot: Snapshot, asked_folder: Path) -> None:
    before = fingerprint(asked_folder)
    for sql in (sql for sql, _ in REFUSED):
        with pytest.raises(HeptalogError):
            asked(workers, sql, snapshot, SHORT)
    for sql in ALLOWED[::7]:
        assert isinstance(asked(workers, sql, snapshot), pa.Table)
    assert fingerprint(asked_folder) == before
