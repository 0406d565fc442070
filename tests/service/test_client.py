"""What both clients tell their callers: when they are closed, when nobody is there, what was wrong with a request."""

import asyncio
import pickle
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from heptalog.replay.codec import decode
from heptalog.replay.errors import Code, Conflict, Corrupt, HeptalogError, Malformed, Refused, Unavailable
from heptalog.replay.events import DealerDrawn, Event, GameStarted, NoteAdded, Player
from heptalog.replay.rules import ARBITER, Viewer
from heptalog.replay.seven_rocks.events import SevenRocks, TileHand, TilePlayed, TilesDealt
from heptalog.service.appends import Append
from heptalog.service.client import AsyncClient, Client, Have, Retries
from heptalog.service.status import error_from, status_code, trailers_of
from heptalog.service.store import Checkpoint
from tests.service.asking import ROCKS, new_game, remark
from tests.service.cutting import Pauses, Proxy
from tests.support.serving import Service

Ask = Callable[[Any], Any]

# Every way to ask something of either client.
ASKING: dict[str, Ask] = {
    "create_game": lambda client: client.create_game(ROCKS),
    "resume": lambda client: client.resume("game"),
    "append": lambda client: client.append(Append("game", 0, (remark("a"),))),
    "read": lambda client: client.read(),
    "subscribe": lambda client: client.subscribe(),
    "game": lambda client: client.game("game"),
    "standing": lambda client: client.standing("game"),
    "games": lambda client: client.games(),
    "state": lambda client: client.state("game"),
    "legal": lambda client: client.legal("game"),
    "checkpoint": lambda client: client.checkpoint(),
    "checkpoints": lambda client: client.checkpoints(),
    "inclusion_proof": lambda client: client.inclusion_proof(1),
    "consistency_proof": lambda client: client.consistency_proof(1),
    "cosign": lambda client: client.cosign("note"),
    "verify": lambda client: client.verify("game"),
    "diff": lambda client: client.diff("game", "other"),
    "diff_options": lambda client: client.diff_options("game", {}),
    "bundle": lambda client: client.bundle("game", viewer=ARBITER),
    "backup": lambda client: client.backup(Have()),
    "list_views": lambda client: client.list_views(),
    "rebuild_tables": lambda client: client.rebuild_tables(),
}


def asked(ask: Ask, client: Client) -> object:
    """All of what is asked for."""
    found = ask(client)
    return list(found) if isinstance(found, Iterable) else found


async def async_asked(ask: Ask, client: AsyncClient) -> object:
    """The same with the client for asyncio."""
    found = ask(client)
    if isinstance(found, AsyncIterator):
        return [item async for item in found]
    return await found


async def streamed(client: AsyncClient) -> None:
    """An append on a stream."""
    async with client.stream() as stream:
        await (await stream.append(Append("game", 0, (remark("a"),))))


async def queried(client: AsyncClient) -> None:
    """A question."""
    async with client.query("SELECT 1"):
        pass


def test_every_call_is_tried() -> None:
    for kind in (Client, AsyncClient):
        public = {name for name in vars(kind) if not name.startswith("_")}
        assert public == {*ASKING, "close", "stream", "query"}


@pytest.mark.parametrize("joins", [False, True], ids=["alone", "joined"])
def test_a_closed_client_says_so_whatever_is_asked(joins: bool) -> None:
    client = Client("127.0.0.1:1", joins_appends=joins)
    client.close()
    told = [_told(partial(asked, ask, client)) for ask in ASKING.values()]
    told.append(_told(lambda: client.query("SELECT 1").__enter__()))
    with client.stream() as stream:
        told.append(_told(stream.append(Append("game", 0, (remark("a"),))).result))

    async def ask_all() -> list[HeptalogError]:
        client = AsyncClient("127.0.0.1:1", joins_appends=joins)
        await client.close()
        calls: list[Awaitable[object]] = [async_asked(ask, client) for ask in ASKING.values()]
        return [await _told_later(call) for call in (*calls, queried(client), streamed(client))]

    told += asyncio.run(ask_all())
    assert {(type(error), error.code, error.facts["problem"]) for error in told} == {
        (Unavailable, Code.SERVER_UNREACHABLE, "the client is closed")
    }


def test_who_reads_when_the_client_is_closed_is_told_so(service: Service) -> None:
    new_game(service.client())

    async def read() -> None:
        client = AsyncClient(service.target)
        with service.store.held_reading() as hold:
            reading = asyncio.create_task(anext(client.read("game")))
            await asyncio.to_thread(hold.wait_until_reached)
            await client.close()
            hold.release()
            await reading

    with pytest.raises(Unavailable) as closed:
        asyncio.run(read())
    assert closed.value.facts["problem"] == "the client is closed"


