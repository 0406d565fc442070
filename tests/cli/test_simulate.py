"""`heptalog simulate`: games that follow from their arguments, once each, in a database or through a server."""

from collections import Counter as Tally
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

from heptalog.cli.output import Counter
from heptalog.cli.simulating.databases import DatabaseDestination
from heptalog.cli.simulating.plans import Bots, Plan
from heptalog.cli.simulating.recording import Simulated, game_id_of, simulated
from heptalog.cli.simulating.running import Counts, Result
from heptalog.cli.simulating.running import run as simulate
from heptalog.replay.codec import decode, hash_in
from heptalog.replay.errors import Conflict
from heptalog.replay.events import GameStarted
from heptalog.replay.registry import NEWEST
from heptalog.replay.verify import verify
from heptalog.service.store import Status
from heptalog.service.store.duck import DuckStore
from tests.cli.running import run, run_program

PLAN: Final = Plan(tuple(NEWEST))
# What game 5 of the plan above was when this was written. Other numbers: other games for the same arguments, so that a
# run does not go on where an earlier version left it; then `_VERSION` in simulating/plans.py goes up too.
GAME_5: Final = ("0160c62a-5030-7df9-b4eb-7a88c9d73f9f", 211, "7f6a785be1578fca")


def contents(path: Path) -> dict[str, list[bytes]]:
    """The hashes of all events, by game."""
    with closing(DuckStore(path, is_read_only=True)) as store:
        games: dict[str, list[bytes]] = {}
        for stored in store.read_all():
            games.setdefault(stored.game_id, []).append(hash_in(stored.record))
        return games


def into(path: Path, games: int, plan: Plan = PLAN) -> Result:
    """So many games of a plan into a database."""
    with DatabaseDestination(path) as log:
        return simulate(plan, games, log, processes=1, counter=Counter())


def test_the_same_arguments_make_the_same_events_on_any_number_of_processes(tmp_path: Path) -> None:
    one, three = tmp_path / "one.duckdb", tmp_path / "three.duckdb"
    for path, processes in ((one, 1), (three, 3)):
        ended = run_program("simulate", path, "--games", 90, "--jobs", processes, "--format", "json")
        assert ended.code == 0, ended.err
        assert ended.document["gamesAdded"] == 90
    assert contents(one) == contents(three)
    with closing(DuckStore(one, is_read_only=True)) as first, closing(DuckStore(three, is_read_only=True)) as second:
        assert first.tree_head() == second.tree_head()
        assert list(first.refusals()) == list(second.refusals())


def test_each_argument_makes_other_games() -> None:
    plans = [PLAN, Plan(PLAN.rulesets, seed=8), Plan(PLAN.rulesets, players=30), Plan(PLAN.rulesets, bots=Bots.GREEDY)]
    plans += [Plan(PLAN.rulesets, tournament="Final"), Plan(PLAN.rulesets, months=3), Plan(("seven_up",))]
    assert len({game_id_of(plan, 3) for plan in plans}) == len(plans)


def test_more_games_leave_the_first_ones_as_they_are(tmp_path: Path) -> None:
    path, whole = tmp_path / "grown.duckdb", tmp_path / "whole.duckdb"
    first = into(path, 100)
    before = contents(path)
    assert (first.games_added, first.left_running) == (100, 1)
    grown = into(path, 130)
    assert (grown.games_added, grown.events_known) == (30, first.events_added)
    after = contents(path)
    assert all(after[game_id][: len(hashes)] == hashes for game_id, hashes in before.items())
    into(whole, 130)
    assert after == contents(whole)


def test_what_is_there_adds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "games.duckdb"
    into(path, 60)
    with closing(DuckStore(path, is_read_only=True)) as store:
        refusals = list(store.refusals())
    again = into(path, 60)
    fewer = into(path, 20)
    assert (again.games_added, again.events_added, fewer.events_added) == (0, 0, 0)
    with closing(DuckStore(path, is_read_only=True)) as store:
        assert list(store.refusals()) == refusals


def test_a_run_that_was_interrupted_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heptalog.cli.simulating.databases._GROUP_EVENTS", 500)
    path, whole = tmp_path / "games.duckdb", tmp_path / "whole.duckdb"

    class Interrupted(DatabaseDestination):
        groups = 0

        def record(self, games: Sequence[Simulated], *, are_new: bool) -> Counts:
            self.groups += 1
            if self.groups == 3:
                raise KeyboardInterrupt
            return super().record(games, are_new=are_new)

    with pytest.raises(KeyboardInterrupt), Interrupted(path) as log:
        simulate(PLAN, 150, log, processes=1, counter=Counter())
    assert 0 < len(contents(path)) < 150
    into(path, 150)
    into(whole, 150)
    assert contents(path) == contents(whole)


def test_a_long_run_goes_on_near_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Not every game is played again to know that it is there.
    monkeypatch.setattr("heptalog.cli.simulating.running._LOOKED_AT_AGAIN", 20)
    path = tmp_path / "games.duckdb"
    into(path, 100)
    result = into(path, 160)
    assert (result.games_skipped, result.games_added) == (80, 60)
    assert len(contents(path)) == 160


def test_a_log_with_another_game_of_that_name_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "games.duckdb"
    game = simulated(PLAN, 0)
    other = Simulated(0, replace(game.whole, game_id=simulated(PLAN, 1).game_id), game.endings, ())
    with DatabaseDestination(path) as log:
        log.record([simulated(PLAN, 1)], are_new=False)
        log.finish()
        log.record([other], are_new=False)
        with pytest.raises(Conflict):
            log.finish()


