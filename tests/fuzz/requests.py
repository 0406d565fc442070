"""Fuzzing a real server: requests of every method as raw bytes, valid ones spoilt in their structure.

An input is the name of a method, a line break, and the bytes of the request. The server answers, or refuses with one of
our codes and its typed details; it never says INTERNAL or UNKNOWN, logs no failure of its own, tells no card that was
not in the request, and goes on.
"""

import logging
import re
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final, Self, cast

import grpc
from google.protobuf.descriptor import Descriptor, FieldDescriptor, MethodDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from msgspec.structs import replace

from heptalog.replay.evidence.seals import unsealed
from heptalog.replay.registry import GAMES
from heptalog.service.appends import Append
from heptalog.service.config import Settings
from heptalog.service.evidence.keys import Keyring
from heptalog.service.store import NO_GAME
from heptalog.service.store.duck import DuckStore
from heptalog.service.wire import append_request
from heptalog.v1 import admin_pb2, audit_pb2, games_pb2, log_pb2
from tests.evidence.given import LOG
from tests.fuzz.mutating import message_spoilt, spoilt, turned
from tests.fuzz.targets import Target
from tests.service.asking import failure_of
from tests.support.recording import batches_of, recorded_game
from tests.support.serving import Service

DEADLINE_SECONDS: Final = 30.0
RESPONSES_MAX: Final = 200
SERVICES: Final = (
    games_pb2.DESCRIPTOR.services_by_name["GamesService"],
    log_pb2.DESCRIPTOR.services_by_name["LogService"],
    audit_pb2.DESCRIPTOR.services_by_name["AuditService"],
    admin_pb2.DESCRIPTOR.services_by_name["AdminService"],
)
METHODS: Final[dict[str, MethodDescriptor]] = {
    f"/{method.containing_service.full_name}/{method.name}": method
    for service in SERVICES
    for method in service.methods
}
# A card or a tile by itself.
_PIECE: Final = re.compile(r"(?<![\w-])(?:[2-9TJQKA][CDHS]|X[12]|[0-6]-[0-6])(?![\w-])")
# Places in the request, written as ranges.
_RANGES: Final = ("known_events", "new_events")
# What gRPC says itself: of a service that is not there, of a request larger than it takes.
_BARE: Final = (grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.RESOURCE_EXHAUSTED)
TEXTS: Final = ("", "text", "7D", "TS", "X1", "6-4", "0-0", "é 七", "a" * 200, "\x00", "7d", " ")
NAMED: Final[dict[str, tuple[Any, ...]]] = {
    "game_id": ("game-seven_up", "game-seven_bridge", "game-seven_rocks", "nobody", ""),
    "ruleset": ("seven_up", "chess"),
    "page_token": ("", "AAAA"),
    "note": ("no note\n\n",),
    "status": (1, 2, 9),
    "role": (1, 2, 3, 9),
    "direction": (1, 2),
}
# Of maps: options are given in one.
KEYS = ("target", "jokers", "ghosts", "kingsRace", "passTokens", "", "a name")


