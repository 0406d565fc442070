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
from heptalog.service.examining.told import (
    Alternative,
    Compared,
    Consequence,
    Difference,
    Finding,
    GameReport,
    OutcomeParting,
    Progress,
)
from heptalog.service.followed import Followed
from heptalog.service.store import NO_GAME, Checkpoint, GameEntry, GameFilter, Head, Status, Stored
from heptalog.service.subscribing.told import (
    CaughtUp,
    FeedBatch,
    FeedEvent,
    FeedFilter,
    FeedMessage,
    FellBehind,
    Heartbeat,
)

__all__ = [
    "NO_GAME",
    "Alternative",
    "Append",
    "AppendStream",
    "AsyncAppendStream",
    "AsyncClient",
    "AsyncQueryAnswer",
    "AsyncRecorder",
    "CaughtUp",
    "Checkpoint",
    "CheckpointsPart",
    "Client",
    "Compared",
    "Consequence",
    "Difference",
    "EventsPart",
    "FeedBatch",
    "FeedEvent",
    "FeedFilter",
    "FeedMessage",
    "FellBehind",
    "Finding",
    "Followed",
    "GameEntry",
    "GameFilter",
    "GameReport",
    "Have",
    "Head",
    "Heartbeat",
    "Moment",
    "OutcomeParting",
    "Progress",
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
