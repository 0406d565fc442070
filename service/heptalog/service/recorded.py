"""Records on the wire as the bytes that they are: a server writes none of them anew, and a client reads them as stored.

The messages are those of `heptalog.v1`; the twins of `heptalog.internal.v1` are the same bytes with each event left
whole. Between the two ends an event is so never taken apart for being passed on, and what a newer version has put into
it stays where it stood.
"""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from google.protobuf.message import DecodeError

from heptalog.internal.v1 import bytes_pb2
from heptalog.replay.errors import Code, Corrupt
from heptalog.service.config import EVENTS_PER_READ, STREAMED_BYTES
from heptalog.service.store import Stored
from heptalog.v1 import log_pb2

_SERVICE: Final = log_pb2.DESCRIPTOR.services_by_name["LogService"].full_name
READ_EVENTS: Final = f"/{_SERVICE}/ReadEvents"


def next_response(records: Iterable[Stored]) -> bytes:
    """The next message's worth of records, bounded in number and in bytes; empty at the end.

    Raises Corrupt where one of them is no event, which no client could read.
    """
    batch: list[Stored] = []
    size = 0
    for stored in islice(records, EVENTS_PER_READ):
        batch.append(stored)
        size += len(stored.record)
        if size >= STREAMED_BYTES:
            break
    return response_of(batch)


def response_of(batch: Sequence[Stored]) -> bytes:
    """The ReadEventsResponse with these records. Raises Corrupt where one of them is no event."""
    response = bytes_pb2.ReadEventsResponse()
    add = response.events.add
    for stored in batch:
        add(position=stored.position, event=stored.record)
    data = response.SerializeToString()
    try:
        # As a client will read it: all at once costs a fifth of looking at each.
        log_pb2.ReadEventsResponse.FromString(data)
    except DecodeError as error:
        if len(batch) > 1:
            for stored in batch:
                response_of([stored])
        facts = {"game_id": batch[0].game_id, "at_sequence": batch[0].sequence, "position": batch[0].position}
        raise Corrupt(Code.RECORD_DAMAGED, rule="evidence", **facts) from error
    return data


def records_in(data: bytes) -> list[Stored]:
    """The records in a ReadEventsResponse, byte for byte. Raises DecodeError where it is none."""
    events = log_pb2.ReadEventsResponse.FromString(data).events
    twins = bytes_pb2.ReadEventsResponse.FromString(data).events
    return [
        Stored(twin.position, event.game_id, event.sequence, twin.event)
        for twin, event in zip(twins, [recorded.event for recorded in events], strict=True)
    ]