class Fuzzed:
    """A server that is fuzzed, and what it logs."""

    def __init__(self, folder: Path) -> None:
        # A feed has no end, and so tells something all the time.
        settings = Settings("", heartbeat_seconds=0.001)
        self._service = Service(DuckStore(folder / "log.duckdb"), settings=settings, keys=Keyring((LOG,)))
        self._channel = self._service.channel()
        self._failures: list[str] = []
        logging.getLogger("heptalog").addHandler(_Listening(self._failures))
        for rules in GAMES:
            game = recorded_game(rules, 1, game_id=f"game-{rules.key}", event_count_max=30)
            self._service.store.append(batches_of(game[:20]))

    def __enter__(self) -> Self:
        return self

    def close(self) -> None:
        """Stop the server."""
        self._service.stop()

    def check(self, data: bytes) -> bool:
        """The server answers or refuses as it should."""
        name, _, request = data.partition(b"\n")
        path = name.decode()
        is_accepted = self._asked(path, request)
        failures = self._failures.copy()
        self._failures.clear()  # they are not those of the next one
        assert not failures, failures
        if not is_accepted or path.endswith(("AppendEvents", "CreateGame")):
            # It is still there.
            self._unary("/grpc.health.v1.Health/Check")(b"", timeout=DEADLINE_SECONDS)
        return is_accepted

    def _asked(self, path: str, request: bytes) -> bool:
        try:
            if METHODS[path].server_streaming:
                stream = cast(Any, self._channel.unary_stream(path))(request, timeout=DEADLINE_SECONDS)
                for count, _ in enumerate(stream):
                    if count == RESPONSES_MAX:
                        stream.cancel()
                        break
            else:
                self._unary(path)(request, timeout=DEADLINE_SECONDS)
        except grpc.RpcError as error:
            self._check_refusal(error, request)
            return False
        return True

    def _unary(self, path: str) -> Any:
        return self._channel.unary_unary(path)

    def _check_refusal(self, error: Any, request: bytes) -> None:
        if error.code() in _BARE and not any(key.endswith("-bin") for key, _ in error.trailing_metadata() or ()):
            return
        failure = failure_of(error)
        assert failure.code not in (grpc.StatusCode.UNKNOWN, grpc.StatusCode.INTERNAL, grpc.StatusCode.DATA_LOSS)
        assert failure.code is not grpc.StatusCode.UNAVAILABLE, failure
        assert failure.code is not grpc.StatusCode.DEADLINE_EXCEEDED, failure
        told = [failure.text, *(value for name, value in failure.facts.items() if name not in _RANGES)]
        if not any(name in failure.facts for name in _RANGES):
            for piece in _PIECE.findall(" ".join(told)):
                assert piece.encode() in request or failure.reason == "OPTION_OUT_OF_RANGE", (piece, failure)


