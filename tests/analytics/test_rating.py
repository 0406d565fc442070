"""Ratings: who is rated, in which order sides come, and that the same games always give the same numbers."""

from collections.abc import Sequence
from random import Random
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from openskill.models import PlackettLuce

from heptalog.analytics.projecting.arrow import arrow_table
from heptalog.analytics.projecting.game import project
from heptalog.analytics.projecting.rows import Row
from heptalog.analytics.rating import RatedGame, Ratings, ranks_of, result_of, resume
from heptalog.analytics.tables import TABLES, columns_of, create
from heptalog.replay.events import GameClosed, GameStarted, MovesRetracted, Player
from heptalog.replay.registry import GAMES, REGISTRY
from heptalog.replay.rules import AnyRules
from tests.analytics.given_games import of_bodies, recorded
from tests.support.play import EACH_GAME, play

(CHANGES,) = [table for table in TABLES if table.name == "rating_changes"]
COLUMNS = [column.name for column in columns_of(CHANGES)]
RULESETS = ("seven_rocks", "seven_up", "seven_bridge")
NAMES = "abcdefgh"


def result(position: int, ruleset: str, players: str, scores: Sequence[int], winners: Sequence[int]) -> RatedGame:
    """A game that ended so; where there are fewer scores than players they play in pairs."""
    sides = tuple(seat % len(scores) for seat in range(len(players)))
    return RatedGame(position, f"g{position}", ruleset, position, tuple(players), sides, tuple(scores), tuple(winners))


@st.composite
def seasons(draw: st.DrawFn) -> list[RatedGame]:
    """Games of a few people at all kinds of tables, in the order of their ends."""
    results = []
    for position in range(1, draw(st.integers(2, 25))):
        ruleset = draw(st.sampled_from(RULESETS))
        seats = 4 if ruleset == "seven_rocks" else draw(st.integers(2, 5))
        players = draw(st.permutations(NAMES))[:seats]
        side_count = 2 if seats == 4 and ruleset != "seven_bridge" else seats
        scores = draw(st.lists(st.integers(-1, 2), min_size=side_count, max_size=side_count))
        winning = draw(st.sets(st.integers(0, side_count - 1), min_size=1))
        winners = [seat for seat in range(seats) if seat % side_count in winning]
        results.append(result(position * 3, ruleset, "".join(players), scores, winners))
    return results


def rated(results: Sequence[RatedGame], ratings: Ratings | None = None) -> list[dict[str, Any]]:
    """The rows of these games, by the names of their columns."""
    ratings = ratings or Ratings()
    return [dict(zip(COLUMNS, row, strict=True)) for one in results for row in ratings.rate(one)]


@pytest.mark.parametrize(
    ("ruleset", "scores", "winners", "ranks"),
    [
        ("seven_rocks", (250, 195), (0, 2), (1, 2)),
        ("seven_up", (3, 7, 3), (1,), (2, 1, 2)),
        ("seven_up", (4, 7, 2), (1,), (2, 1, 3)),
        ("seven_bridge", (40, 12, 90, 55), (1,), (2, 1, 4, 3)),
        # SB-R21: the lowest total was shared, and another round decided; who lost it is second.
        ("seven_bridge", (12, 12, 30, 30), (1,), (2, 1, 3, 3)),
        # Closed by the arbiter: whoever it named comes first, all of them together.
        ("seven_up", (0, 5, 1), (0,), (1, 2, 3)),
        ("seven_bridge", (5, 3, 3, 1), (0, 1), (1, 1, 4, 3)),
        ("seven_rocks", (10, 20), (0, 1, 2, 3), (1, 1)),
    ],
)
def test_winners_come_first_and_the_others_by_score(
    ruleset: str, scores: tuple[int, ...], winners: tuple[int, ...], ranks: tuple[int, ...]
) -> None:
    players = NAMES[: 4 if len(scores) == 2 else len(scores)]
    game = result(1, ruleset, players, scores, winners)
    assert ranks_of(game) == ranks
    assert [row["rank"] for row in rated([game])] == [ranks[seat % len(scores)] for seat in range(len(players))]


def test_newcomers_are_rated_as_the_model_says() -> None:
    model = PlackettLuce()
    pairs = [[model.rating(), model.rating()], [model.rating(), model.rating()]]
    (won, lost) = model.rate(pairs, ranks=[1.0, 2.0])
    rows = rated([result(5, "seven_rocks", "abcd", (90, 250), (1, 3))])
    assert [(row["player_id"], row["mu"], row["sigma"]) for row in rows] == [
        ("a", lost[0].mu, lost[0].sigma),
        ("b", won[0].mu, won[0].sigma),
        ("c", lost[1].mu, lost[1].sigma),
        ("d", won[1].mu, won[1].sigma),
    ]
    assert {(row["games"], row["mu_before"], row["sigma_before"]) for row in rows} == {(1, 25.0, 25.0 / 3)}
    # By hand: half of the team's variance 138.9028 by c = 17.679, and half of that to each partner.
    assert [row["mu"] for row in rows] == pytest.approx([23.0357, 26.9643, 23.0357, 26.9643], abs=1e-4)


