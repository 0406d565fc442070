"""`heptalog audit` of a running server: what it serves, held against the records that it serves."""

from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count, islice
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from heptalog.cli.auditing import AuditedServer, Auditor
from heptalog.service.store import Stored
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.memory import MemoryStore
from tests.cli.given import folder_of_games
from tests.cli.running import run, serving
from tests.support.serving import Service
from tests.trials.victims import Victim


@pytest.fixture(params=[MemoryStore, None], ids=["memory", "duck"])
def service(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Service]:
    """A server with some games."""
    store = request.param() if request.param else DuckStore(tmp_path / "served.duckdb")
    with Service(store) as service:
        folder = folder_of_games(tmp_path / "games")
        assert run("import", folder, "--into", f"grpc://{service.target}", "--quiet").code == 0
        yield service
    store.close()


def test_a_server_is_audited_through_what_it_serves(service: Service) -> None:
    ended = run("audit", f"grpc://{service.target}", "--format", "json")
    assert ended.code == 0
    head = service.store.tree_head()
    assert (ended.document["size"], ended.document["games"]) == (head.size, 9)
    assert ended.document["events"] == head.size
    # What was refused is not served, so nothing is said of it.
    assert ended.document["refusals"] is None
    assert "refusal" not in run("audit", f"grpc://{service.target}").out


def _flipped(stored: Stored) -> Stored:
    record = stored.record
    return replace(stored, record=record[:40] + bytes([record[40] ^ 1]) + record[41:])


def _everywhere(stored: Stored) -> Stored:
    return _flipped(stored) if stored.position == 7 else stored


def _once() -> Callable[[Stored], Stored]:
    """One who asks by position is told something else than one who asks for a game, later."""
    times = count()
    return lambda stored: _flipped(stored) if stored.position == 7 and not next(times) else stored


@pytest.mark.parametrize("name", ["everywhere", "by position"])
def test_a_server_that_serves_something_else_is_found_out(name: str, service: Service) -> None:
    service.store.damage = _everywhere if name == "everywhere" else _once()
    ended = run("audit", f"grpc://{service.target}", "--format", "json")
    assert ended.code == 1
    assert ended.document["counts"] == {"CHAIN_BROKEN" if name == "everywhere" else "POSITION_DAMAGED": 1}


def test_a_log_that_grows_is_audited_as_it_was(service: Service, tmp_path: Path, small_works: None) -> None:
    place = AuditedServer(service.target)
    with Auditor(place, (), (), state=tmp_path / "state") as auditor:
        size = auditor.events // 2
        more = folder_of_games(tmp_path / "more", count=5)
        found: list[Any] = list(islice(auditor.findings(jobs=1), 1))
        assert run("import", more, "--into", f"grpc://{service.target}", "--quiet").code == 0
        found += auditor.findings(jobs=1)
        assert [finding for finding in found if finding is not None] == []
        assert auditor.summary().size == size
    assert service.store.tree_head().size > size


def test_the_checkpoints_of_a_server_are_held_against_what_it_serves(victim: Victim, key: Path, outside: Path) -> None:
    with serving(victim.path, "--no-tables") as server:
        ended = run("audit", server.url, "--key", key, "--checkpoint", outside, "--format", "json")
        assert ended.code == 0
        assert ended.document["checkpointSize"] == len(victim.log.rows("events"))
        assert ended.document["checkpoints"] == len({row[1] for row in victim.log.rows("checkpoints")})


def _unreadable(*positions: int) -> Callable[[Stored], Stored]:
    """No record any more at these positions."""
    return lambda stored: replace(stored, record=b"\xff" * 70) if stored.position in positions else stored


def test_one_event_that_cannot_be_served_is_told_and_all_others_judged(service: Service) -> None:
    service.store.damage = _unreadable(7, 100)
    ended = run("audit", f"grpc://{service.target}", "--format", "json")
    assert ended.code == 1
    findings = ended.document["findings"]
    assert {finding["code"] for finding in findings} == {"RECORD_DAMAGED"}
    by_position = [finding for finding in findings if "gameId" not in finding]
    by_game = [finding for finding in findings if "gameId" in finding]
    assert [(finding["position"], finding.get("last")) for finding in by_position] == [(7, None), (100, None)]
    assert [finding["position"] for finding in by_game] == [7, 100]
    assert ended.document["games"] == 9


def test_a_checkpoint_before_what_cannot_be_read_holds(victim: Victim) -> None:
    notes = victim.log.rows("checkpoints")
    with closing(DuckStore(victim.path)) as store, Service(store) as service:
        service.store.damage = _unreadable(notes[1][1] + 1)
        document = run("audit", f"grpc://{service.target}", "--format", "json").document
    assert document["checkpointSize"] == notes[1][1]
    told = [finding["number"] for finding in document["findings"] if finding["code"] == "CHECKPOINT_DIFFERS"]
    assert told == sorted({size for _, size, _ in notes[2:]})


def test_the_last_event_that_cannot_be_served_hides_no_other(service: Service) -> None:
    size = service.store.tree_head().size
    service.store.damage = _unreadable(size)
    ended = run("audit", f"grpc://{service.target}", "--format", "json")
    assert (ended.code, ended.document["size"]) == (1, size)
    assert {finding["position"] for finding in ended.document["findings"]} == {size}
