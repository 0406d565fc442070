"""The head record beside a database: when it is written, and what a database is refused for."""

import gzip
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from heptalog.replay.errors import Code, HeptalogError, Unavailable
from heptalog.replay.evidence.merkle import EMPTY_ROOT
from heptalog.service.store import Entry, TreeHead, duck_evidence, heads, migrate
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.duck_tables import EVENTS
from heptalog.service.store.heads import FILE_SIZE, SLOT_SIZE, head_path, make_head, read_head
from heptalog.service.store.opening import checkpoint_path
from tests.contract.given import appended, as_stored, begin, checkpoint_of, fill, game, refusals, writer_of
from tests.support.recording import batch_of

OLDER = Path(__file__).parents[1] / "golden/logs/0001"
TIME = 1_790_000_000_123_456_789
DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda head: head.write_bytes(b""),
    "cut": lambda head: os.truncate(head, SLOT_SIZE - 1),
    "longer": lambda head: head.write_bytes(head.read_bytes() + b"\n"),
    "a newer form": lambda head: head.write_bytes(head.read_bytes().replace(b"head 1", b"head 2")),
    "something else": lambda head: head.write_bytes(bytes(FILE_SIZE)),
}


@pytest.mark.parametrize("is_read_only", [False, True])
@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_record_is_refused(path: Path, name: str, *, is_read_only: bool) -> None:
    _made(path)
    DAMAGES[name](head_path(path))
    code, facts = _refused(path, is_read_only=is_read_only)
    assert (code, facts["path"]) == (Code.HEAD_MISSING, str(head_path(path)))
    assert "heptalog doctor" in str(facts["problem"])


def test_a_missing_record_is_refused_for_writing_only(path: Path) -> None:
    """A copy of the file alone can still be read."""
    written = _made(path)
    head_path(path).unlink()
    assert _refused(path)[0] is Code.HEAD_MISSING
    store = DuckStore(path, is_read_only=True)
    assert list(store.read_all()) == as_stored(written)
    assert store.tree_head().size == len(written)
    store.close()
    assert not head_path(path).exists()


def test_an_empty_database_gets_its_record(path: Path) -> None:
    DuckStore(path).close()
    head_path(path).unlink()
    DuckStore(path).close()
    assert _head(path) == TreeHead(0, EMPTY_ROOT)
    path.unlink()
    DuckStore(path).close()
    assert _head(path) == TreeHead(0, EMPTY_ROOT)


@pytest.mark.parametrize("is_read_only", [False, True])
@pytest.mark.parametrize("name", ["head", "checkpoint"])
def test_a_database_that_is_gone_is_not_made_anew(path: Path, name: str, *, is_read_only: bool) -> None:
    _made(path, with_checkpoint=True)
    for file in path.parent.iterdir():
        if not file.name.endswith(name):
            file.unlink()
    code, facts = _refused(path, is_read_only=is_read_only)
    assert (code, facts["first"], facts["last"]) == (Code.EVENTS_LOST, 1, 24)
    assert not path.exists()


