"""The canonical bytes and hashes of a game file once more, by other means.

Written from the `.proto` files and the description of the evidence alone: no protobuf library, nothing of the product,
field numbers copied by hand. Where this and the product agree, anybody can write the bytes in any language.

A message is its fields in the order of their numbers, each a key and a value; a field at its default is left out,
unless it has presence (`optional`, or a message) and was given.
"""

import base64
import hashlib
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

VARINT: Final = 0
LENGTH: Final = 2


class Field(NamedTuple):
    """One field of a message: its number, its kind, and whether it has presence or is repeated."""

    number: int
    kind: str
    rule: str = ""


OPTIONAL: Final = "optional"
REPEATED: Final = "repeated"

ENUMS: Final[dict[str, dict[str, int]]] = {
    "Arm": {"LEFT": 1, "RIGHT": 2, "UP": 3, "DOWN": 4},
    "Decision": {"STAND": 1, "BEG": 2, "GIVE": 3, "RUN": 4},
    "Scoring": {"VALUES": 1, "COUNT": 2},
}

MESSAGES: Final[dict[str, dict[str, Field]]] = {
    "Event": {
        "previousHash": Field(1, "bytes"),
        "hash": Field(2, "bytes"),
        "gameId": Field(3, "string"),
        "sequence": Field(4, "uint32"),
        "eventId": Field(5, "string"),
        "occurredAt": Field(6, "Timestamp", OPTIONAL),
        "recordedAt": Field(7, "Timestamp", OPTIONAL),
        "recordedBy": Field(8, "string"),
        "gameStarted": Field(16, "GameStarted", OPTIONAL),
        "dealerDrawn": Field(17, "DealerDrawn", OPTIONAL),
        "openerDrawn": Field(18, "OpenerDrawn", OPTIONAL),
        "turnPassed": Field(19, "TurnPassed", OPTIONAL),
        "movesRetracted": Field(20, "MovesRetracted", OPTIONAL),
        "gameClosed": Field(21, "GameClosed", OPTIONAL),
        "noteAdded": Field(22, "NoteAdded", OPTIONAL),
        "cardsDealt": Field(30, "CardsDealt", OPTIONAL),
        "cardPlayed": Field(31, "CardPlayed", OPTIONAL),
        "tilesDealt": Field(40, "TilesDealt", OPTIONAL),
        "tilePlayed": Field(41, "TilePlayed", OPTIONAL),
        "trumpDecided": Field(50, "TrumpDecided", OPTIONAL),
        "cardsRun": Field(51, "CardsRun", OPTIONAL),
        "cardsDiscarded": Field(52, "CardsDiscarded", OPTIONAL),
        "infractionCalled": Field(53, "InfractionCalled", OPTIONAL),
    },
    "GameStarted": {
        "players": Field(1, "Player", REPEATED),
        "rulesVersion": Field(2, "uint32", OPTIONAL),
        "tournament": Field(3, "string"),
        "table": Field(4, "string"),
        "tags": Field(5, "Tag", REPEATED),
        "sevenRocks": Field(16, "SevenRocks", OPTIONAL),
        "sevenUp": Field(17, "SevenUp", OPTIONAL),
        "sevenBridge": Field(18, "SevenBridge", OPTIONAL),
    },
    "Player": {"id": Field(1, "string"), "name": Field(2, "string")},
    "Tag": {"name": Field(1, "string"), "value": Field(2, "string")},
    "SevenRocks": {"target": Field(1, "uint32", OPTIONAL)},
    "SevenUp": {"target": Field(1, "uint32", OPTIONAL)},
    "SevenBridge": {
        "passTokens": Field(1, "uint32", OPTIONAL),
        "openingSeven": Field(2, "string", OPTIONAL),
        "ghosts": Field(3, "bool", OPTIONAL),
        "jokers": Field(4, "uint32"),
        "jokerPenalty": Field(5, "uint32", OPTIONAL),
        "kingsRace": Field(6, "uint32"),
        "scoring": Field(7, "Scoring"),
        "rounds": Field(8, "uint32", OPTIONAL),
        "limit": Field(9, "uint32"),
    },
    "DealerDrawn": {"seat": Field(1, "uint32"), "lots": Field(2, "Lot", REPEATED)},
    "OpenerDrawn": {"seat": Field(1, "uint32"), "lots": Field(2, "Lot", REPEATED)},
    "Lot": {"draws": Field(1, "Draw", REPEATED)},
    "Draw": {"seat": Field(1, "uint32"), "value": Field(2, "int32")},
    "TurnPassed": {"seat": Field(1, "uint32")},
    "MovesRetracted": {"toSequence": Field(1, "uint32"), "reason": Field(2, "string")},
    "GameClosed": {"reason": Field(1, "string"), "winners": Field(2, "uint32", REPEATED)},
    "NoteAdded": {"text": Field(1, "string")},
    "CardsDealt": {"hands": Field(1, "CardHand", REPEATED), "turned": Field(2, "string")},
    "CardPlayed": {"seat": Field(1, "uint32"), "card": Field(2, "string"), "standsFor": Field(3, "string")},
    "CardHand": {"cards": Field(1, "string", REPEATED), "seal": Field(2, "Seal", OPTIONAL)},
    "TileHand": {"tiles": Field(1, "string", REPEATED), "seal": Field(2, "Seal", OPTIONAL)},
    "Seal": {"salt": Field(1, "bytes"), "commitment": Field(2, "bytes"), "count": Field(3, "uint32")},
    "TilesDealt": {"hands": Field(1, "TileHand", REPEATED)},
    "TilePlayed": {"seat": Field(1, "uint32"), "tile": Field(2, "string"), "arm": Field(3, "Arm")},
    "TrumpDecided": {"seat": Field(1, "uint32"), "decision": Field(2, "Decision")},
    "CardsRun": {
        "elder": Field(1, "CardHand", OPTIONAL),
        "dealer": Field(2, "CardHand", OPTIONAL),
        "turned": Field(3, "string"),
    },
    "CardsDiscarded": {
        "seat": Field(1, "uint32"),
        "cards": Field(2, "string", REPEATED),
        "seal": Field(3, "Seal", OPTIONAL),
    },
    "InfractionCalled": {"seat": Field(1, "uint32")},
    "Timestamp": {"seconds": Field(1, "int64"), "nanos": Field(2, "int32")},
}

