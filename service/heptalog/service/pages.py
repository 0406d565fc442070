"""Page tokens: opaque, bound to the request they continue, and granting nothing."""

import base64
import binascii
from hashlib import sha256
from typing import Annotated, Final, TypeAlias

from google.protobuf.message import Message
from msgspec import DecodeError, Meta, Struct, ValidationError
from msgspec.json import Decoder, encode

from heptalog.replay.errors import Code, Malformed
from heptalog.service.config import PAGE_SIZE, PAGE_SIZE_MAX

_FIELDS_OF_A_PAGE: Final = ("page_token", "page_size")


# A token may be forged; it then shows another page of the same answer, and nothing that breaks.
Count: TypeAlias = Annotated[int, Meta(ge=0, le=2**53)]


class Place(Struct, frozen=True, forbid_unknown_fields=True):
    """Where a page begins; what it means is the caller's own."""

    after: Count
    at: Count
    request: str


_decoder: Final = Decoder(Place)


def page_size(asked: int) -> int:
    """How many items a page has. Raises Malformed beyond the limit."""
    if asked > PAGE_SIZE_MAX:
        raise Malformed(Code.FIELD_INVALID, rule="api", field="page_size", problem=f"at most {PAGE_SIZE_MAX}")
    return asked or PAGE_SIZE


def place_of(request: Message, token: str) -> Place | None:
    """Where the page asked for begins; None for the first. Raises Malformed for a token of another request."""
    if not token:
        return None
    try:
        place = _decoder.decode(base64.urlsafe_b64decode(token.encode()))
    except (ValueError, binascii.Error, DecodeError, ValidationError):
        place = None
    if place is None or place.request != _digest(request):
        raise Malformed(Code.FIELD_INVALID, rule="api", field="page_token", problem="not a token of this request")
    return place


def token_for(request: Message, *, after: int, at: int = 0) -> str:
    """The token of the page after this one."""
    return base64.urlsafe_b64encode(encode(Place(after, at, _digest(request)))).decode()


def _digest(request: Message) -> str:
    """What a request asks for, whatever its page."""
    bare = type(request)()
    bare.CopyFrom(request)
    for name in _FIELDS_OF_A_PAGE:
        bare.ClearField(name)
    return sha256(bare.SerializeToString(deterministic=True)).hexdigest()[:16]
