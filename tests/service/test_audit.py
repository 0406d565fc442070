"""AuditService: checkpoints, proofs and cosignatures through a real server, with a key and without one."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from threading import Event
from typing import Any, TypeVar

import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from msgspec.structs import replace

from heptalog.replay.codec import hash_in
from heptalog.replay.errors import Code, Corrupt, HeptalogError
from heptalog.replay.evidence.checkpoints import checkpoint_in, open_checkpoint
from heptalog.replay.evidence.merkle import check_consistency, check_inclusion, leaf_hash
from heptalog.replay.evidence.notes import Note, format_note, parse_note
from heptalog.replay.rules import PUBLIC
from heptalog.service import audit
from heptalog.service.appends import Append
from heptalog.service.client import AsyncClient, Checkpoint, Proof
from heptalog.service.config import Settings
from heptalog.service.evidence.keys import Keyring, verify
from heptalog.service.store import LogStore, Stored
from heptalog.service.store.memory import MemoryStore
from heptalog.v1 import audit_pb2
from tests.evidence.given import LOG, NEXT, WITNESS
from tests.service.asking import new_game, remark
from tests.support.serving import WAIT_SECONDS, Service

T = TypeVar("T")
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
# Never within a test, so that it is the test which asks for a checkpoint; the first look finds nothing.
NEVER = Settings("", checkpoint_seconds=3600.0, health_seconds=0.01)


def signing(store: LogStore, settings: Settings = NEVER) -> Service:
    return Service(store, settings=settings, keys=Keyring((LOG,)), witnesses=WITNESS.verifiers)


@pytest.fixture
def signer() -> Iterator[Service]:
    """A server with a key, over memory."""
    with signing(MemoryStore()) as service:
        yield service


def refused(work: Callable[[], object]) -> HeptalogError:
    with pytest.raises(HeptalogError) as caught:
        work()
    return caught.value


def cosigned(checkpoint: Checkpoint) -> str:
    note = parse_note(checkpoint.note)
    return format_note(Note(note.text, (*note.signatures, *WITNESS.sign(note.text, 1_790_000_000))))


def test_every_event_of_a_served_log_is_proved(store: LogStore) -> None:
    with signing(store) as service:
        client = service.client()
        new_game(client, remark_count=20)
        first = client.checkpoint(is_fresh=True)
        new_game(client, "other", remark_count=300)
        last = client.checkpoint(is_fresh=True)
        body, signed = open_checkpoint(last.note, LOG.verifiers, verify)
        assert (first.size, last.size, body.size) == (21, 322, 322)
        assert all(item.time in (None, *range(1_790_000_000, 1_790_001_000)) for item in signed)
        # The server signs by itself too, and may have done so as soon as there was one event.
        assert [each for each in client.checkpoints() if each.size >= first.size] == [first, last]
        assert list(client.checkpoints(after=21)) == [last]
        assert client.checkpoint() == last
        assert client.checkpoint(size=21) == first
        for stored in list(client.read())[::25]:
            proof = client.inclusion_proof(stored.position)
            assert proof == client.inclusion_proof(stored.position, size=322)
            assert proof.checkpoint == last
            leaf = leaf_hash(hash_in(stored.record))
            check_inclusion(leaf, stored.position - 1, proof.size, proof.hashes, body.root)
        before = checkpoint_in(first.note)
        proof = client.consistency_proof(21)
        assert (proof.size, proof.checkpoint) == (322, last)
        check_consistency(21, before.root, 322, body.root, proof.hashes)
        middle = client.consistency_proof(21, second=100)
        assert (middle.size, middle.checkpoint) == (100, None)


def test_what_cannot_be_shown_is_told(signer: Service) -> None:
    client = signer.client()
    for ask in (client.checkpoint, lambda: client.checkpoint(is_fresh=True), lambda: client.inclusion_proof(1)):
        assert refused(ask).code is Code.CHECKPOINT_NOT_FOUND
    new_game(client, remark_count=4)
    client.checkpoint(is_fresh=True)
    assert refused(lambda: client.checkpoint(size=4)).code is Code.CHECKPOINT_NOT_FOUND
    assert refused(lambda: client.checkpoint(size=0)).code is Code.CHECKPOINT_NOT_FOUND
    assert refused(lambda: client.checkpoint(size=5, is_fresh=True)).facts["field"] == "size"
    assert refused(lambda: client.inclusion_proof(0)).facts["field"] == "position"
    assert refused(lambda: client.inclusion_proof(6)).code is Code.POSITION_AFTER_HEAD
    assert refused(lambda: client.inclusion_proof(5, size=4)).code is Code.POSITION_AFTER_HEAD
    assert refused(lambda: client.inclusion_proof(5, size=2**64 - 1)).code is Code.POSITION_AFTER_HEAD
    assert refused(lambda: client.inclusion_proof(2**64 - 1)).code is Code.POSITION_AFTER_HEAD
    assert refused(lambda: client.consistency_proof(6)).code is Code.POSITION_AFTER_HEAD
    assert refused(lambda: client.consistency_proof(3, second=2)).code is Code.POSITION_AFTER_HEAD
    assert list(client.checkpoints(after=2**64 - 1)) == []
    assert client.consistency_proof(5).hashes == ()
    assert client.consistency_proof(0).hashes == ()


def test_without_a_key_nothing_is_signed_and_proofs_are_given(service: Service) -> None:
    client = service.client()
    new_game(client, remark_count=4)
    assert refused(lambda: client.checkpoint(is_fresh=True)).code is Code.KEY_MISSING
    assert refused(client.checkpoint).code is Code.CHECKPOINT_NOT_FOUND
    proof = client.inclusion_proof(3, size=5)
    assert (proof.size, proof.checkpoint) == (5, None)
    check_inclusion(
        leaf_hash(hash_in(list(client.read())[2].record)), 2, 5, proof.hashes, service.store.tree_head().root
    )
    assert not list(service.store.checkpoints())


def test_a_witness_brings_its_signature(signer: Service) -> None:
    client = signer.client()
    new_game(client)
    checkpoint = client.checkpoint(is_fresh=True)
    note = cosigned(checkpoint)
    assert client.cosign(note) == Checkpoint(checkpoint.size, note)
    assert client.cosign(note) == client.checkpoint() == Checkpoint(checkpoint.size, note)
    assert refused(lambda: client.cosign("nonsense")).code is Code.NOTE_INVALID
    other = cosigned(Checkpoint(1, note.replace("season\n1\n", "season\n2\n")))
    assert refused(lambda: client.cosign(other)).code is Code.CHECKPOINT_NOT_FOUND


class Telling(MemoryStore):
    """A store that tells when it keeps a checkpoint."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = Event()

    def keep_checkpoint(self, checkpoint: Checkpoint) -> None:
        super().keep_checkpoint(checkpoint)
        self.kept.set()