def test_it_is_on_disk_before_the_answer_and_after_the_commit(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = DuckStore(path, clock=lambda: TIME)
    done: list[str] = []
    writer = writer_of(store).connection

    class Told:
        def execute(self, statement: str, parameters: object = None) -> object:
            result = writer.execute(statement, parameters)
            done.append(statement.split()[0])
            return result

        def __getattr__(self, name: str) -> object:
            return getattr(writer, name)

    sync = heads._sync

    def told_sync(descriptor: int) -> None:
        sync(descriptor)
        done.append("sync")

    monkeypatch.setattr(heads, "_sync", told_sync)
    monkeypatch.setattr(writer_of(store), "connection", Told())
    appended(store, batch_of(game(1)[:4]))
    assert done == ["BEGIN", "EXECUTE", "EXECUTE", "COMMIT", "sync"]
    assert _head(path) == store.tree_head()
    record = read_head(head_path(path))
    assert record is not None
    assert record.time == "2026-09-21T14:13:20.123456789Z"
    done.clear()
    appended(store, batch_of(game(1)[4:5]))
    assert done == ["EXECUTE", "sync"]
    done.clear()
    store.append([], refusals(1))
    assert done == ["EXECUTE"]
    store.close()


def test_where_it_cannot_be_written_nothing_more_is_acknowledged(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = DuckStore(path)
    appended(store, batch_of(game(1)[:4]))

    def fail(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(heads, "_sync", fail)
        with pytest.raises(Unavailable) as caught:
            store.append([begin(2)])
    assert caught.value.code is Code.WRITE_FAILED
    assert caught.value.facts == {"path": str(head_path(path)), "problem": "Input/output error"}
    assert store.is_broken
    with pytest.raises(Unavailable):
        store.append([begin(3)])
    store.close()
    # It was durable, and is found again.
    store = DuckStore(path)
    assert list(store.read_all()) == as_stored([*game(1)[:4], game(2)[0]])
    assert _head(path) == store.tree_head()
    store.close()


def test_another_log_of_the_same_length_is_told_apart(path: Path, tmp_path: Path) -> None:
    written = _made(path, with_checkpoint=True)
    other = tmp_path / "other" / path.name
    other.parent.mkdir()
    store = DuckStore(other)
    fill(store, [game(3), game(4)])
    store.close()
    shutil.copy(other, path)
    for is_read_only in (False, True):
        code, facts = _refused(path, is_read_only=is_read_only)
        assert (code, facts["size"], facts["path"]) == (Code.HEAD_DIFFERS, len(written), str(head_path(path)))
    shutil.copy(head_path(other), head_path(path))
    for is_read_only in (False, True):
        assert _refused(path, is_read_only=is_read_only)[0] is Code.CHECKPOINT_DIFFERS


def test_a_longer_log_that_began_otherwise_is_told_apart(path: Path, tmp_path: Path) -> None:
    _made(path)
    other = tmp_path / "other" / path.name
    other.parent.mkdir()
    store = DuckStore(other)
    fill(store, [game(number, length=100) for number in range(9)])
    store.close()
    shutil.copy(other, path)
    assert _refused(path)[0] is Code.HEAD_DIFFERS


def test_a_changed_hash_among_the_last_events_is_told(path: Path) -> None:
    _made(path)
    with duckdb.connect() as connection:
        connection.execute("ATTACH ? AS ours", [str(path)])
        connection.execute(
            "UPDATE ours.log.events SET event = (SELECT event FROM ours.log.events WHERE position = 5)"
            " WHERE position = 4"
        )
    assert _refused(path)[0] is Code.HEAD_DIFFERS
    # It can still be looked at.
    store = DuckStore(path, is_read_only=True, is_checked=False)
    assert [stored.position for stored in store.read_all()] == list(range(1, 25))
    assert store.tree_head() != _head(path)
    store.close()


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"seven\n1\nAAAA\n\n\xe2\x80\x94 seven AAAA\n", b"x" * 2**21])
def test_a_damaged_checkpoint_is_refused(path: Path, content: bytes) -> None:
    _made(path, with_checkpoint=True)
    beside = path.with_name(path.name + ".checkpoint")
    beside.write_bytes(content)
    for is_read_only in (False, True):
        code, facts = _refused(path, is_read_only=is_read_only)
        assert (code, facts["path"]) == (Code.CHECKPOINT_DIFFERS, str(beside))


def test_the_checkpoint_beside_it_is_the_longest(path: Path) -> None:
    store = DuckStore(path)
    fill(store, [game(1)])
    first = checkpoint_of(12, store.tree_head().root)
    fill(store, [game(2)])
    second = checkpoint_of(24, store.tree_head().root)
    beside = path.with_name(path.name + ".checkpoint")
    for checkpoint, right in ((first, first), (second, second), (first, second)):
        store.keep_checkpoint(checkpoint)
        assert beside.read_text() == right.note
    signed_again = checkpoint_of(24, store.tree_head().root, name="another")
    store.keep_checkpoint(signed_again)
    assert beside.read_text() == signed_again.note
    store.close()
    store = DuckStore(path)
    store.keep_checkpoint(first)
    assert beside.read_text() == signed_again.note
    store.close()


def _fail(path: Path, content: bytes) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("chance", ["an append", "an idle moment", "another of less", "the next opening"])
def test_a_checkpoint_that_could_not_be_put_beside_it_is_put_there_later(
    path: Path, monkeypatch: pytest.MonkeyPatch, chance: str
) -> None:
    store = DuckStore(path)
    fill(store, [game(1)])
    smaller = checkpoint_of(12, store.tree_head().root)
    fill(store, [game(2)])
    checkpoint = checkpoint_of(24, store.tree_head().root)
    beside = checkpoint_path(path)
    with monkeypatch.context() as patch:
        patch.setattr(duck_evidence, "replace_file", _fail)
        with pytest.raises(Unavailable) as caught:
            store.keep_checkpoint(checkpoint)
        assert (caught.value.code, caught.value.facts["path"]) == (Code.WRITE_FAILED, str(beside))
        # It is kept all the same, and nothing else waits for the file.
        assert list(store.checkpoints()) == [checkpoint]
        appended(store, begin(3))
        store.rest()
        assert not store.is_broken
        assert not beside.exists()
        if chance == "the next opening":
            store.close()
            DuckStore(path).close()
            assert not beside.exists()
    match chance:
        case "an append":
            appended(store, begin(4))
        case "an idle moment":
            store.rest()
        case "another of less":
            store.keep_checkpoint(smaller)
        case _:
            DuckStore(path, is_read_only=True).close()
            assert not beside.exists()
            store = DuckStore(path)
    assert beside.read_text() == checkpoint.note
    store.close()


def test_a_kept_checkpoint_that_does_not_hold_is_not_put_beside_it(path: Path) -> None:
    """Nobody could open the log again."""
    written = _made(path, with_checkpoint=True)
    checkpoint_path(path).unlink()
    other = checkpoint_of(len(written), bytes(32))
    with duckdb.connect() as connection:
        connection.execute("ATTACH ? AS ours", [str(path)])
        connection.execute("UPDATE ours.log.checkpoints SET note = ?", [other.note])
    for _ in range(2):
        DuckStore(path).close()
        assert not checkpoint_path(path).exists()
    with duckdb.connect() as connection:
        connection.execute("ATTACH ? AS ours", [str(path)])
        connection.execute("UPDATE ours.log.checkpoints SET note = 'x'")
    DuckStore(path).close()
    assert not checkpoint_path(path).exists()


def test_a_second_process_touches_nothing(path: Path) -> None:
    store = DuckStore(path)
    appended(store, begin(1))
    before = head_path(path).stat()
    for is_read_only in (False, True):
        assert _failure(path, is_read_only=is_read_only)[0] is Code.DATABASE_LOCKED
    after = head_path(path).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    appended(store, begin(2))
    assert _head(path) == store.tree_head()
    store.close()


def test_a_log_of_the_first_schema_gets_its_record_before_it_is_changed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for suffix in ("", ".wal"):
        content = gzip.decompress((OLDER / f"log.duckdb{suffix}.gz").read_bytes())
        path.with_name(path.name + suffix).write_bytes(content)
    make_head(head_path(path), TreeHead(447, bytes(32)), TIME)
    code, facts = _refused(path)
    assert (code, facts["first"], facts["last"]) == (Code.EVENTS_LOST, 447, 447)
    head_path(path).unlink()

    def killed(connection: object, steps: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(migrate, "migrate", killed)
        with pytest.raises(KeyboardInterrupt):
            DuckStore(path)
    made = _head(path)
    assert made is not None
    assert made.size == 446
    store = DuckStore(path)
    assert store.tree_head() == made
    store.close()


def test_a_store_that_believed_less_than_the_disk_has_puts_it_on_record(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = DuckStore(path)
    appended(store, begin(1))
    writer = writer_of(store).connection

    class Deaf:
        def execute(self, statement: str, parameters: object = None) -> object:
            result = writer.execute(statement, parameters)
            if statement == EVENTS.execute:
                raise duckdb.IOException("the answer is lost")
            return result

        def __getattr__(self, name: str) -> object:
            return getattr(writer, name)

    with monkeypatch.context() as patch:
        patch.setattr(writer_of(store), "connection", Deaf())
        with pytest.raises(Unavailable):
            store.append([batch_of(game(1)[1:4])])
        assert store.tree_head().size == 4
        assert _head(path) == store.tree_head()
    appended(store, batch_of(game(1)[4:6]))
    assert _head(path) == store.tree_head()
    store.close()
    DuckStore(path).close()


def _made(path: Path, *, with_checkpoint: bool = False) -> list[Entry]:
    store = DuckStore(path)
    written = fill(store, [game(1), game(2)])
    if with_checkpoint:
        store.keep_checkpoint(checkpoint_of(len(written), store.tree_head().root))
    store.close()
    return written


def _head(path: Path) -> TreeHead | None:
    record = read_head(head_path(path))
    return None if record is None else record.tree


def _failure(path: Path, *, is_read_only: bool = False) -> tuple[Code, dict[str, object]]:
    with pytest.raises(HeptalogError) as caught:
        DuckStore(path, is_read_only=is_read_only)
    return caught.value.code, caught.value.facts


def _refused(path: Path, *, is_read_only: bool = False) -> tuple[Code, dict[str, object]]:
    """What is said of it; and nothing is changed by saying it."""
    before = _files(path)
    found = _failure(path, is_read_only=is_read_only)
    assert _files(path) == before
    return found


def _files(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.parent.iterdir() if file.is_file()}