class _Listening(logging.Handler):
    def __init__(self, failures: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._failures = failures

    def emit(self, record: logging.LogRecord) -> None:
        self._failures.append(record.getMessage() + (f": {record.exc_info[1]!r}" if record.exc_info else ""))


# Requests that are valid, or nearly so.


def seeds() -> list[bytes]:
    """Some requests of every method."""
    found = []
    for path, method in METHODS.items():
        # Without fields they would all be the same one, and to make tables anew takes a process each time.
        count = 12 if method.input_type.fields else 1
        messages: Sequence[Message] = [
            _filled(method.input_type, Random(f"{path} {number}"), 0) for number in range(count)
        ]
        if path.endswith("AppendEvents"):
            messages = 3 * list(_appends())  # what is most worth trying
        elif path.endswith("CreateGame"):
            messages = [games_pb2.CreateGameRequest(event=request.events[0]) for request in _appends()]
        found += [path.encode() + b"\n" + message.SerializeToString() for message in messages]
    return found


def _appends() -> Iterator[log_pb2.AppendEventsRequest]:
    """New games and games that go on, in one piece and in several, imported and not."""
    for rules in GAMES:
        for seed in range(3):
            game = [entry.event for entry in recorded_game(rules, seed, event_count_max=30)]
            bare = tuple(
                replace(event, body=unsealed(event.body), recorded_at=0, previous_hash=b"", hash=b"") for event in game
            )
            yield _append(Append(game[0].game_id, NO_GAME, tuple(game), is_imported=True))
            yield _append(Append(f"new-{game[0].game_id}", NO_GAME, _in("new-", bare)))
            if seed == 1:
                going = tuple(replace(event, game_id=f"game-{rules.key}") for event in bare[20:])
                yield _append(Append(f"game-{rules.key}", 19, going[:1]))
                yield _append(Append(f"game-{rules.key}", 19, going))


def _append(append: Append) -> log_pb2.AppendEventsRequest:
    return log_pb2.AppendEventsRequest.FromString(append_request(append).SerializeToString())


def _in(prefix: str, events: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(replace(event, game_id=prefix + event.game_id) for event in events)


def _filled(descriptor: Descriptor, random: Random, depth: int) -> Message:
    """A message with values of the right kind in some of its fields."""
    message = GetMessageClass(descriptor)()
    for field in descriptor.fields:
        if depth > 3 or random.random() < 0.3:
            continue
        if _is_map(field):
            assert field.message_type is not None, "a map is a message"
            kind = field.message_type.fields_by_name["value"].message_type
            assert kind is not None, "the maps that there are have messages in them"
            for name in random.sample(KEYS, 2):
                getattr(message, field.name)[name].CopyFrom(_filled(kind, random, depth + 1))
        elif field.message_type is not None:
            parts = [_filled(field.message_type, random, depth + 1) for _ in range(1 + field.is_repeated)]
            for part in parts:
                target = getattr(message, field.name)
                (target.add() if field.is_repeated else target).CopyFrom(part)
        elif field.is_repeated:
            getattr(message, field.name).extend([_value(field, random) for _ in range(2)])
        else:
            setattr(message, field.name, _value(field, random))
    return message


def _is_map(field: FieldDescriptor) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def _value(field: FieldDescriptor, random: Random) -> Any:
    if field.name in NAMED:
        return random.choice(NAMED[field.name])
    match field.cpp_type:
        case FieldDescriptor.CPPTYPE_STRING:
            is_text = field.type == FieldDescriptor.TYPE_STRING
            return random.choice(TEXTS) if is_text else random.choice((b"", b"bytes", bytes(16), bytes(32)))
        case FieldDescriptor.CPPTYPE_BOOL:
            return True
        case FieldDescriptor.CPPTYPE_UINT64:
            return random.choice((0, 1, 3, 60, 2**31, 2**63 - 1, 2**63, 2**64 - 1))
        case FieldDescriptor.CPPTYPE_UINT32:
            return random.choice((0, 1, 3, 60, 2**31, 2**32 - 1))
        case _:
            return random.choice((0, 1, 2, 60, -1, -(2**31)))


def _spoil(data: bytes, random: Random) -> bytes:
    name, _, request = data.partition(b"\n")
    match random.randrange(10):
        case 0:
            request = spoilt(request, random)
        case 1:
            request = turned(request, random)
        case 2 | 3 | 4:
            others = [other.partition(b"\n")[2] for other in random.sample(_seeds(), 3)]
            request = message_spoilt(request, random, others)
        case _:
            request = _changed(METHODS[name.decode()], request, random)
    return name + b"\n" + request


def _changed(method: MethodDescriptor, data: bytes, random: Random) -> bytes:
    """A request that is well-formed still, with other values in it; an append as one of a new game."""
    message = GetMessageClass(method.input_type)()
    try:
        message.ParseFromString(data)
    except DecodeError:
        return data
    if isinstance(message, log_pb2.AppendEventsRequest) and message.events and random.random() < 0.8:
        message.game_id = f"fuzzed-{random.randrange(2**60)}"
        message.expected_no_game = True
        for event in message.events:
            for name in ("game_id", "previous_hash", "hash"):
                event.ClearField(name)
    for _ in range(random.choice((0, 1, 1, 2))):
        _change(message, random)
    return message.SerializeToString()


def _change(message: Any, random: Random) -> None:
    """Give one field, however deep, another value."""
    found = message.ListFields()
    if not found or random.random() < 0.1:
        field = random.choice(message.DESCRIPTOR.fields) if message.DESCRIPTOR.fields else None
        if field is not None and not field.is_repeated and field.message_type is None:
            setattr(message, field.name, _value(field, random))
        return
    field, value = random.choice(found)
    if _is_map(field):
        name = random.choice(sorted(value))
        if random.random() < 0.9:
            _change(value[name], random)
        else:
            del value[name]
    elif field.message_type is not None:
        inner = random.choice(value) if field.is_repeated else value
        if random.random() < 0.9:
            _change(inner, random)
        elif field.is_repeated:
            value.add().CopyFrom(inner)
        else:
            message.ClearField(field.name)
    elif field.is_repeated:
        place = random.randrange(len(value))
        value[place] = _value(field, random)
    else:
        setattr(message, field.name, _value(field, random))


@cache
def _seeds() -> tuple[bytes, ...]:
    return tuple(seeds())


def target_of(server: Fuzzed) -> Target:
    """The target that is this server."""
    return Target("request", _seeds, _spoil, server.check, tries=1200)


def temporary() -> "tempfile.TemporaryDirectory[str]":
    """Where a server may keep its log meanwhile."""
    return tempfile.TemporaryDirectory(prefix="heptalog-fuzz-")
