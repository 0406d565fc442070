"""The laws of older events, as a program: the registry is put together at import. Run by `test_upcasts.py`."""

# ruff: noqa: I001  # the made-up version comes first
from tests.support.older import TWO, as_of_old

import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

import pytest
from msgspec.structs import replace

from heptalog.replay import codec
from heptalog.replay.alternative import under
from heptalog.replay.diff import diff
from heptalog.replay.errors import Code, Refused
from heptalog.replay.events import Body, CardPlayed, Event, GameClosed, GameStarted, MovesRetracted, Player, TurnPassed
from heptalog.replay.evidence.chain import link
from heptalog.replay.fold import Fold, fold_all, view_of
from heptalog.replay.gamefile import decode_line, encode_line, read_events
from heptalog.replay.outcomes import Outcome
from heptalog.replay.playout import play
from heptalog.replay.rules import ARBITER, PUBLIC, Viewer
from heptalog.replay.seven_up import SEVEN_UP
from heptalog.replay.seven_up.events import SevenUp
from heptalog.replay.verify import verify
from heptalog.replay.words import names_of, tell_event, tell_outcome, tell_table
from heptalog.service.appends import Append
from heptalog.service.store import NO_GAME
from heptalog.service.store.memory import MemoryStore
from tests.cli.running import run
from tests.support.evidence import lines_of, recorded, redacted
from tests.support.serving import Service

SEEDS: Final = range(12)


class Told(NamedTuple):
    """One game twice: as it would be recorded today, and as it was. `ends[n]` is where today's is after old event n."""

    new: list[Body]
    old: list[Body]
    ends: list[int]


def games() -> list[Told]:
    """Games of version 2."""
    told = []
    for seed in SEEDS:
        random = Random(seed)
        seat_count = random.choice((2, 3, 4))
        started = GameStarted(tuple(Player(f"p{seat}") for seat in range(seat_count)), SevenUp(), rules_version=2)
        new = list(play(started, random.randrange))
        old, ends = [new[0]], [0]
        for body, count in as_of_old(new[1:], seat_count, random):
            old.append(body)
            ends.append(ends[-1] + count)
        assert ends[-1] == len(new) - 1
        told.append(Told(new, old, ends))
    kinds = {type(body) for game in told for body in game.old}
    assert kinds >= TWO.upcasts.keys(), "every older kind is met"
    return told


def law_the_fold_comes_to_its_old_result(game: Told) -> None:
    """States, outcomes and views are those of the events that the older ones mean."""
    new, old = Fold(game.new[0]), Fold(game.old[0])
    for body, start, end in zip(game.old[1:], game.ends, game.ends[1:], strict=False):
        outcomes: tuple[Outcome, ...] = ()
        for newer in game.new[start + 1 : end + 1]:
            outcomes += new.advance(newer)
        old.check(body, is_recorded=True)
        assert old.advance(body) == outcomes
        assert old.state == new.state
        for viewer in (PUBLIC, ARBITER, Viewer(0), Viewer(1)):
            assert view_of(TWO, old.state, viewer) == view_of(TWO, new.state, viewer)
        names = names_of(old.started)
        assert tell_table(old, old.state, names) == tell_table(new, new.state, names)
    assert replace(old.standing(), sequence=0) == replace(new.standing(), sequence=0)
    assert old.state.over


def law_a_takeback_is_exact(game: Told) -> None:
    """A state between older events can be gone back to, and the game goes on from there."""
    fold = fold_all(game.old)
    middle = len(game.old) // 2
    fold.advance(MovesRetracted(middle))
    assert fold.state == fold.states[middle]
    for body in game.old[middle + 1 :]:
        fold.advance(body)
    assert fold.state == fold.states[len(game.old) - 1]


def law_the_evidence_is_of_what_was_recorded(game: Told) -> None:
    """Records, chain, seals and lines are those of the older events, byte for byte."""
    entries = recorded(game.old)
    for event, record in entries:
        decoded, public = codec.decode(record)
        assert decoded == event
        assert codec.encode(decoded) == record
        assert decode_line(encode_line(event)) == event
        assert link(event.previous_hash, public) == event.hash
    assert [type(event.body) for event, _ in entries] == list(map(type, game.old))
    assert verify(codec.decode(record) for _, record in entries).ok
    lines = lines_of(event for event, _ in entries)
    assert verify((event, None) for event in read_events(lines)).ok
    report = verify((event, None) for event in redacted(event for event, _ in entries))
    assert report.error is not None
    assert report.error.code is Code.VALUE_SEALED
    wrong = replace(entries[-1].event, recorded_by="another")
    report = verify((event, None) for event in [*(event for event, _ in entries[:-1]), wrong])
    assert report.error is not None
    assert report.error.code is Code.CHAIN_BROKEN


