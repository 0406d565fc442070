"""Reveals: what somebody shows later of what was left out of a copy, each piece checked against its commitment.

    {"gameId":"final","sequence":1,"part":"hands[2]","tiles":["5-2","2-2"],"salt":"…"}

`part` is the path of the hidden part in its event, and empty where the event is itself hidden. The values stand in the
order recorded, since that is what was committed to.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from msgspec import DecodeError, Struct, ValidationError
from msgspec.json import Decoder, Encoder
from msgspec.structs import replace

from heptalog.replay.errors import Code, Corrupt, Malformed
from heptalog.replay.events import UNSET, Event, Uint32
from heptalog.replay.evidence.seals import Sealable, commitment, is_redacted, map_parts, sealable_parts, values_of

_RULE: Final = "evidence"


class Reveal(Struct, frozen=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """One hidden part: where it is, its values, and the salt under which they were sealed."""

    sequence: Uint32
    salt: bytes
    part: str = ""
    game_id: str = ""
    cards: tuple[str, ...] = ()
    tiles: tuple[str, ...] = ()


class Revealed(Struct, frozen=True, rename="camel"):
    """A part that was left out and is there now."""

    sequence: int
    part: str


_decoder: Final = Decoder(Reveal)
_encoder: Final = Encoder()


def encode_reveal(reveal: Reveal) -> bytes:
    """One line of a file of reveals, without the line break."""
    return _encoder.encode(reveal)


def decode_reveal(line: bytes) -> Reveal:
    """The reveal in one line. Raises Malformed."""
    try:
        return _decoder.decode(line)
    except (DecodeError, ValidationError, RecursionError) as error:
        raise Malformed(Code.FIELD_INVALID, rule=_RULE, problem=str(error)) from None


def reveals_in(event: Event) -> Iterator[Reveal]:
    """Every part of an event that can be shown: that has its value, and a salt to check it by."""
    for path, part in sealable_parts(event.body):
        if part.seal is not UNSET and part.seal.salt and values_of(part):
            yield reveal_of(event, path, part)


def reveal_of(event: Event, path: str, part: Sealable) -> Reveal:
    """What shows this part of an event, which is sealed and has its value."""
    return Reveal(event.sequence, part.seal.salt, path, event.game_id, **{part.value_field: values_of(part)})


class Revealing:
    """Puts what was revealed into the events of a copy, as they pass by."""

    def __init__(self, reveals: Iterable[Reveal]) -> None:
        self.revealed: list[Revealed] = []
        self._waiting: dict[int, list[Reveal]] = {}
        for reveal in reveals:
            self._waiting.setdefault(reveal.sequence, []).append(reveal)

    def passing(self, events: Iterable[Event]) -> Iterator[Event]:
        """The events, with the parts that were revealed. Raises Corrupt for one that was not committed to."""
        for event in events:
            given = self._waiting.pop(event.sequence, ())
            yield self._filled(event, given) if given else event
        for sequence, given in self._waiting.items():
            raise _misplaced(given[0], f"there is no event {sequence}")

    def _filled(self, event: Event, given: Iterable[Reveal]) -> Event:
        paths = dict(sealable_parts(event.body))
        filled: dict[str, Sealable] = {}
        for reveal in given:
            part = paths.get(reveal.part)
            if reveal.game_id not in ("", event.game_id):
                raise _misplaced(reveal, f"it is of the game {reveal.game_id}")
            if part is None or part.seal is UNSET:
                raise _misplaced(reveal, f"event {event.sequence} has no such sealed part")
            filled[reveal.part] = _checked(part, reveal)
            if is_redacted(part):
                self.revealed.append(Revealed(event.sequence, reveal.part))
        following = iter(paths)
        return replace(event, body=map_parts(event.body, lambda part: filled.get(next(following), part)))


def _checked(part: Sealable, reveal: Reveal) -> Sealable:
    """The part with its value. Raises Corrupt where it was not committed to."""
    values: dict[str, Any] = {"cards": reveal.cards, "tiles": reveal.tiles}
    own = values.pop(part.value_field)
    is_whole = len(own) == part.seal.count and not any(values.values())
    if not is_whole or commitment(reveal.salt, own) != part.seal.commitment:
        raise Corrupt(Code.SEAL_BROKEN, rule=_RULE, sequence=reveal.sequence, field=reveal.part or "seal")
    return replace(part, **{part.value_field: own}, seal=replace(part.seal, salt=reveal.salt))


def _misplaced(reveal: Reveal, problem: str) -> Malformed:
    return Malformed(Code.FIELD_INVALID, rule=_RULE, sequence=reveal.sequence, field=reveal.part, problem=problem)
