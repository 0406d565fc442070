"""Games: opened once, told as they stand, and listed in pages that hold while others are opened."""

from collections.abc import Callable
from functools import partial
from typing import Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from msgspec.structs import replace

from heptalog.replay import codec
from heptalog.replay.errors import Code, Conflict, Malformed, NotFound, Refused
from heptalog.replay.events import Event, GameClosed, GameStarted, MovesRetracted, Player, Tag
from heptalog.replay.seven_bridge.events import SevenBridge
from heptalog.replay.seven_rocks.events import SevenRocks
from heptalog.replay.seven_up.events import SevenUp
from heptalog.replay.times import SECOND
from heptalog.service.appends import Append
from heptalog.service.client import AsyncClient, Client, GameEntry, GameFilter, Status
from heptalog.service.config import MESSAGE_SIZE_MAX
from heptalog.service.pages import token_for
from heptalog.v1 import event_pb2, games_pb2, games_pb2_grpc
from tests.service.asking import FOREIGN, PLAYERS, ROCKS, Failure, failure_of, new_game, remark
from tests.support.serving import STARTED_AT, Service


def games_stub(service: Service) -> games_pb2_grpc.GamesServiceStub:
    """The generated stub."""
    return games_pb2_grpc.GamesServiceStub(service.channel())


def failure_to(call: Callable[[], Any]) -> Failure:
    """What a failing call says."""
    with pytest.raises(grpc.RpcError) as refused:
        call()
    return failure_of(refused.value)


def creation(event: Event) -> games_pb2.CreateGameRequest:
    """The request that opens a game."""
    return games_pb2.CreateGameRequest(event=codec.message_of(event))


def test_ids_are_made_where_none_are_given(each_service: Service) -> None:
    stub = games_stub(each_service)
    first = stub.CreateGame(creation(Event(0, ROCKS)))
    assert (first.game_id, first.head.sequence, first.head.position) == ("made-0", 0, 1)
    again = stub.CreateGame(creation(Event(0, ROCKS)))
    assert again.game_id != first.game_id
    assert not again.deduplicated
    (stored,) = each_service.client().read(first.game_id)
    event, _ = codec.decode(stored.record)
    assert (event.game_id, event.event_id, event.recorded_at) == (first.game_id, "made-1", STARTED_AT)


def test_a_game_is_opened_once_under_the_ids_chosen(each_service: Service) -> None:
    stub = games_stub(each_service)
    event = Event(0, ROCKS, game_id="game", event_id="start", occurred_at=STARTED_AT)
    first = stub.CreateGame(creation(event))
    each_service.client().append(Append("game", 0, (remark("a"),)))
    again = stub.CreateGame(creation(event))
    assert (again.game_id, again.head, again.deduplicated) == ("game", first.head, True)
    other = replace(event, body=replace(ROCKS, table="7"))
    assert failure_to(lambda: stub.CreateGame(creation(other))).reason == "EVENT_ID_REUSED"
    for stranger in (replace(event, event_id="other"), replace(event, event_id="")):
        failure = failure_to(partial(stub.CreateGame, creation(stranger)))
        assert (failure.code.name, failure.reason) == ("ALREADY_EXISTS", "GAME_EXISTS")
    assert each_service.client().game("game").head.sequence == 1


def test_what_is_wrong_with_a_first_event_is_told_with_its_own_path(service: Service) -> None:
    stub = games_stub(service)
    wrong = {
        "event": creation(Event(0, ROCKS)),
        "event.game_started": creation(Event(0, ROCKS)),
        "event.game_id": creation(Event(0, ROCKS, game_id="a")),
        "event.event_id": creation(Event(0, ROCKS, event_id="a b")),
        "event.recorded_at": creation(Event(0, ROCKS, recorded_at=STARTED_AT)),
        "event.sequence": creation(Event(4, ROCKS)),
        "event.occurred_at": creation(Event(0, ROCKS)),
    }
    wrong["event"].event.ClearField("game_started")
    wrong["event.game_started"].event.game_started.ClearField("seven_rocks")
    wrong["event.game_id"].event.game_id = "x" * 129
    wrong["event.occurred_at"].event.occurred_at.CopyFrom(Timestamp(seconds=-1))
    for field, request in wrong.items():
        failure = failure_to(partial(stub.CreateGame, request))
        assert failure.code is grpc.StatusCode.INVALID_ARGUMENT, field
        assert failure.field in (field, "game_id"), field
    assert failure_to(lambda: stub.CreateGame(games_pb2.CreateGameRequest())).field == "event"
    assert service.store.position() == 0


def test_a_game_that_cannot_be_played_is_refused(service: Service) -> None:
    client = service.client()
    for started in (
        replace(ROCKS, players=PLAYERS[:3]),
        replace(ROCKS, players=(*PLAYERS[:3], Player("ana"))),
        replace(ROCKS, players=(*PLAYERS[:3], Player(""))),
        replace(ROCKS, rules=SevenRocks(target=0)),
    ):
        with pytest.raises(Refused):
            client.create_game(started, game_id="game")
    with pytest.raises(NotFound):
        client.game("game")
    failure = failure_to(lambda: games_stub(service).CreateGame(creation(Event(0, FOREIGN))))
    assert (failure.code.name, failure.reason) == ("FAILED_PRECONDITION", "NOT_STARTED")
    assert len(list(service.store.refusals())) == 5