def law_diff_and_alternative_and_words_know_older_events(game: Told) -> None:
    """They tell what was recorded, and what follows is the same."""
    old = [event for event, _ in recorded(game.old)]
    assert diff(old, old).is_same
    mirrored = diff(old, [event for event, _ in recorded(game.new)])
    assert mirrored.event is not None
    assert not [one for one in mirrored.result if one.field != "sequence"]
    options = SevenUp(target=3)
    one, other = under(game.old, options), under(game.new, options)
    assert replace(one.right, sequence=0) == replace(other.right, sequence=0)
    assert one.is_same == other.is_same
    assert (one.error is None) == (other.error is None)
    fold = Fold(game.old[0])
    names = names_of(fold.started)
    for body in game.old[1:]:
        assert tell_event(TWO, body, names)
        assert all(tell_outcome(TWO, outcome, names) for outcome in fold.advance(body))


def law_import_and_export_keep_older_events(game: Told) -> None:
    """A game file of old goes into a log of today and comes out as it was; a game of version 1 lies beside it."""
    first = list(play(replace(_started(game), rules_version=1), Random(5).randrange))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = {"old": lines_of(event for event, _ in recorded(game.old, game_id="old"))}
        files["first"] = lines_of(event for event, _ in recorded(first, game_id="first"))
        for title, lines in files.items():
            (folder / f"{title}.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
        database = folder / "games.duckdb"
        ended = run("import", *sorted(folder.glob("*.jsonl")), "--into", database)
        assert ended.code == 0, ended.err
        assert run("verify", database).code == 0
        for title, lines in files.items():
            assert run("export", f"{database}#{title}", "--out", folder / "out.jsonl").code == 0
            assert (folder / "out.jsonl").read_bytes().splitlines() == lines
            assert run("replay", f"{database}#{title}").code == 0
        rows = run("games", database, "--results", "--format", "jsonl").lines
        assert [row["scores"] for row in rows] == [list(fold_all(bodies).state.scores) for bodies in (first, game.old)]
        versions = run("sql", database, "SELECT rules_version FROM games ORDER BY game_id", "--format", "csv")
        assert versions.out.split()[1:] == ["1", "2"]
        # Once more: all of it is known already.
        again = run("import", folder / "old.jsonl", "--into", database, "--format", "jsonl")
        assert (again.code, again.lines[0]["added"], again.lines[0]["known"]) == (0, 0, len(game.old))


def law_the_service_reads_older_kinds_and_takes_no_new_ones(game: Told) -> None:
    """What is only read is refused, and changes nothing; what is recorded already is recognised; an import is taken."""
    events = tuple(Event(0, body, event_id=f"e{number}") for number, body in enumerate(game.old))
    retired = next(number for number, body in enumerate(game.old) if type(body) not in TWO.bodies and number)
    with Service(MemoryStore()) as service:
        client = service.client()
        client.append(Append("new", NO_GAME, events[:1]))
        for number, event in enumerate(events[1:retired]):
            client.append(Append("new", number, (event,)))
        refused = _refused(lambda: client.append(Append("new", retired - 1, events[retired : retired + 1])))
        assert (refused.code, refused.facts["kind"]) == (Code.EVENT_FOREIGN, type(game.old[retired]).__name__)
        assert client.standing("new").sequence == retired - 1
        client.append(Append("old", NO_GAME, events, is_imported=True))
        # Sent once more by a client that had no answer, and as an ordinary append.
        assert client.append(Append("old", NO_GAME, events)).is_deduplicated
        assert replace(client.standing("old"), sequence=0) == replace(fold_all(game.new).standing(), sequence=0)
        assert verify(codec.decode(stored.record) for stored in client.read("old")).ok


def law_nothing_else_passes() -> None:
    """An older event is refused where what it means is refused, after the end, and by a version that never had it."""
    started = GameStarted(tuple(Player(name) for name in "ab"), SevenUp(), rules_version=2)
    fold = Fold(started)
    for body in (TurnPassed(0), CardPlayed(0, "", "7D")):
        assert _refused(lambda body=body: fold.advance(body)).code is Code.WRONG_PHASE  # type: ignore[misc]
    assert _refused(lambda: fold.check(TurnPassed(0))).code is Code.EVENT_FOREIGN
    assert fold.sequence == 0
    fold.advance(GameClosed())
    assert _refused(lambda: fold.advance(TurnPassed(0))).code is Code.GAME_OVER
    assert _refused(lambda: Fold(replace(started, rules_version=1)).advance(TurnPassed(0))).code is Code.EVENT_FOREIGN
    assert fold_all([replace(started, rules_version=1)]).rules is SEVEN_UP


def _started(game: Told) -> GameStarted:
    started = game.new[0]
    assert isinstance(started, GameStarted)
    return started


def _refused(work: Callable[[], Any]) -> Refused:
    with pytest.raises(Refused) as refused:
        work()
    return refused.value


def main() -> None:
    """Hold every law against every game."""
    told = games()
    for name, law in list(globals().items()):
        if name.startswith("law_"):
            takes_games = law.__code__.co_argcount
            some = told[:2] if "import" in name or "service" in name else told
            for arguments in [(game,) for game in some] if takes_games else [()]:
                law(*arguments)
            print(name)


if __name__ == "__main__":
    main()
