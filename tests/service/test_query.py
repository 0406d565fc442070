"""QueryService: questions, their limits, and answers that are whole or none."""

from collections.abc import AsyncGenerator, Iterator
from typing import Any

import grpc
import pyarrow as pa
import pytest
from google.protobuf.duration_pb2 import Duration

from heptalog.analytics.views import dictionary
from heptalog.replay.errors import Code, HeptalogError, Malformed, Unavailable
from heptalog.service.asked import Finished, Part, Question, Started
from heptalog.service.client import AsyncClient
from heptalog.service.store.memory import MemoryStore
from heptalog.service.tables.questions import Questions
from heptalog.v1 import query_pb2, query_pb2_grpc
from tests.service.asking import failure_of, new_game
from tests.service.backing import grow
from tests.service.querying import HEAVY, LARGE, asking, failure, rows, settings, tables_of, value, wait_until
from tests.support.serving import WAIT_SECONDS, Service


@pytest.fixture(scope="module")
def served() -> Iterator[Service]:
    """A server with a few games, that is only asked."""
    with Service(MemoryStore(), settings=settings(query_rows_max=200_000)) as service:
        grow(service.store)
        yield service


@pytest.fixture
def narrow() -> Iterator[Service]:
    """A server that answers one question at a time, with one more waiting."""
    with Service(MemoryStore(), settings=settings(queries_max=1, queries_waiting_max=1)) as service:
        yield service


def test_a_question_is_answered_in_arrow_with_its_position_and_its_rows(served: Service) -> None:
    with served.client().query("SELECT game_id, events FROM games ORDER BY game_id") as answer:
        table = pa.ipc.open_stream(b"".join(answer)).read_all()
    assert (answer.position, answer.rows) == (served.store.position(), 3)
    assert table.to_pylist() == [
        {"game_id": game_id, "events": head.sequence + 1} for game_id, head in sorted(served.store.heads())
    ]


def test_a_client_for_asyncio_is_given_the_same(served: Service) -> None:
    async def ask(client: AsyncClient) -> tuple[int, int, bytes]:
        async with client.query("SELECT * FROM games ORDER BY ALL") as answer:
            data = b"".join([piece async for piece in answer])
        return answer.position, answer.rows, data

    with served.client().query("SELECT * FROM games ORDER BY ALL") as answer:
        data = b"".join(answer)
    assert served.asynchronous(ask) == (answer.position, answer.rows, data)


def test_what_was_refused_is_told_of_games_that_are_over(served: Service) -> None:
    known = {game_id for game_id, _ in served.store.heads()}
    expected = sum(refusal.game_id not in known for refusal in served.store.refusals())
    over = value(served.client(), "SELECT count(*) FROM refusals JOIN games USING (game_id) WHERE status <> 'RUNNING'")
    assert value(served.client(), "SELECT count(*) FROM refusals") == expected + over


def test_a_large_answer_comes_whole_in_pieces_that_fit(served: Service) -> None:
    with served.client().query(LARGE) as answer:
        sizes = [len(piece) for piece in answer]
    assert answer.rows == 100_000
    assert sum(sizes) > 100_000_000
    assert max(sizes) <= 1 << 20


@pytest.mark.parametrize("sql", ["", "SELECT", "DROP TABLE games", "SELECT 1; SELECT 2", "SELECT * FROM no_such"])
def test_what_is_no_question_is_the_callers_fault(served: Service, sql: str) -> None:
    error = failure(served.client(), sql)
    assert isinstance(error, Malformed)
    assert error.code is Code.QUERY_INVALID


def test_a_failure_in_the_middle_is_no_shorter_answer(served: Service) -> None:
    sql = "SELECT CASE WHEN range < 90000 THEN repeat('x', 1000) ELSE error('no') END FROM range(100000)"
    pieces: list[bytes] = []
    with pytest.raises(HeptalogError), served.client().query(sql) as answer:
        pieces.extend(answer)
    bad = "SELECT repeat('x', 1000), CAST(CASE WHEN range < 90000 THEN '1' ELSE 'no' END AS INTEGER) FROM range(100000)"
    with pytest.raises(Malformed) as caught, served.client().query(bad) as answer:
        pieces.extend(answer)
    assert pieces
    assert caught.value.code is Code.QUERY_INVALID


@pytest.mark.parametrize(("rows_max", "is_answered"), [(9, False), (10, True), (None, True)])
def test_a_request_can_want_fewer_rows(served: Service, rows_max: int | None, *, is_answered: bool) -> None:
    if is_answered:
        assert len(rows(served.client(), "FROM range(10)", rows_max=rows_max)) == 10
    else:
        assert failure(served.client(), "FROM range(10)", rows_max=rows_max).code is Code.RESULT_TOO_LARGE


