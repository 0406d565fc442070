"""What the tests of the service ask and how they read the answers: small games, bare requests, typed details."""

from collections.abc import Iterable
from random import Random
from typing import Any, Final, NamedTuple

import grpc
from google.rpc import error_details_pb2 as details_pb
from google.rpc.status_pb2 import Status

from heptalog.replay import codec
from heptalog.replay.errors import Code
from heptalog.replay.events import Body, CardHand, CardPlayed, CardsDealt, Event, GameStarted, NoteAdded, Player
from heptalog.replay.playout import play
from heptalog.replay.registry import GAMES
from heptalog.replay.seven_bridge.events import SevenBridge
from heptalog.replay.seven_rocks.events import SevenRocks
from heptalog.replay.verify import verify
from heptalog.service.appends import Append
from heptalog.service.client import Client
from heptalog.service.status import DETAILS_KEY, DOMAIN
from heptalog.service.store import NO_GAME, LogStore
from heptalog.v1 import log_pb2, log_pb2_grpc
from tests.support.play import seat_counts
from tests.support.serving import Hold, Service

PLAYERS: Final = tuple(Player(name) for name in ("ana", "bo", "chie", "dag"))
ROCKS: Final = GameStarted(PLAYERS, SevenRocks())
BRIDGE: Final = GameStarted(PLAYERS, SevenBridge(rounds=1))
# A remark is legal at any time.
REMARKS: Final = tuple(NoteAdded(f"remark {number}") for number in range(600))
# Legal only in a game of another kind, and so never here.
FOREIGN: Final = CardPlayed(0, "7D")


class Failure(NamedTuple):
    """What a failed call says: its code, the one ErrorInfo, and the other details."""

    code: grpc.StatusCode
    info: details_pb.ErrorInfo
    others: list[Any]
    text: str

    @property
    def reason(self) -> str:
        return str(self.info.reason)

    @property
    def facts(self) -> dict[str, str]:
        return dict(self.info.metadata)

    @property
    def field(self) -> str:
        """The path of the one field that is to blame."""
        (bad_request,) = self.others
        (violation,) = bad_request.field_violations
        assert violation.reason == self.info.reason
        return str(violation.field)


_DETAILS: Final = (
    details_pb.ErrorInfo,
    details_pb.BadRequest,
    details_pb.PreconditionFailure,
    details_pb.ResourceInfo,
    details_pb.RetryInfo,
)


def failure_of(error: grpc.RpcError) -> Failure:
    """The typed details of a failed call; there must be exactly one ErrorInfo, and it must be ours."""
    call: Any = error
    (data,) = [value for key, value in call.trailing_metadata() if key == DETAILS_KEY]
    status = Status.FromString(data)
    assert status.code == call.code().value[0]
    assert status.message == call.details()
    details = []
    for packed in status.details:
        name = packed.TypeName()
        kind = next(kind for kind in _DETAILS if kind.DESCRIPTOR.full_name == name)
        details.append(kind.FromString(packed.value))
    infos = [detail for detail in details if isinstance(detail, details_pb.ErrorInfo)]
    (info,) = infos
    assert info.domain == DOMAIN
    assert info.reason in Code.__members__
    return Failure(call.code(), info, [detail for detail in details if detail is not info], call.details())


def append_message(append: Append) -> log_pb2.AppendEventsRequest:
    """The request of an append, whatever its size and its sense."""
    request = log_pb2.AppendEventsRequest(
        game_id=append.game_id,
        expected_hash=append.expected_hash,
        events=[codec.message_of(event) for event in append.events],
        imported=append.is_imported,
    )
    if append.expected == NO_GAME:
        request.expected_no_game = True
    else:
        request.expected_sequence = append.expected
    return request


def try_append(
    service: Service, request: log_pb2.AppendEventsRequest | bytes
) -> Failure | log_pb2.AppendEventsResponse:
    """Send an append as it is, bytes if need be, and give what comes back."""
    channel = service.channel()
    data = request if isinstance(request, bytes) else request.SerializeToString()
    method: Any = channel.unary_unary("/heptalog.v1.LogService/AppendEvents")
    try:
        return log_pb2.AppendEventsResponse.FromString(method(data, timeout=30))
    except grpc.RpcError as error:
        return failure_of(error)


def refused_append(service: Service, request: log_pb2.AppendEventsRequest | bytes) -> Failure:
    """Send an append that must fail."""
    answer = try_append(service, request)
    assert isinstance(answer, Failure), answer
    return answer


def log_stub(service: Service) -> log_pb2_grpc.LogServiceStub:
    """The generated stub, for calls that are cancelled or left waiting."""
    return log_pb2_grpc.LogServiceStub(service.channel())


def remark(event_id: str, text: str = "", **given: Any) -> Event:
    """A remark with an id of its own."""
    return Event(0, NoteAdded(text or event_id), event_id=event_id, **given)


def notes(count: int, *, first: int = 0, game_id: str = "game") -> list[Append]:
    """Remarks, one an append, from this sequence on."""
    return [Append(game_id, first + number, (remark(f"n{first + number}"),)) for number in range(count)]


def new_game(client: Client, game_id: str = "game", started: GameStarted = ROCKS, *, remark_count: int = 0) -> None:
    """A game with its start and so many remarks, `r1`, `r2` …"""
    client.append(Append(game_id, NO_GAME, (Event(0, started, event_id="start"),)))
    if remark_count:
        events = tuple(remark(f"r{number}") for number in range(1, remark_count + 1))
        client.append(Append(game_id, 0, events))


def hold_writer(service: Service, hold: Hold) -> None:
    """Have the writer stand in a commit, so that whatever comes now is queued."""
    service.app.writer.submit(Append("held", NO_GAME, (Event(0, ROCKS, event_id="held"),)))
    hold.wait_until_reached()


def games_of_all_kinds(seed: int, *, events_max: int = 120) -> list[list[Body]]:
    """A generated game of each kind, as bodies."""
    games = []
    for rules in GAMES:
        random = Random(f"{rules.key} {seed}")
        count = random.choice([count for count in seat_counts(rules) if count in (2, 3, 4)])
        started = GameStarted(PLAYERS[:count], rules.options(), tournament=f"cup {seed}")
        games.append(list(play(started, random.randrange, events_max=events_max)))
    return games


def bodies_in(client: Client, game_id: str) -> list[Body]:
    """The bodies that a game's record has, seals and all."""
    return [codec.decode(stored.record)[0].body for stored in client.read(game_id)]


def check_record(store: LogStore | Client, game_id: str, event_count: int) -> None:
    """The record of a game is whole: so many events, and chain, seals and rules hold."""
    records = store.read(game_id) if isinstance(store, Client) else store.read_game(game_id)
    report = verify(codec.decode(stored.record) for stored in records)
    assert report.ok, report.error
    assert report.events == event_count


def check_positions(client: Client, total: int) -> None:
    """All events of all games stand one after the other, without a gap."""
    assert [stored.position for stored in client.read()] == list(range(1, total + 1))


def bridge_deal(seed: int = 0) -> CardsDealt:
    """A deal of Seven Bridge, unsealed."""
    deal = next(body for body in play(BRIDGE, Random(seed).randrange) if isinstance(body, CardsDealt))
    assert all(isinstance(hand, CardHand) for hand in deal.hands)
    return deal


def dealt(bodies: Iterable[Body]) -> list[Body]:
    """A game's bodies up to its first deal, included."""
    kept: list[Body] = []
    for body in bodies:
        kept.append(body)
        if isinstance(body, CardsDealt):
            return kept
    raise AssertionError("nobody dealt")
