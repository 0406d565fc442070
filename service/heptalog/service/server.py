"""The gRPC server: services, health and reflection on one loopback port, drained on SIGTERM."""

import asyncio
import gc
import logging
import signal
import socket
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from typing import cast

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from heptalog.replay.errors import Code, HeptalogError, NotFound, Unavailable
from heptalog.replay.evidence.notes import VerifierKey
from heptalog.service.admin import AdminServicer
from heptalog.service.app import App
from heptalog.service.appending.appender import Appender
from heptalog.service.audit import AuditServicer
from heptalog.service.config import MESSAGE_SIZE_MAX, Settings
from heptalog.service.evidence.keys import Keyring
from heptalog.service.games import GamesServicer
from heptalog.service.log import DECODERS, WRITTEN, LogServicer
from heptalog.service.query import QueryServicer
from heptalog.service.store.duck import DuckStore
from heptalog.service.strict import Registrar
from heptalog.service.subscribing.subscriptions import Subscriptions
from heptalog.v1 import (
    admin_pb2,
    admin_pb2_grpc,
    audit_pb2,
    audit_pb2_grpc,
    games_pb2,
    games_pb2_grpc,
    log_pb2,
    log_pb2_grpc,
    query_pb2,
    query_pb2_grpc,
)

_GAMES = games_pb2.DESCRIPTOR.services_by_name["GamesService"].full_name
_LOG = log_pb2.DESCRIPTOR.services_by_name["LogService"].full_name
_AUDIT = audit_pb2.DESCRIPTOR.services_by_name["AuditService"].full_name
_ADMIN = admin_pb2.DESCRIPTOR.services_by_name["AdminService"].full_name
_QUERY = query_pb2.DESCRIPTOR.services_by_name["QueryService"].full_name
_NAMES = (_GAMES, _LOG, _AUDIT, _ADMIN, _QUERY)
_log = logging.getLogger(__name__)


