"""Games as a list shows them, their endings, and what was refused."""

from collections.abc import Callable
from itertools import product
from random import Random
from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from heptalog.replay.events import GameStarted, Player, Tag
from heptalog.replay.registry import GAMES
from heptalog.replay.seven_bridge.events import SevenBridge
from heptalog.service.store import Ending, Entry, GameEntry, GameFilter, LogStore, Status
from tests.contract.given import appended, begin, fill, game, refusals, whole_games
from tests.support.recording import batch_of, batches_of, endings_of, entries_of, fold_of


def test_a_game_as_a_list_shows_it(store: LogStore) -> None:
    entries = whole_games()[4]
    heads = [head for batch in batches_of(entries, 10) for head in appended(store, batch)]
    shown = store.game(entries[0].event.game_id)
    assert shown is not None
    assert shown.number == 1
    assert shown.game_id == entries[0].event.game_id
    assert shown.ruleset == GAMES[1].key
    assert shown.rules_version == 1
    assert shown.started == entries[0].event.body
    assert shown.created_at == entries[0].event.recorded_at
    assert shown.status is Status.WON
    assert shown.head == heads[-1]


def test_what_a_game_started_with_comes_back_whole(store: LogStore) -> None:
    """Absent is not zero, and what looks like SQL or JSON is a name like any other."""
    players = (Player("a", "Ána 'the' \"7\""), Player("b"), Player("c\0c", "名前"))
    bodies = (
        GameStarted(players, SevenBridge()),
        GameStarted(players, SevenBridge(pass_tokens=0, ghosts=False), rules_version=1),
        GameStarted(players, SevenBridge(opening_seven="7H", limit=100), tournament="'; --", table="\\N"),
        GameStarted(players, SevenBridge(), tags=(Tag("x"), Tag("x", "{}"), Tag("é", "\n"))),
    )
    for number, body in enumerate(bodies):
        appended(store, batch_of(entries_of([body], f"game {number}", Random(number))))
    assert [entry.started for entry in store.games(GameFilter())] == list(bodies)
    assert store.games(GameFilter(player_id="c\0c", tournament="'; --")) == [store.game("game 2")]


def test_a_game_without_times_and_names(store: LogStore) -> None:
    (entry,) = entries_of([GameStarted((Player("a"), Player("b"), Player("c")), SevenBridge())], "game", Random(1))
    bare = replace(entry.event, event_id="", occurred_at=0, recorded_at=0, recorded_by="")
    appended(store, batch_of([Entry(entry.record, bare)]))
    assert store.position() == 1


def test_the_ruleset_is_the_key_of_the_rules(store: LogStore) -> None:
    fill(store, whole_games())
    for rules in GAMES:
        games = store.games(GameFilter(ruleset=rules.key))
        assert len(games) == 3
        assert all(isinstance(entry.started.rules, rules.options) for entry in games)


def test_every_filter_and_every_pair_of_filters(store: LogStore) -> None:
    games = whole_games(ruling_rate=0.02)
    fill(store, games)
    fill(store, [game(number, length=5) for number in range(4)])
    everything = store.games(GameFilter())
    assert len(everything) == len(games) + 4
    assert {entry.status for entry in everything} == set(Status)
    times = sorted(entry.created_at for entry in everything)
    choices: dict[str, list[Any]] = {
        "ruleset": [*(rules.key for rules in GAMES), "chess"],
        "player_id": ["ana-0", "ana-1", "bo-2", "nobody"],
        "player": ["ana-0", "Ana 0", "Bo 2", "ana 0", "Ana", "nobody"],
        "tournament": ["Seven Days", "Eight Days"],
        "status": list(Status),
        "created_from": [times[3], times[3] + 1, times[-1] + 1],
        "created_before": [times[6], times[6] + 1, times[0]],
    }
    cases = [{name: value} for name, values in choices.items() for value in values]
    for one, other in product(cases, cases):
        wanted = GameFilter(**(one | other))
        right = [entry for entry in everything if _fits(entry, one | other)]
        assert store.games(wanted) == right, wanted
        assert store.game_names(wanted) == [(entry.number, entry.game_id) for entry in right], wanted
        assert [entry for entry in everything if wanted.fits(entry)] == right, wanted


