"""AdminService: the work of who runs a server. Each call decodes, asks, encodes."""

from collections.abc import AsyncGenerator, Iterator

from heptalog.service.answering import Context, Readers, streams
from heptalog.service.backup.messages import have_of, part_message
from heptalog.service.backup.parts import Part, parts_of
from heptalog.service.store import LogStore
from heptalog.v1 import admin_pb2, admin_pb2_grpc


class AdminServicer(admin_pb2_grpc.AdminServiceServicer):
    """Gives the log away for backups. Between two parts nothing is held: who takes them slowly holds up nobody."""

    def __init__(self, store: LogStore, readers: Readers) -> None:
        self._store = store
        self._readers = readers

    @streams
    async def Backup(
        self, request: admin_pb2.BackupRequest, context: Context
    ) -> AsyncGenerator[admin_pb2.BackupResponse, None]:
        parts = parts_of(self._store, have_of(request))
        # Encoding a megabyte is work too, so it is done where the event loop does not wait for it.
        while (message := await self._readers.run(lambda: _next_message(parts))) is not None:
            yield message


def _next_message(parts: Iterator[Part]) -> admin_pb2.BackupResponse | None:
    part = next(parts, None)
    return None if part is None else part_message(part)
