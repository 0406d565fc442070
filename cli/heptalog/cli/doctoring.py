"""A diagnosis for people and for programs, and what can be done, that which loses least first."""

from collections.abc import Iterator, Set
from pathlib import Path
from shlex import quote
from typing import Final

from msgspec import Struct

from heptalog.cli.connections import shown
from heptalog.cli.exits import Exit
from heptalog.cli.render import accepted_text, to_the_second
from heptalog.replay.errors import Code, HeptalogError, Unavailable
from heptalog.replay.evidence.texts import to_base64
from heptalog.replay.sentences import sentence, shown_size
from heptalog.replay.times import rfc3339
from heptalog.replay.words import printable
from heptalog.service.store import TreeHead
from heptalog.service.store.diagnosis import Diagnosis
from heptalog.service.store.heads import ADVICE
from heptalog.service.store.migrate import NOT_UTF8

_LOSSES: Final = frozenset({Code.EVENTS_LOST, Code.HEAD_DIFFERS, Code.HEAD_MISSING, Code.CHECKPOINT_DIFFERS})
# What goes by, or is for another program: nothing is wrong with the log for it.
_PASSING: Final = frozenset({Code.DATABASE_LOCKED, Code.DATABASE_NEWER, Code.RECORD_NEWER, Code.DISK_RESERVE})
_RESTORE: Final = "`heptalog restore BACKUP NEW.duckdb`"
_CHANGES: Final = frozenset(
    {Code.HEAD_DIFFERS, Code.CHECKPOINT_DIFFERS, Code.TREE_DIFFERS, Code.POSITION_DAMAGED, Code.HEAD_MISSING}
)


class ToldFile(Struct, frozen=True, rename="camel"):
    """One of the files; without a size it is not there."""

    path: str
    size: int | None
    changed_at: str | None


class ToldTree(Struct, frozen=True):
    """How many events, and their root, in base64 as a checkpoint has it."""

    events: int
    root: str


class Problem(Struct, frozen=True):
    """Something that is wrong."""

    code: str
    message: str


class ToldSalvage(Struct, frozen=True, rename="camel"):
    """How many events can still be read, and how much of the write-ahead log, in bytes, has them."""

    in_database: int | None
    readable: int
    wal_size: int


class ToldIncident(Struct, frozen=True, rename="camel"):
    """Somebody has let the log go on."""

    accepted_at: str
    finding: str


class Report(Struct, frozen=True, rename="camel"):
    """All that the doctor says; null is what could not be seen. Sizes in bytes."""

    database: str
    ok: bool
    files: tuple[ToldFile, ...]
    schema: int | None
    schema_known: int
    log: ToldTree | None
    head: ToldTree | None
    head_written_at: str | None
    checkpoint: ToldTree | None
    salvage: ToldSalvage | None
    free: int
    reserve: int
    incidents: tuple[ToldIncident, ...]
    problems: tuple[Problem, ...]
    advice: tuple[str, ...]


def report_of(diagnosis: Diagnosis) -> Report:
    """The diagnosis as it is told."""
    salvage = diagnosis.salvage
    return Report(
        shown(diagnosis.files[0].path),
        not diagnosis.problems,
        tuple(
            ToldFile(shown(file.path), file.size, None if file.size is None else rfc3339(file.changed_at))
            for file in diagnosis.files
        ),
        diagnosis.schema,
        diagnosis.schema_known,
        _told(diagnosis.log),
        _told(None if diagnosis.head is None else diagnosis.head.tree),
        None if diagnosis.head is None else diagnosis.head.time,
        _told(diagnosis.checkpoint),
        None if salvage is None else ToldSalvage(salvage.in_database, salvage.readable, salvage.wal_size),
        diagnosis.space.free,
        diagnosis.reserve,
        tuple(ToldIncident(rfc3339(one.accepted_at), one.finding) for one in diagnosis.incidents),
        tuple(Problem(problem.code, _message(problem)) for problem in diagnosis.problems),
        tuple(advice(diagnosis)),
    )


