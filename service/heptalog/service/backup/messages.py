"""Between the messages of AdminService.Backup and the parts of a backup, both ways side by side."""

from heptalog.replay.codec import timestamp
from heptalog.replay.errors import Code, Unavailable
from heptalog.service.backup.parts import CheckpointsPart, EventsPart, Have, Moment, Part, RefusalsPart
from heptalog.service.store import Refusal
from heptalog.service.wire import checkpoint_message, checkpoint_of, nanoseconds
from heptalog.v1 import admin_pb2


def backup_request(have: Have) -> admin_pb2.BackupRequest:
    """The request for what is not there yet."""
    return admin_pb2.BackupRequest(
        after_position=have.position, after_refusal=have.refusals, after_checkpoint=have.checkpoint
    )


def have_of(request: admin_pb2.BackupRequest) -> Have:
    """What the caller has already."""
    return Have(request.after_position, request.after_refusal, request.after_checkpoint)


def part_message(part: Part) -> admin_pb2.BackupResponse:
    """A part as a message."""
    match part:
        case Moment(size, root, refusals, root_before, void_names):
            moment = admin_pb2.BackupMoment(
                size=size, root=root, refusals=refusals, root_before=root_before, void_names=void_names
            )
            return admin_pb2.BackupResponse(moment=moment)
        case EventsPart(first_position, records):
            events = admin_pb2.BackupEvents(first_position=first_position, records=records)
            return admin_pb2.BackupResponse(events=events)
        case CheckpointsPart(checkpoints):
            notes = [checkpoint_message(checkpoint) for checkpoint in checkpoints]
            return admin_pb2.BackupResponse(checkpoints=admin_pb2.BackupCheckpoints(checkpoints=notes))
        case RefusalsPart(refusals):
            messages = [_refusal_message(refusal) for refusal in refusals]
            return admin_pb2.BackupResponse(refusals=admin_pb2.BackupRefusals(refusals=messages))


def part_of(message: admin_pb2.BackupResponse) -> Part:
    """A part. Raises Unavailable for one that is not known here."""
    match message.WhichOneof("part"):
        case "moment":
            moment = message.moment
            return Moment(moment.size, moment.root, moment.refusals, moment.root_before, tuple(moment.void_names))
        case "events":
            return EventsPart(message.events.first_position, tuple(message.events.records))
        case "checkpoints":
            return CheckpointsPart(tuple(map(checkpoint_of, message.checkpoints.checkpoints)))
        case "refusals":
            return RefusalsPart(tuple(map(_refusal_of, message.refusals.refusals)))
        case _:
            raise Unavailable(Code.RECORD_NEWER, rule="backup", problem="a part that is not known here")


def _refusal_message(refusal: Refusal) -> admin_pb2.Refusal:
    return admin_pb2.Refusal(
        game_id=refusal.game_id,
        sequence=refusal.sequence,
        refused_at=timestamp(refusal.refused_at),
        recorded_by=refusal.recorded_by,
        kind=refusal.kind,
        code=refusal.code,
        rule=refusal.rule,
        content=refusal.content,
    )


def _refusal_of(message: admin_pb2.Refusal) -> Refusal:
    return Refusal(
        message.game_id,
        message.sequence,
        nanoseconds(message.refused_at),
        message.recorded_by,
        message.kind,
        message.code,
        message.rule,
        message.content,
    )
