"""Restoring: the same log to the last byte, which goes on; and nothing at all out of a damaged backup."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest
from msgspec.structs import replace

from heptalog.replay.errors import Code, Corrupt, NotFound, Unavailable
from heptalog.replay.events import CardPlayed, Event
from heptalog.replay.evidence.texts import to_base64
from heptalog.service.appends import Append
from heptalog.service.backup import manifest, restoring
from heptalog.service.backup.restoring import BadGame, Restored, check, in_the_way, restore
from heptalog.service.store import NO_GAME, LogStore, memory
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.memory import MemoryStore
from heptalog.service.store.opening import checkpoint_path
from tests.cli.running import run
from tests.contract.given import appended, begin
from tests.service.asking import ROCKS, remark
from tests.service.backing import KEY, MADE_AT, OTHER_KEY, all_of, back_up, checkpoint, failure, files_of, grow, rows_of
from tests.support.recording import batch_of, entries_of
from tests.support.serving import Service


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a backup goes."""
    return tmp_path / "backup"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Where a log is restored."""
    return tmp_path / "restored" / "log.duckdb"


def restored(folder: Path, database: Path, *, to_position: int | None = None) -> Restored:
    """Restore a backup."""
    database.parent.mkdir(exist_ok=True)
    return restore(folder, database, keys=KEY.verifiers, clock=lambda: MADE_AT, to_position=to_position)


def test_a_restored_log_is_the_same_to_the_last_byte(store: LogStore, folder: Path, database: Path) -> None:
    with closing(store):
        for seed in range(3):
            grow(store, seed, length=300)
            back_up(store, folder)
        expected = all_of(store)
        result = restored(folder, database)
    assert (result.events, result.games) == (len(expected["records"]), len(expected["games"]))
    assert (result.refusals, result.checkpoints, result.signed_by) == (9, 3, (KEY.name,))
    assert result.bad_games == ()
    assert any(expected["endings"].values()), "some games have ended"
    assert {path.name for path in database.parent.iterdir()} == {
        f"log.duckdb{ending}" for ending in ("", ".head", ".checkpoint")
    }
    with closing(DuckStore(database)) as again:
        assert all_of(again) == expected
    assert run("verify", database).code == 0
    if isinstance(store, DuckStore):
        assert rows_of(database) == rows_of(store.path)


@pytest.mark.usefixtures("small_parts")
def test_it_is_the_same_in_pieces_of_any_size(folder: Path, database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("EVENTS_AT_ONCE", "GAMES_AT_ONCE", "ROWS_AT_ONCE"):
        monkeypatch.setattr(restoring, name, 2)
    store = MemoryStore()
    for seed in range(2):
        grow(store, seed)
        back_up(store, folder)
    restored(folder, database)
    with closing(DuckStore(database, is_read_only=True)) as again:
        assert all_of(again) == all_of(store)


def test_an_empty_log_is_restored_too(folder: Path, database: Path) -> None:
    back_up(MemoryStore(), folder)
    assert restored(folder, database).events == 0
    with closing(DuckStore(database)) as store:
        appended(store, begin(1))


def test_a_restored_log_goes_on_and_knows_what_was_sent_before(folder: Path, database: Path) -> None:
    first = Append("game", NO_GAME, (Event(0, ROCKS, event_id="start"), remark("a")))
    with Service(MemoryStore()) as service:
        receipt = service.client().append(first)
        back_up(service.store, folder, keys=())
    restored(folder, database)
    with Service(DuckStore(database)) as service:
        client = service.client()
        again = client.append(first)
        assert again.is_deduplicated
        assert (again.head, again.sequences) == (receipt.head, receipt.sequences)
        assert client.append(Append("game", 1, (remark("b"),))).head.position == 3
        # And its backup goes on where the other one was.
        assert back_up(service.store, folder, keys=()).new_events == 1


def test_a_log_is_restored_up_to_a_position(folder: Path, database: Path) -> None:
    store = MemoryStore()
    grow(store, 0)
    size = store.position()
    grow(store, 1)
    back_up(store, folder)
    assert (restored(folder, database, to_position=size + 5).events, check(folder).events) == (
        size + 5,
        store.position(),
    )
    with closing(DuckStore(database)) as again:
        assert list(again.read_all()) == list(store.read_all(limit=size + 5))
        assert [one.size for one in again.checkpoints()] == [size]
    beyond = failure(lambda: restored(folder, database.with_name("other"), to_position=store.position() + 1))
    assert isinstance(beyond, NotFound)
    assert beyond.code is Code.POSITION_AFTER_HEAD


@pytest.mark.parametrize("ending", ["", ".wal", ".head", ".checkpoint"])
def test_nothing_that_is_there_is_touched(folder: Path, database: Path, ending: str) -> None:
    store = MemoryStore()
    grow(store)
    back_up(store, folder)
    database.parent.mkdir()
    there = database.with_name(database.name + ending)
    there.write_bytes(b"something else")
    assert in_the_way(database) == there
    if ending != ".wal":
        # Whoever looks may look too early, so it is not by looking that it is kept.
        assert isinstance(failure(lambda: restored(folder, database)), Unavailable)
    assert files_of(database.parent) == {there.name: b"something else"}


def damages(path: Path) -> list[tuple[str, Callable[[], object]]]:
    """Ways to damage a file."""
    content = path.read_bytes()
    random = Random(path.name)
    places = sorted({0, len(content) - 1, *random.sample(range(len(content)), min(40, len(content)))})

    def flip(place: int) -> Callable[[], object]:
        return lambda: path.write_bytes(
            content[:place] + bytes([content[place] ^ (1 << place % 8)]) + content[place + 1 :]
        )

    return [
        *((f"{path.name}: byte {place}", flip(place)) for place in places),
        (f"{path.name}: cut off", lambda: path.write_bytes(content[:-1])),
        (f"{path.name}: half", lambda: path.write_bytes(content[: len(content) // 2])),
        (f"{path.name}: longer", lambda: path.write_bytes(content + b"\0")),
        (f"{path.name}: empty", lambda: path.write_bytes(b"")),
        (f"{path.name}: gone", path.unlink),
    ]


def test_whatever_is_damaged_in_a_backup_is_found(folder: Path, database: Path) -> None:
    store = MemoryStore()
    for seed in range(2):
        grow(store, seed)
        back_up(store, folder)
    count = 0
    for path in sorted(folder.iterdir()):
        content = path.read_bytes()
        for name, damage in damages(path):
            damage()
            error = failure(lambda: check(folder))
            # Only of a manifest that is gone is nothing known, and one of another version is not for us.
            codes = {Code.BACKUP_DAMAGED, Code.SOURCE_NOT_FOUND, Code.RECORD_NEWER}
            assert error.code in (codes if path.name == manifest.NAME else {Code.BACKUP_DAMAGED}), name
            path.write_bytes(content)
            count += 1
    assert count > 200
    next(path for path in folder.iterdir() if "events" in path.name).unlink()
    assert failure(lambda: restored(folder, database)).code is Code.BACKUP_DAMAGED
    assert list(database.parent.iterdir()) == []


def rewritten(folder: Path, **values: object) -> None:
    """The manifest with something else in it, and a checksum that fits."""
    found = manifest.read(folder)
    assert found is not None
    manifest.write(folder, replace(found[0], **values), found[1])


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"version": 2}, Code.RECORD_NEWER),
        ({"version": 0}, Code.BACKUP_DAMAGED),
        ({"format": "other"}, Code.BACKUP_DAMAGED),
        ({"size": 3}, Code.BACKUP_DAMAGED),
        ({"root": "00" * 32}, Code.BACKUP_DAMAGED),
        ({"refusals": 2}, Code.BACKUP_DAMAGED),
        ({"checkpoints": 0}, Code.BACKUP_DAMAGED),
    ],
)
def test_a_manifest_that_says_something_else_is_found(folder: Path, values: dict[str, object], code: Code) -> None:
    store = MemoryStore()
    grow(store)
    back_up(store, folder)
    rewritten(folder, **values)
    assert failure(lambda: check(folder)).code is code


def test_a_folder_without_a_backup_is_told(tmp_path: Path) -> None:
    assert failure(lambda: check(tmp_path)).code is Code.SOURCE_NOT_FOUND
    assert failure(lambda: check(tmp_path / "nothing")).code is Code.SOURCE_NOT_FOUND


def test_a_backup_that_somebody_made_anew_is_found_by_the_key(folder: Path, database: Path) -> None:
    """Whoever can write can make all hashes fit; only the signature cannot be made."""
    forged = MemoryStore()
    grow(forged)
    forged.keep_checkpoint(checkpoint(forged, OTHER_KEY))
    back_up(forged, folder, keys=())
    assert failure(lambda: restored(folder, database)).code is Code.SIGNATURE_MISSING
    assert check(folder).signed_by == ()


def test_a_game_that_its_rules_do_not_allow_is_restored_as_it_was(folder: Path, database: Path) -> None:
    """The log had it so, and it must not keep back the others."""
    store = MemoryStore()
    bodies = [ROCKS, CardPlayed(0, "7D"), CardPlayed(1, "8D")]
    appended(store, batch_of(entries_of(bodies, "bad", Random(1))))
    grow(store)
    back_up(store, folder)
    result = restored(folder, database)
    assert result.bad_games == (BadGame("bad", 1, "EVENT_FOREIGN", result.bad_games[0].rule),)
    with closing(DuckStore(database)) as again:
        assert all_of(again) == all_of(store)


def test_a_chain_that_is_broken_between_two_backups_is_found_when_it_is_restored(
    folder: Path, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backup of what is new does not know the heads of all games; who restores does."""
    one = entries_of([ROCKS, remark("a").body, remark("b").body], "game", Random(1))
    other = entries_of([ROCKS, remark("x").body, remark("b").body], "game", Random(2))
    store = MemoryStore()
    appended(store, batch_of(one[:2]))
    back_up(store, folder)
    with monkeypatch.context() as patched:
        patched.setattr(memory, "conflict", lambda batch, head: None)
        store.append([batch_of(other[2:])])
    back_up(store, folder)
    error = failure(lambda: restored(folder, database))
    assert isinstance(error, Corrupt)
    assert error.code is Code.CHAIN_BROKEN
    assert failure(lambda: check(folder)).code is Code.CHAIN_BROKEN
    assert list(database.parent.iterdir()) == []