def report_lines(report: Report) -> Iterator[str]:
    """The same for eyes."""
    width = max(len(file.path) for file in report.files)
    for file in report.files:
        changed = "" if file.changed_at is None else f", changed {to_the_second(file.changed_at)}"
        facts = "not there" if file.size is None else f"{shown_size(file.size)}{changed}"
        yield f"{printable(file.path):<{width}}  {facts}"
    yield ""
    known = f"this version knows {report.schema_known}"
    yield f"schema      {'cannot be seen' if report.schema is None else f'{report.schema}, {known}'}"
    for name, tree in (("log", report.log), ("head", report.head), ("checkpoint", report.checkpoint)):
        is_dated = name == "head" and report.head_written_at is not None
        written = f", written {to_the_second(report.head_written_at or '')}" if is_dated else ""
        yield f"{name:<10}  {'-' if tree is None else f'{tree.events:,} events, root {tree.root}{written}'}"
    if report.salvage is not None:
        yield f"readable    {_salvaged(report.salvage, report)}"
    for incident in report.incidents:
        yield f"accepted    {to_the_second(incident.accepted_at)}: {printable(accepted_text(incident.finding))}"
    yield f"disk        {shown_size(report.free)} free, reserve {shown_size(report.reserve)}"
    yield ""
    if report.ok:
        length = "it opens and can be read"
        if report.head is not None:
            length += ", and is as long as was acknowledged"
        if report.schema is not None and report.schema < report.schema_known:
            length = "it opens for writing, by which it is brought up to date"
        yield f"{length}; whether every event is as it was: `heptalog audit {_argument(report.database)}`"
        yield from report.advice
        return
    for problem in report.problems:
        yield f"{problem.message} [{problem.code}]"
    yield ""
    yield "what can be done, that which loses least first:"
    for number, line in enumerate(report.advice, start=1):
        yield f"{number:>3}. {line}"


def exit_of(diagnosis: Diagnosis) -> Exit:
    """1 where something is wrong, 3 where it cannot even be seen what."""
    is_unseen = diagnosis.log is None and all(isinstance(problem, Unavailable) for problem in diagnosis.problems)
    return Exit.FINE if not diagnosis.problems else Exit.UNREACHABLE if is_unseen else Exit.FINDING


def advice(diagnosis: Diagnosis) -> Iterator[str]:
    """What can be done, in the order of what it loses."""
    unread = _unread(diagnosis)
    parts = [problem for problem in diagnosis.problems if _is_part(problem)]
    codes = {problem.code for problem in diagnosis.problems if problem not in unread and problem not in parts}
    database, wal, head, checkpoint = (printable(shown(file.path)) for file in diagnosis.files)
    yield from _at_first(diagnosis, codes)
    for problem in unread:
        if problem.facts.get("problem") == NOT_UTF8:
            yield f"Give {database} and the files beside it a name that is UTF-8."
        else:
            path = printable(shown(Path(str(problem.facts["path"]))))
            yield f"Make {path} a file that can be read: it says how long the log must be."
    if not (codes - _PASSING or parts):
        return
    yield f"Copy {database} and all files beside it whose names begin alike, before anything else is tried."
    if diagnosis.files[1].size is None and codes & (_LOSSES | {Code.RECORD_DAMAGED}):
        yield f"If the database was moved or copied without it, put {wal} back: it holds the last commits."
    if codes & _LOSSES:
        yield f"If the files are not of one moment, put back those that belong together: {database}, {wal}, {head}."
    argument = _argument(shown(diagnosis.files[0].path))
    if parts:
        yield (
            f"`heptalog audit {argument}` says which events cannot be read. Games that have none of them can be: "
            f"`heptalog verify {argument}` names the others."
        )
    if codes & _CHANGES and diagnosis.log is not None:
        yield (
            f"`heptalog audit {argument}` names every event whose bytes do not fit. A log that was rewritten whole "
            "fits itself, and is found against a checkpoint from elsewhere: --checkpoint FILE."
        )
    yield from _saving(diagnosis, codes)
    if diagnosis.files[0].size is None:
        yield f"To begin an empty log in this place, move {head} and {checkpoint} away; nothing of the old one is left."
    if diagnosis.is_acceptable and codes - {Code.DISK_RESERVE}:
        yield (
            f"`heptalog doctor {argument} --accept` lets the log go on as it is now. What is lost stays lost, and who "
            "holds a receipt or a checkpoint of it can show that it was there. The log itself records that it was done."
        )