class Server:
    """A started server: its port, and the way to stop it."""

    def __init__(self, app: App, settings: Settings) -> None:
        self._address = address_of(settings)
        self._app = app
        self._settings = settings
        self._health = health.aio.HealthServicer()  # pyright: ignore[reportAttributeAccessIssue]  # made at import
        self._server = grpc.aio.server(
            options=[
                # Two servers on one port would each get half of the calls.
                ("grpc.so_reuseport", 0),
                # Beyond our own limit, so that it is we who say what is too large.
                ("grpc.max_receive_message_length", 4 * MESSAGE_SIZE_MAX),
                ("grpc.max_send_message_length", MESSAGE_SIZE_MAX),
                # A client may ping every 30 seconds, with or without calls under way.
                ("grpc.http2.min_ping_interval_without_data_ms", 20_000),
                ("grpc.keepalive_permit_without_calls", 1),
            ],
            maximum_concurrent_rpcs=settings.calls_max,
        )
        self._draining: tuple[LogServicer | AuditServicer, ...] = ()
        self._tasks: list[asyncio.Task[None]] = []
        self.port = 0

    async def start(self) -> int:
        """Listen, and give the port. Raises Unavailable where the port is in use."""
        appender = Appender(self._app.writer, asyncio.get_running_loop())
        parts = (appender, self._app.store, self._app.positions, self._app.readers)
        strict = cast("grpc.aio.Server", Registrar(self._server))
        games = GamesServicer(*parts, self._app.surroundings.new_id)
        games_pb2_grpc.add_GamesServiceServicer_to_server(games, strict)
        subscriptions = Subscriptions(
            self._app.store,
            self._app.positions,
            self._app.commits,
            self._app.feeders,
            self._settings,
            self._app.surroundings.clock,
        )
        log = LogServicer(*parts, subscriptions)
        log_registrar = cast("grpc.aio.Server", Registrar(self._server, DECODERS, WRITTEN))
        log_pb2_grpc.add_LogServiceServicer_to_server(log, log_registrar)
        admin = AdminServicer(self._app.store, self._app.tables, self._app.readers)
        admin_pb2_grpc.add_AdminServiceServicer_to_server(admin, strict)
        query = QueryServicer(self._app.tables, self._app.readers)
        query_pb2_grpc.add_QueryServiceServicer_to_server(query, strict)
        audit = AuditServicer(self._app.store, self._app.prover, self._app.readers, self._app.signing)
        audit_pb2_grpc.add_AuditServiceServicer_to_server(audit, strict)
        self._draining = (log, audit)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        reflection.enable_server_reflection((*_NAMES, health.SERVICE_NAME, reflection.SERVICE_NAME), self._server)
        try:
            self.port = self._server.add_insecure_port(self._address)
        except RuntimeError as error:
            raise Unavailable(Code.PORT_IN_USE, rule="api", address=self._address) from error
        await self._server.start()
        await self._tell(health_pb2.HealthCheckResponse.SERVING)
        self._tasks.append(asyncio.create_task(self._watch()))
        if self._app.signer is not None:
            self._tasks.append(asyncio.create_task(self._sign()))
        return self.port

    async def stop(self) -> None:
        """Say NOT_SERVING, let running calls finish, write what is queued, sign it, let go of the store."""
        for task in self._tasks:
            task.cancel()
        await self._health.enter_graceful_shutdown()
        for servicer in self._draining:
            servicer.drain()
        await self._server.stop(self._settings.grace_seconds)
        await asyncio.to_thread(self._app.close)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _watch(self) -> None:
        """Say NOT_SERVING once something can work no longer; nothing but a new start mends it.

        Of questions it is said for as long as no tables can be kept.
        """
        tables, is_told = self._app.tables, None
        while not self._app.is_broken:
            can_answer = tables is not None and not tables.is_failing
            if can_answer is not is_told:
                statuses = health_pb2.HealthCheckResponse
                await self._health.set(_QUERY, statuses.SERVING if can_answer else statuses.NOT_SERVING)
                is_told = can_answer
            await asyncio.sleep(self._settings.health_seconds)
        await self._tell(health_pb2.HealthCheckResponse.NOT_SERVING)

    async def _sign(self) -> None:
        """Sign at an interval what has come; where that finds the log changed, `is_broken` says so."""
        while not self._app.prover.is_broken:
            try:
                await self._app.signing.run(self._app.prover.sign)
            except NotFound:
                pass  # there is no event yet
            except HeptalogError as error:
                _log.error("no checkpoint was signed: %s", error)
            except Exception:  # noqa: BLE001  # our own bug must not end it in silence
                _log.exception("no checkpoint was signed")
            await asyncio.sleep(self._settings.checkpoint_seconds)

    async def _tell(self, status: int) -> None:
        for name in ("", *_NAMES):
            await self._health.set(name, status)


def address_of(settings: Settings) -> str:
    """Where to listen, as gRPC writes it. Raises Unavailable for a host that others could reach too."""
    host = settings.host.removeprefix("[").removesuffix("]")
    try:
        # Until there are credentials every caller counts as arbiter, so nobody else may call.
        is_loopback = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        is_loopback = False
    if not is_loopback:
        raise Unavailable(Code.HOST_REFUSED, rule="api", host=settings.host)
    return f"[{host}]:{settings.port}" if ":" in host else f"{host}:{settings.port}"


def check_port(settings: Settings) -> None:
    """Raise Unavailable, with the cause, where nobody could listen there: before a database is made for it."""
    host = address_of(settings).rpartition(":")[0].strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, settings.port))
        except OSError as error:
            raise Unavailable(
                Code.PORT_IN_USE, rule="api", problem=error.strerror or "", address=address_of(settings)
            ) from error


async def serve(
    settings: Settings,
    announce: Callable[[int], None],
    keys: Keyring | None = None,
    witnesses: Sequence[VerifierKey] = (),
) -> None:
    """Run a server over a DuckDB log until SIGTERM or SIGINT; `announce` is told the port once it listens.

    Without keys no checkpoint is signed; only these witnesses may cosign one.
    """
    check_port(settings)
    store = DuckStore(settings.database, reserve_bytes=settings.reserve_bytes, memory_bytes=settings.store_memory_bytes)
    try:
        app = App(store, settings, keys=keys, witnesses=witnesses)
    except BaseException:
        store.close()
        raise
    try:
        server = Server(app, settings)
        port = await server.start()
    except BaseException:
        app.close()
        raise
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    # What is there by now stays: no collection of garbage has to look at it again.
    gc.freeze()
    announce(port)
    await stopping.wait()
    await server.stop()
