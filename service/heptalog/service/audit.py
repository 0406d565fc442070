"""AuditService: what proves the log, and what is wrong with a game. Each call decodes, asks, encodes."""

from collections.abc import AsyncGenerator, Callable
from contextlib import closing
from functools import partial
from itertools import islice
from typing import Final, TypeVar

from heptalog.replay.errors import Code, Malformed, Unavailable
from heptalog.replay.rules import ARBITER
from heptalog.service.answering import Context, Readers, answers, streams
from heptalog.service.bundling import bundle_of, in_pieces, latest_covering
from heptalog.service.config import STREAMED_BYTES
from heptalog.service.evidence.proving import Prover
from heptalog.service.examining.comparing import Comparing, alternative, difference
from heptalog.service.examining.messages import alternative_message, difference_message, examined_message, options_in
from heptalog.service.examining.told import Alternative, Difference
from heptalog.service.examining.verifying import examination
from heptalog.service.store import Checkpoint, LogStore
from heptalog.service.wire import checkpoint_message, viewer_of
from heptalog.v1 import audit_pb2, audit_pb2_grpc

T = TypeVar("T")

_CHECKPOINTS_A_MESSAGE: Final = 1000


class AuditServicer(audit_pb2_grpc.AuditServiceServicer):
    """Gives checkpoints and proofs, keeps what witnesses sign, and examines games."""

    def __init__(self, store: LogStore, prover: Prover, readers: Readers, signing: Readers) -> None:
        self._store = store
        self._prover = prover
        self._readers = readers
        self._signing = signing
        self._covering = latest_covering(prover)
        self._is_draining = False

    def drain(self) -> None:
        """Have what is being examined or compared end after the piece that is under way."""
        self._is_draining = True

    @streams
    async def VerifyGame(
        self, request: audit_pb2.VerifyGameRequest, context: Context
    ) -> AsyncGenerator[audit_pb2.VerifyGameResponse, None]:
        told = examination(self._store, request.game_id)
        try:
            while (part := await self._piece(lambda: next(told, None))) is not None:
                yield examined_message(part)
        finally:
            # Nobody is reading any more, and letting go asks no disk.
            told.close()

    @answers
    async def DiffGames(self, request: audit_pb2.DiffGamesRequest, context: Context) -> audit_pb2.DiffGamesResponse:
        comparing = self._comparing(request)
        found: Difference | Alternative | None = None
        try:
            while found is None:
                found = await self._piece(lambda: next(comparing))
        finally:
            comparing.close()
        if isinstance(found, Difference):
            return audit_pb2.DiffGamesResponse(difference=difference_message(found))
        return audit_pb2.DiffGamesResponse(alternative=alternative_message(found))

    def _comparing(self, request: audit_pb2.DiffGamesRequest) -> Comparing:
        match request.WhichOneof("against"):
            case "other_game_id":
                return difference(self._store, request.game_id, request.other_game_id, with_envelope=request.envelope)
            case "options":
                return alternative(self._store, request.game_id, options_in(request))
            case _:
                problem = "a game is compared with another, or under other options"
                raise Malformed(Code.FIELD_INVALID, rule="api", field="against", problem=problem)

    async def _piece(self, work: Callable[[], T]) -> T:
        """The next piece of a reading that may be long. Raises Unavailable once the service drains."""
        if self._is_draining:
            raise Unavailable(Code.DRAINING, rule="api")
        return await self._readers.run(work)

    @answers
    async def GetCheckpoint(
        self, request: audit_pb2.GetCheckpointRequest, context: Context
    ) -> audit_pb2.GetCheckpointResponse:
        size = request.size if request.HasField("size") else None
        if not request.fresh:
            checkpoint = await self._readers.run(lambda: self._prover.checkpoint(size))
        elif size is not None:
            problem = "a fresh one has the size that the log has"
            raise Malformed(Code.FIELD_INVALID, rule="api", field="size", problem=problem)
        else:
            checkpoint = await self._signing.run(self._prover.sign)
        return audit_pb2.GetCheckpointResponse(checkpoint=checkpoint_message(checkpoint))

    @streams
    async def ListCheckpoints(
        self, request: audit_pb2.ListCheckpointsRequest, context: Context
    ) -> AsyncGenerator[audit_pb2.ListCheckpointsResponse, None]:
        # Each message is a reading of its own: whoever takes them slowly holds no moment of the store.
        after = request.after_size
        while some := await self._readers.run(partial(_some_checkpoints, self._prover, after)):
            yield audit_pb2.ListCheckpointsResponse(checkpoints=map(checkpoint_message, some))
            after = some[-1].size

    @answers
    async def GetInclusionProof(
        self, request: audit_pb2.GetInclusionProofRequest, context: Context
    ) -> audit_pb2.GetInclusionProofResponse:
        proof = await self._readers.run(lambda: self._prover.inclusion(request.position, request.size))
        response = audit_pb2.GetInclusionProofResponse(size=proof.size, hashes=proof.hashes)
        if proof.checkpoint is not None:
            response.checkpoint.CopyFrom(checkpoint_message(proof.checkpoint))
        return response

    @answers
    async def GetConsistencyProof(
        self, request: audit_pb2.GetConsistencyProofRequest, context: Context
    ) -> audit_pb2.GetConsistencyProofResponse:
        first, second = request.first_size, request.second_size
        proof = await self._readers.run(lambda: self._prover.consistency(first, second))
        response = audit_pb2.GetConsistencyProofResponse(second_size=proof.size, hashes=proof.hashes)
        if proof.checkpoint is not None:
            response.checkpoint.CopyFrom(checkpoint_message(proof.checkpoint))
        return response

    @answers
    async def AddCosignature(
        self, request: audit_pb2.AddCosignatureRequest, context: Context
    ) -> audit_pb2.AddCosignatureResponse:
        checkpoint = await self._signing.run(lambda: self._prover.cosign(request.note))
        return audit_pb2.AddCosignatureResponse(checkpoint=checkpoint_message(checkpoint))

    @streams
    async def ExportBundle(
        self, request: audit_pb2.ExportBundleRequest, context: Context
    ) -> AsyncGenerator[audit_pb2.ExportBundleResponse, None]:
        viewer = viewer_of(request.viewer) if request.HasField("viewer") else ARBITER
        lines = await self._readers.run(
            lambda: bundle_of(self._store, request.game_id, viewer, self._covering, is_withheld=request.withheld)
        )
        pieces = in_pieces(lines)
        while piece := await self._readers.run(lambda: next(pieces, b"")):
            yield audit_pb2.ExportBundleResponse(data=piece)


def _some_checkpoints(prover: Prover, after: int) -> list[Checkpoint]:
    """A message's worth of those of a greater size, bounded in number and in bytes; empty at the end."""
    some: list[Checkpoint] = []
    length = 0
    with closing(prover.checkpoints(after=after)) as checkpoints:
        for checkpoint in islice(checkpoints, _CHECKPOINTS_A_MESSAGE):
            some.append(checkpoint)
            length += len(checkpoint.note.encode())
            if length >= STREAMED_BYTES:
                break
    return some