def test_a_question_is_cancelled_with_either_client(service: Service) -> None:
    answer = service.client().query("SELECT 1")
    answer.cancel()
    with pytest.raises(Unavailable) as cancelled, answer:
        pass

    async def cancel(client: AsyncClient) -> None:
        answer = client.query("SELECT 1")
        answer.cancel()
        async with answer:
            pass

    with pytest.raises(Unavailable) as later:
        service.asynchronous(cancel)
    for error in (cancelled.value, later.value):
        assert error.facts == {"status": "CANCELLED", "problem": "the call was cancelled", "server": service.target}


def test_a_server_that_is_not_there_is_named_and_grpc_is_not_quoted() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        target = f"127.0.0.1:{listener.getsockname()[1]}"
    retries = Retries(attempts=1)
    with Client(target, retries=retries) as client:
        told = [_told(partial(asked, ask, client)) for ask in ASKING.values()]
        told.append(_told(lambda: client.query("SELECT 1").__enter__()))
        with client.stream() as stream:
            told.append(_told(stream.append(Append("game", 0, (remark("a"),))).result))

    async def ask_all() -> list[HeptalogError]:
        async with AsyncClient(target, retries=retries) as client:
            calls: list[Awaitable[object]] = [async_asked(ask, client) for ask in ASKING.values()]
            return [await _told_later(call) for call in (*calls, queried(client), streamed(client))]

    told += asyncio.run(ask_all())
    assert {(error.code, tuple(error.facts.items())) for error in told} == {
        (Code.SERVER_UNREACHABLE, (("server", target),))
    }
    assert str(told[0]) == f"the server cannot be reached: server {target} [SERVER_UNREACHABLE]"


def _told(call: Callable[[], object]) -> HeptalogError:
    with pytest.raises(HeptalogError) as told:
        call()
    return told.value


async def _told_later(call: Awaitable[object]) -> HeptalogError:
    with pytest.raises(HeptalogError) as told:
        await call
    return told.value


def test_facts_have_an_order_when_they_come_back() -> None:
    names = [f"fact_{number:02}" for number in range(40)]
    error = Refused(Code.PLAYERS_INVALID, rule="SR-R1", **dict.fromkeys(reversed(names), 1))
    assert list(error_from(status_code(error), "", trailers_of(error)).facts) == names


def test_text_of_an_error_is_its_sentence_with_its_place_and_code() -> None:
    error = Refused(Code.PLAYERS_INVALID, rule="SR-R1", players=3, low=4, high=4)
    text = "these players cannot play this game: players 3, low 4, high 4 (SR-R1) [PLAYERS_INVALID]"
    assert (str(error), str(pickle.loads(pickle.dumps(error)))) == (text, text)
    broken = Corrupt(Code.CHAIN_BROKEN, rule="evidence", line=3, sequence=2)
    assert str(broken) == "line 3: sequence 2: the chain of hashes is broken (evidence) [CHAIN_BROKEN]"


def test_another_hash_is_not_told_as_another_number(service: Service) -> None:
    client = service.client()
    new_game(client)
    with pytest.raises(Conflict) as other:
        client.append(Append("game", 0, (remark("a"),), b"\1" * 32))
    head = client.game("game").head
    facts = other.value.facts
    assert (other.value.code, facts["expected"], facts["actual"]) == (Code.SEQUENCE_MISMATCH, 0, 0)
    assert (facts["expected_hash"], facts["head_hash"]) == ("01" * 32, head.hash.hex())
    assert "its last event has another hash" in str(other.value)
    with pytest.raises(Conflict) as behind:
        client.append(Append("game", 3, (remark("a"),), b"\1" * 32))
    assert set(behind.value.facts) == {"game_id", "expected", "actual", "head_hash"}


PLAYERS = tuple(map(Player, "abcd"))
# Of a type that no type checker lets pass.
NUMBER: Any = 5
TEXT: Any = "0"
NOTHING: Any = None


