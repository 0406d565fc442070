"""What comes between a client and its server: cut connections, servers that change, commits whose answers are lost."""

import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Lock, Thread
from typing import Self

import grpc

from heptalog.replay.errors import Conflict
from heptalog.service.client import AsyncClient, Client
from heptalog.service.store import Batch, Head, Refusal
from tests.support.serving import WAIT_SECONDS, Service

_CHUNK = 65_536


class Proxy:
    """Stands between a client and a server, and cuts every connection when it is told."""

    def __init__(self, port: int) -> None:
        self.port = port  # of the server; may change
        self.is_cut_after: Callable[[int], bool] = lambda _: False
        self.connection_count = 0
        self._answered = 0
        self._lock = Lock()
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.target = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._threads: list[Thread] = []
        self._start(self._accept)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def cut(self) -> None:
        """End every connection there is, in the middle of whatever it is doing."""
        with self._lock:
            for connection in self._open:
                _shut(connection)
            self._answered = 0

    def close(self) -> None:
        """Cut, and accept nobody any more."""
        _shut(self._listener)
        self._threads[0].join(WAIT_SECONDS)
        self.cut()
        for thread in self._threads:
            thread.join(WAIT_SECONDS)
        for connection in (self._listener, *self._open):
            connection.close()

    def _start(self, work: Callable[..., None], *given: object) -> None:
        thread = Thread(target=work, args=given, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            self.connection_count += 1
            try:
                far = socket.create_connection(("127.0.0.1", self.port))
            except OSError:
                near.close()
                continue
            with self._lock:
                self._open += [near, far]
            self._start(self._pass_on, near, far, False)
            self._start(self._pass_on, far, near, True)

    def _pass_on(self, source: socket.socket, target: socket.socket, is_answer: bool) -> None:
        with suppress(OSError):
            while data := source.recv(_CHUNK):
                if is_answer:
                    self._answered += len(data)
                    if self.is_cut_after(self._answered):
                        self.cut()
                        break
                target.sendall(data)
        for end in (source, target):
            _shut(end)


def _shut(connection: socket.socket) -> None:
    with suppress(OSError):  # it was shut already
        connection.shutdown(socket.SHUT_RDWR)


class Pauses:
    """A client's pauses, which take no time here: they last until the channel is connected again."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.client: Client | AsyncClient | None = None

    def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
        assert isinstance(self.client, Client)
        grpc.channel_ready_future(self.client._channel).result(WAIT_SECONDS)

    async def asynchronous(self, seconds: float) -> None:
        self.seconds.append(seconds)
        assert isinstance(self.client, AsyncClient)
        await self.client._channel.channel_ready()

    def client_of(self, service: Service, proxy: Proxy) -> Client:
        """A patient client behind the proxy."""
        self.client = service.client(target=proxy.target, attempts=20, pause=self)
        return self.client


class Cutter:
    """Cuts the connection once the next commit is durable, before its answer."""

    def __init__(self, service: Service, proxy: Proxy, times: int = 1) -> None:
        self._store = service.store
        self._proxy = proxy
        self._times = times
        self._inner = service.store.inner.append
        service.store.inner.append = self._append  # type: ignore[method-assign]  # what a test does to it

    def _append(self, batches: Sequence[Batch], refusals: Sequence[Refusal] = ()) -> list[Head | Conflict]:
        answers = self._inner(batches, refusals)
        if self._times:
            self._times -= 1
            self._proxy.cut()
        return answers
