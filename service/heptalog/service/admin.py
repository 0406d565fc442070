"""AdminService: the work of who runs a server. Each call decodes, asks, encodes."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing

from heptalog.service.answering import Context, Readers, streams
from heptalog.service.backup.messages import have_of, part_message
from heptalog.service.backup.parts import Part, parts_of
from heptalog.service.store import LogStore
from heptalog.service.tables.tables import Tables, check_kept
from heptalog.service.wire import rebuilding_message
from heptalog.v1 import admin_pb2, admin_pb2_grpc


class AdminServicer(admin_pb2_grpc.AdminServiceServicer):
    """Gives the log away for backups, and has tables made anew.

    Between two parts of a backup nothing is held: who takes them slowly holds up nobody.
    """

    def __init__(self, store: LogStore, tables: Tables | None, readers: Readers) -> None:
        self._store = store
        self._tables = tables
        self._readers = readers

    @streams
    async def Backup(
        self, request: admin_pb2.BackupRequest, context: Context
    ) -> AsyncGenerator[admin_pb2.BackupResponse, None]:
        parts = parts_of(self._store, have_of(request))
        # Encoding a megabyte is work too, so it is done where the event loop does not wait for it.
        while (message := await self._readers.run(lambda: _next_message(parts))) is not None:
            yield message

    @streams
    async def RebuildTables(
        self, request: admin_pb2.RebuildTablesRequest, context: Context
    ) -> AsyncGenerator[admin_pb2.RebuildTablesResponse, None]:
        async with aclosing(check_kept(self._tables).rebuild()) as steps:
            async for step in steps:
                yield rebuilding_message(step)


def _next_message(parts: Iterator[Part]) -> admin_pb2.BackupResponse | None:
    part = next(parts, None)
    return None if part is None else part_message(part)
