"""What is kept is of one form, whose number says so: nobody may change tables or rows and forget it."""

import hashlib
from pathlib import Path
from types import MappingProxyType
from typing import Final

from msgspec.json import encode

from heptalog.analytics.keeping.manifest import FORM
from heptalog.analytics.projecting.game import project
from heptalog.analytics.rating import Ratings, result_of
from heptalog.analytics.tables import TABLES, columns_of
from heptalog.replay.gamefile import read_events

GOLDEN: Final = Path(__file__).parents[1] / "golden"
GAMES: Final = ("seven_rocks/001", "seven_rocks/002", "seven_up/001", "seven_up/002", "seven_bridge/001")
# Of each form: the columns of all tables, and the rows of the games above. Where one of the two is another, what older
# programs have kept is not what this one would keep: FORM is one more, and has its line here.
FORMS: Final = MappingProxyType(
    {
        1: (
            "97ec90844d1f7baa01e296fe1eeec7d249e3db39a6a3c1fa5bc38cd252c422d2",
            "2c4476f5586f11490bc7866a60a532dcfb3608e3d9ede7f4a6de73c433a9cfdf",
        ),
    }
)


def test_whoever_changes_the_tables_has_them_made_anew() -> None:
    assert FORMS[FORM] == (_columns(), _rows())
    assert len(set(FORMS.values())) == len(FORMS)


def _columns() -> str:
    tables = {
        table.name: [(column.name, column.type, column.values) for column in columns_of(table)] for table in TABLES
    }
    return _digest(tables)


def _rows() -> str:
    rows = []
    ratings = Ratings()
    position = 0
    for name in GAMES:
        events = list(read_events((GOLDEN / f"{name}.jsonl").read_bytes().splitlines(keepends=True)))
        game = project(enumerate(events, start=position + 1))
        position += len(events)
        rows.append(game.rows())
        if (result := result_of(game)) is not None:
            rows.append({"rating_changes": ratings.rate(result)})
    return _digest(rows)


def _digest(value: object) -> str:
    return hashlib.sha256(encode(value)).hexdigest()
