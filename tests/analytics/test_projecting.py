"""Every table of games against its oracle, row by row, on every kind of game that there is."""

from collections import Counter

import pytest

from heptalog.analytics.projecting.game import project
from heptalog.analytics.projecting.games import GAME_ROWS
from heptalog.analytics.tables import TABLES, columns_of
from heptalog.replay.registry import GAMES
from tests.analytics.given_games import SHARED, SOURCES, Game
from tests.analytics.rows_common import COMMON, Row, told
from tests.analytics.rows_games import ORACLES, rows_of

TABLES_OF_GAMES = [table for table in TABLES if table.is_of_games]


@pytest.fixture(params=SOURCES)
def games(request: pytest.FixtureRequest) -> list[Game]:
    """Games from one source."""
    if request.param == "shared" and not SHARED.exists():
        pytest.skip("no recorded games beside the project")
    return SOURCES[request.param]()


def test_rows_are_those_of_the_oracle(games: list[Game]) -> None:
    counts: Counter[str] = Counter()
    for game in games:
        rows = named(project(game).rows())
        right = rows_of(told(game))
        assert rows.keys() == right.keys()
        for table, ones in right.items():
            assert rows[table] == ones, (game[0][1].game_id, table)
            counts[table] += len(ones)
    assert counts.keys() == {table.name for table in TABLES_OF_GAMES}
    assert all(counts[table.name] for table in TABLES_OF_GAMES), "every table has rows to compare"


def test_every_table_has_an_oracle_and_one_maker() -> None:
    own = [table for maker in GAME_ROWS.values() for table in maker.tables]
    assert sorted([*COMMON, *own]) == sorted(table.name for table in TABLES_OF_GAMES)
    assert {key: set(maker.tables) for key, maker in GAME_ROWS.items()} == {key: set(ORACLES[key]) for key in ORACLES}


def test_every_registered_game_has_tables_of_its_own() -> None:
    # A new game may be recorded before it has any; who adds it says so here.
    assert {rules.key for rules in GAMES} - GAME_ROWS.keys() == set()


def named(rows: dict[str, list[tuple[object, ...]]]) -> dict[str, list[Row]]:
    """Rows with the names of their columns."""
    columns = {table.name: [column.name for column in columns_of(table)] for table in TABLES}
    return {table: [dict(zip(columns[table], row, strict=True)) for row in ones] for table, ones in rows.items()}