def test_a_request_can_never_want_more_rows_than_the_server_gives(served: Service) -> None:
    assert failure(served.client(), "FROM range(200001)", rows_max=1_000_000).code is Code.RESULT_TOO_LARGE
    assert failure(served.client(), "FROM range(200001)").code is Code.RESULT_TOO_LARGE


def test_a_request_can_want_less_time(served: Service) -> None:
    # To wait for the first tables counts too.
    assert value(served.client(), "SELECT 1") == 1
    assert failure(served.client(), HEAVY, timeout=0.3).code is Code.QUERY_TOO_LONG


def test_a_request_can_never_want_more_time_than_the_server_gives() -> None:
    with Service(MemoryStore(), settings=settings(query_seconds=0.5)) as service:
        error = failure(service.client(), HEAVY, timeout=3600.0)
    assert (error.code, error.facts) == (Code.QUERY_TOO_LONG, {"seconds_max": "0.5"})


@pytest.mark.parametrize(
    ("message", "field"),
    [
        (query_pb2.QueryRequest(sql="SELECT 1", timeout=Duration(seconds=0)), "timeout"),
        (query_pb2.QueryRequest(sql="SELECT 1", timeout=Duration(seconds=-1)), "timeout"),
        (query_pb2.QueryRequest(sql="SELECT 1", timeout=Duration(seconds=10**12)), "timeout"),
        (query_pb2.QueryRequest.FromString(b"\x0a\x08SELECT 1\x90\x03\x01"), ""),
    ],
)
def test_a_messagewithout_form_is_refused_with_its_field(
    served: Service, message: query_pb2.QueryRequest, field: str
) -> None:
    stub = query_pb2_grpc.QueryServiceStub(served.channel())
    with pytest.raises(grpc.RpcError) as caught:
        list(stub.Query(message, timeout=WAIT_SECONDS))
    said = failure_of(caught.value)
    assert said.code is grpc.StatusCode.INVALID_ARGUMENT
    assert said.field == field


@pytest.mark.parametrize("seconds", [0.0, -1.0, 1e12, float("nan")])
def test_a_time_that_is_none_is_not_even_sent(served: Service, seconds: float) -> None:
    assert failure(served.client(), "SELECT 1", timeout=seconds).facts["field"] == "timeout"


@pytest.mark.parametrize("rows_max", [-1, 1 << 64])
def test_a_number_of_rows_that_is_none_is_not_even_sent(served: Service, rows_max: int) -> None:
    error = failure(served.client(), "SELECT 1", rows_max=rows_max)
    assert (error.code, error.facts["field"]) == (Code.FIELD_INVALID, "rows_max")


def test_what_is_no_text_is_not_even_sent(served: Service) -> None:
    error = failure(served.client(), "SELECT '\ud800'")
    assert isinstance(error, Malformed)
    assert error.code is Code.QUERY_INVALID


def test_the_dictionary_is_that_of_the_views(served: Service) -> None:
    views = served.client().list_views()
    entries = dictionary()
    assert [(view.name, view.meaning, view.is_derived) for view in views] == [
        (entry.name, entry.meaning, entry.is_derived) for entry in entries
    ]
    assert [(column.name, column.type, column.meaning, column.values) for view in views for column in view.columns] == [
        (column.name, column.type, column.meaning, column.values) for entry in entries for column in entry.columns
    ]

    async def listed(client: AsyncClient) -> Any:
        return await client.list_views()

    assert served.asynchronous(listed) == views


def test_a_server_that_keeps_no_tables_says_so() -> None:
    with Service(MemoryStore(), settings=settings(queries_max=0)) as service:
        error = failure(service.client(), "SELECT 1")
        assert (error.code, error.facts["problem"]) == (Code.QUERY_INVALID, "this server keeps no tables")
        with pytest.raises(Malformed):
            list(service.client().rebuild_tables())
        new_game(service.client())


# Many at once.


def test_too_many_questions_are_too_many_at_once(narrow: Service) -> None:
    questions = tables_of(narrow).questions
    with asking(narrow):
        wait_until(narrow, questions._places.locked)
        with asking(narrow):
            wait_until(narrow, lambda: questions._waiting_count == 1)
            assert failure(narrow.client(), "SELECT 1").code is Code.OVERLOADED


def test_who_waits_for_its_turn_waits_no_longer_than_it_said(narrow: Service) -> None:
    with asking(narrow):
        wait_until(narrow, tables_of(narrow).questions._places.locked)
        assert failure(narrow.client(), "SELECT 1", timeout=0.1).code is Code.OVERLOADED


def test_who_goes_away_ends_the_work_at_once(narrow: Service) -> None:
    questions = tables_of(narrow).questions
    for sql in (HEAVY, "SELECT length(repeat('x', 4000000000))", LARGE):
        with asking(narrow, sql):
            wait_until(narrow, questions._places.locked)
        assert value(narrow.client(), "SELECT 1") == 1