def test_a_game_is_told_as_it_was_started_and_as_it_stands(each_service: Service) -> None:
    client = each_service.client()
    started = GameStarted(
        (Player("ana", "Ana Ñandú"), Player("bo"), Player("chie", "七")),
        SevenBridge(jokers=2, opening_seven="7H", ghosts=False),
        rules_version=1,
        tournament="cup",
        table="B 7",
        tags=(Tag("round", "final"), Tag("round", "last")),
    )
    recorder = client.create_game(started, game_id="game", recorded_by="ana")
    recorder.append(remark("a").body)
    game = client.game("game")
    assert (game.game_id, game.ruleset, game.rules_version, game.started) == ("game", "seven_bridge", 1, started)
    assert (game.status, game.created_at, game.head) == (Status.RUNNING, STARTED_AT, recorder.head)
    standing = recorder.standing()
    assert (standing.sequence, standing.scores, standing.to_act, standing.over) == (1, (0, 0, 0), (), False)
    assert client.resume("game").head == recorder.head


def test_a_status_follows_closings_and_takebacks(each_service: Service) -> None:
    client = each_service.client()
    recorder = client.create_game(ROCKS, game_id="game")
    recorder.append(GameClosed("rain", (0, 2)))
    assert client.game("game").status is Status.CLOSED
    assert client.standing("game").winners == (0, 2)
    recorder.append(MovesRetracted(0, "the sun"))
    assert client.game("game").status is Status.RUNNING
    assert not client.standing("game").over


def ids(games: list[GameEntry]) -> list[str]:
    """The games of a list, in its order."""
    return [game.game_id for game in games]


@pytest.fixture
def shelf(each_service: Service) -> Client:
    """Nine games: three of each kind, of two tournaments, one closed of each kind."""
    client = each_service.client()
    for number in range(9):
        options = (SevenRocks(), SevenUp(), SevenBridge())[number % 3]
        count = 3 if number % 3 else 4
        # Spare seats go to strangers, so that Ana sits at some tables only.
        players = (PLAYERS if number < 6 else tuple(Player(f"x{seat}", f"Guest {seat}") for seat in range(4)))[:count]
        started = GameStarted(players, options, tournament=("cup", "")[number % 2])
        recorder = client.create_game(started, game_id=f"g{number}")
        if number >= 6:
            recorder.append(GameClosed())
    return client


def test_every_filter_that_is_set_must_hold(shelf: Client) -> None:
    def found(**wanted: Any) -> list[int]:
        return [int(game.game_id[1:]) for game in shelf.games(GameFilter(**wanted))]

    assert found() == list(range(9))
    assert found(ruleset="seven_up") == [1, 4, 7]
    assert found(ruleset="chess") == []
    assert found(player_id="ana") == list(range(6))
    assert found(player_id="dag") == [0, 3]
    assert found(player_id="an") == []
    assert found(player="dag") == [0, 3]
    assert found(player="Guest 3") == found(player="x3", player_id="x3") == [6]
    assert found(player="Guest 2") == [6, 7, 8]
    assert found(player="Guest 2", player_id="x3") == [6]
    assert found(player="Guest") == []
    assert found(tournament="cup") == [0, 2, 4, 6, 8]
    assert found(status=Status.CLOSED) == [6, 7, 8]
    assert found(status=Status.RUNNING) == list(range(6))
    assert found(status=Status.WON) == []
    assert found(ruleset="seven_bridge", tournament="cup", status=Status.RUNNING, player_id="bo") == [2]
    created = [game.created_at for game in shelf.games()]
    assert created == sorted(created)
    assert found(created_from=created[4]) == [4, 5, 6, 7, 8]
    assert found(created_from=created[4] + 1) == [5, 6, 7, 8]
    assert found(created_before=created[4]) == [0, 1, 2, 3]
    assert found(created_before=created[4] + 1) == [0, 1, 2, 3, 4]
    assert found(created_from=created[2], created_before=created[3]) == [2]
    assert found(created_from=250_000_000_000 * SECOND) == []


def test_pages_hold_while_games_are_opened_and_change(shelf: Client) -> None:
    listing = shelf.games(GameFilter(tournament="cup"), page_size=2)
    seen = [next(listing), next(listing)]
    shelf.create_game(GameStarted(PLAYERS, SevenRocks(), tournament="cup"), game_id="late")
    shelf.resume("g0").append(GameClosed())
    shelf.resume("g4").append(remark("a").body)
    assert ids([*seen, *listing]) == ["g0", "g2", "g4", "g6", "g8", "late"]
    for size in (1, 2, 3, 9, 10, 11, 1_000):
        assert len(set(ids(list(shelf.games(page_size=size))))) == 10
    assert ids(list(shelf.games(page_size=10))) == ids(list(shelf.games()))


