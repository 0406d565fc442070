"""Strictness on the wire: bytes that are no request, and fields unknown here, are told as any other fault of form."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

import grpc
from google.protobuf.message import DecodeError, Message

from heptalog.replay import codec
from heptalog.replay.errors import Code, Malformed
from heptalog.service.config import MESSAGE_SIZE_MAX

_OURS: Final = "/heptalog."


class Decoding(grpc.aio.ServerInterceptor):
    """Gives a call that cannot be decoded to its method, as the failure that it is; gRPC itself would say UNKNOWN."""

    async def intercept_service(
        self, continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]], handler_call_details: Any
    ) -> Any:
        """The handler of a call, with a decoder that never raises."""
        handler = await continuation(handler_call_details)
        if handler is None or not handler_call_details.method.startswith(_OURS):
            return handler
        return handler._replace(request_deserializer=_decoder(handler.request_deserializer))


def check_request(request: Message | Malformed) -> None:
    """Raise Malformed for what could not be decoded, or has unknown fields; the path is that of what holds them."""
    if isinstance(request, Malformed):
        raise request
    if (size := request.ByteSize()) > MESSAGE_SIZE_MAX:
        raise Malformed(Code.EVENT_TOO_LARGE, rule="api", field="", size=size, limit=MESSAGE_SIZE_MAX)
    try:
        codec.check_known(request)
    except Malformed as error:
        error.facts["field"] = _path_of_unknown(request)
        raise


def _decoder(decode: Callable[[bytes], Message]) -> Callable[[bytes], Message | Malformed]:
    def decode_or_fail(data: bytes) -> Message | Malformed:
        try:
            return decode(data)
        except DecodeError:
            return Malformed(Code.NOT_PROTOBUF, rule="api", field="")

    return decode_or_fail


def _path_of_unknown(message: Message) -> str:
    """The first part of a message that has an unknown field itself; empty where it is the message."""
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        items = [("", value)] if isinstance(value, Message) else [(f"[{i}]", item) for i, item in enumerate(value)]
        for place, item in items:
            try:
                codec.check_known(item)
            except Malformed:
                inner = _path_of_unknown(item)
                return f"{field.name}{place}.{inner}" if inner else f"{field.name}{place}"
    return ""
