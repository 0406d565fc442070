"""How a game is found by its name: one question without a moment of its own, or none where it is certainly new."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from threading import Lock
from typing import Any

import duckdb

from heptalog.service.store.duck_games import numbers
from heptalog.service.store.duck_names import Names
from heptalog.service.store.migrate import USE


class Finder:
    """A connection that is asked for the numbers of games, by any thread. Whoever writes has it remember the names."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        check: Callable[[], None],
        translate: Callable[[duckdb.Error], Exception],
    ) -> None:
        """`check` raises where nothing may be asked any more."""
        self._connection = connection
        self._names: Names | None = None
        self._check = check
        self._translate = translate
        self._lock = Lock()

    def begin(self) -> None:
        """Make the connection ready."""
        self._connection.execute(USE)

    def remember(self, names: Names) -> None:
        """Ask nothing about games that are not among these."""
        self._names = names

    def numbers(self, game_ids: list[str]) -> dict[str, int]:
        """The numbers of those of these games that are there."""
        if not game_ids:
            return {}
        with self._lock:
            self._check()
            try:
                if self._names is not None:
                    self._names.read_on(self._rows)
                    game_ids = [game_id for game_id in game_ids if self._names.may_have(game_id)]
                return numbers(self._rows, game_ids)
            except duckdb.Error as error:
                raise self._translate(error) from error

    def expect(self, game_ids: Iterable[str]) -> None:
        """These games may be there from now on: said before they are committed."""
        if self._names is not None:
            self._names.add(game_ids)

    def close(self) -> None:
        """Let go of the connection; a database that is broken cannot be put in order any more."""
        with suppress(duckdb.Error):
            self._connection.close()

    def _rows(self, statement: str, parameters: object) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement, parameters).fetchall()