def test_both_clients_list_alike(each_service: Service, shelf: Client) -> None:
    async def listed(client: AsyncClient) -> list[GameEntry]:
        assert (await client.standing("g6")).over
        assert (await client.resume("g6")).head.sequence == 1
        return [game async for game in client.games(GameFilter(ruleset="seven_rocks"), page_size=2)]

    assert each_service.asynchronous(listed) == list(shelf.games(GameFilter(ruleset="seven_rocks")))


def test_the_last_page_has_no_token(each_service: Service, shelf: Client) -> None:
    del shelf
    stub = games_stub(each_service)
    for size, has_more in ((3, True), (8, True), (9, False), (10, False)):
        assert bool(stub.ListGames(games_pb2.ListGamesRequest(page_size=size)).next_page_token) is has_more


def test_a_token_is_of_its_own_request_only(each_service: Service, shelf: Client) -> None:
    del shelf
    stub = games_stub(each_service)
    request = games_pb2.ListGamesRequest(page_size=2, ruleset="seven_up")
    token = stub.ListGames(request).next_page_token
    legal = games_pb2.ListLegalMovesRequest(game_id="g0", page_token=token)
    for other in (
        games_pb2.ListGamesRequest(page_size=2, page_token=token),
        games_pb2.ListGamesRequest(page_size=2, page_token=token, ruleset="seven_rocks"),
        games_pb2.ListGamesRequest(page_size=2, page_token=token, ruleset="seven_up", player="ana"),
        games_pb2.ListGamesRequest(page_size=2, page_token=token, ruleset="seven_up", tournament="cup"),
    ):
        assert failure_to(partial(stub.ListGames, other)).field == "page_token"
    assert failure_to(lambda: stub.ListLegalMoves(legal)).field == "page_token"
    # The size of a page is nobody's business but the reader's.
    request = games_pb2.ListGamesRequest(page_size=5, page_token=token, ruleset="seven_up")
    assert [game.game_id for game in stub.ListGames(request).games] == ["g7"]


def test_a_token_that_nobody_gave_is_refused(service: Service) -> None:
    new_game(service.client())
    stub = games_stub(service)
    request = games_pb2.ListGamesRequest()
    forged = [token_for(request, after=after, at=at) for after, at in ((-1, 0), (0, -1), (2**63, 0), (2**80, 0))]
    for token in ("x", "七", "e30=", "!!!!", "A" * 5_000, *forged):
        failure = failure_to(partial(stub.ListGames, games_pb2.ListGamesRequest(page_token=token)))
        assert (failure.code.name, failure.field) == ("INVALID_ARGUMENT", "page_token")


def test_a_page_and_a_status_have_their_limits(service: Service) -> None:
    stub = games_stub(service)
    too_many = games_pb2.ListGamesRequest(page_size=1_001)
    assert failure_to(lambda: stub.ListGames(too_many)).field == "page_size"
    unknown = games_pb2.ListGamesRequest(status=9)  # type: ignore[arg-type]  # a number that the enum does not have
    assert failure_to(lambda: stub.ListGames(unknown)).field == "status"


def test_a_page_of_large_games_fits_into_a_message(each_service: Service) -> None:
    client = each_service.client()
    large = replace(ROCKS, tags=(Tag("x" * 200_000),))
    for number in range(30):
        client.create_game(large, game_id=f"g{number}")
    page = games_stub(each_service).ListGames(games_pb2.ListGamesRequest())
    assert MESSAGE_SIZE_MAX // 4 < page.ByteSize() < MESSAGE_SIZE_MAX
    assert ids(list(client.games())) == [f"g{number}" for number in range(30)]


def test_a_request_too_large_for_grpc_is_malformed(service: Service) -> None:
    with pytest.raises(Malformed) as large:
        service.client().create_game(replace(ROCKS, table="x" * MESSAGE_SIZE_MAX))
    assert large.value.code is Code.EVENT_TOO_LARGE
    bare = event_pb2.Event(game_started=event_pb2.GameStarted(table="x" * 300_000))
    failure = failure_to(lambda: games_stub(service).CreateGame(games_pb2.CreateGameRequest(event=bare)))
    assert (failure.reason, failure.field) == ("EVENT_TOO_LARGE", "event")


def test_text_that_databases_fear_comes_back_as_it_was(each_service: Service) -> None:
    client = each_service.client()
    text = "a\0b'\"; DROP TABLE x; -- \u2028\U0001f0a1"
    started = GameStarted((*PLAYERS[:3], Player(text, text)), SevenRocks(), tournament=text, table=text)
    client.create_game(replace(started, tags=(Tag(text, text), Tag("", ""))), game_id="game", recorded_by=text)
    assert ids(list(client.games(GameFilter(player_id=text, tournament=text)))) == ["game"]
    assert client.game("game").started.table == text
    with pytest.raises(Conflict):
        client.create_game(started, game_id="game")
