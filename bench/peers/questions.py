"""What is asked of every engine: the same text, of the same rows."""

import csv
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

from bench.peers.peer import Figures, Settings, quantile

# The columns that are asked for, in types that every engine has.
COLUMNS: Final[dict[str, dict[str, str]]] = {
    "games": {
        "game_number": "BIGINT",
        "game_id": "TEXT",
        "tournament": "TEXT",
        "player_count": "INTEGER",
        "side_count": "INTEGER",
        "status": "TEXT",
        "rounds": "INTEGER",
        "turns": "INTEGER",
        "ruleset": "TEXT",
    },
    "seats": {
        "game_number": "BIGINT",
        "game_id": "TEXT",
        "seat": "INTEGER",
        "player_id": "TEXT",
        "score": "INTEGER",
        "has_won": "BOOLEAN",
        "turns": "INTEGER",
        "ruleset": "TEXT",
    },
    "turns": {
        "game_number": "BIGINT",
        "game_id": "TEXT",
        "sequence": "INTEGER",
        "round": "INTEGER",
        "seat": "INTEGER",
        "player_id": "TEXT",
        "kind": "TEXT",
        "piece": "TEXT",
        "think_seconds": "DOUBLE PRECISION",
        "is_retracted": "BOOLEAN",
        "ruleset": "TEXT",
    },
}
# What whoever asks such questions would index.
INDEXES: Final = (
    "CREATE INDEX games_by_number ON games (game_number)",
    "CREATE INDEX seats_by_game ON seats (game_number)",
    "CREATE INDEX turns_by_id ON turns (game_id)",
)
ONE_GAME: Final = "one game by its id"
QUESTIONS: Final = {
    "standings": """
        SELECT
            games.tournament, seats.ruleset, seats.player_id, count(*) AS games,
            count(*) FILTER (WHERE seats.has_won) AS won, sum(seats.score) AS points,
            rank() OVER (
                PARTITION BY games.tournament, seats.ruleset
                ORDER BY count(*) FILTER (WHERE seats.has_won) DESC, sum(seats.score) DESC
            ) AS place
        FROM games INNER JOIN seats ON games.game_number = seats.game_number
        WHERE games.status <> 'RUNNING'
        GROUP BY games.tournament, seats.ruleset, seats.player_id
    """,
    "totals of every player": """
        SELECT player_id, count(*) AS games, sum(turns) AS turns, sum(score) AS points, max(score) AS best
        FROM seats GROUP BY player_id
    """,
    "advantage of a seat": """
        SELECT
            games.ruleset, games.player_count, seats.seat, count(*) AS games,
            count(*) FILTER (WHERE seats.has_won) AS won, avg(seats.score) AS mean_score
        FROM games INNER JOIN seats ON games.game_number = seats.game_number
        WHERE games.status = 'WON'
        GROUP BY games.ruleset, games.player_count, seats.seat
    """,
    "lengths of games": """
        SELECT
            ruleset, player_count, count(*) AS games,
            min(turns) AS shortest, avg(turns) AS mean, max(turns) AS longest
        FROM games WHERE status = 'WON' GROUP BY ruleset, player_count
    """,
    "pieces played, by seat": """
        SELECT ruleset, piece, seat, count(*) AS plays
        FROM turns WHERE piece IS NOT NULL AND NOT is_retracted
        GROUP BY ruleset, piece, seat
    """,
    "think times": """
        SELECT
            ruleset, player_id, count(think_seconds) AS turns,
            avg(think_seconds) AS mean, max(think_seconds) AS longest
        FROM turns WHERE NOT is_retracted
        GROUP BY ruleset, player_id
    """,
    ONE_GAME: """
        SELECT sequence, round, seat, player_id, kind, piece FROM turns WHERE game_id = '{game_id}' ORDER BY sequence
    """,
}
_GAMES_ASKED: Final = 50


class QuestionPeer(ABC):
    """An engine that holds the rows: each question is a work."""

    name: ClassVar[str]
    note: ClassVar[str]
    version: str
    works = tuple(QUESTIONS)

    def __init__(self, settings: Settings) -> None:
        self._seconds = settings.seconds
        self._game_ids = json.loads((settings.material / "game_ids.json").read_text())[:_GAMES_ASKED]

    @abstractmethod
    def asked(self, sql: str) -> Sequence[Sequence[Any]]:
        """Every row of the answer, as Python's own values."""

    def measure(self, work: str) -> Figures:
        """Ask again and again for so long: questions a second, and milliseconds of each."""
        times: list[float] = []
        rows = 0
        checksum = 0
        end = time.perf_counter() + self._seconds
        while not times or time.perf_counter() < end:
            sql = QUESTIONS[work].format(game_id=self._game_ids[len(times) % len(self._game_ids)])
            begin = time.perf_counter()
            answer = self.asked(sql)
            times.append(time.perf_counter() - begin)
            if len(times) == 1:
                rows = len(answer)
                checksum = sum(value for row in answer for value in row if isinstance(value, int))
        rate = len(times) / sum(times)
        times.sort()
        # The same of every engine, or they were not asked the same.
        others = {"rows": float(rows), "sum": float(checksum)}
        return Figures(rate, quantile(times, 0.5) * 1e3, quantile(times, 0.99) * 1e3, others)


def table_of(name: str) -> str:
    """The statement that makes a table."""
    columns = ", ".join(f"{column} {kind}" for column, kind in COLUMNS[name].items())
    return f"CREATE TABLE {name} ({columns})"


def rows_of(material: Path, name: str) -> list[list[str | None]]:
    """The rows of a table as text, NULL as None."""
    with (material / f"{name}.csv").open(newline="") as file:
        return [[value or None for value in row] for row in csv.reader(file)]
