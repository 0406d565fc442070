"""ExportBundle: one game and its proof, streamed, as a viewer may have it."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest
from msgspec.structs import replace

from heptalog.replay.codec import chained
from heptalog.replay.errors import Code, HeptalogError
from heptalog.replay.events import NoteAdded
from heptalog.replay.evidence.bundles import Examined, events_in, examine, parse_header
from heptalog.replay.evidence.chain import GENESIS
from heptalog.replay.evidence.seals import unsealed
from heptalog.replay.registry import GAMES
from heptalog.replay.rules import ARBITER, PUBLIC, AnyRules, Viewer
from heptalog.service.bundling import bundle_of, latest_covering
from heptalog.service.client import AsyncClient, Client
from heptalog.service.config import MESSAGE_SIZE_MAX
from heptalog.service.evidence.checkpoints import Checkpoints
from heptalog.service.evidence.keys import Keyring, verify
from heptalog.service.evidence.proving import Prover
from heptalog.service.evidence.signing import Signer
from heptalog.service.store import Entry
from heptalog.service.store.memory import MemoryStore
from tests.evidence.given import LOG
from tests.support.play import EACH_GAME
from tests.support.recording import STARTED_AT, batch_of, batches_of, recorded_game
from tests.support.serving import Service

LENGTH: Final = 60


@pytest.fixture
def served() -> Iterator[Service]:
    """A server with a game of each kind, that signs."""
    store = MemoryStore()
    for rules in GAMES:
        store.append(batches_of(recorded_game(rules, 1, event_count_max=LENGTH)))
    with Service(store, keys=Keyring((LOG,))) as service:
        yield service


def examined(data: bytes) -> Examined:
    header, *lines = data.splitlines(keepends=True)
    return examine(parse_header(header), events_in(lines), LOG.verifiers, verify)


@EACH_GAME
def test_both_clients_get_the_same_file(served: Service, rules: AnyRules) -> None:
    for viewer in (PUBLIC, ARBITER, Viewer(1)):
        with Client(served.target) as client:
            data = b"".join(client.bundle(f"{rules.key}-1", viewer=viewer))
        result = examined(data)
        assert result.report.ok
        assert result.signed
        assert (result.bundle.viewer, result.bundle.game_id, result.bundle.events) == (viewer, f"{rules.key}-1", LENGTH)

        async def asked(viewer: Viewer = viewer) -> bytes:
            async with AsyncClient(served.target) as client:
                return b"".join([piece async for piece in client.bundle(f"{rules.key}-1", viewer=viewer)])

        assert asyncio.run(asked()) == data


def test_a_large_game_comes_in_pieces() -> None:
    entries = recorded_game(GAMES[0], 1, event_count_max=5)
    previous = entries[-1].event
    for _ in range(60):
        event = replace(previous, sequence=previous.sequence + 1, event_id=f"note-{previous.sequence}")
        event, record = chained(replace(event, body=NoteAdded("x" * 100_000)), previous.hash)
        entries.append(Entry(record, event))
        previous = event
    store = MemoryStore()
    store.append([batch_of(entries)])
    with Service(store, keys=Keyring((LOG,))) as service, Client(service.target) as client:
        pieces = list(client.bundle("seven_rocks-1", viewer=PUBLIC))
    assert len(pieces) > 3
    assert max(map(len, pieces)) < MESSAGE_SIZE_MAX
    assert examined(b"".join(pieces)).report.ok


def code_of(work: Callable[[], Any]) -> Code:
    with pytest.raises(HeptalogError) as caught:
        work()
    return caught.value.code


def test_what_cannot_be_given_is_told(served: Service) -> None:
    with Client(served.target) as client:
        assert code_of(lambda: list(client.bundle("nothing", viewer=PUBLIC))) is Code.GAME_NOT_FOUND
        assert code_of(lambda: list(client.bundle("seven_rocks-1", viewer=Viewer(4)))) is Code.SEAT_UNKNOWN


def test_without_a_key_what_was_signed_before_still_proves_a_game() -> None:
    store = MemoryStore()
    store.append(batches_of(recorded_game(GAMES[0], 1, event_count_max=9)))
    size = Signer(store, Checkpoints(store), Keyring((LOG,)), lambda: STARTED_AT).checkpoint().size
    store.append(batches_of(recorded_game(GAMES[0], 2, event_count_max=9)))
    with Service(store) as service, Client(service.target) as client:
        assert examined(b"".join(client.bundle("seven_rocks-1", viewer=PUBLIC))).log.size == size
        assert code_of(lambda: list(client.bundle("seven_rocks-2", viewer=PUBLIC))) is Code.KEY_MISSING


def test_a_game_that_was_recorded_without_seals_is_for_the_arbiter_only() -> None:
    previous = GENESIS
    entries = []
    for entry in recorded_game(GAMES[0], 1, event_count_max=5):
        event, record = chained(replace(entry.event, body=unsealed(entry.event.body)), previous)
        entries.append(Entry(record, event))
        previous = event.hash
    store = MemoryStore()
    store.append([batch_of(entries)])
    with Service(store, keys=Keyring((LOG,))) as service, Client(service.target) as client:
        assert examined(b"".join(client.bundle("seven_rocks-1", viewer=ARBITER))).report.ok
        assert code_of(lambda: list(client.bundle("seven_rocks-1", viewer=PUBLIC))) is Code.SEAL_MISSING


def test_events_that_the_tree_has_not_taken_in_yet_are_not_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a moment after a commit they can be read already."""
    store = MemoryStore()
    batches = batches_of(recorded_game(GAMES[0], 1, event_count_max=LENGTH), LENGTH // 2)
    store.append(batches[:1])
    before = store.tree_head()
    store.append(batches[1:])
    monkeypatch.setattr(store, "tree_head", lambda: before)
    checkpoints = Checkpoints(store)
    signer = Signer(store, checkpoints, Keyring((LOG,)), lambda: STARTED_AT)
    covering = latest_covering(Prover(store, checkpoints, signer))
    result = examined(b"".join(bundle_of(store, batches[0].game_id, ARBITER, covering)))
    assert (result.bundle.events, result.position, result.log.size) == (LENGTH // 2,) * 3
