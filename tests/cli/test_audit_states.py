"""`heptalog audit` stopped and gone on with: where it is kept how far it is, and from whom it is taken."""

import stat
from itertools import islice
from pathlib import Path

import pytest
from msgspec.structs import replace

from heptalog.cli.auditing import AuditedDatabase, Auditor
from heptalog.service.auditing.progress import load, save
from tests.cli.audits import alter, auditor, everything
from tests.cli.running import run
from tests.trials.victims import Victim


@pytest.fixture
def own(victim: Victim) -> Path:
    """Where the state of its audit is kept, unless somebody says otherwise."""
    path = AuditedDatabase(victim.path).state_path
    assert path is not None
    return path


def stop(victim: Victim, state: Path) -> None:
    """An audit that somebody stops after its first pieces of work."""
    with Auditor(AuditedDatabase(victim.path), (), (), state=state, has_own_state=True) as begun:
        list(begun.remarks())
        found = begun.findings(jobs=1)
        list(islice(found, 3))
        found.close()
    assert state.exists()


def test_an_audit_that_was_stopped_goes_on_where_it_was(victim: Victim, tmp_path: Path, small_works: None) -> None:
    alter(victim.path, "UPDATE log.events SET seat = 9 WHERE position % 10 = 0")
    state = tmp_path / "state"
    with auditor(victim, None) as whole:
        findings, summary = everything(whole.findings(jobs=1)), whole.summary()
    assert len(findings) > 10
    stops = 0
    while True:
        with auditor(victim, state) as part:
            assert part.is_resumed == bool(stops)
            before = part.events_done
            found = part.findings(jobs=1)
            # So far, and then one piece of work more.
            for finding in found:
                if finding is None and part.events_done > before:
                    break
            else:
                break
            found.close()
            assert state.exists()
            stops += 1
    assert stops > 3
    assert not state.exists()
    with auditor(victim, state) as again:
        assert not again.is_resumed
    stopped = part.summary()
    # All was read before, but for the word that it is all.
    assert stopped.from_state == stopped.readings == 2 * stopped.events
    assert replace(stopped, from_state=0) == summary
    assert sorted(map(repr, part._progress.findings)) == sorted(map(repr, findings))


def test_a_log_that_has_changed_meanwhile_is_begun_anew(victim: Victim, tmp_path: Path, small_works: None) -> None:
    state = tmp_path / "state"
    with auditor(victim, state) as first:
        next(first.findings(jobs=1))
    assert state.exists()
    alter(victim.path, "UPDATE log.events SET seat = 9 WHERE position = 10")
    ended = run("audit", victim.path, "--state", state)
    assert ended.code == 1
    assert "it begins anew" in ended.err
    assert not state.exists()


def test_a_state_that_cannot_be_used_is_written_over(victim: Victim, tmp_path: Path) -> None:
    for content in (b"", b'{"bound":', b'{"bound":{},"version":7}'):
        state = tmp_path / "state"
        state.write_bytes(content)
        assert run("audit", victim.path, "--state", state).code == 0
        assert not state.exists()


def test_what_is_no_state_is_never_written_over(victim: Victim, tmp_path: Path) -> None:
    other = tmp_path / "season.key"
    other.write_bytes(b"PRIVATE+KEY+example.org/season+00000000+AAAA\n")
    for path in (victim.path, other):
        content = path.read_bytes()
        ended = run("audit", victim.path, "--state", path)
        assert ended.code == 3
        assert "[SOURCE_UNREADABLE]" in ended.err
        assert path.read_bytes() == content


def test_a_state_is_kept_in_a_place_of_its_own(victim: Victim, own: Path, state_home: Path, tmp_path: Path) -> None:
    assert own.parent == state_home / "heptalog" / "audits"
    assert own.name.startswith("games.duckdb.")
    before = {path.name for path in victim.path.parent.iterdir()}
    alter(victim.path, "UPDATE log.events SET seat = 9")
    stop(victim, own)
    assert {path.name for path in victim.path.parent.iterdir()} == before | {state_home.parent.name}
    assert (stat.S_IMODE(own.parent.stat().st_mode), stat.S_IMODE(own.stat().st_mode)) == (0o700, 0o600)
    link = tmp_path / "link.duckdb"
    link.symlink_to(victim.path)
    # It is the log that it is of, and not one of its names.
    assert AuditedDatabase(link).state_path == own
    assert "going on where it was" in run("audit", link).err
    assert not own.exists()


def test_a_forged_state_beside_the_database_is_not_looked_at(victim: Victim, own: Path) -> None:
    with auditor(victim, None) as whole:
        everything(whole.findings(jobs=1))
        clean = whole._progress
    alter(victim.path, "UPDATE log.events SET seat = 9 WHERE position = 10")
    with Auditor(AuditedDatabase(victim.path), (), (), state=None) as now:
        forged = replace(clean, bound=now._progress.bound)
    for name in ("games.duckdb.audit", own.name):
        save(victim.path.with_name(name), forged)
    ended = run("audit", victim.path)
    assert ended.code == 1
    assert "going on" not in ended.err
    assert "readings of events" not in ended.out


@pytest.mark.parametrize("name", ["file", "folder", "link"])
def test_a_state_that_others_can_write_is_not_believed(
    name: str, victim: Victim, own: Path, small_works: None, tmp_path: Path
) -> None:
    stop(victim, own)
    if name == "link":
        own.rename(tmp_path / "elsewhere")
        own.symlink_to(tmp_path / "elsewhere")
    else:
        (own if name == "file" else own.parent).chmod(0o777)
    ended = run("audit", victim.path)
    assert ended.code == 0
    assert "only you can write" in ended.err
    assert "going on where it was" not in ended.err
    # Where nobody can be kept from writing, nothing is written.
    assert own.exists() == (name == "folder")


def test_how_much_rests_on_a_state_is_part_of_the_verdict(victim: Victim, own: Path, small_works: None) -> None:
    stop(victim, own)
    before = load(own)
    assert before is not None
    done = before.by_position + before.by_game
    events = len(victim.log.rows("events"))
    assert 0 < done < 2 * events
    ended = run("audit", victim.path)
    assert ended.code == 0
    assert f"\n{done} of {2 * events} readings of events rest on what an earlier run has written down\n" in ended.out
    stop(victim, own)
    document = run("audit", victim.path, "--format", "json").document
    assert (document["readings"], document["fromState"]) == (2 * events, done)
    assert run("audit", victim.path, "--format", "json").document["fromState"] == 0


def test_where_no_state_can_be_kept_it_is_said(victim: Victim, own: Path, tmp_path: Path) -> None:
    # Not even root can write into a folder that is not there.
    ended = run("audit", victim.path, "--state", tmp_path / "missing" / "state")
    assert (ended.code, ended.out) == (3, "")
    own.parent.mkdir(parents=True)
    own.with_name(f".{own.name}.new").mkdir()
    ended = run("audit", victim.path)
    assert ended.code == 0
    assert f"{own} cannot be written" in ended.err
