"""What games, findings and differences look like, as text and as JSON: the one module that puts them into form."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET, Raw, json, to_builtins

from heptalog.analytics.csv_values import value_in_text
from heptalog.cli.examine import Step
from heptalog.cli.exits import Exit
from heptalog.cli.output import plain
from heptalog.cli.verdicts import Proved, Verdict
from heptalog.replay.errors import Code, Corrupt
from heptalog.replay.events import Body, camel_name
from heptalog.replay.fold import Fold, Standing, standing_of
from heptalog.replay.gamefile import encode_line
from heptalog.replay.outcomes import Outcome, RoundEnded, fields_of
from heptalog.replay.rules import NOTHING_WITHHELD, Viewer, Withheld
from heptalog.replay.sentences import sentence
from heptalog.replay.standing import Status, status_of
from heptalog.replay.words import names_of, printable, tell_event, tell_outcome, tell_table

if TYPE_CHECKING:
    from heptalog.cli.importing.games import Import
    from heptalog.cli.listing import Row
    from heptalog.service.client import FeedEvent

# What follows from an event stands beside it where there is room, and below it where there is not.
_ROOM: Final = 110
_INDENT: Final = " " * 8
# What CSV has otherwise than people have it.
_IN_CSV: Final = (datetime, timedelta, float)
# What is kept of what was wrong with a log, `EVENTS_LOST first 13 last 24`.
_ACCEPTED: Final = re.compile(r"(?P<code>[A-Z_]+)(?: (?:first|last|size) \d+)*")
_FACT: Final = re.compile(r" (first|last|size) (\d+)")
# Rows of a table for people.
ROWS_MAX: Final = 1000


def finding_text(verdict: Verdict) -> str:
    """A bad game in one line: where, what and by which code."""
    place = "" if verdict.sequence is None else f" sequence {verdict.sequence}:"
    return printable(f"{verdict.source}:{place} {verdict.message} [{verdict.code}]")


def mark(code: Exit) -> str:
    """How a line of results begins: what is BAD leads to exit code 1, what could not be read, to 3."""
    return {Exit.FINE: "ok  ", Exit.FINDING: "BAD "}.get(code, "UNREAD")


def verdict_lines(verdict: Verdict) -> Iterator[str]:
    """A verdict in one line; of a good bundle also what it shows."""
    if not verdict.ok:
        yield f"{mark(verdict.exit)} {finding_text(verdict)}"
        return
    state = {None: "", True: ", over", False: ", still running"}[verdict.over]
    yield printable(f"{mark(verdict.exit)} {verdict.source}  {counted(verdict.events, 'event')}{state}")
    if verdict.proof is not UNSET:
        yield from (printable(f"     {line}") for line in _proof_lines(verdict.proof))


def _proof_lines(proof: Proved) -> Iterator[str]:
    game = f"game {proof.game_id}, for {proof.viewer}: chain and proof good"
    if proof.hidden_parts:
        sealed = counted(proof.hidden_parts, "hidden part")
        yield f"{game}; {sealed} sealed, rules checked to event {proof.rules_checked_to}"
    else:
        yield f"{game}; rules checked to its end"
    yield from (f"revealed: {each.part or 'discard'} of event {each.sequence}" for each in proof.revealed)
    yield f"ends at position {proof.position:,} of {proof.size:,} in the log {proof.log}, root {proof.root}"
    for signed in proof.signatures:
        yield f"signed by {signed.name} ({', '.join(signed.key_ids)}){f' at {signed.time}' if signed.time else ''}"
    if not proof.is_proved:
        yield "NOT PROVED: no key was given (--key), so nobody has looked at its signatures"


def import_text(result: "Import") -> str:
    """What came of one import, in one line."""
    if not result.ok:
        return f"{mark(result.exit)} {finding_text(result.verdict)}"
    known = f", {result.known:,} were there" if result.known else ""
    return printable(
        f"{mark(result.exit)} {result.source}  {counted(result.added, 'event')} added{known}  {result.game_id}"
    )


def counted(count: int, noun: str) -> str:
    """`1 game`, `2,000 games`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def to_the_second(time: str) -> str:
    """A time of RFC 3339 in UTC as people have it: without the parts of a second, which are for programs."""
    return f"{time[:19]}Z"


GAME_COLUMNS: Final = ("game", "ruleset", "players", "status", "events", "scores", "winners", "created")
RESULT_COLUMNS: Final = ("scores", "winners")
# What a narrow terminal does without, the first ones first.
SPARE_COLUMNS: Final = ("created", "events", "ruleset")


def row_cells(row: "Row") -> list[str]:
    """A game of a list, by GAME_COLUMNS."""
    names = [player.name or player.id for player in row.players]
    winners = None if row.winners is None else ", ".join(names[seat] for seat in row.winners)
    values = (
        row.game_id or row.source,
        row.ruleset,
        ", ".join(names),
        row.status.lower(),
        f"{row.events:,}",
        None if row.scores is None else plain(row.scores),
        winners,
        row.created_at and to_the_second(row.created_at),
    )
    return [printable(value or "") for value in values]


