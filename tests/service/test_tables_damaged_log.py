"""Tables of a log that is damaged itself: it is said once, and not looked for again and again."""

from pathlib import Path

import pytest

from heptalog.replay.errors import Code, Corrupt, Unavailable
from heptalog.service.tables.keeper import End, Keeper
from heptalog.service.tables.messages import Command
from tests.service.test_tables_keeper import Log, Trouble


def test_a_damaged_log_is_told_once_and_tried_again_only_after_long(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = Log(tmp_path)
    now = 0.0
    keeper = Keeper(log.start, clock=lambda: now)
    keeper.tell()
    damage = Corrupt(Code.RECORD_DAMAGED, rule="evidence", path="log.duckdb")

    def attempt(*, is_whole: bool) -> None:
        assert keeper._pause() <= 0
        log.trouble = None if is_whole else _raising(damage)
        try:
            keeper._step()
        except Corrupt as error:
            keeper._stumble(error)

    first = keeper.lease(End(0, 0))
    attempt(is_whole=False)
    # Who waits is told, and so is who comes later, though nothing is tried for him.
    for future in (first, keeper.lease(End(0, 0))):
        error = future.exception(timeout=0)
        assert isinstance(error, Unavailable)
        assert error.code is Code.TABLES_BEHIND
        assert error.facts["path"] == "log.duckdb"
        assert "RECORD_DAMAGED: heptalog audit says where" in str(error.facts["problem"])
    assert keeper.is_failing
    keeper.tell()
    assert keeper._pause() == 3600.0
    now = 3600.0
    attempt(is_whole=False)
    assert keeper._pause() == 3600.0
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    # Somebody has made them anew: then it can be read.
    keeper.forget()
    last = keeper.lease(End(0, 0))
    attempt(is_whole=True)
    assert last.result(timeout=0).end == End(0, 0)
    assert not keeper.is_failing


def _raising(error: Exception) -> Trouble:
    def trouble(command: Command) -> None:
        raise error

    return trouble
