"""A bug of ours: it is written into the log of the server, with its traceback, and all else goes on to its end."""

import logging
from typing import Any

import pytest

from heptalog.replay.errors import Code, Unavailable
from heptalog.replay.events import Event
from heptalog.replay.times import SECOND
from heptalog.service.app import App
from heptalog.service.appends import Append
from heptalog.service.config import Settings, Surroundings
from heptalog.service.evidence.keys import Keyring
from heptalog.service.store import NO_GAME
from heptalog.service.store.memory import MemoryStore
from tests.evidence.given import LOG
from tests.service.asking import ROCKS, new_game, remark
from tests.support.serving import WAIT_SECONDS, Service, TriedStore


def bugs_in(caplog: pytest.LogCaptureFixture) -> list[tuple[str, Any]]:
    """What was logged with a traceback: the line, and what was raised."""
    return [(record.message, record.exc_info[0]) for record in caplog.records if record.exc_info]


def test_the_store_is_closed_whatever_met_the_last_signing(caplog: pytest.LogCaptureFixture) -> None:
    is_over = False

    def clock() -> int:
        if is_over:
            raise ZeroDivisionError
        return 1_790_000_000 * SECOND

    store = MemoryStore()
    app = App(store, Settings("", queries_max=0), Surroundings(clock=clock), Keyring((LOG,)))
    app.writer.submit(Append("game", NO_GAME, (Event(0, ROCKS),))).result(WAIT_SECONDS)
    is_over = True
    app.close()
    assert bugs_in(caplog) == [("no last checkpoint was signed", ZeroDivisionError)]
    with pytest.raises(Unavailable):
        store.position()


def test_a_bug_in_the_store_is_logged_as_one(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    failure = Unavailable(Code.WRITE_FAILED)
    service.store.failures += [ZeroDivisionError("the ace of spades"), failure]
    for _ in range(2):
        with pytest.raises(Unavailable) as failed:
            service.client().append(Append("game", NO_GAME, (Event(0, ROCKS),)))
        assert failed.value.code is Code.WRITE_FAILED
    assert bugs_in(caplog) == [("a commit failed", ZeroDivisionError)]
    assert [record.message for record in caplog.records if not record.exc_info] == [f"a commit failed: {failure}"]


class Headless(TriedStore):
    """A store in which a bug is met by whoever asks for a head."""

    is_met = False

    def head(self, game_id: str) -> Any:
        if self.is_met:
            raise ZeroDivisionError
        return super().head(game_id)


def test_a_bug_that_meets_the_receipt_of_a_retry_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    store = Headless(MemoryStore())
    with Service(store) as service, caplog.at_level(logging.ERROR):
        new_game(service.client())
        append = Append("game", 0, (remark("a"),))
        receipt = service.client().append(append)
        store.is_met = True
        with service.client().stream() as stream:
            future = stream.append(append)
            assert future.exception(WAIT_SECONDS) is not None
        assert bugs_in(caplog) == [("an append was not answered", ZeroDivisionError)]
        store.is_met = False
        assert service.client().append(append).head == receipt.head
