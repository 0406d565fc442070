"""The log as another process reads it: a Log over a socket, in the same order and from one moment an iterator."""

import socket
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from heptalog.service.store import Refusal
from heptalog.service.tables.messages import (
    Answer,
    AskEnd,
    End,
    Failed,
    Question,
    ReadAll,
    ReadGames,
    ReadRefusals,
    ReadTile,
    Record,
    Records,
    Refusals,
    Tile,
    Wire,
)

_Connection: TypeAlias = Wire[Question, Answer]


@contextmanager
def connected(path: str) -> Iterator["RemoteSource"]:
    """A log that a server gives at a socket. Raises OSError where nobody does."""
    source = RemoteSource(path)
    try:
        yield source
    finally:
        source.close()


class RemoteSource:
    """A Log for one thread. Each of several iterators at a time has a connection of its own."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._idle: list[_Connection] = [self._opened()]

    def position(self) -> int:
        return self._end().position

    def refusal_count(self) -> int:
        return self._end().refusals

    def read_all(self, *, start: int | None = None, limit: int = 0) -> Generator[Record, None, None]:
        for answer in self._answers(ReadAll(1 if start is None else start, limit)):
            assert isinstance(answer, Records), answer
            yield from answer.records

    def read_games(self, game_ids: Sequence[str]) -> Generator[Record, None, None]:
        for answer in self._answers(ReadGames(tuple(game_ids))):
            assert isinstance(answer, Records), answer
            yield from answer.records

    def refusals(self, game_id: str = "", *, after: int = 0) -> Generator[Refusal, None, None]:
        for answer in self._answers(ReadRefusals(game_id, after)):
            assert isinstance(answer, Refusals), answer
            yield from answer.refusals

    def tile(self, level: int, index: int, width: int) -> list[bytes]:
        (answer,) = self._answers(ReadTile(level, index, width))
        assert isinstance(answer, Tile), answer
        return answer.entries

    def close(self) -> None:
        """Let go of the server."""
        while self._idle:
            self._idle.pop().close()

    def _end(self) -> End:
        (answer,) = self._answers(AskEnd())
        assert isinstance(answer, End), answer
        return answer

    def _answers(self, question: Question) -> Generator[Answer, None, None]:
        """What is said to a question, piece by piece. Raises HeptalogError as the server does."""
        connection = self._idle.pop() if self._idle else self._opened()
        try:
            connection.send(question)
            is_last = False
            while not is_last:
                answer = connection.receive()
                is_last = not isinstance(answer, Records | Refusals) or answer.is_last
                if is_last:
                    self._idle.append(connection)
                if isinstance(answer, Failed):
                    raise answer.error
                yield answer
        finally:
            # What is still on its way to who asks no more must not be taken for the next answer.
            if connection not in self._idle:
                connection.close()

    def _opened(self) -> _Connection:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(self._path)
        except OSError:
            connection.close()
            raise
        return Wire(connection, Answer)
