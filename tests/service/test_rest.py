"""Idle moments: the store is told of them, and whatever it makes of them the writer goes on."""

import pytest

from heptalog.replay.errors import Code, Unavailable
from heptalog.service.appends import Append
from heptalog.service.config import Settings
from heptalog.service.store.memory import MemoryStore
from tests.service.asking import new_game, remark
from tests.support.serving import WAIT_SECONDS, Service


class Tired(MemoryStore):
    """A store that finds no rest."""

    def rest(self) -> None:
        raise Unavailable(Code.WRITE_FAILED)


def test_while_nobody_appends_the_store_may_rest() -> None:
    with Service(MemoryStore(), settings=Settings("", rest_seconds=0.01)) as service:
        assert service.store.has_rested.wait(WAIT_SECONDS)
        new_game(service.client())
        service.store.has_rested.clear()
        assert service.store.has_rested.wait(WAIT_SECONDS)


def test_without_an_idle_moment_it_does_not() -> None:
    with Service(MemoryStore(), settings=Settings("", rest_seconds=WAIT_SECONDS)) as service:
        client = service.client()
        new_game(client, remark_count=3)
        assert not service.store.has_rested.is_set()


def test_a_rest_that_fails_is_told_and_the_writer_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    with Service(Tired(), settings=Settings("", rest_seconds=0.001)) as service:
        client = service.client()
        new_game(client)
        for number in range(20):
            client.append(Append("game", number, (remark(f"r{number}"),)))
        assert client.game("game").head.sequence == 20
        assert not service.app.is_broken
    assert all("could not be put in order" in record.message for record in caplog.records)