def test_what_has_come_is_signed_at_an_interval_and_only_then() -> None:
    store = Telling()
    with signing(store, replace(NEVER, checkpoint_seconds=0.001)) as service:
        client = service.client()
        new_game(client)
        assert store.kept.wait(WAIT_SECONDS)
        store.kept.clear()
        new_game(client, "other")
        assert store.kept.wait(WAIT_SECONDS)
        sizes = [checkpoint.size for checkpoint in client.checkpoints()]
    assert sizes == [1, 2]


def test_a_drain_signs_what_has_come() -> None:
    store = MemoryStore()
    with signing(store) as service:
        new_game(service.client(), remark_count=4)
        service.drain()
        assert list(store._checkpoints) == [5]


def test_a_log_that_changed_under_the_server_is_not_served_as_healthy() -> None:
    store = MemoryStore()
    with signing(store) as service:
        client = service.client()
        new_game(client, remark_count=4)
        stub: Any = health_pb2_grpc.HealthStub(service.channel())
        health = stub.Watch(health_pb2.HealthCheckRequest(service="heptalog.v1.AuditService"))
        assert next(health).status != NOT_SERVING

        def damage(stored: Stored) -> Stored:
            return replace(stored, record=stored.record[:-1] + b"?") if stored.position == 3 else stored

        service.store.damage = damage
        differs = refused(lambda: client.checkpoint(is_fresh=True))
        assert isinstance(differs, Corrupt)
        assert differs.facts["position"] == 3
        assert next(health).status == NOT_SERVING
        health.cancel()
        service.store.damage = None
        assert refused(lambda: client.checkpoint(is_fresh=True)).code is differs.code
        service.drain()
        assert not store._checkpoints


