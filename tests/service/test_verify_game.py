"""VerifyGame: a report on games good and bad, and how far it is; what is no finding, and what ends it."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any, Final

import grpc
import pytest
from msgspec.structs import replace

from heptalog.replay.errors import Code, Corrupt, HeptalogError, NotFound, Unavailable
from heptalog.replay.events import GameClosed
from heptalog.replay.registry import GAMES
from heptalog.replay.verify import verify
from heptalog.service.client import AsyncClient, Client, Finding, GameReport, Progress
from heptalog.service.examining import messages, verifying
from heptalog.service.store import Ending, LogStore, NumberedGame, Status, Stored
from heptalog.service.store.memory import MemoryStore
from heptalog.v1 import audit_pb2, audit_pb2_grpc
from tests.service.asking import FOREIGN, ROCKS, failure_of, new_game
from tests.support.newer import NEWER, record_newer
from tests.support.recording import batch_of, batches_of, entries_of, recorded_game
from tests.support.serving import WAIT_SECONDS, Service

# One of each kind to its end, with rulings, and one that goes on.
PLAYED: Final = [recorded_game(rules, 3, ruling_rate=0.02) for rules in GAMES]
RUNNING: Final = [recorded_game(rules, 4, event_count_max=20) for rules in GAMES]
NAMES: Final = [entries[0].event.game_id for entries in (*PLAYED, *RUNNING)]
UP: Final = "seven_up-4"


@pytest.fixture
def shelf(store: LogStore) -> Iterator[Service]:
    """A server over either store with these games."""
    for entries in (*PLAYED, *RUNNING):
        store.append(batches_of(entries))
    with Service(store) as running:
        yield running


def report_on(client: Client, game_id: str) -> GameReport:
    """The last that is told, before which there is only progress."""
    *progress, report = client.verify(game_id)
    assert all(isinstance(told, Progress) for told in progress)
    assert isinstance(report, GameReport)
    return report


def finding_on(client: Client, game_id: str) -> Finding:
    """What is wrong with a bad game."""
    report = report_on(client, game_id)
    assert report.finding is not None
    assert not report.ok
    return report.finding


@pytest.mark.parametrize("game_id", NAMES)
def test_a_good_game_is_good_and_it_is_told_how_it_stands(game_id: str, shelf: Service) -> None:
    client = shelf.client()
    count = client.game(game_id).head.sequence + 1
    progress, report = list(client.verify(game_id))
    assert progress == Progress(count, count)
    assert report == GameReport(count, client.standing(game_id))

    async def verified(client: AsyncClient) -> list[object]:
        return [told async for told in client.verify(game_id)]

    assert shelf.asynchronous(verified) == [progress, report]


def test_games_to_their_end_are_among_them_and_some_were_closed() -> None:
    statuses = {ending.status for entries in PLAYED for batch in batches_of(entries) for ending in batch.endings}
    assert Status.WON in statuses


def test_a_long_game_is_examined_piece_by_piece(shelf: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifying, "PIECE_EVENTS", 7)
    *progress, report = shelf.client().verify(UP)
    assert progress == [Progress(7, 20), Progress(14, 20), Progress(20, 20)]
    assert report.events == 20


def _flipped(place: int) -> Callable[[Stored], Stored]:
    def damage(stored: Stored) -> Stored:
        if (stored.game_id, stored.sequence) != (UP, place):
            return stored
        return replace(stored, record=stored.record[:-1] + bytes([stored.record[-1] ^ 1]))

    return damage


@pytest.mark.parametrize("piece", [3, 512])
@pytest.mark.parametrize("place", [0, 1, 5, 6, 19])
def test_a_changed_byte_is_found_at_its_place(
    place: int, piece: int, shelf: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifying, "PIECE_EVENTS", piece)
    shelf.store.damage = _flipped(place)
    client = shelf.client()
    report = report_on(client, UP)
    assert report.finding is not None
    assert (report.finding.sequence, report.events) == (place, place)
    assert report.finding.code in (Code.CHAIN_BROKEN, Code.RECORD_DAMAGED, Code.SEAL_BROKEN)
    assert report.finding.message
    # It stands as it did before the event that is wrong.
    assert (report.standing is None) == (place == 0)
    # The others are as good as before.
    assert [report_on(client, name).ok for name in NAMES if name != UP] == [True] * (len(NAMES) - 1)


@pytest.mark.parametrize(("game_id", "sequence"), [("seven_rocks-4", 3), (UP, 4)])
def test_a_record_of_another_place_is_not_the_event_that_it_is_kept_as(
    game_id: str, sequence: int, shelf: Service
) -> None:
    (other,) = shelf.store.inner.read_game(game_id, start=sequence, limit=1)
    shelf.store.damage = lambda stored: (
        replace(stored, record=other.record) if (stored.game_id, stored.sequence) == (UP, 3) else stored
    )
    found = finding_on(shelf.client(), UP)
    assert (found.code, found.rule, found.sequence) == (Code.RECORD_DAMAGED, "evidence", 3)


def test_an_event_that_is_missing_is_a_gap(shelf: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    read = shelf.store.inner.read_game

    def without_one(game_id: str, **wanted: Any) -> Iterator[Stored]:
        return (stored for stored in read(game_id, **wanted) if stored.sequence != 7)

    monkeypatch.setattr(shelf.store, "read_game", without_one)
    report = report_on(shelf.client(), UP)
    assert report.finding is not None
    assert (report.finding.code, report.finding.sequence, report.events) == (Code.SEQUENCE_GAP, 8, 7)
    monkeypatch.setattr(shelf.store, "read_game", lambda _: iter_of([]))
    empty = report_on(shelf.client(), UP)
    assert empty.finding is not None
    assert (empty.events, empty.standing, empty.finding.code) == (0, None, Code.GAME_EMPTY)


def iter_of(records: list[Stored]) -> Iterator[Stored]:
    """These records, to be closed."""
    yield from records


def test_an_event_that_the_rules_forbid_is_found(store: LogStore) -> None:
    (rocks,) = (entries for entries in RUNNING if entries[0].event.game_id == "seven_rocks-4")
    entries = entries_of([*(entry.event.body for entry in rocks[:5]), FOREIGN], "wrong", Random(1))
    store.append([batch_of(entries)])
    with Service(store) as service:
        found = finding_on(service.client(), "wrong")
        right = verify((entry.event, None) for entry in entries)
        assert right.error is not None
        assert (found.code, found.rule, found.sequence) == (right.error.code, right.error.rule, 5)


def _others(kept: list[Ending]) -> list[tuple[list[Ending], int]]:
    """Lists of endings that are not these, and where each begins to differ."""
    last = kept[-1]
    return [
        (kept[:-1], last.sequence),
        ([*kept, Ending(last.sequence + 400, Status.CLOSED, (), ())], last.sequence + 400),
        ([*kept[:-1], replace(last, winners=(3, *last.winners))], last.sequence),
        ([*kept[:-1], replace(last, status=Status.RUNNING)], last.sequence),
        ([*kept[:-1], replace(last, sequence=last.sequence - 1)], last.sequence - 1),
    ]


@pytest.mark.parametrize("number", range(5))
def test_endings_that_do_not_follow_from_the_events_are_found(
    number: int, shelf: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    game_id = NAMES[0]
    client = shelf.client()
    count = client.game(game_id).head.sequence + 1
    endings, place = _others(list(shelf.store.inner.endings(game_id)))[number]
    monkeypatch.setattr(shelf.store, "endings", lambda _: (ending for ending in endings))
    report = report_on(client, game_id)
    assert report.finding is not None
    assert (report.finding.code, report.finding.sequence) == (Code.ENDINGS_DIFFER, place)
    assert (report.events, report.standing) == (count, client.standing(game_id))


def test_an_ending_that_is_none_is_found(shelf: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    def endings(_: str) -> Iterator[Ending]:
        yield from shelf.store.inner.endings(UP)
        raise Corrupt(Code.RECORD_DAMAGED, rule="evidence", problem="a status that there is not")

    monkeypatch.setattr(shelf.store, "endings", endings)
    found = finding_on(shelf.client(), UP)
    assert (found.code, found.sequence) == (Code.RECORD_DAMAGED, None)
    assert "a status that there is not" in found.message


@pytest.mark.parametrize(
    ("column", "changes"),
    [
        ("ruleset", {"ruleset": "seven_down"}),
        ("rules_version", {"rules_version": 7}),
        ("created_at", {"created_at": 1}),
        ("started", {"started": ROCKS}),
    ],
)
def test_a_list_of_games_that_says_something_else_is_found(
    column: str, changes: dict[str, Any], shelf: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def game(game_id: str) -> NumberedGame | None:
        entry = shelf.store.inner.game(game_id)
        return entry and replace(entry, **changes)

    monkeypatch.setattr(shelf.store, "game", game)
    found = finding_on(shelf.client(), UP)
    assert (found.code, found.sequence) == (Code.COLUMNS_DIFFER, 0)
    assert f"column {column}" in found.message


def test_a_game_that_is_not_there_is_not_found(shelf: Service) -> None:
    with pytest.raises(NotFound) as missing:
        list(shelf.client().verify("nobody's"))
    assert (missing.value.code, missing.value.facts["game_id"]) == (Code.GAME_NOT_FOUND, "nobody's")


@pytest.mark.parametrize("what", ["events", "endings", "list"])
def test_what_the_store_cannot_read_is_no_report(what: str, shelf: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreadable(_: str) -> NumberedGame | None:
        raise Corrupt(Code.RECORD_DAMAGED, rule="evidence", path="log.duckdb")

    monkeypatch.setattr(shelf.store, {"events": "read_game", "endings": "endings", "list": "game"}[what], unreadable)
    with pytest.raises(grpc.RpcError) as failed:
        list(audit_pb2_grpc.AuditServiceStub(shelf.channel()).VerifyGame(audit_pb2.VerifyGameRequest(game_id=UP)))
    failure = failure_of(failed.value)
    assert (failure.code, failure.reason) == (grpc.StatusCode.DATA_LOSS, "RECORD_DAMAGED")


@pytest.mark.parametrize("how", NEWER)
def test_of_a_newer_game_nothing_is_said(how: str, store: LogStore) -> None:
    at = record_newer(store, how)
    with Service(store) as service:
        with pytest.raises(Unavailable) as newer:
            list(service.client(attempts=3).verify("game"))
        assert newer.value.code is Code.RECORD_NEWER
        assert (newer.value.facts["game_id"], newer.value.facts["at_sequence"]) == ("game", at)


def test_what_is_recorded_meanwhile_is_no_finding(each_service: Service) -> None:
    client = each_service.client()
    new_game(client, remark_count=3)
    with each_service.store.held_reading() as hold, ThreadPoolExecutor(1) as pool:
        told = pool.submit(lambda: list(client.verify("game")))
        hold.wait_until_reached()
        # The ending is kept beside an event that is not examined.
        each_service.client().resume("game").append(GameClosed())
        hold.release()
        *_, report = told.result(WAIT_SECONDS)
    assert isinstance(report, GameReport)
    assert (report.ok, report.events) == (True, 4)
    assert [ending.sequence for ending in each_service.store.inner.endings("game")] == [4]
    assert report_on(client, "game").events == 5


def test_who_goes_away_ends_it(shelf: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifying, "PIECE_EVENTS", 2)
    with shelf.store.held_reading() as hold:
        stream: Any = audit_pb2_grpc.AuditServiceStub(shelf.channel()).VerifyGame(
            audit_pb2.VerifyGameRequest(game_id=UP)
        )
        hold.wait_until_reached()
        assert shelf.store.reader_count == 1
        stream.cancel()
    assert shelf.store.all_closed.wait(WAIT_SECONDS)
    assert shelf.store.reader_count == 0


def test_a_drain_ends_it_after_the_piece_under_way(shelf: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifying, "PIECE_EVENTS", 2)
    client = shelf.client()
    told: list[object] = []

    def verified() -> None:
        for one in client.verify(UP):
            told.append(one)  # noqa: PERF402  # what came before the failure counts

    with shelf.store.held_reading() as hold, ThreadPoolExecutor(1) as pool:
        ended = pool.submit(verified)
        hold.wait_until_reached()
        for servicer in shelf.server._draining:
            servicer.drain()
        hold.release()
        with pytest.raises(Unavailable) as draining:
            ended.result(WAIT_SECONDS)
    assert draining.value.code is Code.DRAINING
    assert told == [Progress(2, 20)]
    assert shelf.store.all_closed.wait(WAIT_SECONDS)
    with pytest.raises(HeptalogError) as later:
        client.diff(UP, UP)
    assert later.value.code is Code.DRAINING


@pytest.mark.parametrize(
    "answer",
    [
        audit_pb2.VerifyGameResponse(),
        audit_pb2.VerifyGameResponse(report=audit_pb2.VerifyGameReport(events=3)),
        audit_pb2.VerifyGameResponse(report=audit_pb2.VerifyGameReport(ok=True, finding=audit_pb2.Finding())),
    ],
)
def test_what_a_client_does_not_understand_is_no_good_game(answer: audit_pb2.VerifyGameResponse) -> None:
    with pytest.raises(Unavailable):
        messages.examined_of(answer)
    for read in (messages.difference_of, messages.alternative_of):
        with pytest.raises(Unavailable):
            read(audit_pb2.DiffGamesResponse())


def test_a_code_of_a_newer_server_is_told_as_it_is() -> None:
    finding = audit_pb2.Finding(code="MOON_FULL", rule="SR-R99", message="the moon is full")
    report = messages.examined_of(audit_pb2.VerifyGameResponse(report=audit_pb2.VerifyGameReport(finding=finding)))
    assert report == GameReport(0, None, Finding("MOON_FULL", "SR-R99", "the moon is full"))


def test_memory_and_file_tell_the_same(shelf: Service) -> None:
    inner = MemoryStore()
    for entries in (*PLAYED, *RUNNING):
        inner.append(batches_of(entries))
    with Service(inner) as other:
        for name in NAMES:
            assert list(other.client().verify(name)) == list(shelf.client().verify(name))
