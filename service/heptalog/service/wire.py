"""Between the messages of the service and its structs, both ways side by side: servers and clients read one mapping."""

from types import MappingProxyType
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp

from heptalog.internal.v1 import bytes_pb2
from heptalog.replay import codec
from heptalog.replay.errors import Code, HeptalogError, Malformed, Unavailable
from heptalog.replay.events import UNSET, Event, GameStarted, Options, Player, Tag
from heptalog.replay.evidence.chain import HASH_SIZE
from heptalog.replay.fold import Standing
from heptalog.replay.rules import ARBITER, PUBLIC, Viewer
from heptalog.replay.times import SECOND
from heptalog.service.appends import Append, Receipt, placed
from heptalog.service.asked import Finished, Part, Question, Rebuilding, Started, View, ViewColumn
from heptalog.service.config import EVENT_SIZE_MAX, EVENTS_PER_APPEND_MAX
from heptalog.service.evidence.proofs import Proof
from heptalog.service.forms import formed, unfit
from heptalog.service.store import NO_GAME, Checkpoint, GameEntry, GameFilter, Head, Status
from heptalog.v1 import admin_pb2, audit_pb2, event_pb2, games_pb2, log_pb2, query_pb2

# A year: nobody waits so long, and a time that does not end is none.
_SECONDS_MAX: Final = 366 * 86_400
_STATUSES: Final = MappingProxyType(
    {
        Status.RUNNING: games_pb2.GAME_STATUS_RUNNING,
        Status.WON: games_pb2.GAME_STATUS_WON,
        Status.CLOSED: games_pb2.GAME_STATUS_CLOSED,
    }
)

# Appends and their receipts.


def append_request(append: Append) -> bytes_pb2.AppendEventsRequest:
    """The request that records events, each of them as its bytes."""
    request = formed(
        bytes_pb2.AppendEventsRequest,
        game_id=append.game_id,
        expected_hash=append.expected_hash,
        events=[codec.encode(event) for event in append.events],
        imported=append.is_imported,
    )
    if append.expected == NO_GAME:
        request.expected_no_game = True
    else:
        try:
            request.expected_sequence = append.expected
        except (TypeError, ValueError):
            raise unfit("expected") from None
    return request


def append_of(request: log_pb2.AppendEventsRequest) -> Append:
    """What a request asks to append. Raises Malformed where the expectation is missing or an event has no form."""
    expected = expected_of(request)
    if len(request.events) > EVENTS_PER_APPEND_MAX:
        # Looked at before they are decoded: a message has room for half a million tiny ones.
        raise Malformed(Code.FIELD_INVALID, rule="api", field="events", problem=f"1 to {EVENTS_PER_APPEND_MAX} events")
    return Append(
        game_id=request.game_id,
        expected=expected,
        events=tuple(event_at(message, index) for index, message in enumerate(request.events)),
        expected_hash=request.expected_hash,
        is_imported=request.imported,
    )


def expected_of(request: log_pb2.AppendEventsRequest | bytes_pb2.AppendEventsRequest) -> int:
    """The sequence that an append expects, or NO_GAME. Raises Malformed where the expectation has no sense."""
    match request.WhichOneof("expected"):
        case "expected_sequence":
            expected = request.expected_sequence
        case "expected_no_game" if request.expected_no_game:
            expected = NO_GAME
            if request.expected_hash:
                problem = "a game that is not there has no hash"
                raise Malformed(Code.FIELD_INVALID, rule="api", field="expected_hash", problem=problem)
        case _:
            problem = "an append names the sequence it expects, or that there is no such game"
            raise Malformed(Code.FIELD_INVALID, rule="api", field="expected", problem=problem)
    if request.expected_hash and len(request.expected_hash) != HASH_SIZE:
        raise Malformed(Code.FIELD_INVALID, rule="api", field="expected_hash", problem=f"a hash has {HASH_SIZE} bytes")
    return expected


def event_at(message: event_pb2.Event, index: int) -> Event:
    """One event of a request; what is wrong with it is told with its place."""
    try:
        if (size := message.ByteSize()) > EVENT_SIZE_MAX:
            raise Malformed(Code.EVENT_TOO_LARGE, rule="api", size=size, limit=EVENT_SIZE_MAX)
        return codec.event_of(message)
    except HeptalogError as error:
        raise placed(error, index) from None


def appended_message(receipt: Receipt) -> log_pb2.AppendEventsResponse:
    """The receipt of an append as a message."""
    return log_pb2.AppendEventsResponse(
        head=head_message(receipt.head), sequences=receipt.sequences, deduplicated=receipt.is_deduplicated
    )


def appended_of(game_id: str, message: log_pb2.AppendEventsResponse) -> Receipt:
    """The receipt of an append."""
    return Receipt(game_id, head_of(message.head), tuple(message.sequences), message.deduplicated)


def created_message(receipt: Receipt) -> games_pb2.CreateGameResponse:
    """The receipt of a new game as a message."""
    return games_pb2.CreateGameResponse(
        game_id=receipt.game_id, head=head_message(receipt.head), deduplicated=receipt.is_deduplicated
    )