def test_a_key_of_another_log_starts_no_server() -> None:
    store = MemoryStore()
    with signing(store) as service:
        new_game(service.client())
        service.client().checkpoint(is_fresh=True)
        with pytest.raises(HeptalogError) as wrong:
            Service(store, keys=Keyring((NEXT,)))
        assert wrong.value.code is Code.KEY_INVALID


def test_many_checkpoints_come_in_many_messages(signer: Service) -> None:
    client = signer.client()
    new_game(client, remark_count=499)
    note = client.checkpoint(is_fresh=True).note
    tree = signer.store.inner
    assert isinstance(tree, MemoryStore)
    tree._checkpoints.update({size: Checkpoint(size, note) for size in range(1, 500)})
    tree._checkpoints.update({size: Checkpoint(size, "x" * 100_000) for size in range(1, 40)})
    assert [checkpoint.size for checkpoint in client.checkpoints()] == list(range(1, 501))


def test_the_other_client_asks_the_same(signer: Service) -> None:
    client = signer.client()
    new_game(client, remark_count=10)
    note = cosigned(client.checkpoint(is_fresh=True))
    expected = [
        client.cosign(note),
        client.checkpoint(),
        client.checkpoint(size=11),
        client.checkpoint(is_fresh=True),
        list(client.checkpoints()),
        client.inclusion_proof(3),
        client.consistency_proof(4, second=9),
        list(client.bundle("game", viewer=PUBLIC)),
    ]

    async def ask(other: AsyncClient) -> list[object]:
        with pytest.raises(HeptalogError) as missing:
            await listed(other.bundle("none", viewer=PUBLIC))
        assert missing.value.code is Code.GAME_NOT_FOUND
        return [
            await other.cosign(note),
            await other.checkpoint(),
            await other.checkpoint(size=11),
            await other.checkpoint(is_fresh=True),
            await listed(other.checkpoints()),
            await other.inclusion_proof(3),
            await other.consistency_proof(4, second=9),
            await listed(other.bundle("game", viewer=PUBLIC)),
        ]

    assert signer.asynchronous(ask) == expected
    assert isinstance(expected[5], Proof)


def test_who_lists_checkpoints_slowly_holds_no_moment(signer: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each message is read by itself: what is signed meanwhile comes too."""
    monkeypatch.setattr(audit, "_CHECKPOINTS_A_MESSAGE", 1)
    client = signer.client()
    sizes: list[int] = []

    async def slowly() -> None:
        context: Any = None  # asked only where something fails
        app = signer.app
        servicer = audit.AuditServicer(app.store, app.prover, app.readers, app.signing)
        listing = servicer.ListCheckpoints(audit_pb2.ListCheckpointsRequest(), context)
        async for response in listing:
            sizes.extend(checkpoint.size for checkpoint in response.checkpoints)
            if sizes == [1]:
                await asyncio.to_thread(grow)

    def grow() -> None:
        client.append(Append("game", 0, (remark("a"),)))
        client.checkpoint(is_fresh=True)

    new_game(client)
    client.checkpoint(is_fresh=True)
    signer.run(slowly())
    assert sizes == [1, 2]


async def listed(items: AsyncIterator[T]) -> list[T]:
    return [item async for item in items]


def test_a_bundle_comes_out_of_a_server(signer: Service) -> None:
    client = signer.client()
    new_game(client, remark_count=5)
    # Nothing covers the game yet, so a checkpoint is signed for it.
    whole = b"".join(client.bundle("game", viewer=PUBLIC))
    assert whole.count(b"\n") == 7
    assert client.checkpoint().size == 6
    with pytest.raises(HeptalogError) as missing:
        b"".join(client.bundle("none", viewer=PUBLIC))
    assert missing.value.code is Code.GAME_NOT_FOUND