def test_a_backup_is_read_with_the_program_that_its_page_prints(folder: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "backup.md").read_text("utf-8")
    program = page.split("```python\n", 1)[1].split("```", 1)[0]
    names: dict[str, Any] = {}
    exec(program, names)  # it is ours
    store = MemoryStore()
    for seed in range(2):
        grow(store, seed)
        back_up(store, folder)
    assert list(names["records"](folder)) == [stored.record for stored in store.read_all()]


@pytest.mark.parametrize(
    "made", sorted((Path(__file__).parents[1] / "golden" / "backups").iterdir()), ids=lambda made: made.name
)
def test_the_backups_of_every_release_are_restored(made: Path, database: Path) -> None:
    """They were made once, by `tests/service/backing.py` as it was then, and are never changed."""
    before = files_of(made)
    result = restored(made, database)
    assert (result.root, result.bad_games) == (to_base64(bytes.fromhex(manifest_of(made).root)), ())
    assert run("verify", database).code == 0
    assert files_of(made) == before


def manifest_of(folder: Path) -> manifest.Manifest:
    """What a backup says of itself."""
    found = manifest.read(folder)
    assert found is not None
    return found[0]


def test_the_checkpoints_keep_their_order_and_the_last_of_them_lies_beside_the_database(
    folder: Path, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restoring, "ROWS_AT_ONCE", 2)
    store = MemoryStore()
    for seed in range(3):
        grow(store, seed, length=10)
    back_up(store, folder)
    last = checkpoint(store, KEY, OTHER_KEY)
    store.keep_checkpoint(last)
    back_up(store, folder)
    restored(folder, database)
    assert checkpoint_path(database).read_text() == last.note
    with duckdb.connect() as connection:
        connection.execute("ATTACH ? AS ours (READ_ONLY)", [str(database)])
        rows = connection.execute("SELECT checkpoint_number FROM ours.log.checkpoints ORDER BY size, checkpoint_number")
        assert rows.fetchall() == [(1,), (2,), (3,), (4,)]
    with closing(DuckStore(database, is_read_only=True)) as again:
        assert list(again.checkpoints()) == list(store.checkpoints())