def created_of(message: games_pb2.CreateGameResponse) -> Receipt:
    """The receipt of a new game."""
    return Receipt(message.game_id, head_of(message.head), (0,), message.deduplicated)


# Heads and standings.


def head_message(head: Head) -> games_pb2.Head:
    """A head as a message."""
    return games_pb2.Head(sequence=head.sequence, hash=head.hash, position=head.position)


def head_of(message: games_pb2.Head) -> Head:
    """A head."""
    return Head(message.sequence, message.hash, message.position)


def standing_message(standing: Standing) -> games_pb2.Standing:
    """A standing as a message."""
    return games_pb2.Standing(
        sequence=standing.sequence,
        scores=standing.scores,
        to_act=standing.to_act,
        round=standing.round,
        over=standing.over,
        winners=standing.winners,
    )


def standing_of(message: games_pb2.Standing) -> Standing:
    """A standing."""
    return Standing(
        message.sequence,
        tuple(message.scores),
        tuple(message.to_act),
        message.round,
        message.over,
        tuple(message.winners),
    )


# Games in a list, and which of them are wanted.


def game_message(entry: GameEntry) -> games_pb2.Game:
    """A game as a list shows it, as a message."""
    message = games_pb2.Game(
        game_id=entry.game_id,
        ruleset=entry.ruleset,
        rules_version=entry.rules_version,
        started=_started_message(entry.started),
        status=_STATUSES[entry.status],
        head=head_message(entry.head),
    )
    message.created_at.CopyFrom(codec.timestamp(entry.created_at))
    return message


def entry_of(message: games_pb2.Game) -> GameEntry:
    """A game as a list shows it."""
    return GameEntry(
        game_id=message.game_id,
        ruleset=message.ruleset,
        rules_version=message.rules_version,
        started=_started_of(message.started),
        created_at=nanoseconds(message.created_at),
        status=next(status for status, number in _STATUSES.items() if number == message.status),
        head=head_of(message.head),
    )


def _started_message(started: GameStarted) -> event_pb2.GameStarted:
    if type(started.rules) is not Options:
        return codec.message_of(Event(0, started)).game_started
    # Its record cannot be read by the server, so its options are not there.
    message = event_pb2.GameStarted(
        players=[event_pb2.Player(id=player.id, name=player.name) for player in started.players],
        tournament=started.tournament,
        table=started.table,
        tags=[event_pb2.Tag(name=tag.name, value=tag.value) for tag in started.tags],
    )
    if started.rules_version is not UNSET:
        message.rules_version = started.rules_version
    return message


def _started_of(message: event_pb2.GameStarted) -> GameStarted:
    if message.WhichOneof("rules") is None:
        return GameStarted(
            tuple(Player(player.id, player.name) for player in message.players),
            Options(),
            message.rules_version if message.HasField("rules_version") else UNSET,
            message.tournament,
            message.table,
            tuple(Tag(tag.name, tag.value) for tag in message.tags),
        )
    started = codec.event_of(event_pb2.Event(game_started=message)).body
    assert isinstance(started, GameStarted), "what a game is started with"
    return started


def list_request(
    wanted: GameFilter, page_token: str, page_size: int, *, with_unread: bool = False
) -> games_pb2.ListGamesRequest:
    """The request for one page of games."""
    request = formed(
        games_pb2.ListGamesRequest,
        page_size=page_size,
        page_token=page_token,
        ruleset=wanted.ruleset,
        player_id=wanted.player_id,
        player=wanted.player,
        tournament=wanted.tournament,
        status=_STATUSES[wanted.status] if wanted.status else games_pb2.GAME_STATUS_UNSPECIFIED,
        with_unread=with_unread,
    )
    if wanted.created_from:
        request.created_from.CopyFrom(codec.timestamp(wanted.created_from))
    if wanted.created_before:
        request.created_before.CopyFrom(codec.timestamp(wanted.created_before))
    return request


def filter_of(request: games_pb2.ListGamesRequest) -> GameFilter:
    """Which games a request wants. Raises Malformed for a status that there is not."""
    status = next((ours for ours, number in _STATUSES.items() if number == request.status), None)
    if status is None and request.status != games_pb2.GAME_STATUS_UNSPECIFIED:
        raise Malformed(Code.FIELD_INVALID, rule="api", field="status", problem=f"no value {request.status}")
    return GameFilter(
        ruleset=request.ruleset,
        player_id=request.player_id,
        player=request.player,
        tournament=request.tournament,
        status=status,
        created_from=nanoseconds(request.created_from),
        created_before=nanoseconds(request.created_before),
    )


# Who looks, and what is read.


def viewer_message(viewer: Viewer) -> games_pb2.Viewer:
    """A viewer as a message."""
    roles = games_pb2.Viewer
    if viewer == ARBITER:
        return games_pb2.Viewer(role=roles.ROLE_ARBITER)
    if viewer == PUBLIC:
        return games_pb2.Viewer(role=roles.ROLE_PUBLIC)
    try:
        return games_pb2.Viewer(role=roles.ROLE_SEAT, seat=viewer.seat)
    except (TypeError, ValueError):
        raise unfit("viewer.seat") from None


