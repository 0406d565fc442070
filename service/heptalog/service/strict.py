"""Strictness on the wire: bytes that are no request, and fields unknown here, are told as any other fault of form."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final

import grpc
from google.protobuf.message import DecodeError, Message

from heptalog.replay import codec
from heptalog.replay.errors import Code, HeptalogError, Malformed
from heptalog.service.config import MESSAGE_SIZE_MAX

Decoder = Callable[[bytes], object]
# Decodes nothing: the method does.
as_bytes: Final[Decoder] = bytes


class Registrar:
    """Stands for a server while a service is registered, and gives each method a decoder that never raises.

    A call that cannot be decoded so comes to its method as the failure that it is; gRPC itself would say UNKNOWN. (An
    interceptor could do the same, and would be asked again at every call.) `decoders` are used in place of those of the
    generated code, by the names of their methods; the answers of the methods `written` are bytes already.
    """

    def __init__(
        self, server: grpc.aio.Server, decoders: Mapping[str, Decoder] | None = None, written: Collection[str] = ()
    ) -> None:
        self._server = server
        self._decoders = decoders or {}
        self._written = written

    def add_generic_rpc_handlers(self, handlers: object) -> None:
        """Take nothing: the generated code brings the same by name."""

    def add_registered_method_handlers(self, service: str, handlers: Mapping[str, Any]) -> None:
        """Register the methods of a service."""
        strict = {name: self._strict(name, handler) for name, handler in handlers.items()}
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, strict),))

    def _strict(self, name: str, handler: Any) -> Any:
        decode = _never_raising(self._decoders.get(name) or handler.request_deserializer)
        encode = None if name in self._written else handler.response_serializer
        return handler._replace(request_deserializer=decode, response_serializer=encode)


def check_request(request: object) -> None:
    """Raise Malformed for what could not be decoded, or has unknown fields; the path is that of what holds them.

    What is no message was decoded by a decoder that has looked at all that itself.
    """
    if isinstance(request, HeptalogError):
        raise request
    if not isinstance(request, Message):
        return
    if (size := request.ByteSize()) > MESSAGE_SIZE_MAX:
        raise Malformed(Code.EVENT_TOO_LARGE, rule="api", field="", size=size, limit=MESSAGE_SIZE_MAX)
    try:
        codec.check_known(request)
    except Malformed as error:
        error.facts["field"] = _path_of_unknown(request)
        raise


def _parts_of(value: Any) -> Iterator[tuple[str, Message]]:
    """The messages in the value of a field, and where each is: in one message, a map or a list."""
    if isinstance(value, Message):
        yield "", value
    elif isinstance(value, Mapping):
        yield from ((f"[{key}]", value[key]) for key in sorted(value))
    else:
        yield from ((f"[{index}]", item) for index, item in enumerate(value))


def _never_raising(decode: Decoder) -> Decoder:
    def decode_or_fail(data: bytes) -> object:
        try:
            return decode(data)
        except DecodeError:
            return Malformed(Code.NOT_PROTOBUF, rule="api", field="")
        except HeptalogError as error:
            return error

    return decode_or_fail


def _path_of_unknown(message: Message) -> str:
    """The first part of a message that has an unknown field itself; empty where it is the message."""
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        for place, item in _parts_of(value):
            try:
                codec.check_known(item)
            except Malformed:
                inner = _path_of_unknown(item)
                return f"{field.name}{place}.{inner}" if inner else f"{field.name}{place}"
    return ""