def _unread(diagnosis: Diagnosis) -> list[HeptalogError]:
    """The problems that are of files beside the log or of names, and nothing is said by them of the log itself."""
    beside = {str(file.path) for file in diagnosis.files[2:]}
    return [
        problem
        for problem in diagnosis.problems
        if problem.code is Code.SOURCE_UNREADABLE
        and (problem.facts.get("path") in beside or problem.facts.get("problem") == NOT_UTF8)
    ]


def _is_part(problem: HeptalogError) -> bool:
    """Whether it says that a part of the database cannot be read, and nothing of the rest."""
    return "table" in problem.facts


def _argument(path: str) -> str:
    """A path as it can be given to a command."""
    return quote(printable(path))


def _at_first(diagnosis: Diagnosis, codes: Set[Code]) -> Iterator[str]:
    """What has to be done for it to be seen at all, or to go on, and loses nothing."""
    if Code.DATABASE_LOCKED in codes:
        yield "Ask the process that holds it, or stop it: a server answers `heptalog audit grpc://HOST:PORT`."
    if Code.DATABASE_NEWER in codes or Code.RECORD_NEWER in codes:
        yield "Use the version of Heptalog that wrote it, or a newer one."
    if diagnosis.schema is not None and diagnosis.schema < diagnosis.schema_known:
        yield (
            "It has an older schema, and can be read once it is brought up to date: serve it or import into it once. "
            "That adds what newer versions keep beside the events, and changes nothing of the events."
        )
    if Code.DISK_RESERVE in codes:
        yield "Free space on this disk; recording goes on by itself. Or ask for less: `heptalog serve --reserve SIZE`."


def _saving(diagnosis: Diagnosis, codes: Set[Code]) -> Iterator[str]:
    """How most of a log is had back."""
    salvage = diagnosis.salvage
    wal = printable(shown(diagnosis.files[1].path))
    if salvage is not None and salvage.readable:
        is_worth = salvage.readable > (salvage.in_database or 0)
        cut = f"Cut {wal} off where its damage begins: `truncate --size={salvage.wal_size} {quote(wal)}`."
        kept = f"That keeps events 1 to {salvage.readable:,}, and what came after them is lost; then run this again."
        yield f"{cut if is_worth else f'Move {wal} away.'} {kept}"
        yield f"If it has more than that, restore a backup under another name: {_RESTORE}."
    else:
        yield f"Restore a backup under another name: {_RESTORE}."
    if salvage is None and Code.RECORD_DAMAGED in codes and diagnosis.files[1].size:
        yield f"Move {wal} away, and run this again: what is in the database without it can then be seen."


def _salvaged(salvage: ToldSalvage, report: Report) -> str:
    """Which events are where, as far as that can be told."""
    acknowledged = max((tree.events for tree in (report.head, report.checkpoint) if tree is not None), default=0)
    if salvage.in_database is None:
        return "nothing, with the write-ahead log or without it"
    end = "were in the write-ahead log" if salvage.readable == salvage.in_database else "after it"
    places = (
        (1, salvage.in_database, "are in the database itself"),
        (salvage.in_database + 1, salvage.readable, "in the write-ahead log before its damage"),
        (salvage.readable + 1, acknowledged, end),
    )
    return ", ".join(f"events {first:,} to {last:,} {place}" for first, last, place in places if first <= last)


def _message(problem: HeptalogError) -> str:
    # That we can say what can be done is what is being done.
    facts = dict(problem.facts)
    facts["problem"] = str(facts.pop("problem", "")).removesuffix(ADVICE).removesuffix("; ")
    return printable(sentence(type(problem)(problem.code, rule=problem.rule, **facts)))


def _told(tree: TreeHead | None) -> ToldTree | None:
    return None if tree is None else ToldTree(tree.size, to_base64(tree.root))
