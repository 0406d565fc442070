"""The server itself: health, reflection, ports and hosts, and how it ends."""

import asyncio
import errno
import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Thread
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import proto_reflection_descriptor_database as reflection

from heptalog.replay.errors import Code, Unavailable
from heptalog.service.appends import Append
from heptalog.service.client import Client
from heptalog.service.config import Settings
from heptalog.service.server import serve
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.memory import MemoryStore
from heptalog.v1 import log_pb2
from tests.service.asking import ROCKS, append_message, check_record, log_stub, new_game, remark
from tests.support.serving import WAIT_SECONDS, Service

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
NAMES = (
    "",
    "heptalog.v1.GamesService",
    "heptalog.v1.LogService",
    "heptalog.v1.AuditService",
    "heptalog.v1.AdminService",
    "heptalog.v1.QueryService",
)

_SERVE = """
import asyncio, sys
from heptalog.service.config import Settings
from heptalog.service.server import serve
asyncio.run(serve(Settings(sys.argv[1]), lambda port: print(port, flush=True)))
"""


@pytest.mark.parametrize("name", NAMES)
def test_every_service_is_healthy(service: Service, name: str) -> None:
    stub: Any = health_pb2_grpc.HealthStub(service.channel())
    assert stub.Check(health_pb2.HealthCheckRequest(service=name)).status == SERVING
    with pytest.raises(grpc.RpcError) as unknown:
        stub.Check(health_pb2.HealthCheckRequest(service="heptalog.v1.NoService"))
    call: Any = unknown.value
    assert call.code() is grpc.StatusCode.NOT_FOUND


def test_reflection_describes_the_services(service: Service) -> None:
    database = reflection.ProtoReflectionDescriptorDatabase(service.channel())
    assert set(NAMES[1:]) < set(database.get_services())
    pool = DescriptorPool(database)
    log = pool.FindServiceByName("heptalog.v1.LogService")
    assert {method.name for method in log.methods} == {"AppendEvents", "AppendStream", "ReadEvents", "Subscribe"}
    audit = pool.FindServiceByName("heptalog.v1.AuditService")
    assert {"VerifyGame", "DiffGames"} < {method.name for method in audit.methods}
    event = pool.FindMessageTypeByName("heptalog.v1.Event")
    assert event.fields_by_name["cards_dealt"].number == 30


def test_a_port_in_use_is_unavailable(service: Service) -> None:
    with pytest.raises(Unavailable) as in_use:
        Service(MemoryStore(), settings=Settings("", port=service.server.port))
    assert in_use.value.code is Code.PORT_IN_USE
    assert in_use.value.facts["address"] == service.target
    # The one that has it goes on.
    new_game(service.client())


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org", ""])
def test_a_host_that_others_can_reach_is_refused(host: str) -> None:
    with pytest.raises(Unavailable) as refused:
        Service(MemoryStore(), settings=Settings("", host=host))
    assert refused.value.code is Code.HOST_REFUSED


def test_a_port_is_tried_before_a_database_is_made_for_it(service: Service, tmp_path: Path) -> None:
    settings = Settings(str(tmp_path / "new.duckdb"), port=service.server.port)
    with pytest.raises(Unavailable) as in_use:
        asyncio.run(serve(settings, lambda _: None))
    assert (in_use.value.code, in_use.value.facts["address"]) == (Code.PORT_IN_USE, service.target)
    assert in_use.value.facts["problem"] == os.strerror(errno.EADDRINUSE)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "localhost"])
def test_the_loopback_has_more_names_than_one(host: str) -> None:
    with Service(MemoryStore(), settings=Settings("", host=host)) as service:
        new_game(service.client(target=f"{host}:{service.server.port}"))


def test_a_drain_says_not_serving_answers_what_is_queued_and_takes_no_more(each_service: Service) -> None:
    new_game(each_service.client())
    health: Any = health_pb2_grpc.HealthStub(each_service.channel())
    watch = health.Watch(health_pb2.HealthCheckRequest(service=NAMES[2]))
    assert next(watch).status == SERVING
    with each_service.store.held() as hold:
        stub = log_stub(each_service)
        pending = [stub.AppendEvents.future(append_message(Append("game", 0, (remark("a"),))), timeout=WAIT_SECONDS)]
        hold.wait_until_reached()
        queued = append_message(Append("game", 1, (remark("b"),)))
        pending.append(stub.AppendEvents.future(queued, timeout=WAIT_SECONDS))
        wait_until_queued(each_service)
        stopping = Thread(target=each_service.drain)
        stopping.start()
        assert next(watch).status == NOT_SERVING
        watch.cancel()
    receipts = [call.result() for call in pending]
    assert [receipt.head.sequence for receipt in receipts] == [1, 2]
    stopping.join(WAIT_SECONDS)
    assert not stopping.is_alive()
    with pytest.raises(grpc.RpcError) as gone:
        stub.AppendEvents(append_message(Append("game", 2, (remark("c"),))))
    call: Any = gone.value
    assert call.code() is grpc.StatusCode.UNAVAILABLE


def wait_until_queued(service: Service) -> None:
    """Wait until an append stands in the writer's queue."""
    waiting = service.app.writer._waiting
    with waiting.changed:
        assert waiting.changed.wait_for(lambda: waiting.count > 0, WAIT_SECONDS)


def test_a_stream_that_outlives_the_drain_is_unavailable(service: Service) -> None:
    client = service.client()
    new_game(client)
    for first in range(0, 200, 10):
        notes = tuple(remark(f"n{number}", "x" * 200_000) for number in range(first, first + 10))
        client.append(Append("game", first, notes))
    stream: Any = log_stub(service).ReadEvents(log_pb2.ReadEventsRequest(game_id="game"))
    next(stream)
    service.server._settings = Settings("", grace_seconds=0.0)
    service.drain()
    with pytest.raises(grpc.RpcError) as ended:
        list(stream)
    call: Any = ended.value
    assert call.code() is grpc.StatusCode.UNAVAILABLE
    assert service.store.all_closed.wait(WAIT_SECONDS)


def test_sigterm_ends_a_server_and_its_log_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "log.duckdb"
    command = [sys.executable, "-c", _SERVE, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            port = int(process.stdout.readline())
            with Client(f"127.0.0.1:{port}") as client:
                recorder = client.create_game(ROCKS, game_id="game")
                for number in range(20):
                    recorder.append(remark("", f"n{number}").body)
            process.send_signal(signal.SIGTERM)
            assert process.wait(WAIT_SECONDS) == 0
            assert process.stderr.read() == ""
        finally:
            # Who waits for it must not wait for ever where something above has failed.
            process.kill()
    store = DuckStore(path)
    check_record(store, "game", 21)
    store.close()
