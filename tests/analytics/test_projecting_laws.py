"""Laws of projections, for every registered game: what adds up, what makes no difference, and what never shows."""

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any, Final

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from heptalog.analytics.projecting.arrow import arrow_tables
from heptalog.analytics.projecting.game import GameProjection, project
from heptalog.analytics.projecting.rounds import MATCH_WON
from heptalog.analytics.projecting.rulings import CALLS
from heptalog.analytics.projecting.turns import TURNS
from heptalog.analytics.tables import TABLES, columns_of, create
from heptalog.replay.cards import SUITS
from heptalog.replay.errors import Refused
from heptalog.replay.events import Body, CardsDealt, DealerDrawn, GameStarted, OpenerDrawn, Player, snake_name
from heptalog.replay.evidence.seals import map_parts, sealable_parts, values_of
from heptalog.replay.fold import Status
from heptalog.replay.outcomes import RoundEndedBy
from heptalog.replay.registry import GAMES
from heptalog.replay.rules import PUBLIC, AnyRules
from heptalog.replay.seven_rocks.events import Arm, TilesDealt
from heptalog.replay.seven_up.events import CardsRun, Decision, SevenUp
from heptalog.replay.seven_up.outcomes import VoidReason
from heptalog.replay.seven_up.tables import DECK
from tests.analytics.given_games import Game, of_bodies, played, recorded
from tests.analytics.rows_common import told
from tests.analytics.rows_games import rows_of
from tests.analytics.test_projecting import named
from tests.support import play

# What the table does where no seat may act.
OF_THE_TABLE: Final = {DealerDrawn, OpenerDrawn, CardsDealt, CardsRun, TilesDealt}


@play.EACH_GAME
@settings(max_examples=40)
@given(data=st.data())
def test_rows_of_any_game_are_those_of_the_oracle(rules: AnyRules, data: st.DataObject) -> None:
    game = of_bodies(data.draw(play.games(rules)).bodies)
    assert named(project(game).rows()) == rows_of(told(game))


@play.EACH_GAME
def test_every_body_is_a_turn_a_call_or_the_tables(rules: AnyRules) -> None:
    for body in rules.bodies:
        assert [body in TURNS, body in CALLS, body in OF_THE_TABLE].count(True) == 1, body


@play.EACH_GAME
@settings(max_examples=40)
@given(data=st.data())
def test_what_is_scored_adds_up_to_the_scores(rules: AnyRules, data: st.DataObject) -> None:
    game = project(of_bodies(data.draw(play.games(rules)).bodies))
    rows = named(game.rows())
    added: Counter[int] = Counter()
    for table, column, sign in (
        ("placements", "points", 1),
        ("settlements", "deduction", -1),
        ("points", "points", 1),
        ("penalties", "penalty", 1),
        ("penalties", "bonus", -1),
    ):
        for row in rows.get(table, ()):
            added[row["side"]] += sign * row[column]
    scores = game.state.scores
    assert tuple(added[side] for side in range(len(scores))) == scores
    changes = [row["score_changes"] for row in rows["rounds"]]
    assert tuple(sum(change[side] for change in changes) for side in range(len(scores))) == scores
    assert sum(row["turns"] for row in rows["rounds"]) == rows["games"][0]["turns"] == game.turn_count
    assert sum(row["turns"] for row in rows["seats"]) == game.turn_count
    assert sum(not row["is_retracted"] for row in rows["turns"]) == game.turn_count


@play.EACH_GAME
@settings(max_examples=15)
@given(data=st.data())
def test_rows_in_between_make_no_difference(rules: AnyRules, data: st.DataObject) -> None:
    game = of_bodies(data.draw(play.games(rules, events_max=120)).bodies)
    (position, first), *others = game
    step_by_step = GameProjection(first, position)
    for count, (place, event) in enumerate(others, start=1):
        assert step_by_step.rows() == project(game[:count]).rows() == step_by_step.rows()
        step_by_step.advance(event, place)
    assert step_by_step.rows() == project(game).rows()
    assert (step_by_step.event_count, step_by_step.last_position) == (len(game), game[-1][0])


@pytest.mark.parametrize("games", [recorded, played])
def test_rows_fit_their_tables_and_come_back_as_they_were(games: Callable[[], list[Game]]) -> None:
    projected = [_at(place * 100_000, game) for place, game in enumerate(games())]
    tables = arrow_tables(projected)
    assert tables.keys() == {table.name for table in TABLES if table.is_of_games}
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        create(connection)
        for table in TABLES:
            if table.is_of_games:
                connection.register("rows", tables[table.name])
                connection.execute(f"INSERT INTO {table.name} SELECT * FROM rows")
                connection.unregister("rows")
                right = [row for game in projected for row in game.rows().get(table.name, ())]
                assert _read(connection, table.name) == right, table.name


