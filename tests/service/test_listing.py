"""Lists of games around those that cannot be read: pages, tokens and both clients, whichever games they are."""

from collections.abc import Iterator, Sequence

import grpc
import pytest

from heptalog.replay.errors import Code, Corrupt, HeptalogError
from heptalog.replay.events import GameClosed, GameStarted
from heptalog.replay.seven_rocks.events import SevenRocks
from heptalog.service.client import AsyncClient, GameFilter, Status
from heptalog.service.listing import UnreadGame, listed
from heptalog.service.status import unpacked
from heptalog.service.store import GameEntry, NumberedGame
from heptalog.service.store.memory import MemoryStore
from heptalog.v1 import games_pb2, games_pb2_grpc
from tests.service.asking import PLAYERS, failure_of
from tests.support.serving import Service

GAMES = tuple(f"g{number}" for number in range(12))
WHOLE = GameFilter()
CUP = GameFilter(tournament="cup")


class Damaged(MemoryStore):
    """A store in which some games cannot be read, so that no page can on which one of them is."""

    damaged: frozenset[str] = frozenset()
    asked = 0

    def games(self, wanted: GameFilter, *, after: int = 0, limit: int = 100) -> list[NumberedGame]:
        self.asked += 1
        found = super().games(wanted, after=after, limit=limit)
        for entry in found:
            self._check(entry.game_id)
        return found

    def game_names(self, wanted: GameFilter, *, after: int = 0, limit: int = 100) -> list[tuple[int, str]]:
        found = super().games(wanted, after=after, limit=limit)
        return [(entry.number, entry.game_id) for entry in found]

    def game(self, game_id: str) -> NumberedGame | None:
        self._check(game_id)
        return super().game(game_id)

    def _check(self, game_id: str) -> None:
        if game_id in self.damaged:
            raise Corrupt(Code.RECORD_DAMAGED, rule="evidence", path="log.duckdb", game_id=game_id)


@pytest.fixture
def store() -> Damaged:
    """A store that is whole so far."""
    return Damaged()


@pytest.fixture
def shelf(store: Damaged) -> Iterator[Service]:
    """A dozen games, every second of a cup, the last four closed."""
    with Service(store) as service:
        client = service.client()
        for number, game_id in enumerate(GAMES):
            started = GameStarted(PLAYERS[:4], SevenRocks(), tournament="cup" if number % 2 else "")
            recorder = client.create_game(started, game_id=game_id)
            if number >= 8:
                recorder.append(GameClosed())
        yield service


DAMAGES = [(), (0,), (11,), (5,), (0, 1, 2), (3, 4, 9), (1, 11), tuple(range(12))]


@pytest.mark.parametrize("damaged", DAMAGES)
@pytest.mark.parametrize("wanted", [WHOLE, CUP, GameFilter(status=Status.CLOSED), GameFilter(ruleset="chess")])
def test_each_game_that_fits_is_told_once_and_in_its_place(
    damaged: Sequence[int], wanted: GameFilter, store: Damaged, shelf: Service
) -> None:
    fitting = [entry.game_id for entry in store.games(wanted)]
    store.damaged = frozenset(GAMES[number] for number in damaged)

    right = [f"-{name}" if name in store.damaged else name for name in fitting]
    for size in (1, 2, 5, 11, 12, 13):
        found = listed(store, wanted, after=0, limit=size)
        assert [f"-{one.game_id}" if isinstance(one, UnreadGame) else one.game_id for one in found] == right[:size]
        assert told_by(shelf, wanted, size) == told_by_other(shelf, wanted, size) == right


def told_by(service: Service, wanted: GameFilter, page_size: int) -> list[str]:
    """What the client for threads lists, with a mark at what cannot be read."""
    told: list[str] = []
    told.extend(
        entry.game_id
        for entry in service.client().games(wanted, page_size=page_size, unread=lambda name, _: told.append(f"-{name}"))
    )
    return told


def told_by_other(service: Service, wanted: GameFilter, page_size: int) -> list[str]:
    """The same by the client for asyncio."""
    told: list[str] = []

    async def ask(client: AsyncClient) -> None:
        listing = client.games(wanted, page_size=page_size, unread=lambda name, _: told.append(f"-{name}"))
        async for entry in listing:
            told.append(entry.game_id)  # noqa: PERF401  # others are told in between

    service.asynchronous(ask)
    return told


def test_who_does_not_ask_for_them_is_given_no_list_without_them(store: Damaged, shelf: Service) -> None:
    store.damaged = frozenset({"g6"})
    listing = shelf.client().games(page_size=3)
    assert [next(listing).game_id for _ in range(3)] == ["g0", "g1", "g2"]
    with pytest.raises(Corrupt) as caught:
        list(listing)
    assert (caught.value.code, caught.value.facts["game_id"]) == (Code.RECORD_DAMAGED, "g6")
    # Where it is on no page nobody is told of it.
    assert [entry.game_id for entry in shelf.client().games(CUP)] == list(GAMES[1::2])


def test_why_is_what_the_game_itself_says(store: Damaged, shelf: Service) -> None:
    store.damaged = frozenset({"g1"})
    told: list[HeptalogError] = []
    entries = list(shelf.client().games(CUP, unread=lambda _, error: told.append(error)))
    assert [type(entry) for entry in entries] == [GameEntry] * 5
    with pytest.raises(Corrupt) as caught:
        shelf.client().game("g1")
    (error,) = told
    assert (type(error), error.code, error.rule, error.facts) == (
        Corrupt,
        caught.value.code,
        caught.value.rule,
        caught.value.facts,
    )


def test_a_token_belongs_to_how_it_was_asked(store: Damaged, shelf: Service) -> None:
    store.damaged = frozenset({"g0", "g2"})
    stub = games_pb2_grpc.GamesServiceStub(shelf.channel())
    page = stub.ListGames(games_pb2.ListGamesRequest(page_size=3, with_unread=True))
    assert [game.game_id for game in page.games] == ["g1"]
    assert [(unread.game_id, unread.games_before) for unread in page.unread] == [("g0", 0), ("g2", 1)]
    assert unpacked(page.unread[0].failure).code is Code.RECORD_DAMAGED
    request = games_pb2.ListGamesRequest(page_size=3, page_token=page.next_page_token)
    with pytest.raises(grpc.RpcError) as refused:
        stub.ListGames(request)
    assert failure_of(refused.value).field == "page_token"
    request.with_unread = True
    assert [game.game_id for game in stub.ListGames(request).games] == ["g3", "g4", "g5"]


def test_a_whole_list_takes_one_question_and_a_damaged_one_few(store: Damaged, shelf: Service) -> None:
    del shelf
    store.asked = 0
    assert len(listed(store, WHOLE, after=0, limit=12)) == 12
    assert store.asked == 1
    store.damaged, store.asked = frozenset({"g7"}), 0
    assert len(listed(store, WHOLE, after=0, limit=12)) == 12
    assert store.asked <= 10
