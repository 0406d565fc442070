"""Between the messages about games that were examined or compared and their structs, both ways side by side."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from google.protobuf.message import Message

from heptalog.replay.diff import FieldDifference, Parting
from heptalog.replay.errors import Code, Malformed, Unavailable
from heptalog.service.examining.told import (
    Alternative,
    Compared,
    Consequence,
    Difference,
    Examined,
    Finding,
    GameReport,
    OutcomeParting,
    Progress,
)
from heptalog.service.followed import followed_in, outcome_messages
from heptalog.service.forms import formed, unfit
from heptalog.service.structs import plain_of, plain_value, struct_of, value_of
from heptalog.service.wire import standing_message, standing_of
from heptalog.v1 import audit_pb2

T = TypeVar("T")
M = TypeVar("M", bound=Message)

# Requests.


def verify_request(game_id: str) -> audit_pb2.VerifyGameRequest:
    """The request to examine a game."""
    return formed(audit_pb2.VerifyGameRequest, game_id=game_id)


def diff_request(game_id: str, other_id: str, *, with_envelope: bool) -> audit_pb2.DiffGamesRequest:
    """The request to compare two games."""
    return formed(audit_pb2.DiffGamesRequest, game_id=game_id, other_game_id=other_id, envelope=with_envelope)


def diff_options_request(game_id: str, options: Mapping[str, Any]) -> audit_pb2.DiffGamesRequest:
    """The request to compare a game with itself under other options."""
    request = formed(audit_pb2.DiffGamesRequest, game_id=game_id)
    try:
        request.options.update(options)
    except (TypeError, ValueError, AttributeError):
        raise unfit("options") from None
    # Also where none is named.
    request.options.SetInParent()
    return request


def options_in(request: audit_pb2.DiffGamesRequest) -> dict[str, Any]:
    """The options that a request names. Raises Malformed for a number that is none."""
    if request.envelope:
        problem = "it is of two games that envelopes are compared"
        raise Malformed(Code.FIELD_INVALID, rule="api", field="envelope", problem=problem)
    try:
        return plain_of(request.options)
    except ValueError:
        raise unfit("options") from None


# How far an examination is, and what came of it.


def examined_message(told: Examined) -> audit_pb2.VerifyGameResponse:
    """A part of an examination as a message."""
    if isinstance(told, Progress):
        return audit_pb2.VerifyGameResponse(progress=audit_pb2.VerifyGameProgress(events=told.events, of=told.of))
    report = audit_pb2.VerifyGameReport(
        ok=told.ok,
        events=told.events,
        standing=_given(standing_message, told.standing),
        finding=_given(_finding_message, told.finding),
    )
    return audit_pb2.VerifyGameResponse(report=report)


def examined_of(message: audit_pb2.VerifyGameResponse) -> Examined:
    """A part of an examination. Raises Unavailable where it is none that is known here: then nothing is known."""
    match message.WhichOneof("message"):
        case "progress":
            return Progress(message.progress.events, message.progress.of)
        case "report" if message.report.ok is not message.report.HasField("finding"):
            report = message.report
            standing = standing_of(report.standing) if report.HasField("standing") else None
            return GameReport(report.events, standing, _finding_of(report))
        case _:
            raise _without_meaning()


def _finding_message(finding: Finding) -> audit_pb2.Finding:
    return audit_pb2.Finding(code=finding.code, rule=finding.rule, sequence=finding.sequence, message=finding.message)


def _finding_of(holder: audit_pb2.VerifyGameReport | audit_pb2.ComparedGame) -> Finding | None:
    return _found(holder.finding) if holder.HasField("finding") else None


def _found(message: audit_pb2.Finding) -> Finding:
    sequence = message.sequence if message.HasField("sequence") else None
    # That of a newer server may be new.
    code = Code(message.code) if message.code in Code.__members__ else message.code
    return Finding(code, message.rule, message.message, sequence)


# Two games.


def difference_message(difference: Difference) -> audit_pb2.Difference:
    """What two games differ in as a message."""
    return audit_pb2.Difference(
        left=_compared_message(difference.left),
        right=_compared_message(difference.right),
        same=difference.is_same,
        event=_given(_parting_message, difference.event),
        state=_given(_parting_message, difference.state),
        result=map(_field_message, difference.result),
    )


def difference_of(response: audit_pb2.DiffGamesResponse) -> Difference:
    """What two games differ in. Raises Unavailable where that is not told."""
    if not response.HasField("difference"):
        raise _without_meaning()
    message = response.difference
    return Difference(
        _compared_of(message.left),
        _compared_of(message.right),
        message.same,
        _parting_of(message.event) if message.HasField("event") else None,
        _parting_of(message.state) if message.HasField("state") else None,
        tuple(map(_field_of, message.result)),
    )


def _compared_message(game: Compared) -> audit_pb2.ComparedGame:
    return audit_pb2.ComparedGame(
        game_id=game.game_id,
        events=game.events,
        over=game.over,
        finding=_given(_finding_message, game.finding),
    )


def _compared_of(message: audit_pb2.ComparedGame) -> Compared:
    over = message.over if message.HasField("over") else None
    return Compared(message.game_id, message.events, over, _finding_of(message))


def _parting_message(parting: Parting) -> audit_pb2.Parting:
    return audit_pb2.Parting(sequence=parting.sequence, fields=map(_field_message, parting.fields))


def _parting_of(message: audit_pb2.Parting) -> Parting:
    return Parting(message.sequence, tuple(map(_field_of, message.fields)))


def _field_message(field: FieldDifference) -> audit_pb2.FieldDifference:
    return audit_pb2.FieldDifference(field=field.field, left=value_of(field.left), right=value_of(field.right))


def _field_of(message: audit_pb2.FieldDifference) -> FieldDifference:
    return FieldDifference(message.field, plain_value(message.left), plain_value(message.right))


# One game under other options.


def alternative_message(found: Alternative) -> audit_pb2.Alternative:
    """What other options change as a message."""
    return audit_pb2.Alternative(
        game=_compared_message(found.game),
        left_options=struct_of(found.left_options),
        right_options=struct_of(found.right_options),
        same=found.is_same,
        outcome=_given(_outcome_parting_message, found.parting),
        illegal=_given(_finding_message, found.illegal),
        left=standing_message(found.left),
        right=standing_message(found.right),
    )


def alternative_of(response: audit_pb2.DiffGamesResponse) -> Alternative:
    """What other options change. Raises Unavailable where that is not told."""
    if not response.HasField("alternative"):
        raise _without_meaning()
    message = response.alternative
    return Alternative(
        _compared_of(message.game),
        plain_of(message.left_options),
        plain_of(message.right_options),
        message.same,
        standing_of(message.left),
        standing_of(message.right),
        _outcome_parting_of(message.outcome) if message.HasField("outcome") else None,
        _found(message.illegal) if message.HasField("illegal") else None,
    )


def _outcome_parting_message(parting: OutcomeParting) -> audit_pb2.OutcomeParting:
    return audit_pb2.OutcomeParting(
        sequence=parting.sequence,
        left=_consequence_message(parting.left),
        right=_consequence_message(parting.right),
    )


def _outcome_parting_of(message: audit_pb2.OutcomeParting) -> OutcomeParting:
    return OutcomeParting(message.sequence, _consequence_of(message.left), _consequence_of(message.right))


def _consequence_message(consequence: Consequence) -> audit_pb2.Consequence:
    outcomes = outcome_messages(consequence.followed)
    return audit_pb2.Consequence(outcomes=outcomes, standing=standing_message(consequence.standing))


def _consequence_of(message: audit_pb2.Consequence) -> Consequence:
    return Consequence(followed_in(message.outcomes), standing_of(message.standing))


def _given(message_of: Callable[[T], M], told: T | None) -> M | None:
    """The message of what may be absent."""
    return None if told is None else message_of(told)


def _without_meaning() -> Unavailable:
    return Unavailable(Code.SERVER_UNREACHABLE, rule="api", problem="its answer has no meaning here")