@pytest.mark.parametrize(
    ("field", "ask"),
    [
        ("dealer_drawn.seat", lambda client: client.resume("game").append(DealerDrawn(seat=TEXT))),
        ("tiles_dealt.hands[1]", lambda client: client.resume("game").append(TilesDealt((TileHand(), TEXT)))),
        ("tiles_dealt.hands", lambda client: client.resume("game").append(TilesDealt(NUMBER))),
        ("tiles_dealt.hands[0].tiles[1]", lambda c: c.resume("game").append(TilesDealt((TileHand(("1-1", NUMBER)),)))),
        ("tile_played.arm", lambda client: client.resume("game").append(TilePlayed(seat=0, tile="5-5", arm=TEXT))),
        ("note_added.text", lambda client: client.resume("game").append(NoteAdded(NUMBER))),
        ("occurred_at", lambda client: client.resume("game").append(NoteAdded("a"), occurred_at=TEXT)),
        ("recorded_by", lambda client: client.resume("game").append(NoteAdded("a"), recorded_by=NUMBER)),
        (
            "game_started.players[1].id",
            lambda c: c.create_game(GameStarted((Player("a"), Player(NUMBER)), SevenRocks())),
        ),
        ("game_started", lambda client: client.create_game(GameStarted(PLAYERS, SevenRocks(target=TEXT)))),
        ("event_id", lambda client: client.append(Append("game", 0, (Event(0, NoteAdded("a"), event_id=NUMBER),)))),
        ("game_id", lambda client: client.append(Append(NUMBER, 0, (remark("a"),)))),
        ("expected", lambda client: client.append(Append("game", NOTHING, (remark("a"),)))),
        ("expected", lambda client: client.append(Append("game", -2, (remark("a"),)))),
        ("expected_hash", lambda client: client.append(Append("game", 0, (remark("a"),), NUMBER))),
        ("sequence", lambda client: client.state("game", sequence=-1)),
        ("viewer.seat", lambda client: client.state("game", viewer=Viewer(seat=TEXT))),
        ("seat", lambda client: list(client.legal("game", seat=-1))),
        ("start", lambda client: next(client.read(start=-1))),
        ("page_size", lambda client: next(client.games(page_size=TEXT))),
        ("after_size", lambda client: next(client.checkpoints(after=-1))),
        ("position", lambda client: client.inclusion_proof(-1)),
        ("game_id", lambda client: client.game(NUMBER)),
        ("game_id", lambda client: list(client.verify(NUMBER))),
        ("other_game_id", lambda client: client.diff("game", NUMBER)),
        ("envelope", lambda client: client.diff("game", "other", with_envelope=TEXT)),
        ("game_id", lambda client: client.diff_options(NUMBER, {})),
    ],
)
def test_a_value_that_does_not_fit_is_named_by_its_path(service: Service, field: str, ask: Ask) -> None:
    client = service.client()
    new_game(client)
    with pytest.raises(Malformed) as unfit:
        ask(client)
    assert (unfit.value.code, unfit.value.facts["field"]) == (Code.FIELD_INVALID, field)
    assert unfit.value.__cause__ is None


def test_reading_checkpoints_goes_on_after_a_cut(
    service: Service, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = [Checkpoint(size, "x" * 200_000) for size in range(1, 25)]

    def checkpoints(*, after: int = 0) -> Iterator[Checkpoint]:
        yield from (checkpoint for checkpoint in kept if checkpoint.size > after)

    monkeypatch.setattr(service.store, "checkpoints", checkpoints)
    pauses = Pauses()
    left = [3]

    def is_cut(answered: int) -> bool:
        if answered > 1_300_000 and left[0]:
            left[0] -= 1
            return True
        return False

    proxy.is_cut_after = is_cut
    client = pauses.client_of(service, proxy)
    assert list(client.checkpoints()) == kept
    count = len(pauses.seconds)
    assert count

    async def read(client: AsyncClient) -> list[Checkpoint]:
        pauses.client = client
        return [checkpoint async for checkpoint in client.checkpoints(after=1)]

    left[0] = 3
    assert service.asynchronous(read, target=proxy.target, attempts=20, pause=pauses.asynchronous) == kept[1:]
    assert len(pauses.seconds) > count


def test_ids_that_the_client_makes_are_uuids_of_version_7(service: Service) -> None:
    client = service.client()
    game = client.create_game(ROCKS)
    game.append(NoteAdded("a"), NoteAdded("b"))
    ids = [game.game_id, *(decode(stored.record)[0].event_id for stored in client.read(game.game_id))]
    assert [UUID(text).version for text in ids] == [7, 7, 7, 7]
    assert len(set(ids)) == 4


def test_a_recorder_shows_its_game_and_how_far_it_is(service: Service) -> None:
    new_game(service.client())
    assert repr(service.client().resume("game")) == "Recorder(game_id='game', sequence=0)"

    async def resume(client: AsyncClient) -> str:
        return repr(await client.resume("game"))

    assert service.asynchronous(resume) == "AsyncRecorder(game_id='game', sequence=0)"


def test_names_in_a_view_have_an_order(service: Service) -> None:
    client = service.client()
    new_game(client)
    view = client.state("game").view
    assert list(view) == sorted(view)
    assert list(view["table"]) == sorted(view["table"])
    assert len(view["table"]) > 5