def test_any_text_comes_back_as_it_was() -> None:
    texts = ("", "NUL \0 in it", "Ñandú, 七並べ", 'quotes " and \\', "\u2028 \x7f", "🂱", "'; DROP TABLE games; --")
    for text in texts:
        started = GameStarted((Player("a", text), Player("b" + text)), SevenUp(), tournament=text, table=text)
        game = project(of_bodies([started], "g" + text))
        with duckdb.connect() as connection:
            create(connection)
            for name in ("games", "seats"):
                connection.register("rows", arrow_tables([game])[name])
                connection.execute(f"INSERT INTO {name} SELECT * FROM rows")
                connection.unregister("rows")
            assert _read(connection, "seats") == game.rows()["seats"]
            assert _read(connection, "games") == game.rows()["games"]


def _at(start: int, game: Game) -> GameProjection:
    return project((start + position, event) for position, event in game)


def _read(connection: duckdb.DuckDBPyConnection, table: str) -> list[tuple[Any, ...]]:
    """The rows of a table as a projection gives them: times are microseconds, lists are tuples."""
    (columns,) = [columns_of(one) for one in TABLES if one.name == table]
    told_as = {"TIMESTAMP WITH TIME ZONE": "epoch_us({})"}
    names = ", ".join(told_as.get(column.type, "{}").format(column.name) for column in columns)
    rows = connection.execute(f"SELECT {names} FROM {table} ORDER BY rowid").fetchall()
    return [tuple(map(_frozen, row)) for row in rows]


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_frozen(item) for item in value)
    return tuple(value.values()) if isinstance(value, dict) else value


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.key)
def test_hidden_hands_never_show(rules: AnyRules) -> None:
    """Two games that everybody at the table sees alike have the same rows, whatever the hands."""
    compared = 0
    for seed in range(60):
        random = Random(seed)
        game = of_bodies(play.play(rules, seed, events_max=250).bodies)
        deals = [place for place, (_, event) in enumerate(game) if isinstance(event.body, CardsDealt | TilesDealt)]
        for start in deals[:4]:
            compared += _compare(game, start, random)
    assert compared > 1_000


def _compare(game: Game, start: int, random: Random) -> int:
    """Play on from a deal in which two hidden cards have changed places, as long as the public cannot tell."""
    one, other = _two_hidden(game[start][1].body, random)
    right, twin = project(game[:start]), project(game[:start])
    compared = 0
    for position, event in game[start:]:
        right.advance(event, position)
        try:
            twin.advance(replace(event, body=_exchanged(event.body, one, other)), position)
        except Refused:
            # It shows in what may be played, so from here on they are two different games.
            return compared
        if right.is_over or twin.is_over or _seen(right) != _seen(twin):
            return compared
        assert right.rows() == twin.rows(), (one, other, event.sequence)
        compared += 1
    return compared


def _two_hidden(deal: Body, random: Random) -> tuple[str, str]:
    """Two cards that change places: both dealt, or in Seven Up one of them still in the stock."""
    dealt = [card for _, part in sealable_parts(deal) for card in values_of(part)]
    one = random.choice(dealt)
    turned = getattr(deal, "turned", "")
    others = set(DECK if turned else dealt) - {one, turned}
    return one, random.choice(sorted(others))


def _exchanged(body: Body, one: str, other: str) -> Body:
    names = {one: other, other: one}

    def renamed(part: Any) -> Any:
        return replace(part, **{part.value_field: tuple(names.get(card, card) for card in values_of(part))})

    return map_parts(body, renamed) if body.sealed else body


def _seen(game: GameProjection) -> Any:
    return game.rules.view(game.state, PUBLIC)


def test_the_types_of_columns_know_every_word_that_follows_by_the_rules() -> None:
    said = {
        ("games", "status"): {status.value for status in Status},
        ("rounds", "ended_by"): {*RoundEndedBy, MATCH_WON},
        ("placements", "arm"): set(Arm),
        ("deals", "decision"): set(Decision),
        ("deals", "trump"): set(SUITS),
        ("deals", "void_reason"): set(VoidReason),
        ("turns", "kind"): {snake_name(body).upper() for body in TURNS},
        ("rulings", "kind"): {snake_name(body).upper() for body in CALLS},
    }
    values = {(table.name, column.name): set(column.values) for table in TABLES for column in columns_of(table)}
    assert {key: values[key] for key in said} == said


def test_a_position_is_the_logs_and_not_the_games() -> None:
    for game in recorded()[::7]:
        shifted = project((position + 5, event) for position, event in game)
        plain = project(game)
        assert shifted.game_number == plain.game_number + 5
        assert [row[2] - 5 for row in shifted.rows()["turns"]] == [row[2] for row in plain.rows()["turns"]]  # type: ignore[operator]
