"""Clients of a Heptalog service, for threads and for asyncio; what it refuses they raise as the same errors."""

from heptalog.service.appends import Append, Receipt
from heptalog.service.asked import Rebuilding, View, ViewColumn
from heptalog.service.backup.parts import CheckpointsPart, EventsPart, Have, Moment, RefusalsPart
from heptalog.service.client.answers import AsyncQueryAnswer, QueryAnswer
from heptalog.service.client.async_streams import AsyncAppendStream
from heptalog.service.client.asynchronous import AsyncClient, AsyncRecorder
from heptalog.service.client.calls import Retries, StateView
from heptalog.service.client.streams import AppendStream
from heptalog.service.client.synchronous import Client, Recorder
from heptalog.service.evidence.proofs import Proof
from heptalog.service.store import NO_GAME, Checkpoint, GameEntry, GameFilter, Head, Status, Stored

__all__ = [
    "NO_GAME",
    "Append",
    "AppendStream",
    "AsyncAppendStream",
    "AsyncClient",
    "AsyncQueryAnswer",
    "AsyncRecorder",
    "Checkpoint",
    "CheckpointsPart",
    "Client",
    "EventsPart",
    "GameEntry",
    "GameFilter",
    "Have",
    "Head",
    "Moment",
    "Proof",
    "QueryAnswer",
    "Rebuilding",
    "Receipt",
    "Recorder",
    "RefusalsPart",
    "Retries",
    "StateView",
    "Status",
    "Stored",
    "View",
    "ViewColumn",
]
