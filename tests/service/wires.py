"""One AppendStream as it is on the wire: what is sent, message by message, and what is answered."""

from queue import SimpleQueue
from typing import Any

import grpc

from heptalog.replay.errors import Code, HeptalogError
from heptalog.service.appends import Append
from heptalog.service.status import unpacked
from heptalog.v1 import log_pb2
from tests.service.asking import Failure, append_message, failure_of, log_stub
from tests.support.serving import WAIT_SECONDS, Service


class Wire:
    """One stream, message by message, through the generated stub."""

    def __init__(self, service: Service, *, timeout: float = WAIT_SECONDS) -> None:
        self._messages: SimpleQueue[log_pb2.AppendStreamRequest | None] = SimpleQueue()
        self.call: Any = log_stub(service).AppendStream(iter(self._messages.get, None), timeout=timeout)

    def send(self, *appends: tuple[int, Append | log_pb2.AppendEventsRequest]) -> None:
        """One message with these."""
        self._messages.put(log_pb2.AppendStreamRequest(appends=[streamed(*append) for append in appends]))

    def end(self) -> None:
        """Nothing more is sent."""
        self._messages.put(None)

    def answers(self, count: int) -> dict[int, log_pb2.StreamedAnswer]:
        """So many answers, by their numbers."""
        found: list[log_pb2.StreamedAnswer] = []
        while len(found) < count:
            found += next(self.call).answers
        assert len(found) == len({answer.correlation_id for answer in found}) == count
        return {answer.correlation_id: answer for answer in found}

    def ends(self) -> Failure | None:
        """How it ends, with no answer any more; None where all is well."""
        try:
            assert list(self.call) == []
        except grpc.RpcError as error:
            return failure_of(error)
        return None


def streamed(number: int, append: Append | log_pb2.AppendEventsRequest) -> log_pb2.StreamedAppend:
    """One append of a stream."""
    message = append_message(append) if isinstance(append, Append) else append
    return log_pb2.StreamedAppend(correlation_id=number, append=message)


def told(answer: log_pb2.StreamedAnswer) -> log_pb2.AppendEventsResponse | HeptalogError:
    """What an answer says."""
    if answer.WhichOneof("outcome") == "appended":
        return answer.appended
    return unpacked(answer.failure)


def code_of(answer: log_pb2.StreamedAnswer) -> Code:
    """Why an append was not recorded."""
    failure = told(answer)
    assert isinstance(failure, HeptalogError), failure
    return failure.code
