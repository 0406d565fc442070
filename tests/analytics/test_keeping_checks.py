"""What cannot be read is left out and counted, and a row that is not what follows from the log is found."""

from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from heptalog.analytics.keeping import Follower, build, check
from heptalog.analytics.keeping import manifest as manifests
from heptalog.analytics.keeping.place import MANIFEST
from heptalog.analytics.keeping.segments import sha256_of
from heptalog.replay.errors import Code, Corrupt, HeptalogError, Unavailable
from heptalog.service.store.memory import MemoryStore
from tests.analytics.kept import (
    LOG,
    Growing,
    files_in,
    following,
    generation_of,
    log_of,
    rows_now,
    rows_of_log,
    same,
    silently,
)
from tests.support.newer import NEWER, record_newer
from tests.support.recording import batches_of


@pytest.mark.parametrize("how", list(NEWER))
def test_a_game_with_something_newer_is_told_as_far_as_it_can_be_read(
    tmp_path: Path, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    store = MemoryStore()
    sequence = record_newer(store, how)
    follower = following(tmp_path / "tables", store)
    assert follower.unread == ("game",)
    assert caplog.text.count("game 'game' is in the tables only as far as it can be read here") == 1
    rows = rows_now(follower)
    games = {row[1]: row for row in rows["games"]}
    assert len(games) == (3 if sequence else 2), "and the others are all there"
    if sequence:
        assert games["game"][16] == sequence, "so many events of it"
    follower.close()
    built = tmp_path / "built"
    build(built, lambda: same(store), processes=1, tell=silently)
    again = Follower(built, store)
    assert again.unread == ("game",)
    assert rows_now(again) == rows
    check(tmp_path / "tables", lambda: same(store), tell=silently)


def test_a_record_that_is_damaged_stops_nobody_else(tmp_path: Path) -> None:
    class Damaged(MemoryStore):
        def read_all(self, **options):  # type: ignore[no-untyped-def]
            return map(_damaged, super().read_all(**options))

        def read_games(self, game_ids):  # type: ignore[no-untyped-def]
            return map(_damaged, super().read_games(game_ids))

    store = Damaged()
    for game in LOG:
        for batch in batches_of(game, 7):
            store.append([batch])
    follower = Follower(tmp_path / "tables", store)
    while follower.follow(5):
        follower.release(follower.snapshot())
    assert follower.unread == (LOG[1][0].event.game_id,)
    rows = rows_now(follower)
    assert {row[1]: row[16] for row in rows["games"]}[LOG[1][0].event.game_id] == 30
    shorter = log_of(LOG[0], LOG[1][:30], LOG[2])
    without = rows_of_log(shorter)
    others = {LOG[0][0].event.game_id, LOG[2][0].event.game_id}
    for table in ("turns", "seats", "rounds"):
        assert len([row for row in rows[table] if row[1] in others]) == len(
            [row for row in without[table] if row[1] in others]
        )


@pytest.mark.parametrize("table", ["games", "seats", "turns", "placements", "refusals", "rating_changes"])
def test_a_row_that_is_another_is_found(tmp_path: Path, table: str) -> None:
    store, growing = MemoryStore(), Growing(3)
    while not growing.is_over:
        growing.step(store)
    folder = tmp_path / "tables"
    following(folder, store).close()
    check(folder, lambda: same(store), tell=silently)
    game = _tamper(folder, table)
    with pytest.raises(Corrupt) as failure:
        check(folder, lambda: same(store), tell=silently)
    assert failure.value.code is Code.TABLES_DIFFER
    assert failure.value.facts["table"] == table
    if table not in ("refusals", "rating_changes"):
        assert failure.value.facts["game"] == game


def test_tables_that_are_damaged_or_of_another_log_do_not_pass(tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    following(folder, log_of(*LOG)).close()
    for store in (log_of(*LOG[1:]), log_of(*LOG)):
        if store.position() > 130:
            min(files_in(folder)).unlink()
        with pytest.raises(HeptalogError) as failure:
            check(folder, lambda store=store: same(store), tell=silently)  # type: ignore[misc]
        assert failure.value.code is Code.TABLES_DIFFER
    with pytest.raises(Unavailable):
        check(folder / "missing", lambda: same(log_of(*LOG)), tell=silently)


def _tamper(folder: Path, table: str) -> str:
    """Change one row of a table, as if it had been written so: the name of its game."""
    generation = generation_of(folder)
    path = min(path for path in files_in(folder) if f"/{table}/" in str(path))
    rows = pq.ParquetFile(path).read()
    place = rows.num_rows // 2
    column = "turns" if table in ("games", "seats") else "sequence" if "sequence" in rows.column_names else "games"
    field = rows.schema.get_field_index(column)
    changed = [value.as_py() + (number == place) for number, value in enumerate(rows[column])]
    rows = rows.set_column(field, rows.schema.field(field), pa.array(changed, rows.schema.field(field).type))
    old = (path.stat().st_size, sha256_of(path))
    pq.write_table(rows, path)
    manifest = (generation / MANIFEST).read_text()
    new = (path.stat().st_size, sha256_of(path))
    manifest = manifest.replace(f'"size":{old[0]},"sha256":"{old[1]}"', f'"size":{new[0]},"sha256":"{new[1]}"')
    manifests.store(msgspec.json.decode(manifest, type=manifests.Manifest), generation)
    return str(rows["game_id"][place].as_py())


def _damaged(stored):  # type: ignore[no-untyped-def]
    if stored.game_id == LOG[1][0].event.game_id and stored.sequence == 30:
        return replace(stored, record=stored.record[:-1] + bytes([stored.record[-1] ^ 255]))
    return stored
