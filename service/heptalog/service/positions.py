"""What readers ask of one game: states, legal moves, standings; of live games at hand, or read from the log."""

from collections.abc import Iterator
from itertools import islice

from msgspec import Struct

from heptalog.replay.errors import Code, NotFound, Refused
from heptalog.replay.events import Body
from heptalog.replay.fold import Standing, legal_of, standing_of
from heptalog.replay.rules import State, Viewer
from heptalog.service.live import LiveGame, LiveGames, head_at, load
from heptalog.service.store import Head, LogStore


class Position(Struct, frozen=True):
    """One game after one of its events, with its rules at hand."""

    game: LiveGame
    sequence: int
    state: State

    @property
    def standing(self) -> Standing:
        """The report of the game file."""
        return standing_of(self.sequence, self.state)

    def view(self, viewer: Viewer) -> Struct:
        """What one viewer may see."""
        self.check_seat(viewer.seat)
        return self.game.sight(self.sequence, viewer).view

    def check_seat(self, seat: int) -> None:
        """Raise Refused for a seat that is not at this table."""
        seats = len(self.game.fold.started.players)
        if seat >= seats:
            raise Refused(Code.SEAT_UNKNOWN, rule="api", game_id=self.game.game_id, seat=seat, seats=seats)

    def legal(self) -> Iterator[Body]:
        """Every move that would be accepted now; none once the arbiter has closed the game."""
        return legal_of(self.game.fold.rules, self.state)


class Positions:
    """Answers about single games; safe from any thread."""

    def __init__(self, store: LogStore, live: LiveGames) -> None:
        self._store = store
        self._live = live

    def at(self, game_id: str, sequence: int | None = None) -> Position:
        """A game after one of its durable events, by default the last. Raises NotFound where it is not there."""
        game = self.game(game_id, sequence or 0)
        if sequence is None:
            sequence = game.durable
        return Position(game, sequence, game.fold.states[sequence])

    def at_hand(self, game_id: str, sequence: int) -> LiveGame | None:
        """A live game with this event durable; None where it is not at hand."""
        game = self._live.find(game_id)
        return None if game is None or game.durable < sequence else game

    def game(self, game_id: str, sequence: int) -> LiveGame:
        """A game as it is at hand, or read from the log, with this event durable. Raises NotFound where it is not."""
        game = self.at_hand(game_id, sequence)
        if game is None:
            # A live game is told of a commit a moment after the log has it, so the log has the last word.
            head = self.head(game_id).sequence
            if sequence > head:
                raise NotFound(Code.POSITION_AFTER_HEAD, rule="api", game_id=game_id, asked=sequence, head=head)
            game = load(self._store, game_id)
            assert game is not None, "a game with a head is there"
        return game

    def head(self, game_id: str) -> Head:
        """The head of a game. Raises NotFound."""
        head = self._store.head(game_id)
        if head is None:
            raise NotFound(Code.GAME_NOT_FOUND, rule="api", game_id=game_id)
        return head

    def head_at(self, game_id: str, sequence: int) -> Head:
        """What a game's head was when `sequence` was its last event. Raises NotFound."""
        head = self.head(game_id)
        if head.sequence == sequence:
            return head
        earlier = head_at(self._store, game_id, sequence)
        assert earlier is not None, "what is asked for was a head once"
        return earlier

    def moves(self, position: Position, *, seat: int | None, skip: int, count: int) -> list[Body]:
        """A page of legal moves, of one seat or of all."""
        moves = position.legal()
        if seat is not None:
            position.check_seat(seat)
            moves = (move for move in moves if getattr(move, "seat", None) == seat)
        return list(islice(moves, skip, skip + count))
