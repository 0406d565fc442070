"""A game that a newer version has gone on with: told apart from damage, still there to be read, and alone in it."""

import grpc
import pytest

from heptalog.replay.errors import Code, Unavailable
from heptalog.service.appends import Append
from heptalog.service.store import LogStore
from heptalog.service.store.memory import MemoryStore
from tests.service.asking import append_message, bodies_in, check_record, refused_append, remark
from tests.support.newer import NEWER, record_newer
from tests.support.serving import Service


@pytest.mark.parametrize("how", NEWER)
def test_a_newer_game_is_answered_as_what_it_is(how: str, store: LogStore) -> None:
    at = record_newer(store, how)
    with Service(store) as service:
        client = service.client(attempts=3)
        head = {entry.game_id: entry.head for entry in client.games()}["game"]
        for ask in (
            lambda: client.game("game"),
            lambda: client.state("game"),
            lambda: client.state("game", sequence=0),
            lambda: list(client.legal("game")),
            lambda: client.append(Append("game", head.sequence, (remark("after"),))),
            lambda: client.append(Append("game", 0, (remark("after"),), is_imported=True)),
        ):
            with pytest.raises(Unavailable) as newer:
                ask()
            assert newer.value.code is Code.RECORD_NEWER
            assert (newer.value.facts["game_id"], newer.value.facts["at_sequence"]) == ("game", at)
        # Nothing has been recorded or refused, and who knows it can read all of it, byte for byte.
        assert list(store.refusals()) == []
        assert [one.record for one in client.read("game")] == [one.record for one in store.read_game("game")]
        assert [one.position for one in client.read()] == list(range(1, store.position() + 1))
        # The other games go on.
        for game_id in ("first", "last"):
            last = client.game(game_id).head.sequence
            client.append(Append(game_id, last, (remark("after"),)))
            check_record(client, game_id, last + 2)
            assert len(bodies_in(client, game_id)) == last + 2


def test_it_is_unimplemented_and_nobody_repeats_the_call() -> None:
    store = MemoryStore()
    record_newer(store, "a kind")
    with Service(store) as service:
        failure = refused_append(service, append_message(Append("game", 1, (remark("a"),))))
        assert (failure.code, failure.reason) == (grpc.StatusCode.UNIMPLEMENTED, "RECORD_NEWER")
        assert "newer version of Heptalog" in failure.text
