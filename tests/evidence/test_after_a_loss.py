"""After a loss that somebody accepted: what was signed over it is void, and the log signs on under another name."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from heptalog.replay.errors import Code, Corrupt, Malformed
from heptalog.replay.evidence.checkpoints import checkpoint_in, open_checkpoint
from heptalog.service.evidence.checkpoints import Checkpoints
from heptalog.service.evidence.keys import Keyring, SigningKey, verify
from heptalog.service.evidence.signing import Signer
from heptalog.service.store.diagnosis import accept, diagnosed
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.heads import head_path
from tests.contract.given import appended, begin, fill, game
from tests.evidence.given import LOG, OTHER, SECONDS


@pytest.fixture
def log(tmp_path: Path) -> Iterator[DuckStore]:
    """A log that was signed after 12 events, and after 24 of which it lost the last 12; somebody has accepted that."""
    folder = tmp_path / "log"
    folder.mkdir()
    path = folder / "games.duckdb"
    store = DuckStore(path)
    fill(store, [game(1)])
    sign(store, LOG)
    store.close()
    shutil.copy(path, tmp_path / "older.duckdb")
    store = DuckStore(path)
    fill(store, [game(2)])
    sign(store, LOG)
    store.close()
    shutil.copy(tmp_path / "older.duckdb", path)
    with pytest.raises(Corrupt) as lost:
        DuckStore(path)
    assert (lost.value.code, lost.value.facts["first"], lost.value.facts["last"]) == (Code.EVENTS_LOST, 13, 24)
    accept(path, diagnosed(path), lambda: SECONDS * 1_000_000_000)
    store = DuckStore(path)
    yield store
    store.close()


def sign(store: DuckStore, key: SigningKey) -> int:
    """Sign a checkpoint; its size."""
    signer = Signer(store, Checkpoints(store), Keyring((key,)), lambda: SECONDS * 1_000_000_000)
    return signer.checkpoint().size


def test_the_old_name_signs_no_more(log: DuckStore) -> None:
    assert log.void_names() == {LOG.name}
    with pytest.raises(Malformed) as refused:
        sign(log, LOG)
    assert refused.value.code is Code.KEY_INVALID


def test_the_log_signs_on_under_another_name(log: DuckStore) -> None:
    assert [checkpoint.size for checkpoint in log.checkpoints()] == [12]
    assert sign(log, OTHER) == 12
    appended(log, begin(9))
    assert sign(log, OTHER) == 13
    # Past the size of what was lost: the void checkpoint does not come back.
    fill(log, [game(3), game(4)])
    assert sign(log, OTHER) == 37
    notes = [checkpoint.note for checkpoint in log.checkpoints()]
    assert [(checkpoint_in(note).origin, checkpoint_in(note).size) for note in notes] == [
        (OTHER.name, size) for size in (12, 13, 37)
    ]
    for note in notes:
        open_checkpoint(note, OTHER.verifiers, verify)


def test_changed_events_void_only_what_was_signed_over_them(log: DuckStore, tmp_path: Path) -> None:
    sign(log, OTHER)
    appended(log, begin(9))
    sign(log, OTHER)
    path = log.path
    log.close()
    # Another log from the 13th event on, which is as long.
    shutil.copy(tmp_path / "older.duckdb", path)
    for beside in path.parent.glob("games.duckdb.*"):
        beside.rename(tmp_path / beside.name)
    accept(path, diagnosed(path), lambda: SECONDS * 1_000_000_000)
    store = DuckStore(path)
    appended(store, begin(8))
    store.close()
    for name in ("head", "checkpoint"):
        shutil.copy(tmp_path / f"games.duckdb.{name}", path.parent)
    with pytest.raises(Corrupt) as other:
        DuckStore(path)
    assert other.value.code is Code.HEAD_DIFFERS
    accept(path, diagnosed(path), lambda: SECONDS * 1_000_000_000)
    store = DuckStore(path)
    assert store.void_names() == {OTHER.name}
    assert [checkpoint.size for checkpoint in store.checkpoints()] == [12]
    store.close()


def test_a_checkpoint_that_outlived_its_events_is_void(tmp_path: Path) -> None:
    path = _without_the_last_game(tmp_path)
    store = DuckStore(path)
    assert store.void_names() == {LOG.name}
    assert [checkpoint.size for checkpoint in store.checkpoints()] == [12]
    assert sign(store, OTHER) == 12
    store.close()


def test_a_second_acceptance_voids_nothing_that_holds(tmp_path: Path) -> None:
    path = _without_the_last_game(tmp_path)
    store = DuckStore(path)
    fill(store, [game(3), game(4)])
    sign(store, OTHER)
    store.close()
    head_path(path).unlink()
    accept(path, diagnosed(path), lambda: SECONDS * 1_000_000_000)
    store = DuckStore(path)
    assert store.void_names() == {LOG.name}
    assert [checkpoint.size for checkpoint in store.checkpoints()] == [12, 36]
    store.close()


def test_a_changed_event_voids_only_the_checkpoints_over_it(tmp_path: Path) -> None:
    path = _signed_after_each_of_two_games(tmp_path)
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "UPDATE log.events SET event = event[:36] || repeat('\\xAA'::BLOB, 32) || event[69:] WHERE position = 20"
        )
    accept(path, diagnosed(path), lambda: SECONDS * 1_000_000_000)
    store = DuckStore(path)
    assert [checkpoint.size for checkpoint in store.checkpoints()] == [12]
    store.close()


def _without_the_last_game(folder: Path) -> Path:
    """A log that has lost its last 12 events, but not the checkpoint over them; somebody has accepted that."""
    path = _signed_after_each_of_two_games(folder)
    with duckdb.connect(str(path)) as connection:
        for table in ("events", "games"):
            connection.execute(f"DELETE FROM log.{table} WHERE game_number = 2")
    accept(path, diagnosed(path), lambda: SECONDS * 1_000_000_000)
    return path


def _signed_after_each_of_two_games(folder: Path) -> Path:
    path = folder / "games.duckdb"
    store = DuckStore(path)
    for number in (1, 2):
        fill(store, [game(number)])
        sign(store, LOG)
    store.close()
    return path