def step_text(step: Step, viewer: Viewer, withheld: Withheld = NOTHING_WITHHELD) -> Iterator[str]:
    """One event with what followed from it; after a round the table too."""
    fold = step.fold
    names = names_of(fold.started)
    told = tell_event(fold.rules, step.event.body, names)
    phrases = [tell_outcome(fold.rules, outcome, names) for outcome in step.outcomes]
    line = f"{step.event.sequence:>5}  {told}"
    joined = " · ".join([line, *phrases])
    if len(joined) <= _ROOM:
        yield joined
    else:
        yield line
        yield from (f"{_INDENT}· {phrase}" for phrase in phrases)
    if ends_round(step):
        yield from table_text(step.fold, viewer, withheld)


def ends_round(step: Step) -> bool:
    """Whether a round ended here."""
    return any(isinstance(outcome, RoundEnded) for outcome in step.outcomes)


def table_text(fold: Fold, viewer: Viewer, withheld: Withheld = NOTHING_WITHHELD) -> Iterator[str]:
    """The table as a viewer sees it, set apart."""
    yield ""
    names = names_of(fold.started)
    yield from (f"{_INDENT}{line}" for line in tell_table(fold, fold.state, names, viewer, withheld))
    yield ""


def step_json(step: Step, *, with_outcomes: bool = False) -> Any:
    """The report after an event; on demand also what happened and what followed from it."""
    standing = step.fold.standing()
    if not with_outcomes:
        return standing
    outcomes = [outcome_json(outcome) for outcome in step.outcomes]
    return {**to_builtins(standing), "event": camel_name(type(step.event.body)), "outcomes": outcomes}


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    """An outcome by its name and its fields."""
    return {"outcome": camel_name(type(outcome)), **fields_of(outcome)}


def feed_text(event: "FeedEvent", *, is_one_game: bool) -> str:
    """An event of a feed in one line: its place, what happened and what followed from it."""
    place = f"{event.sequence:>5}" if is_one_game else f"{event.position:>9,}  {event.game_id}  {event.sequence:>4}"
    if event.unread:
        return printable(f"{place}  cannot be read by the server [{event.unread}]")
    return f"{place}  {printable(' · '.join(event.words))}"


def feed_json(event: "FeedEvent") -> dict[str, Any]:
    """An event of a feed as an object: what `replay` tells with outcomes; its place, words and line of a game file."""
    place = {"position": event.position, "gameId": event.game_id, "sequence": event.sequence}
    if event.unread:
        return {**place, "unread": event.unread}
    return {
        **place,
        **({} if event.standing is None else to_builtins(event.standing)),
        "event": camel_name(type(event.event.body)),
        "outcomes": [{"outcome": followed.kind, **followed.fields} for followed in event.followed],
        "words": event.words,
        "line": Raw(encode_line(event.event)),
    }


def body_json(body: Body) -> dict[str, Any]:
    """A body as a game file has it."""
    return {camel_name(type(body)): to_builtins(body)}


def standing_text(fold: Fold) -> str:
    """How a game stands, in one line."""
    standing: Standing = standing_of(fold.sequence, fold.state)
    names = names_of(fold.started)
    parts = [f"After event {standing.sequence}", f"round {standing.round}", f"scores {plain(standing.scores)}"]
    if standing.over:
        how = "closed by the arbiter, won" if status_of(fold.state) is Status.CLOSED else "won"
        winners = _named(standing.winners, names) if standing.winners else "nobody"
        parts.append(f"over, {how} by {winners} at event {_over_since(fold)}")
    else:
        parts.append(f"to act: {_named(standing.to_act, names)}" if standing.to_act else "the table must deal or draw")
    return " · ".join(parts)


def _over_since(fold: Fold) -> int:
    """The event that ended a game for good."""
    since = fold.sequence
    while fold.states[since - 1].over:
        since -= 1
    return since


def cells(row: Sequence[Any]) -> list[str]:
    """A row of a database for people."""
    return [printable(_cell(value) or "") for value in row]


def csv_cells(row: Sequence[Any]) -> list[str | None]:
    """A row of a database for programs: text as it is, and None where there is nothing."""
    return [value_in_text(value) if isinstance(value, _IN_CSV) else _cell(value) for value in row]


def accepted_text(finding: str) -> str:
    """What was wrong with a log that somebody let go on, from what is kept of it: codes, and the positions of each."""
    return "; ".join(_accepted_part(part) for part in dict.fromkeys(finding.split("; ")))


def row_json(columns: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    """A row of a database as an object."""
    return {column: _json_value(value) for column, value in zip(columns, row, strict=True)}


def _accepted_part(part: str) -> str:
    match = _ACCEPTED.fullmatch(part)
    if match is None or match["code"] not in Code.__members__:
        return part
    error = Corrupt(Code(match["code"]))
    error.facts.update((name, int(number)) for name, number in _FACT.findall(part))
    return f"{sentence(error)} [{error.code}]"


def _cell(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat(sep=" ")
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list | tuple | dict):
        return json.encode(_json_value(value)).decode()
    return str(value).lower() if isinstance(value, bool) else str(value)


def _json_value(value: Any) -> Any:
    """A value as JSON has it: whole and decimal numbers of any size as numbers, bytes in hexadecimal."""
    if isinstance(value, dict):
        return {str(name): _json_value(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value(item) for item in value]
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Decimal) or (isinstance(value, int) and not isinstance(value, bool)):
        return Raw(str(value).encode())
    return value


def _named(seats: Sequence[int], names: Sequence[str]) -> str:
    return ", ".join(names[seat] for seat in seats)