# Where something is hidden: the path to the object that has the seal, and the name of the value beside it.
HIDDEN: Final = {
    "tilesDealt": [("hands", "tiles")],
    "cardsDealt": [("hands", "cards")],
    "cardsRun": [("elder", "cards"), ("dealer", "cards")],
    "cardsDiscarded": [("", "cards")],
}


def record_of(line: dict[str, Any]) -> bytes:
    """The bytes that are stored for a line."""
    return _message("Event", line)


def public_of(line: dict[str, Any]) -> bytes:
    """The bytes that the chain covers."""
    public = {name: value for name, value in line.items() if name not in ("previousHash", "hash")}
    for body, places in HIDDEN.items():
        if body in public:
            public[body] = _without_secrets(public[body], places)
    return _message("Event", public)


def link(previous: bytes, public: bytes) -> bytes:
    """The hash of an event."""
    return hashlib.sha256(b"heptalog.link.v1\x00" + previous + _eight(len(public)) + public).digest()


def commitment(salt: bytes, values: list[str]) -> bytes:
    """The commitment to hidden values."""
    value = " ".join(values).encode("utf-8")
    data = b"heptalog.seal.v1\x00" + _eight(len(salt)) + salt + _eight(len(value)) + value
    return hashlib.sha256(data).digest()


def seals_of(line: dict[str, Any]) -> list[tuple[dict[str, Any], list[str]]]:
    """Every seal of a line with the values beside it."""
    found = []
    for body, places in HIDDEN.items():
        for name, value in places if body in line else ():
            parts = line[body] if not name else line[body].get(name, {})
            found += [
                (part["seal"], part.get(value, []))
                for part in (parts if isinstance(parts, list) else [parts])
                if "seal" in part
            ]
    return found


def _without_secrets(body: dict[str, Any], places: list[tuple[str, str]]) -> dict[str, Any]:
    def public(part: dict[str, Any], value: str) -> dict[str, Any]:
        if "seal" not in part:
            return part
        seal = {name: item for name, item in part["seal"].items() if name != "salt"}
        return {**{name: item for name, item in part.items() if name != value}, "seal": seal}

    for name, value in places:
        if not name:
            body = public(body, value)
        elif name in body:
            parts = body[name]
            shown = [public(part, value) for part in parts] if isinstance(parts, list) else public(parts, value)
            body = {**body, name: shown}
    return body


def _message(kind: str, value: dict[str, Any]) -> bytes:
    known = MESSAGES[kind]
    assert set(value) <= set(known), f"{kind} has no {set(value) - set(known)}"
    return b"".join(
        _field(field, value[name])
        for name, field in sorted(known.items(), key=lambda item: item[1].number)
        if name in value
    )


def _field(field: Field, value: Any) -> bytes:
    if field.rule == REPEATED and field.kind == "uint32":
        packed = b"".join(_varint(item) for item in value)
        return _key(field.number, LENGTH) + _varint(len(packed)) + packed if packed else b""
    if field.rule == REPEATED:
        return b"".join(_one(field, item) for item in value)
    if field.rule != OPTIONAL and value in (0, "", False):
        return b""
    return _one(field, value)


def _one(field: Field, value: Any) -> bytes:
    if field.kind in _VARINTS:
        return _key(field.number, VARINT) + _varint(_VARINTS[field.kind](value))
    if field.kind in ENUMS:
        return _key(field.number, VARINT) + _varint(ENUMS[field.kind][value])
    data = _LENGTHS[field.kind](value) if field.kind in _LENGTHS else _message(field.kind, value)
    return _key(field.number, LENGTH) + _varint(len(data)) + data


def _key(number: int, wire_type: int) -> bytes:
    return _varint(number << 3 | wire_type)


def _varint(number: int) -> bytes:
    """Seven bits a byte, the lowest first; a negative number is its two's complement in 64 bits."""
    number &= 2**64 - 1
    data = bytearray()
    while number > 127:
        data.append(number & 127 | 128)
        number >>= 7
    data.append(number)
    return bytes(data)


def _eight(number: int) -> bytes:
    return number.to_bytes(8, "big")


def _timestamp(text: str) -> bytes:
    match = re.fullmatch(r"(.{19})(?:\.(\d+))?Z", text)
    assert match, "times are written in UTC"
    seconds = int(datetime.strptime(match[1], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=UTC).timestamp())
    return _message("Timestamp", {"seconds": seconds, "nanos": int((match[2] or "").ljust(9, "0"))})


_VARINTS: Final[dict[str, Callable[[Any], int]]] = {"uint32": int, "int32": int, "int64": int, "bool": int}
_LENGTHS: Final[dict[str, Callable[[Any], bytes]]] = {
    "string": lambda text: text.encode("utf-8"),
    "bytes": base64.b64decode,
    "Timestamp": _timestamp,
}
