"""Every way to tamper with a small log, one at a time, and where each has to be found.

A tamper is a log with one change in it, and the places that may be named: at least one finding stands at the place
itself, and none at a place that has nothing to do with it.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from random import Random
from typing import Any, Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from heptalog.replay.errors import Code
from heptalog.service.auditing.findings import Finding
from heptalog.service.store import TreeHead
from tests.trials.tampered import NAMES, Log, Row

Judge: TypeAlias = Callable[[Finding], bool]

POSITION, NUMBER, RECORD, SEQUENCE = 0, 1, 2, 3  # in a row of log.events
# A column that may be NULL may also become so.
_NULLABLE: Final = frozenset(
    {"seat", "event_id", "occurred_at", "recorded_at", "recorded_by", "tournament", "table_name", "created_at"}
)
# What follows from an event that is not what it was: the tree over it, and every word on the tree.
_CONSEQUENCES: Final = frozenset({Code.HEAD_DIFFERS, Code.CHECKPOINT_DIFFERS, Code.EVENTS_LOST})


class Tamper(Struct, frozen=True):
    """One change. `is_there` says whether a finding stands at its place, `may_be` whether it has to do with it."""

    kind: str
    name: str
    log: Log
    is_there: Judge
    may_be: Judge


def judged(tamper: Tamper, findings: Sequence[Finding]) -> str:
    """What is wrong with what was found; nothing where it was found at its place."""
    if not findings:
        return "missed"
    if not any(map(tamper.is_there, findings)):
        return f"found elsewhere: {findings[:3]}"
    strange = [finding for finding in findings if not (tamper.is_there(finding) or tamper.may_be(finding))]
    return f"told of others too: {strange[:3]}" if strange else ""


# Judges.


def at_event(row: Row) -> Judge:
    """A finding at the position of this event."""
    return lambda finding: finding.position == row[POSITION] and finding.last is None


def about_event(log: Log, *rows: Row) -> Judge:
    """Whatever may also be said where these events are not what they were."""
    names = _names(log)
    places = {(names.get(row[NUMBER]), row[SEQUENCE]) for row in rows}
    positions = {row[POSITION] for row in rows}

    def judge(finding: Finding) -> bool:
        if finding.position in positions or (finding.game_id, finding.sequence) in places:
            return True
        if finding.code in _CONSEQUENCES:
            return finding.last is None or finding.last >= min(positions)
        if finding.position is not None and finding.last is not None:
            return any(finding.position <= position <= finding.last for position in positions)
        return False

    return judge


def in_table(table: str, **place: object) -> Judge:
    """A finding in this table, at this place."""
    return lambda finding: (
        finding.table == table and all(getattr(finding, name) == value for name, value in place.items())
    )


def in_file(path: str) -> Judge:
    """A finding in a file beside the database."""
    return lambda finding: finding.path == path


def by_code(*codes: Code, **place: object) -> Judge:
    """A finding of one of these kinds, at this place."""
    return lambda finding: (
        finding.code in codes and all(getattr(finding, name) == value for name, value in place.items())
    )


def any_of(*judges: Judge) -> Judge:
    """Whether one of them says yes."""
    return lambda finding: any(judge(finding) for judge in judges)


def never(finding: Finding) -> bool:
    """No finding."""
    del finding
    return False


# The events.


def bytes_of_events(log: Log, *, step: int = 1, first: int = 0) -> Iterator[Tamper]:
    """Each byte of each record changed in turn, or every so many of them."""
    place = 0
    for index, row in enumerate(log.rows("events")):
        record: bytes = row[RECORD]
        for at in range(len(record)):
            place += 1
            if (place - first) % step:
                continue
            changed = record[:at] + bytes([record[at] ^ (1 << place % 8)]) + record[at + 1 :]
            bad = log.with_value("events", index, "event", changed)
            yield Tamper("byte of a record", f"{row[POSITION]} byte {at}", bad, at_event(row), about_event(log, row))


def columns_of_events(log: Log, *, step: int = 1) -> Iterator[Tamper]:
    """Each column of each event."""
    rows = log.rows("events")
    for index, row in list(enumerate(rows))[::step]:
        for column in NAMES["events"]:
            for value in _others(log, "events", column, row[NAMES["events"].index(column)]):
                bad = log.with_value("events", index, column, value)
                moved = bad.rows("events")[index]
                there = any_of(at_event(row), at_event(moved))
                also = [about_event(log, row, moved), *_after_loss(log, index)]
                yield Tamper(f"events.{column}", f"{row[POSITION]} {column} {value!r}"[:90], bad, there, any_of(*also))


def rows_of_events(log: Log, *, step: int = 1) -> Iterator[Tamper]:
    """Events deleted, repeated, exchanged with the next, and moved to another game."""
    rows = log.rows("events")
    by_position = sorted(range(len(rows)), key=lambda index: rows[index][POSITION])
    end = rows[by_position[-1]][POSITION] + 1
    for index in by_position[:-1][::step]:
        row = rows[index]
        also = any_of(about_event(log, row), *_after_loss(log, index))
        yield Tamper("event deleted", f"{row[POSITION]}", log.with_row("events", index), at_event(row), also)
        for position in (row[POSITION], end):
            copy = (position, *row[1:])
            bad = log.with_row("events", index, row, copy)
            yield Tamper(
                "event repeated", f"{row[POSITION]} at {position}", bad, at_event(copy), about_event(log, copy)
            )
        other = next(number for number in sorted(_names(log)) if number != row[NUMBER])
        bad = log.with_value("events", index, "game_number", other)
        yield Tamper("event moved to another game", f"{row[POSITION]}", bad, at_event(row), also)
    for one, other in list(pairwise(by_position))[::step]:
        yield from _exchanged(log, one, other)


def _exchanged(log: Log, one: int, other: int) -> Iterator[Tamper]:
    """Two events that follow each other: their positions, their records, and all but their positions."""
    rows = log.rows("events")
    first, second = rows[one], rows[other]
    also = any_of(
        about_event(log, first, second),
        *_after_loss(log, one),
        *_after_loss(log, other),
        # The order of games is that of their first events.
        in_table("games", column="game_number"),
    )
    # Of two games side by side only the tree knows which was first.
    there = any_of(at_event(first), at_event(second), by_code(Code.HEAD_DIFFERS))
    exchanges: dict[str, tuple[Row, Row]] = {
        "positions": ((second[0], *first[1:]), (first[0], *second[1:])),
        "records": ((*first[:2], second[2], *first[3:]), (*second[:2], first[2], *second[3:])),
        "records and columns": ((*first[:2], *second[2:]), (*second[:2], *first[2:])),
    }
    for name, (left, right) in exchanges.items():
        bad = log.with_row("events", one, left).with_row("events", other, right)
        if bad.rows("events") != rows:
            yield Tamper(f"{name} exchanged", f"{first[0]} and {second[0]}", bad, there, also)


# What is kept beside them.


def beside_events(log: Log, *, step: int = 1) -> Iterator[Tamper]:
    """The list of games and the endings: each column, each row."""
    names = _names(log)
    for table in ("games", "endings"):
        rows = log.rows(table)
        for index, row in list(enumerate(rows))[::step]:
            game = names[row[0]]
            there = in_table(table, game_id=game)
            also = any_of(in_table(table), in_table("endings", game_id=game), by_code(Code.ENDINGS_DIFFER))
            for column, before in zip(NAMES[table], row, strict=True):
                for value in _others(log, table, column, before):
                    bad = log.with_value(table, index, column, value)
                    judge = any_of(there, in_table(table, game_id=value)) if column in ("game_id",) else there
                    yield Tamper(f"{table}.{column}", f"{row[0]} {value!r}"[:90], bad, judge, also)
            yield Tamper(f"{table}: row deleted", f"{row[0]}", log.with_row(table, index), there, also)
            copy = (row[0], "another", *row[2:]) if table == "games" else row
            of_copy = in_table(table, game_id="another") if table == "games" else there
            yield Tamper(f"{table}: row repeated", f"{row[0]}", log.with_row(table, index, row, copy), of_copy, also)
        for one, other in pairwise(range(len(rows))):
            bad = log.with_row(table, one, (rows[one][0], *rows[other][1:]))
            bad = bad.with_row(table, other, (rows[other][0], *rows[one][1:]))
            there = any_of(in_table(table, game_id=names[rows[one][0]]), in_table(table, game_id=names[rows[other][0]]))
            if set(map(str, bad.rows(table))) != set(map(str, rows)):
                yield Tamper(f"{table}: rows exchanged", f"{one} and {other}", bad, there, in_table(table))


def evidence(log: Log, *, step: int = 1) -> Iterator[Tamper]:
    """The stored tree, the kept checkpoints, the head record and the checkpoint beside the database."""
    for index, (level, number, digest) in enumerate(log.rows("tree")):
        there = also = in_table("tree")
        for at in range(0, len(digest), step):
            changed = digest[:at] + bytes([digest[at] ^ 1 << at % 8]) + digest[at + 1 :]
            judge = in_table("tree", column="hash", number=number)
            yield Tamper(
                "tree.hash", f"{number} byte {at}", log.with_value("tree", index, "hash", changed), judge, also
            )
        for column, value in (("level", level + 1), ("level", 0), ("index", number + 1), ("index", -1)):
            bad = log.with_value("tree", index, column, value)
            yield Tamper(f"tree.{column}", f"{number} {value}", bad, there, also)
        row = (level, number, digest)
        yield Tamper("tree: row repeated", f"{number}", log.with_row("tree", index, row, row), there, also)
        yield Tamper("tree: row made up", "", log.with_row("tree", index, row, (level + 1, 0, digest)), there, also)
    for index, (number, size, note) in enumerate(log.rows("checkpoints")):
        there = in_table("checkpoints", number=number)
        also = any_of(in_table("checkpoints"), by_code(Code.EVENTS_LOST))
        for at in range(0, len(note), step):
            bad = log.with_value("checkpoints", index, "note", _letter_changed(note, at))
            yield Tamper("checkpoints.note", f"{number} letter {at}", bad, there, also)
        for column, value in (("size", size - 1), ("size", 10**9), ("size", 0), ("checkpoint_number", number + 10)):
            bad = log.with_value("checkpoints", index, column, value)
            yield Tamper(f"checkpoints.{column}", f"{number} {value}", bad, in_table("checkpoints"), also)
        row = (number, size, note)
        bad = log.with_row("checkpoints", index, row, row)
        yield Tamper("checkpoints: row repeated", f"{number}", bad, in_table("checkpoints"), also)
    assert log.head is not None
    head, root = log.head, log.head.root
    heads = [TreeHead(head.size + 1, root), TreeHead(head.size - 1, root), TreeHead(0, root), None]
    heads += [TreeHead(head.size, root[:at] + bytes([root[at] ^ 1]) + root[at + 1 :]) for at in range(0, 32, step)]
    for other in heads:
        is_there = by_code(Code.HEAD_DIFFERS, Code.HEAD_MISSING, Code.EVENTS_LOST, path="head")
        yield Tamper("head record", f"{other}"[:60], replace(log, head=other), is_there, never)
    for at in range(0, len(log.note or ""), step):
        bad = replace(log, note=_letter_changed(log.note or "", at))
        there = in_file("checkpoint")
        yield Tamper("checkpoint beside", f"letter {at}", bad, there, by_code(Code.EVENTS_LOST))


def refusals(log: Log) -> Iterator[Tamper]:
    """What was refused: it is in no chain, so only what contradicts itself can be found."""
    rows = log.rows("refusals")
    for index, row in enumerate(rows):
        there, also = in_table("refusals", number=row[0]), in_table("refusals")
        values = {"game_id": "x", "sequence": row[2] + 1, "recorded_by": "x", "kind": "cardPlayed", "code": "X"}
        values |= {"refused_at": 0, "refused_at_nanoseconds": 1000, "content": row[-1][:-1]}
        for column, value in values.items():
            bad = log.with_value("refusals", index, column, value)
            yield Tamper(f"refusals.{column}", f"{row[0]}", bad, there, also)
        bad = log.with_value("refusals", index, "refusal_number", len(rows) + 5)
        yield Tamper("refusals.refusal_number", f"{row[0]}", bad, also, also)
        yield Tamper("refusals: row repeated", f"{row[0]}", log.with_row("refusals", index, row, row), also, also)
        if index + 1 < len(rows):
            yield Tamper("refusals: row deleted", f"{row[0]}", log.with_row("refusals", index), also, also)


# Helpers.


def _names(log: Log) -> dict[int, str]:
    return {row[0]: row[1] for row in log.rows("games")}


def _after_loss(log: Log, index: int) -> list[Judge]:
    """The next event of its game may say that this one is missing before it."""
    row = log.rows("events")[index]
    later = [other for other in log.rows("events") if other[NUMBER] == row[NUMBER] and other[SEQUENCE] > row[SEQUENCE]]
    if not later:
        return []
    after = min(later, key=lambda other: other[SEQUENCE])
    code = (Code.SEQUENCE_GAP, Code.CHAIN_BROKEN, Code.POSITION_DAMAGED)
    judges = [by_code(*code, position=after[POSITION])]
    if row[SEQUENCE] == 0:
        # Without its first event a game is not where it was among the others.
        judges.append(in_table("games", column="game_number"))
    return judges


def _letter_changed(text: str, at: int) -> str:
    other = chr(ord(text[at]) ^ 1)
    return text[:at] + other + text[at + 1 :]


def _others(log: Log, table: str, column: str, before: Any) -> Iterator[Any]:
    """Other values for a column: NULL where it may be, and one or two of its own kind."""
    if column in _NULLABLE and before is not None:
        yield None
    match before:
        case bytes():
            yield b""
            yield before + b"\0"
        case list():
            yield before[:-1] if before else ([{"name": "a", "value": "b"}] if table == "games" else [0])
            if len(before) > 1 and before[0] != before[1]:
                yield [before[1], before[0], *before[2:]]
        case int():
            yield before + 1
            yield before - 1
        case str():
            yield before + " "
            yield "" if before else "x"
        case None:
            yield 0 if column in ("seat", "occurred_at", "recorded_at", "created_at") else ""
    del log


def shuffled(tampers: Sequence[Tamper], seed: int, count: int) -> list[Tamper]:
    """Some of them, by chance."""
    return Random(seed).sample(list(tampers), min(count, len(tampers)))
