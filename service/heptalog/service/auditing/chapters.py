"""The log by game, some games at a time; and what was refused."""

from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from operator import attrgetter
from typing import Any

from msgspec import Struct

from heptalog.replay import codec
from heptalog.replay.errors import KINDS, Code, Corrupt, HeptalogError, Refused
from heptalog.replay.events import Event, camel_name
from heptalog.replay.evidence.seals import check_seals
from heptalog.service.auditing.findings import Finding, Tell, found, found_by
from heptalog.service.auditing.games import GameAudit
from heptalog.service.auditing.sources import Judging, Source
from heptalog.service.auditing.spans import added
from heptalog.service.config import EVENTS_PER_GAME_MAX
from heptalog.service.store.duck_kept import KeptRefusal
from heptalog.service.store.kept import KeptEnding, KeptEvent, KeptGame


class GamesWork(Struct, frozen=True):
    """Games to look at, by their numbers, both ends included; `without` what some tables say of them."""

    low: int
    high: int
    without: tuple[str, ...] = ()


class Listed(Struct, frozen=True):
    """A game in the order of creation: its number, and the position of its first event, if that is known."""

    number: int
    position: int | None


class GamesReport(Struct, frozen=True):
    """What some games came to; `total` is added up as over positions, and not `is_whole` where some cannot be read."""

    high: int
    games: int
    events: int
    total: int
    first: Listed | None
    last: Listed | None
    findings: tuple[Finding, ...]
    is_whole: bool = True


class RefusalsWork(Struct, frozen=True):
    """All that was refused."""


class RefusalsReport(Struct, frozen=True):
    """What the refusals came to."""

    refusals: int
    findings: tuple[Finding, ...]


def audit_games(source: Source, work: GamesWork) -> GamesReport:
    """Look at some games, each whole."""
    return _Chapter(source, work).report()


def misplaced(before: Listed | None, game: Listed) -> Iterator[Finding]:
    """What is wrong with the place of a game after the one before it: games are numbered as they are created."""
    place: dict[str, Any] = {"table": "games", "column": "game_number", "number": game.number}
    if game.number != (before.number if before else 0) + 1:
        yield found(Code.COLUMNS_DIFFER, "it does not follow the number of the game before it", **place)
    if before and before.position is not None and game.position is not None and game.position <= before.position:
        problem = "its first event is before that of the game with the number before it"
        yield found(Code.COLUMNS_DIFFER, problem, position=game.position, **place)


class _Chapter:
    def __init__(self, source: Source, work: GamesWork) -> None:
        self._source = source
        self._work = work
        self._has_list = "games" not in work.without
        self._has_endings = source.has_columns and "endings" not in work.without
        self._findings: list[Finding] = []
        self._tell = self._findings.append
        self._first: Listed | None = None
        self._last: Listed | None = None
        self._games = self._events = self._total = 0

    def report(self) -> GamesReport:
        """Go through them: those with events as these come, and in between those that have none."""
        low, high = self._work.low, self._work.high
        listed = _by_number(self._source.games(low, high) if self._has_list else ())
        endings = _by_number(self._source.endings(low, high) if self._has_endings else ())
        waiting = sorted(listed.keys() | endings.keys(), reverse=True)
        for number, events in groupby(self._source.events(low, high), key=attrgetter("game_number")):
            while waiting and waiting[-1] < number:
                self._examine(waiting[-1], listed, endings, ())
                waiting.pop()
            if waiting and waiting[-1] == number:
                waiting.pop()
            self._examine(number, listed, endings, events)
        while waiting:
            self._examine(waiting.pop(), listed, endings, ())
        return GamesReport(high, self._games, self._events, self._total, self._first, self._last, tuple(self._findings))

    def _examine(
        self,
        number: int,
        listed: dict[int, list[KeptGame]],
        endings: dict[int, list[KeptEnding]],
        events: Iterable[KeptEvent],
    ) -> None:
        rows_listed = listed.get(number, []) if self._has_list else None
        audit = GameAudit(number, rows_listed, self._tell, has_columns=self._source.has_columns)
        rows = self._counted(events)
        # Whatever has more events than a game can have is no game, and is not held in memory.
        some = list(islice(rows, EVENTS_PER_GAME_MAX))
        audit.examine(some, endings.get(number, []) if self._has_endings else None)
        rest = next(rows, None)
        if rest is not None:
            self._tell(found(Code.GAME_TOO_LONG, position=rest.position, game_id=audit.game_id))
            audit.judge_loose([rest])
            audit.judge_loose(rows)
        if isinstance(self._source, Judging):
            self._source.judge(audit, number, self._tell)
        self._games += 1
        if some and (number in listed or not self._has_list):
            game = Listed(number, some[0].position)
            if self._first is None:
                self._first = game
            else:
                self._findings.extend(misplaced(self._last, game))
            self._last = game

    def _counted(self, events: Iterable[KeptEvent]) -> Iterator[KeptEvent]:
        for kept in events:
            self._events += 1
            self._total = added(self._total, kept.position, codec.hash_in(kept.record))
            yield kept


def _by_number(rows: Iterable[Any]) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    for row in rows:
        found.setdefault(row.number, []).append(row)
    return found


def audit_refusals(source: Source) -> RefusalsReport:
    """Look at what was refused: every number once, and each an event that can be read and is what its columns say."""
    findings: list[Finding] = []
    count = 0
    for row in source.refusals():
        count += 1
        place: dict[str, Any] = {"table": "refusals", "number": row.number}
        if row.number != count:
            findings.append(found(Code.COLUMNS_DIFFER, f"{count} was next", column="refusal_number", **place))
        _judge_refusal(row, lambda finding: findings.append(finding), place)
    return RefusalsReport(count, tuple(findings))


def _judge_refusal(row: KeptRefusal, tell: Tell, place: dict[str, Any]) -> None:
    try:
        event = _asked(row.content or b"")
    except HeptalogError as error:
        fault = error if isinstance(error, Corrupt) else Corrupt(Code.RECORD_DAMAGED, rule="evidence")
        tell(found_by(fault, column="content", **place))
        return
    said = {
        "game_id": event.game_id,
        "sequence": event.sequence,
        "recorded_by": event.recorded_by,
        "kind": camel_name(type(event.body)),
    }
    for column, value in said.items():
        if getattr(row, column) != value:
            tell(found(Code.COLUMNS_DIFFER, column=column, **place))
    if row.code not in KINDS[Refused]:
        tell(found(Code.COLUMNS_DIFFER, "the rules never say this", column="code", **place))
    if row.refused_at is None or row.refused_at <= 0:
        tell(found(Code.COLUMNS_DIFFER, column="refused_at", **place))
    if row.refused_at_nanoseconds not in range(1000):
        tell(found(Code.COLUMNS_DIFFER, column="refused_at_nanoseconds", **place))


def _asked(content: bytes) -> Event:
    """The event that was refused. Raises HeptalogError where it is none, or not in its one canonical form."""
    event = codec.event_of(codec.parse(content))
    if codec.content_of(event) != content:
        raise Corrupt(Code.RECORD_DAMAGED, rule="evidence")
    check_seals(event.body)
    return event