def test_pages_are_stable_while_games_are_added(store: LogStore) -> None:
    fill(store, [game(number) for number in range(10)])
    pages = []
    after = 0
    while page := store.games(GameFilter(), after=after, limit=3):
        pages.append([entry.game_id for entry in page])
        after = page[-1].number
        if len(pages) < 3:
            appended(store, begin(10 + len(pages)))
    assert pages == [
        ["game-0", "game-1", "game-2"],
        ["game-3", "game-4", "game-5"],
        ["game-6", "game-7", "game-8"],
        ["game-9", "game-11", "game-12"],
    ]


def test_a_page_of_a_filter(store: LogStore) -> None:
    fill(store, [game(number) for number in range(9)])
    wanted = GameFilter(ruleset=GAMES[1].key)
    first = store.games(wanted, limit=2)
    assert [entry.game_id for entry in first] == ["game-1", "game-4"]
    assert [entry.game_id for entry in store.games(wanted, after=first[-1].number, limit=2)] == ["game-7"]
    assert store.games(wanted, after=9) == []
    assert store.game_names(wanted, limit=2) == [(entry.number, entry.game_id) for entry in first]
    assert store.game_names(wanted, after=first[-1].number, limit=1) == [(8, "game-7")]
    assert store.game_names(wanted, after=9) == []


def test_a_store_that_works_is_not_broken(store: LogStore) -> None:
    appended(store, begin(1))
    assert not store.is_broken


def test_endings_are_those_of_the_fold(store: LogStore) -> None:
    games = whole_games(ruling_rate=0.02)
    fill(store, games, size=7)
    reopened = 0
    for entries in games:
        game_id = entries[0].event.game_id
        endings = list(store.endings(game_id))
        assert endings == endings_of(entries)
        reopened += sum(ending.status is Status.RUNNING for ending in endings)
        shown = store.game(game_id)
        assert shown is not None
        assert (shown.status is not Status.RUNNING) == fold_of(entries).state.over
    assert reopened > 0


def test_endings_of_several_games_are_those_of_each(store: LogStore) -> None:
    games = whole_games(ruling_rate=0.2)
    fill(store, games)
    names = [entries[0].event.game_id for entries in games]
    found = store.endings_of([*names, "unknown"])
    assert found == {name: tuple(store.endings(name)) for name in [*names, "unknown"]}
    assert any(len(endings) > 1 for endings in found.values())


def test_endings_of_a_game_that_is_not_there(store: LogStore) -> None:
    assert list(store.endings("game-1")) == []


def test_an_ending_keeps_what_it_says(store: LogStore) -> None:
    ending = Ending(4, Status.CLOSED, (-7, 0, 2**31 - 1), (0, 2))
    appended(store, batch_of(game(1)[:5], [ending]), batch_of(game(2)[:5], [Ending(3, Status.WON, (), ())]))
    assert list(store.endings("game-1")) == [ending]
    assert list(store.endings("game-2")) == [Ending(3, Status.WON, (), ())]


@pytest.mark.parametrize("count", [1, 5])
def test_refusals_oldest_first_of_one_game_or_all(store: LogStore, count: int) -> None:
    mine, others = refusals(count), refusals(count, "never begun")
    for refusal, other in zip(mine, others, strict=True):
        store.append([], [refusal, other])
    assert list(store.refusals("game-1")) == mine
    assert list(store.refusals("never begun")) == others
    assert list(store.refusals()) == [one for pair in zip(mine, others, strict=True) for one in pair]


def test_the_rules_version_is_one_where_the_record_does_not_say(store: LogStore) -> None:
    appended(store, begin(1))
    shown = store.game("game-1")
    assert shown is not None
    assert shown.started.rules_version is UNSET
    assert shown.rules_version == 1


def _fits(entry: GameEntry, wanted: dict[str, Any]) -> bool:
    """Whether a game fits, in other words than the stores'."""
    tests: dict[str, Callable[[Any], bool]] = {
        "ruleset": lambda value: entry.ruleset == value,
        "player_id": lambda value: value in [player.id for player in entry.started.players],
        "player": lambda value: any(value in (player.id, player.name) for player in entry.started.players),
        "tournament": lambda value: entry.started.tournament == value,
        "status": lambda value: entry.status is value,
        "created_from": lambda value: not entry.created_at < value,
        "created_before": lambda value: not entry.created_at >= value,
    }
    return all(tests[name](value) for name, value in wanted.items())
