"""A disk that is nearly full: what would be recorded is refused, and everything else has its answer."""

import logging
from pathlib import Path

import pytest

from heptalog.replay.errors import Code, Refused, Unavailable
from heptalog.replay.events import Event
from heptalog.replay.sentences import shown_size
from heptalog.service.appends import Append
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.space import Space
from tests.service.asking import FOREIGN, ROCKS, check_record, new_game, remark
from tests.support.serving import WAIT_SECONDS, Service

FREE = Space(total=1_000_000_000, free=900_000_000)
FULL = Space(total=1_000_000_000, free=10_000_000)


class Disk:
    """A disk with as much room as a test says."""

    def __init__(self) -> None:
        self.space = FREE

    def __call__(self, folder: Path) -> Space:
        return self.space


def test_what_needs_no_room_has_its_answer(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    disk = Disk()
    with Service(DuckStore(tmp_path / "log.duckdb", space=disk)) as service:
        client = service.client()
        new_game(client)
        new_game(client, "other")
        receipt = client.append(Append("game", 0, (remark("a"),)))
        disk.space = FULL
        with caplog.at_level(logging.ERROR):
            spoken_for = 0
            for _ in range(3):
                with pytest.raises(Unavailable) as caught:
                    client.append(Append("game", 1, (remark("b"),)))
                assert caught.value.code is Code.DISK_RESERVE
                facts = caught.value.facts
                assert (facts["free"], facts["reserve"]) == (10_000_000, 50_000_000)
                assert isinstance(facts["spoken_for"], int)
                assert 0 < facts["spoken_for"] < 10_000
                spoken_for = facts["spoken_for"]
            with pytest.raises(Unavailable):
                client.create_game(ROCKS, game_id="new")
            with pytest.raises(Refused) as refused:
                client.append(Append("game", 1, (Event(0, FOREIGN),)))
        assert refused.value.code is Code.EVENT_FOREIGN
        sizes = f"free 9.5 MiB, spoken for {shown_size(spoken_for)}, reserve 47.7 MiB"
        assert [record.message for record in caplog.records if "commit failed" in record.message] == [
            f"a commit failed: the disk is nearly full, so nothing more is recorded: {sizes} (api) [DISK_RESERVE]"
        ]
        again = client.append(Append("game", 0, (remark("a"),)))
        assert (again.head, again.is_deduplicated) == (receipt.head, True)
        assert client.standing("game").sequence == 1
        assert [entry.game_id for entry in client.games()] == ["game", "other"]
        check_record(client, "game", 2)
        disk.space = FREE
        client.append(Append("game", 1, (remark("b"),)))
        check_record(client, "game", 3)
        # It was not kept, for there was no room.
        assert list(service.store.refusals()) == []


def test_a_refusal_that_rests_on_what_did_not_come_in_is_none(tmp_path: Path) -> None:
    """In the same commit as an append of the same game, which might have made the move legal or not."""
    disk = Disk()
    with Service(DuckStore(tmp_path / "log.duckdb", space=disk)) as service:
        client = service.client()
        new_game(client)
        new_game(client, "other")
        with service.store.held() as hold:
            running = service.app.writer.submit(Append("game", 0, (remark("a"),)))
            hold.wait_until_reached()
            futures = [
                service.app.writer.submit(Append("game", 1, (remark("b"),))),
                service.app.writer.submit(Append("game", 2, (Event(0, FOREIGN),))),
                service.app.writer.submit(Append("other", 0, (Event(0, FOREIGN),))),
            ]
            with service.store.held() as second:
                hold.release()
                second.wait_until_reached()
                disk.space = FULL
        assert running.result(WAIT_SECONDS).head.sequence == 1
        errors = [future.exception(WAIT_SECONDS) for future in futures]
        assert [error.code for error in errors if isinstance(error, Unavailable | Refused)] == [
            Code.DISK_RESERVE,
            Code.DISK_RESERVE,
            Code.EVENT_FOREIGN,
        ]