def test_a_name_that_has_signed_more_signs_no_more(folder: Path, database: Path) -> None:
    """One name never signs two logs: neither one that was cut short, nor one that had lost what was signed before."""
    database.parent.mkdir(exist_ok=True)
    with closing(DuckStore(database.with_name("season.duckdb"))) as store:
        grow(store)
        size = store.position()
        grow(store, 1)
        back_up(store, folder)
    whole = restore(folder, database.with_name("whole.duckdb"), clock=lambda: MADE_AT, keys=KEY.verifiers)
    assert whole.void_names == ()
    short = restore(folder, database, clock=lambda: MADE_AT, to_position=size)
    assert (short.events, short.void_names) == (size, (KEY.name,))
    again = folder.with_name("again")
    with closing(DuckStore(database)) as store:
        assert store.void_names() == {KEY.name}
        assert [one.size for one in store.checkpoints()] == [size]
        back_up(store, again)
    assert restore(again, database.with_name("again.duckdb"), clock=lambda: MADE_AT).void_names == (KEY.name,)
    with closing(DuckStore(database.with_name("again.duckdb"), is_read_only=True)) as store:
        assert store.void_names() == {KEY.name}


def test_a_backup_that_was_never_finished_is_none(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    manifest.write(folder, manifest.Manifest(), ())
    assert failure(lambda: check(folder)).code is Code.BACKUP_DAMAGED
    assert back_up(MemoryStore(), folder).events == 0
    assert check(folder).events == 0