def test_who_reads_slowly_holds_only_its_own_place_and_only_so_long(served: Service) -> None:
    # To load what answers would take of its time.
    assert value(served.client(), "SELECT 1") == 1
    with (
        Service(MemoryStore(), settings=settings(query_seconds=1.0)) as service,
        service.client().query(LARGE) as answer,
    ):
        client = service.client()
        pieces = iter(answer)
        next(pieces)
        assert value(client, "SELECT 1") == 1
        # The server's time passes meanwhile.
        assert failure(client, HEAVY).code is Code.QUERY_TOO_LONG
        assert failure(client, HEAVY).code is Code.QUERY_TOO_LONG
        with pytest.raises(Unavailable) as caught:
            list(pieces)
        assert caught.value.code is Code.QUERY_TOO_LONG


def test_who_has_cancelled_before_it_asks_has_no_answer(served: Service) -> None:
    answer = served.client().query(HEAVY)
    answer.cancel()
    with pytest.raises(Unavailable) as caught, answer:
        pass
    assert caught.value.facts["status"] == "CANCELLED"


def test_who_is_interrupted_while_it_asks_leaves_nothing_at_work(
    served: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = served.client().query(LARGE)

    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(answer, "_begin", interrupted)
    with pytest.raises(KeyboardInterrupt), answer:
        pass
    assert answer._stream.code() is grpc.StatusCode.CANCELLED

    async def ask(client: AsyncClient) -> bool:
        asked = client.query(LARGE)
        monkeypatch.setattr(asked, "_begin", interrupted_there)
        with pytest.raises(ZeroDivisionError):
            async with asked:
                pass
        return bool(asked._stream.cancelled())

    def interrupted_there(_: object) -> None:
        raise ZeroDivisionError

    assert served.asynchronous(ask)


def test_a_drain_lets_what_is_asked_come_to_its_end_and_then_ends_it() -> None:
    with Service(MemoryStore(), settings=settings(grace_seconds=0.2)) as service, asking(service) as failures:
        wait_until(service, lambda: tables_of(service).questions._places._value == 1)
        service.drain()
    (error,) = failures
    assert error.code in (Code.DRAINING, Code.SERVER_UNREACHABLE)


# An answer without its end is none.


def say(monkeypatch: pytest.MonkeyPatch, *parts: Part | HeptalogError) -> list[Question]:
    """Have the server answer so, whatever is asked; which questions came is in the list."""
    asked: list[Question] = []

    async def answer(_: Questions, question: Question) -> AsyncGenerator[Part, None]:
        asked.append(question)
        for part in parts:
            if isinstance(part, HeptalogError):
                raise part
            yield part

    monkeypatch.setattr(Questions, "answer", answer)
    return asked


@pytest.mark.parametrize("parts", [(), (b"x",), (Started(1),), (Started(1), b"x"), (Started(1), Started(1))])
def test_an_answer_that_does_not_end_is_none(
    served: Service, monkeypatch: pytest.MonkeyPatch, parts: tuple[Part, ...]
) -> None:
    say(monkeypatch, *parts)

    async def ask(client: AsyncClient) -> None:
        async with client.query("SELECT 1") as answer:
            async for _ in answer:
                pass

    with pytest.raises(Unavailable) as caught, served.client().query("SELECT 1") as answer:
        list(answer)
    assert caught.value.code is Code.QUERY_FAILED
    with pytest.raises(Unavailable) as caught:
        served.asynchronous(ask)
    assert caught.value.code is Code.QUERY_FAILED


def test_a_question_is_asked_again_only_while_nothing_was_answered(
    served: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    draining = Unavailable(Code.DRAINING, rule="api")
    client = served.client(attempts=3, pause=lambda _: None)
    for parts, attempts in (((draining,), 3), ((Started(1), draining), 1), ((Started(1), b"x", draining), 1)):
        asked = say(monkeypatch, *parts)
        with pytest.raises(Unavailable) as caught, client.query("SELECT 1") as answer:
            list(answer)
        assert caught.value.code is Code.DRAINING
        assert len(asked) == attempts


def test_a_server_whose_tables_are_behind_has_waited_already(served: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = say(monkeypatch, Unavailable(Code.TABLES_BEHIND, rule="api"))
    client = served.client(attempts=3, pause=lambda _: None)
    assert failure(client, "SELECT 1").code is Code.TABLES_BEHIND
    assert len(asked) == 1


def test_an_answer_that_ends_is_whole(served: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    say(monkeypatch, Started(7), b"x", b"y", Finished(2))
    with served.client().query("SELECT 1") as answer:
        assert list(answer) == [b"x", b"y"]
    assert (answer.position, answer.rows) == (7, 2)
