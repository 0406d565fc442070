"""`heptalog audit` of a log that goes on after a loss: told in its verdict, and no finding for ever."""

from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from heptalog.service.evidence.checkpoints import Checkpoints
from heptalog.service.evidence.keys import Keyring, SigningKey
from heptalog.service.evidence.signing import Signer
from heptalog.service.store.duck import DuckStore
from tests.cli.audits import alter
from tests.cli.running import run
from tests.contract.given import fill, game
from tests.trials.victims import KEYS, Victim, counted_clock


@pytest.fixture
def accepted(victim: Victim) -> Victim:
    """A log that has lost its last game, which somebody has accepted."""
    size = victim.log.rows("checkpoints")[0][1]
    lose(victim.path, size)
    assert run("doctor", victim.path, "--accept", "--yes").code == 0
    assert 0 < size < len(victim.log.rows("events"))
    return victim


def lose(path: Path, size: int) -> None:
    """Take away what came after so many events, as a file that is cut loses it."""
    with duckdb.connect(path) as connection:
        connection.execute("DELETE FROM log.events WHERE position > ?", [size])
        connection.execute("DELETE FROM log.games WHERE game_number NOT IN (SELECT game_number FROM log.events)")
        last = "(SELECT max(sequence) FROM log.events WHERE events.game_number = endings.game_number)"
        connection.execute(f"DELETE FROM log.endings WHERE sequence > coalesce({last}, -1)")
        connection.execute("DELETE FROM log.tree")


def test_an_accepted_loss_is_told_and_is_no_finding(accepted: Victim, key: Path) -> None:
    size = accepted.log.rows("checkpoints")[0][1]
    ended = run("audit", accepted.path, "--key", key)
    assert (ended.code, ended.err) == (0, "")
    (line,) = [line for line in ended.out.splitlines() if line.startswith("accepted ")]
    assert f": the log goes on with {size} events after this: the log is shorter than what was acknowledged" in line
    assert f": positions {size + 1} to " in line
    assert line.count("[EVENTS_LOST]") == 1
    document = run("audit", accepted.path, "--format", "json").document
    (incident,) = document["incidents"]
    assert incident["size"] == size
    assert incident["finding"].startswith("EVENTS_LOST")
    assert incident["acceptedAt"].endswith("Z")
    # Of those that were kept one holds.
    assert document["checkpoints"] == 1
    # Who has kept one of the others is told all the same.
    note = accepted.path.with_name("outside")
    note.write_text(accepted.outside)
    assert "[EVENTS_LOST]" in run("audit", accepted.path, "--checkpoint", note).out


def test_a_log_that_goes_on_is_as_good_as_any(accepted: Victim, tmp_path: Path) -> None:
    other = SigningKey("example.org/again", b"7" * 32)
    with closing(DuckStore(accepted.path)) as store:
        fill(store, [game(99)])
        Signer(store, Checkpoints(store), Keyring((other,)), counted_clock()).checkpoint()
    key = tmp_path / "again.pub"
    key.write_text("".join(f"{one.format()}\n" for one in (*KEYS, *other.verifiers)))
    ended = run("audit", accepted.path, "--key", key)
    assert ended.code == 0, ended.out
    assert "accepted " in ended.out


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("size", "size + 100000"),
        ("size", "-1"),
        ("root", "head_root"),
        ("root", "''::BLOB"),
        ("head_size", "-7"),
        ("head_root", "NULL"),
        ("checkpoints_kept", "1000"),
        ("void_after", "size + 1"),
        ("void_names", "['']"),
        ("finding", "''"),
        ("accepted_at", "'infinity'"),
        ("accepted_at", "'1066-10-14'"),
    ],
)
def test_what_was_accepted_is_held_against_the_log(column: str, value: str, accepted: Victim) -> None:
    alter(accepted.path, f"UPDATE log.incidents SET {column} = {value}")
    ended = run("audit", accepted.path, "--format", "json")
    assert ended.code == 1
    told = {(finding.get("table"), finding.get("column")) for finding in ended.document["findings"]}
    assert ("incidents", column if column != "head_root" else "head_size") in told


def test_a_second_loss_leaves_the_first_as_it_was(accepted: Victim) -> None:
    lose(accepted.path, 20)
    assert run("doctor", accepted.path, "--accept", "--yes").code == 0
    ended = run("audit", accepted.path, "--format", "json")
    assert ended.code == 0, ended.document["findings"]
    assert len(ended.document["incidents"]) == 2
