"""Many at once: exactly one wins each sequence, and every game comes out right."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import NamedTuple

import pytest

from heptalog.replay.errors import Code, Conflict
from heptalog.replay.events import Body, GameStarted
from heptalog.replay.fold import fold_all
from heptalog.service import writer
from heptalog.service.appends import Append
from heptalog.service.client import AsyncClient
from heptalog.service.config import Settings
from heptalog.service.store import LogStore
from tests.service.asking import check_positions, check_record, games_of_all_kinds, new_game, remark
from tests.support.serving import WAIT_SECONDS, Service

ROUNDS = 12
CALLERS = 64


class Try(NamedTuple):
    """What one racer got in one round: the head it was told, and whether it won."""

    sequence: int
    head_hash: str
    refusal: tuple[Code, object] | None = None


@pytest.mark.parametrize("racers", [2, 5])
def test_racers_for_one_game_win_each_sequence_once(each_service: Service, racers: int) -> None:
    new_game(each_service.client())
    barrier = Barrier(racers)

    def race(racer: int) -> list[Try]:
        client = each_service.client()
        tries = []
        for sequence in range(ROUNDS):
            # All believe in the same head, and ask at the same time.
            barrier.wait(WAIT_SECONDS)
            try:
                receipt = client.append(Append("game", sequence, (remark(f"{racer}-{sequence}"),)))
                tries.append(Try(receipt.head.sequence, receipt.head.hash.hex()))
            except Conflict as conflict:
                facts = conflict.facts
                refusal = conflict.code, facts["expected"]
                tries.append(Try(int(str(facts["actual"])), str(facts["head_hash"]), refusal))
        return tries

    with ThreadPoolExecutor(racers) as pool:
        results = list(pool.map(race, range(racers)))
    for sequence, tries in enumerate(zip(*results, strict=True)):
        losers = [one.refusal for one in tries if one.refusal is not None]
        assert losers == [(Code.SEQUENCE_MISMATCH, sequence)] * (racers - 1)
        # Whoever lost is told the very head that the winner was given.
        assert {(one.sequence, one.head_hash) for one in tries} == {(sequence + 1, tries[0].head_hash)}
    check_record(each_service.store, "game", ROUNDS + 1)


def test_racers_who_try_again_all_come_in(service: Service) -> None:
    new_game(service.client())

    def persist(racer: int) -> None:
        client = service.client()
        head = 0
        for number in range(ROUNDS):
            while True:
                try:
                    head = client.append(Append("game", head, (remark(f"{racer}-{number}"),))).head.sequence
                    break
                except Conflict as conflict:
                    head = int(str(conflict.facts["actual"]))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(persist, range(4)))
    check_record(service.store, "game", 4 * ROUNDS + 1)


def test_one_request_sent_many_times_at_once_is_recorded_once(service: Service) -> None:
    new_game(service.client())
    append = Append("game", 0, (remark("a"), remark("b")))

    async def send(client: AsyncClient) -> list[bool]:
        receipts = await asyncio.gather(*(client.append(append) for _ in range(CALLERS)))
        assert {(receipt.head, receipt.sequences) for receipt in receipts} == {(receipts[0].head, (1, 2))}
        return [receipt.is_deduplicated for receipt in receipts]

    assert service.asynchronous(send).count(False) == 1
    check_record(service.store, "game", 3)


async def record(client: AsyncClient, game_id: str, bodies: list[Body]) -> None:
    """Record a game as a table does: event by event."""
    started = bodies[0]
    assert isinstance(started, GameStarted)
    recorder = await client.create_game(started, game_id=game_id)
    for sequence, body in enumerate(bodies[1:], start=1):
        receipt = await recorder.append(body)
        assert receipt.head.sequence == sequence


# Room for few of the games that are played, or for all; two events in a commit, or as many as wait.
@pytest.mark.parametrize(
    "settings",
    [Settings(""), Settings("", live_events_max=1), Settings("", live_events_max=60, group_events_max=8)],
    ids=["roomy", "no cache", "narrow"],
)
def test_64_callers_record_64_games_at_once(
    store: LogStore, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_SHRINK_EVERY", 1)
    games = {
        f"game-{seed}-{number}": bodies
        for seed in range(22)
        for number, bodies in enumerate(games_of_all_kinds(seed, events_max=16))
    }
    games = dict(list(games.items())[:CALLERS])
    with Service(store, settings=settings) as service:

        async def record_all(client: AsyncClient) -> None:
            await asyncio.gather(*(record(client, game_id, bodies) for game_id, bodies in games.items()))

        service.asynchronous(record_all)
        client = service.client()
        total = sum(map(len, games.values()))
        check_positions(client, total)
        for game_id, bodies in games.items():
            check_record(service.store, game_id, len(bodies))
            assert client.standing(game_id) == fold_all(bodies).standing()
        assert {entry.game_id for entry in client.games()} == games.keys()
        # Commits were shared, and none was lost.
        assert sum(len(batch.entries) for batches in service.store.commits for batch in batches) == total
        assert len(service.store.commits) < total


def test_a_game_that_was_let_go_is_taken_up_again(store: LogStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_SHRINK_EVERY", 1)
    with Service(store, settings=Settings("", live_events_max=1)) as service:
        client = service.client()
        for number in range(3):
            new_game(client, f"game-{number}")
        for sequence in range(10):
            for number in range(3):
                client.append(Append(f"game-{number}", sequence, (remark(f"r{sequence}"),)))
        # Nothing was found at three beginnings, and each append found another game at hand than its own.
        assert service.store.reading_count == 33
        for number in range(3):
            again = client.append(Append(f"game-{number}", 0, (remark("r0"),)))
            assert (again.is_deduplicated, again.head.sequence) == (True, 1)
            assert client.state(f"game-{number}").standing.sequence == 10
            with pytest.raises(Conflict):
                client.append(Append(f"game-{number}", 3, (remark("late"),)))
            check_record(service.store, f"game-{number}", 11)
