"""Databases that somebody has changed: found by `verify`, told with the event, and no other game suffers."""

from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from tests.cli.given import UP, bare, whole, write
from tests.cli.running import only, run
from tests.support.play import EVENT_COUNT_MAX

# A game to its very end, which is its only ending.
WON = whole(UP, 3, game_id="won", length=EVENT_COUNT_MAX)
LAST = len(WON) - 1


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A database with a finished game between two others."""
    # Not log.duckdb: opened by itself, a database has the name of its file, and that of the schema in it is log.
    path = tmp_path / "games.duckdb"
    files = [
        write(tmp_path / "1.jsonl", bare()),
        write(tmp_path / "2.jsonl", WON),
        write(tmp_path / "3.jsonl", bare(length=9)),
    ]
    assert run("import", *files, "--into", path).code == 0
    return path


def alter(log: Path, statement: str, *parameters: object) -> None:
    """Change a database behind our back."""
    with duckdb.connect(log) as connection:
        connection.execute(statement, parameters)


GAME = "game_number = (SELECT game_number FROM log.games WHERE game_id = 'won')"
RECORD = f"SELECT event FROM log.events WHERE sequence = 7 AND {GAME}"


def flip(log: Path, place: int) -> None:
    """Change one bit of one record."""
    with duckdb.connect(log) as connection:
        ((record,),) = connection.execute(RECORD).fetchall()
    changed = bytearray(record)
    changed[place] ^= 1
    alter(log, f"UPDATE log.events SET event = ? WHERE sequence = 7 AND {GAME}", bytes(changed))


DAMAGES: dict[str, tuple[Callable[[Path], None], str, int]] = {
    "a hash": (lambda log: flip(log, 40), "CHAIN_BROKEN", 7),
    "a link": (lambda log: flip(log, 10), "CHAIN_BROKEN", 7),
    "the form": (lambda log: flip(log, 0), "RECORD_DAMAGED", 7),
    "an ending left out": (lambda log: alter(log, f"DELETE FROM log.endings WHERE {GAME}"), "RECORD_DAMAGED", LAST),
    "an ending changed": (
        lambda log: alter(log, f"UPDATE log.endings SET winners = [3] WHERE {GAME}"),
        "RECORD_DAMAGED",
        LAST,
    ),
    "an ending made up": (
        lambda log: alter(
            log,
            f"INSERT INTO log.endings SELECT game_number, 4, 'WON', [1], [0], NULL FROM log.games WHERE {GAME}",
        ),
        "RECORD_DAMAGED",
        4,
    ),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_change_is_found_where_it_is(name: str, log: Path) -> None:
    damage, code, sequence = DAMAGES[name]
    assert run("verify", log).code == 0
    damage(log)
    ended = run("verify", log, "--format", "json")
    assert ended.code == 1
    assert [verdict["ok"] for verdict in ended.document] == [True, False, True]
    verdict = ended.document[1]
    assert (verdict["source"], verdict["code"], verdict["sequence"]) == (f"{log}#won", code, sequence)
    assert verdict["events"] == (len(WON) if "ending" in name else 7)
    if "ending" in name:
        assert "the list of endings differs from the rules" in verdict["message"]


def test_a_damaged_game_is_replayed_up_to_the_damage(log: Path) -> None:
    flip(log, 40)
    ended = run("replay", f"{log}#won", "--format", "jsonl")
    assert (ended.code, len(ended.lines)) == (1, 7)
    assert "[CHAIN_BROKEN]" in ended.err


def test_records_exchanged_between_games_are_found(log: Path) -> None:
    other = "(SELECT event FROM log.events WHERE position = 3)"
    alter(log, f"UPDATE log.events SET event = {other} WHERE sequence = 7 AND {GAME}")
    verdict = only(run("verify", f"{log}#won", "--format", "json").document)
    assert (verdict["code"], verdict["sequence"]) == ("RECORD_DAMAGED", 7)


def test_a_gap_is_found(log: Path) -> None:
    alter(log, f"DELETE FROM log.events WHERE sequence = 7 AND {GAME}")
    verdict = only(run("verify", f"{log}#won", "--format", "json").document)
    assert not verdict["ok"]
    assert verdict["code"] in ("SEQUENCE_GAP", "RECORD_DAMAGED")


def test_a_damaged_game_takes_no_more_events(log: Path, tmp_path: Path) -> None:
    flip(log, 40)
    ended = run("import", write(tmp_path / "2.jsonl", WON), "--into", log, "--format", "json")
    assert (ended.code, ended.document[0]["code"]) == (1, "CHAIN_BROKEN")
