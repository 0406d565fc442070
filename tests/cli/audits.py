"""What tests of `heptalog audit` do to a log, and to an audit of it."""

from collections.abc import Iterable
from itertools import count
from pathlib import Path

import duckdb
import pytest

from heptalog.cli.auditing import AuditedDatabase, Auditor
from heptalog.service.auditing.findings import Finding
from tests.trials.victims import KEYS, Victim


def alter(path: Path, statement: str, *parameters: object) -> None:
    """Change a database behind our back."""
    with duckdb.connect(path) as connection:
        connection.execute(statement, parameters)


def in_many_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a large log is audited."""
    monkeypatch.setattr("heptalog.cli.auditing.SMALL_COUNT", 0)


def auditor(victim: Victim, state: Path | None) -> Auditor:
    """An audit that writes down how far it is after every piece of work."""
    seconds = count()
    return Auditor(AuditedDatabase(victim.path), (), KEYS, state=state, clock=lambda: 10.0 * next(seconds))


def everything(found: Iterable[Finding | None]) -> list[Finding]:
    """All findings, without the signs of progress."""
    return [finding for finding in found if finding is not None]
