"""What tests of bundles start with: logs of a few games, bundles out of them, and who examines one."""

import json
from collections.abc import Callable, Sequence
from functools import cache
from io import BytesIO
from random import Random
from typing import Any, Final

from heptalog.replay.errors import HeptalogError
from heptalog.replay.evidence.bundles import Examined, events_in, examine, parse_header
from heptalog.replay.evidence.notes import VerifierKey
from heptalog.replay.evidence.reveals import Reveal, Revealing
from heptalog.replay.registry import REGISTRY
from heptalog.replay.rules import PUBLIC, AnyRules
from heptalog.replay.times import SECOND
from heptalog.service.bundling import Covering, bundle_of, latest_covering
from heptalog.service.evidence.checkpoints import Checkpoints
from heptalog.service.evidence.keys import Keyring
from heptalog.service.evidence.keys import verify as verify_signature
from heptalog.service.evidence.proving import Prover
from heptalog.service.evidence.signing import Signer
from heptalog.service.store import LogStore
from heptalog.service.store.memory import MemoryStore
from tests.evidence.given import LOG, SECONDS, WITNESS
from tests.support.recording import batches_of, recorded_game

GAMES_EACH: Final = 2
BRIDGE: Final = REGISTRY["seven_bridge", 1]
ROCKS: Final = REGISTRY["seven_rocks", 1]


def store_with(*rules: AnyRules, length: int = 2_000, ruling_rate: float = 0.0) -> MemoryStore:
    """A log of a few games, their events mixed."""
    store = MemoryStore()
    batches = [
        batch
        for each in rules
        for seed in range(GAMES_EACH)
        for batch in batches_of(recorded_game(each, seed, event_count_max=length, ruling_rate=ruling_rate), size=7)
    ]
    Random(1).shuffle(batches)
    waiting = sorted(batches, key=lambda batch: batch.entries[0].event.sequence)
    store.append(waiting)
    return store


def prover(store: LogStore) -> Prover:
    """Who signs and proves for this store, with the key of the log."""
    checkpoints = Checkpoints(store, WITNESS.verifiers)
    return Prover(store, checkpoints, Signer(store, checkpoints, Keyring((LOG,)), lambda: SECONDS * SECOND))


def covering(store: LogStore) -> Covering:
    """The latest checkpoint of this store, or a fresh one."""
    return latest_covering(prover(store))


def examined(
    data: bytes, *keys: VerifierKey, reveals: Sequence[Reveal] = (), revealing: Revealing | None = None
) -> Examined:
    """A bundle as somebody examines it who has these keys, by default that of the log."""
    header, *lines = BytesIO(data).readlines() or [b""]
    revealing = revealing or Revealing(reveals)
    return examine(parse_header(header), revealing.passing(events_in(lines)), keys or LOG.verifiers, verify_signature)


def good(result: Examined) -> bool:
    """Whether a bundle is proved."""
    return result.report.ok and bool(result.signed)


def failure(data: bytes, *keys: VerifierKey) -> HeptalogError:
    """Why a bundle is not good."""
    try:
        report = examined(data, *keys).report
    except HeptalogError as error:
        return error
    assert report.error is not None
    return report.error


def line_of(data: bytes, change: Callable[[dict[str, Any]], Any]) -> bytes:
    """A bundle with something changed in its first line."""
    header, _, rest = data.partition(b"\n")
    tree = json.loads(header)
    change(tree)
    return json.dumps(tree, separators=(",", ":"), ensure_ascii=False).encode() + b"\n" + rest


def with_proof(data: bytes, proof: str) -> bytes:
    """A bundle with another proof."""
    return line_of(data, lambda tree: tree.update(proof=proof))


@cache
def small() -> bytes:
    """A small bundle: the beginning of a game of dominoes, for everybody, in a log of two games."""
    store = MemoryStore()
    for seed in range(2):
        store.append(batches_of(recorded_game(ROCKS, seed, event_count_max=4)))
    return b"".join(bundle_of(store, "seven_rocks-1", PUBLIC, covering(store)))
