"""Backups of a running server: nobody waits for them, and a cut connection is gone on from."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from msgspec.structs import replace

from heptalog.replay.errors import Code
from heptalog.replay.events import Event
from heptalog.replay.evidence.texts import to_base64
from heptalog.service.appends import Append
from heptalog.service.backup.parts import EventsPart, Have, Moment, Part
from heptalog.service.backup.restoring import check
from heptalog.service.backup.taking import take
from heptalog.service.store import NO_GAME
from tests.contract.given import appended, begin
from tests.service.asking import ROCKS
from tests.service.backing import KEY, MADE_AT, back_up, failure, files_of, grow
from tests.support.serving import Service


def test_a_server_is_backed_up_like_its_store(each_service: Service, tmp_path: Path) -> None:
    grow(each_service.store)
    take(tmp_path / "served", each_service.client().backup, clock=lambda: MADE_AT)
    back_up(each_service.store, tmp_path / "lying")
    assert files_of(tmp_path / "served") == files_of(tmp_path / "lying")


def test_a_client_for_asyncio_is_given_the_same_parts(service: Service) -> None:
    grow(service.store)

    async def all_parts(client: Any) -> list[Part]:
        return [part async for part in client.backup(Have())]

    assert service.asynchronous(all_parts) == list(service.client().backup(Have()))


@pytest.mark.usefixtures("small_parts")
def test_appends_do_not_wait_for_a_backup_and_it_holds_nothing_between_two_parts(each_service: Service) -> None:
    grow(each_service.store)
    asked = each_service.client().backup(Have())
    taken = [next(asked), next(asked)]
    # Nobody reads on; whoever appends or reads does not notice.
    client = each_service.client()
    assert each_service.store.all_closed.wait(30)
    appended(each_service.store, begin(50))
    assert client.game("game-50").head.sequence == 0
    taken += asked
    assert isinstance(taken[0], Moment)
    assert sum(len(part.records) for part in taken if isinstance(part, EventsPart)) == taken[0].size


def test_a_backup_does_not_wait_for_a_commit(each_service: Service, folder: Path) -> None:
    grow(each_service.store)
    with each_service.store.held() as hold:
        pending = each_service.app.writer.submit(Append("waiting", NO_GAME, (Event(0, ROCKS),)))
        hold.wait_until_reached()
        taken = take(folder, each_service.client().backup, clock=lambda: MADE_AT)
    pending.result(30)
    assert taken.events == each_service.store.position() - 1


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("code", [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED])
def test_a_cut_connection_is_gone_on_from(service: Service, folder: Path, code: grpc.StatusCode) -> None:
    """The server had grown by then: the backup is of the later moment, and nothing is in it twice."""
    store = service.store
    grow(store, 0)
    client = service.client(attempts=3, pause=lambda _: None)
    whole = client._admin.Backup
    asked: list[Any] = []

    class Cut(grpc.RpcError):
        def code(self) -> grpc.StatusCode:
            return code

    class Stream:
        def __init__(self, request: Any) -> None:
            self._stream = whole(request)
            asked.append(request)

        def __iter__(self) -> Iterator[Any]:
            for place, message in enumerate(self._stream):
                if len(asked) <= 6 and place == 2 + len(asked):
                    grow(store, len(asked))
                    raise Cut
                yield message

        def cancel(self) -> None:
            self._stream.cancel()

    client._admin.Backup = lambda request, timeout: Stream(request)  # type: ignore[assignment]
    taken = take(folder, client.backup, keys=KEY.verifiers, clock=lambda: MADE_AT)
    assert len(asked) == 7
    assert taken.events == store.position()
    assert check(folder).root == to_base64(store.tree_head().root)


def test_a_connection_that_brings_no_more_than_the_moment_is_given_up(service: Service) -> None:
    grow(service.store)
    client = service.client(attempts=3, pause=lambda _: None)
    whole = client._admin.Backup
    asked: list[Any] = []

    class Cut(grpc.RpcError):
        def code(self) -> grpc.StatusCode:
            return grpc.StatusCode.UNAVAILABLE

        def details(self) -> str:
            return ""

        def trailing_metadata(self) -> tuple[()]:
            return ()

    class Stream:
        def __init__(self, request: Any) -> None:
            assert len(asked) < 10
            self._stream = whole(request)
            asked.append(request)

        def __iter__(self) -> Iterator[Any]:
            yield next(iter(self._stream))
            raise Cut

        def cancel(self) -> None:
            self._stream.cancel()

    client._admin.Backup = lambda request, timeout: Stream(request)  # type: ignore[assignment]
    assert failure(lambda: list(client.backup(Have()))).code is Code.SERVER_UNREACHABLE
    assert len(asked) == 3


def test_what_a_caller_has_that_the_log_has_not_is_no_reason_to_fail(service: Service) -> None:
    grow(service.store)
    size = service.store.position()
    for have in (Have(size + 1), Have(2**64 - 1, 2**64 - 1, 2**64 - 1), Have(refusals=99)):
        (moment,) = service.client().backup(have)
        assert isinstance(moment, Moment)
        assert (moment.size, bool(moment.root_before)) == (size, have.position <= size)


def test_a_damaged_log_ends_a_backup_with_its_code(service: Service, folder: Path) -> None:
    grow(service.store)
    service.store.damage = lambda stored: replace(stored, record=stored.record[:-1])
    error = failure(lambda: take(folder, service.client().backup, clock=lambda: MADE_AT))
    assert error.code is Code.RECORD_DAMAGED
    assert error.facts["position"] == 1