def viewer_of(message: games_pb2.Viewer) -> Viewer:
    """A viewer. Raises Malformed where it is not said who looks."""
    roles = games_pb2.Viewer
    match message.role:
        case roles.ROLE_PUBLIC:
            return PUBLIC
        case roles.ROLE_SEAT:
            return Viewer(message.seat)
        case roles.ROLE_ARBITER:
            return ARBITER
        case _:
            raise Malformed(Code.FIELD_INVALID, rule="api", field="viewer.role", problem="who looks must be said")


# Evidence.


def checkpoint_message(checkpoint: Checkpoint) -> audit_pb2.Checkpoint:
    """A checkpoint as a message."""
    return audit_pb2.Checkpoint(size=checkpoint.size, note=checkpoint.note)


def checkpoint_of(message: audit_pb2.Checkpoint) -> Checkpoint:
    """A checkpoint."""
    return Checkpoint(message.size, message.note)


def inclusion_of(message: audit_pb2.GetInclusionProofResponse) -> Proof:
    """A proof that an event is in the log."""
    checkpoint = checkpoint_of(message.checkpoint) if message.HasField("checkpoint") else None
    return Proof(message.size, tuple(message.hashes), checkpoint)


def consistency_of(message: audit_pb2.GetConsistencyProofResponse) -> Proof:
    """A proof that a log begins with an earlier one."""
    checkpoint = checkpoint_of(message.checkpoint) if message.HasField("checkpoint") else None
    return Proof(message.second_size, tuple(message.hashes), checkpoint)


def nanoseconds(time: Timestamp) -> int:
    """A protobuf time in nanoseconds since 1970 UTC."""
    return time.seconds * SECOND + time.nanos


# Questions, their answers and the dictionary.


def query_request(question: Question) -> query_pb2.QueryRequest:
    """The request that asks. Raises Malformed for a text, a number of rows or a time that is none."""
    try:
        question.sql.encode()
    except UnicodeEncodeError:
        raise Malformed(Code.QUERY_INVALID, rule="api", problem="it is not Unicode text") from None
    if question.rows_max is not None and not 0 <= question.rows_max < 1 << 64:
        raise Malformed(Code.FIELD_INVALID, rule="api", field="rows_max", problem="not a number of rows")
    request = query_pb2.QueryRequest(sql=question.sql, rows_max=question.rows_max)
    if question.seconds is not None:
        if not 0 < question.seconds < _SECONDS_MAX:
            raise _timeout_invalid()
        request.timeout.FromNanoseconds(int(question.seconds * SECOND))
    return request


def question_of(request: query_pb2.QueryRequest) -> Question:
    """What a request asks. Raises Malformed for a time that is none."""
    rows_max = request.rows_max if request.HasField("rows_max") else None
    if not request.HasField("timeout"):
        return Question(request.sql, rows_max)
    seconds = request.timeout.seconds + request.timeout.nanos / SECOND
    if not 0 < seconds < _SECONDS_MAX:
        raise _timeout_invalid()
    return Question(request.sql, rows_max, seconds)


def _timeout_invalid() -> Malformed:
    return Malformed(Code.FIELD_INVALID, rule="api", field="timeout", problem="not a time that anybody waits")


def part_message(part: Part) -> query_pb2.QueryResponse:
    """A part of an answer as a message."""
    match part:
        case Started(position=position):
            return query_pb2.QueryResponse(started=query_pb2.QueryStarted(position=position))
        case Finished(rows=rows):
            return query_pb2.QueryResponse(done=query_pb2.QueryDone(rows=rows))
        case _:
            return query_pb2.QueryResponse(arrow=part)


def part_of(message: query_pb2.QueryResponse) -> Part:
    """A part of an answer. Raises Unavailable where it is none that is known here: then there is no answer."""
    match message.WhichOneof("part"):
        case "started":
            return Started(message.started.position)
        case "arrow":
            return message.arrow
        case "done":
            return Finished(message.done.rows)
        case _:
            raise Unavailable(Code.QUERY_FAILED, rule="api", problem="a part of the answer has no meaning here")


def view_message(view: View) -> query_pb2.View:
    """A table or a view as a message."""
    columns = [
        query_pb2.ViewColumn(name=column.name, type=column.type, meaning=column.meaning, values=column.values)
        for column in view.columns
    ]
    return query_pb2.View(name=view.name, meaning=view.meaning, columns=columns, derived=view.is_derived)


def view_of(message: query_pb2.View) -> View:
    """A table or a view."""
    columns = tuple(
        ViewColumn(column.name, column.type, column.meaning, tuple(column.values)) for column in message.columns
    )
    return View(message.name, message.meaning, columns, message.derived)


def rebuilding_message(rebuilding: Rebuilding) -> admin_pb2.RebuildTablesResponse:
    """How far the tables are as a message."""
    return admin_pb2.RebuildTablesResponse(position=rebuilding.position, head=rebuilding.head)


def rebuilding_of(message: admin_pb2.RebuildTablesResponse) -> Rebuilding:
    """How far the tables are."""
    return Rebuilding(message.position, message.head)
