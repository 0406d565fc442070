"""Ids for games that have none: derived from what was recorded, so that the same content has the same ids for ever.

    game id  = UUID of SHA-256( "heptalog.game-id.v1" 00 | for each event: length, 8 bytes big-endian | content )
    event id = UUID of SHA-256( "heptalog.event-id.v1" 00 | game id | 00 | sequence, 8 bytes big-endian | content )

The content of an event is its canonical protobuf as given, without chain fields, and without what is hidden and has no
seal: ids are public, and without a salt whoever sees one would only have to try all hands. A UUID is made of the first
16 bytes of a digest, with version 8 and the variant of RFC 9562 set. These two forms can never change: a file is
imported only once because of them. Ids that follow from nothing recorded are made by `uuid_of`.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import chain, repeat
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from heptalog.replay.bodies import NotPlain
from heptalog.replay.codec import content_of
from heptalog.replay.envelope import front_of
from heptalog.replay.events import Event, Seal
from heptalog.replay.evidence.seals import Sealable, map_parts, values_of

_GAME_TAG: Final = b"heptalog.game-id.v1\0"
_EVENT_TAG: Final = b"heptalog.event-id.v1\0"
# The digit of a UUID that says its variant, for each digit of the digest there.
_VARIANTS: Final = "89ab" * 4


def identified(events: Sequence[Event], contents: Sequence[bytes] | None = None) -> list[Event]:
    """The events of one game, each with a game id and an event id; those that are given stay.

    `contents` are what ids are made of, where somebody has them at hand.
    """
    if all(event.game_id and event.event_id for event in events):
        return list(events)
    if contents is None:
        contents = shown_contents(events)
    game_id = next((event.game_id for event in events if event.game_id), "") or _game_id(contents)
    return [
        replace(event, game_id=game_id, event_id=event.event_id or _event_id(game_id, event.sequence, content))
        for event, content in zip(events, contents, strict=True)
    ]


def shown_contents(events: Sequence[Event], fields: Iterable[bytes] = ()) -> list[bytes]:
    """What ids are made of: the contents of these events, without what is hidden and has no seal.

    `fields` are the canonical fields of their bodies, empty where they are not at hand.
    """
    return list(map(_shown_content, events, chain(fields, repeat(b""))))


def _shown_content(event: Event, field: bytes) -> bytes:
    if event.body.sealed:
        return content_of(_unhidden(event))
    try:
        return front_of(event) + field if field else content_of(event)
    except NotPlain:
        return content_of(event)


def _unhidden(event: Event) -> Event:
    """The event with a count in place of each hidden value that has no seal."""

    def count_only(part: Sealable) -> Sealable:
        values = values_of(part)
        if part.seal is not UNSET or not values:
            return part
        return replace(part, **{part.value_field: ()}, seal=Seal(count=len(values)))

    return replace(event, body=map_parts(event.body, count_only))


def uuid_of(time: int, bits: int) -> str:
    """The UUID of version 7 (RFC 9562) of a time, in nanoseconds since 1970 UTC, and 74 bits: later ones sort later."""
    milliseconds = time // 1_000_000
    number = milliseconds << 80 | 7 << 76 | (bits >> 62) << 64 | 2 << 62 | bits & (1 << 62) - 1
    text = f"{number:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _game_id(contents: Sequence[bytes]) -> str:
    digest = sha256(_GAME_TAG)
    for content in contents:
        digest.update(len(content).to_bytes(8, "big") + content)
    return _uuid(digest.hexdigest())


def _event_id(game_id: str, sequence: int, content: bytes) -> str:
    return _uuid(sha256(_EVENT_TAG + game_id.encode() + b"\0" + sequence.to_bytes(8, "big") + content).hexdigest())


def _uuid(digest: str) -> str:
    """The UUID in the first digits of a digest."""
    variant = _VARIANTS[int(digest[16], 16)]
    return f"{digest[:8]}-{digest[8:12]}-8{digest[13:16]}-{variant}{digest[17:20]}-{digest[20:32]}"