def test_what_is_simulated_is_verified_and_audited(tmp_path: Path) -> None:
    path = tmp_path / "games.duckdb"
    into(path, 120)
    assert run("verify", path, "--quiet").code == 0
    assert run("audit", path, "--no-state").code == 0


def test_games_are_as_various_as_those_of_a_federation() -> None:
    games = [simulated(PLAN, number) for number in range(0, 3_000, 7)]
    started = [game.entries[0].event.body for game in games]
    assert all(isinstance(body, GameStarted) for body in started)
    bodies = [body for body in started if isinstance(body, GameStarted)]
    kinds = Tally(type(entry.event.body).__name__ for game in games for entry in game.entries)
    assert len({body.tournament for body in bodies}) > 30
    assert len({player.id for body in bodies for player in body.players}) > 300
    assert len({(type(body.rules), len(body.players)) for body in bodies}) > 6
    assert min(kinds["MovesRetracted"], kinds["NoteAdded"], kinds["InfractionCalled"], kinds["GameClosed"]) > 0
    assert len({refusal.code for game in games for refusal in game.refusals}) >= 3
    assert Tally(ending.status for game in games for ending in game.endings)[Status.CLOSED] < 20
    times = [game.entries[0].event.occurred_at // 10**9 for game in games]
    months = {datetime.fromtimestamp(time, UTC).strftime("%Y-%m") for time in times}
    assert times == sorted(times)
    assert len(months) > 12
    mean = sum(len(game.entries) for game in games) / len(games)
    assert 60 < mean < 150


def test_events_have_times_that_grow_and_are_recorded_a_moment_later() -> None:
    for number in range(30):
        events = [entry.event for entry in simulated(PLAN, number).entries]
        assert [event.occurred_at for event in events] == sorted(event.occurred_at for event in events)
        assert all(0 < event.recorded_at - event.occurred_at < 2 * 10**9 for event in events)
        assert len({event.event_id for event in events}) == len(events)


def test_a_game_that_is_left_running_is_the_beginning_of_the_same_game() -> None:
    for number in range(40):
        whole, left = simulated(PLAN, number), simulated(PLAN, number, is_left_running=True)
        assert whole.entries[: len(left.entries)] == left.entries
        assert 0 < len(left.entries) < len(whole.entries)
        report = verify(decode(entry.record) for entry in left.entries)
        assert report.ok


def test_a_game_stays_what_it_is() -> None:
    game = simulated(PLAN, 5)
    assert (game.game_id, len(game.entries), game.entries[-1].event.hash.hex()[:16]) == GAME_5


def test_a_server_gets_the_same_games(server: str, tmp_path: Path) -> None:
    path = tmp_path / "games.duckdb"
    into(path, 12)
    first = run("simulate", server, "--games", 8, "--jobs", 1, "--format", "json")
    more = run("simulate", server, "--games", 12, "--jobs", 1, "--format", "json")
    assert (first.document["gamesAdded"], more.document["gamesAdded"]) == (8, 4)
    folder = tmp_path / "exported"
    assert run("export", server, "--out", folder).code == 0
    exported = tmp_path / "exported.duckdb"
    assert run("import", folder, "--into", exported).code == 0
    assert contents(exported) == contents(path)


def test_text_says_what_was_added(tmp_path: Path) -> None:
    path = tmp_path / "games.duckdb"
    ended = run("simulate", path, "--games", 6, "--jobs", 1, "--ruleset", "seven_up", "--tournament", "Final")
    assert ended.code == 0
    assert ended.out.startswith("6 games and ")
    assert ended.err == "heptalog: 6 games simulated\n"
    listed = run("games", path, "--ruleset", "seven_up", "--tournament", "Final", "--format", "jsonl").lines
    assert len(listed) == 6
    # Of other games in the log it says nothing.
    again = run("simulate", path, "--games", 8, "--jobs", 1, "--seed", 3)
    assert again.err == "heptalog: 8 games simulated\n"
    again = run("simulate", path, "--games", 9, "--jobs", 1, "--seed", 3)
    assert again.err == "heptalog: 9 games simulated, 8 of which were in the log before\n"


def test_games_that_go_on_are_told_by_their_number(tmp_path: Path) -> None:
    for games, told in ((100, "one goes on"), (200, "2 go on")):
        ended = run(
            "simulate", tmp_path / f"{games}.duckdb", "--games", games, "--ruleset", "seven_up", "--bots", "random"
        )
        assert ended.err == f"heptalog: {games} games simulated; the last {told}\n"


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    for command in (("simulate", tmp_path, "-n", 1), ("rebuild", tmp_path)):
        ended = run(*command)
        assert (ended.code, ended.err) == (2, f"heptalog: {tmp_path}: a folder is no database\n")


def test_tables_are_made_of_databases_only(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear Ana")
    for name, code in (("letter.txt", "DATABASE_FOREIGN"), ("none.txt", "SOURCE_NOT_FOUND")):
        ended = run("rebuild", tmp_path / name)
        assert ended.code == 3
        assert code in ended.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--ruleset", "chess"), "the games are seven_rocks"),
        (("--bots", "clever"), "random, greedy, mixed"),
        (("--players", "3"), "it takes 4"),
    ],
)
def test_wrong_use_makes_no_database(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    path = tmp_path / "games.duckdb"
    ended = run("simulate", path, "--games", 3, *arguments)
    assert ended.code == 2
    assert said in ended.err
    assert not path.exists()