@given(seasons())
def test_who_wins_alone_goes_up_and_who_is_last_alone_goes_down(season: list[RatedGame]) -> None:
    rows = rated(season)
    for game in season:
        ranks = ranks_of(game)
        for row in rows:
            if row["game_number"] == game.game_number and ranks.count(row["rank"]) == 1:
                assert row["rank"] != 1 or row["mu"] > row["mu_before"]
                assert row["rank"] != max(ranks) or row["rank"] == 1 or row["mu"] < row["mu_before"]


@given(seasons())
def test_every_row_goes_on_where_the_players_last_one_of_that_game_ended(season: list[RatedGame]) -> None:
    last: dict[tuple[str, str], tuple[int, float, float]] = {}
    for row in rated(season):
        key = row["ruleset"], row["player_id"]
        games, mu, sigma = last.get(key, (0, 25.0, 25.0 / 3))
        assert (row["games"] - 1, row["mu_before"], row["sigma_before"]) == (games, mu, sigma)
        last[key] = row["games"], row["mu"], row["sigma"]


@given(seasons(), st.randoms(use_true_random=False))
def test_where_somebody_sat_makes_no_difference(season: list[RatedGame], random: Random) -> None:
    moved = [_moved(game, random) for game in season]
    for rows in zip(*[sorted(map(_told, rated(games))) for games in (season, moved)], strict=True):
        assert rows[0] == rows[1]


def _moved(game: RatedGame, random: Random) -> RatedGame:
    """The same game with everybody in another seat, partners again opposite each other."""
    side_count = len(game.scores)
    sides = random.sample(range(side_count), side_count)
    old: list[list[int]] = [[seat for seat, side in enumerate(game.sides) if side == one] for one in sides]
    for seats in old:
        random.shuffle(seats)
    order = [old[seat % side_count][seat // side_count] for seat in range(len(game.players))]
    return replace(
        game,
        players=tuple(game.players[seat] for seat in order),
        scores=tuple(game.scores[side] for side in sides),
        winners=tuple(new for new, seat in enumerate(order) if seat in game.winners),
    )


def _told(row: dict[str, Any]) -> tuple[Any, ...]:
    return (row["game_number"], row["player_id"], *row.values())


@given(seasons(), st.data())
def test_resumed_is_whole_to_the_last_bit(season: list[RatedGame], data: st.DataObject) -> None:
    whole = rated(season)
    cut = data.draw(st.integers(0, len(season)))
    before = rated(season[:cut])
    last = {(row["ruleset"], row["player_id"]): tuple(row.values()) for row in before}
    kept = data.draw(st.permutations(list(last.values())))
    ratings = resume(kept)
    assert ratings.last_position == (season[cut - 1].ended_position if cut else 0)
    assert before + rated(season[cut:], ratings) == whole
    # More than the last of each does no harm, in whatever order.
    more = data.draw(st.permutations([tuple(row.values()) for row in before]))
    assert rated(season[cut:], resume(more)) == whole[len(before) :]


def test_a_game_that_ended_before_is_our_bug() -> None:
    ratings = Ratings()
    ratings.rate(result(5, "seven_up", "ab", (7, 1), (0,)))
    with pytest.raises(AssertionError):
        ratings.rate(result(5, "seven_up", "ab", (7, 1), (0,)))


@EACH_GAME
def test_winners_by_the_rules_have_the_best_score(rules: AnyRules) -> None:
    """So that every registered game is right about `is_lowest_best`."""
    best = min if rules.is_lowest_best else max
    won = 0
    for seed in range(12):
        game = result_of(project(of_bodies(play(rules, seed, with_rulings=False, events_max=2_000).bodies)))
        if game is not None:
            won += 1
            assert {game.scores[game.sides[seat]] for seat in game.winners} == {best(game.scores)}
    assert won


def test_what_has_no_result_is_not_rated() -> None:
    rules = REGISTRY["seven_up", 1]
    bodies = play(rules, 3, with_rulings=False, seat_count=3, events_max=30).bodies
    running, head = of_bodies(bodies), len(bodies) - 1
    assert result_of(project(running)) is None
    broken_off = result_of(project(of_bodies([*bodies, GameClosed("late", (1,))])))
    assert broken_off is not None
    assert (broken_off.winners, broken_off.players, broken_off.sides) == ((1,), ("p0", "p1", "p2"), (0, 1, 2))
    for more in (
        [GameClosed("late")],
        [GameClosed("late", (1,)), MovesRetracted(head)],
        # Closed before the first turn, or with every turn taken back.
        [MovesRetracted(1), GameClosed("nobody came", (1,))],
    ):
        assert result_of(project(of_bodies([*bodies, *more]))) is None
    started = GameStarted((Player("a"), Player("b")), rules.options())
    assert result_of(project(of_bodies([started, GameClosed("nobody came", (1,))]))) is None


def test_rows_fit_their_table() -> None:
    ratings, rows = Ratings(), list[Row]()
    games = [
        project((place * 10_000 + position, event) for position, event in game) for place, game in enumerate(recorded())
    ]
    for one in filter(None, map(result_of, games)):
        rows += ratings.rate(one)
    assert len({row[2] for row in rows}) == len(GAMES)
    with duckdb.connect() as connection:
        create(connection)
        connection.register("rows", arrow_table(CHANGES, rows))
        connection.execute("INSERT INTO rating_changes SELECT * FROM rows")
        assert connection.execute("SELECT * FROM rating_changes ORDER BY rowid").fetchall() == rows
