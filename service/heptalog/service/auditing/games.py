"""One game under audit: every row of it, by its bytes, its links, its seals, its rules and what is kept beside it.

An audit does not stop at the first fault. A game's events are put in order by what their records say, and each is then
judged by itself and against the one before it, so that one changed byte is told once and at its place. Only the rules
cannot be asked beyond an event that is missing or cannot be trusted: there the fold ends, for good.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from operator import attrgetter
from typing import Any, NamedTuple

from msgspec.structs import replace

from heptalog.replay.codec import decode
from heptalog.replay.errors import Code, Corrupt, HeptalogError, Unavailable
from heptalog.replay.events import Event, GameStarted
from heptalog.replay.evidence.chain import GENESIS, NOT_ITS_HASH, NOT_THE_NEXT, link
from heptalog.replay.evidence.seals import check_seals, check_whole
from heptalog.replay.fold import Fold
from heptalog.replay.plain import plain_game
from heptalog.service.auditing.findings import Finding, Tell, found, found_by
from heptalog.service.store.columns import rows_of
from heptalog.service.store.endings import endings_of
from heptalog.service.store.kept import (
    ENDING_COLUMNS,
    EVENT_COLUMNS,
    GAME_COLUMNS,
    KeptEnding,
    KeptEvent,
    KeptGame,
    differing,
    ending_columns,
    event_columns,
    game_columns,
)


class _Row(NamedTuple):
    """One row: where its record belongs in the game, and what is in it, or why that cannot be used."""

    place: int
    kept: KeptEvent
    event: Event | None
    public: bytes
    fault: Finding | None


class GameAudit:
    """Examines one game; what it finds is told at once. `fold` is the game as far as the rules could be asked."""

    def __init__(self, number: int, listed: Sequence[KeptGame] | None, tell: Tell, *, has_columns: bool = True) -> None:
        """`listed` are its rows in the list of games, which should be one; None where that is not looked at.

        Without columns only records are there.
        """
        self._number = number
        self._listed = listed
        self._tell_all = tell
        self._has_columns = has_columns
        self.game_id = listed[0].game_id if listed else ""
        self.fold: Fold | None = None
        self._is_folding = True
        self._next = 0
        # What the next event may follow: nothing is known of it where the one before is missing or unreadable.
        self._heads: set[bytes] | None = {GENESIS}
        self._position = 0
        self._event_ids: set[str] = set()
        self._recorded_at: dict[int, int] = {}
        self._first: _Row | None = None

    def examine(self, events: Iterable[KeptEvent], endings: Sequence[KeptEnding] | None) -> None:
        """All that is kept of it; endings are None where they are not looked at."""
        kept = list(events)
        rows = self._taken_at_once(kept, endings or ()) or self._judged(self._ordered(kept))
        if self._listed is not None:
            self._judge_list(rows, self._listed)
        if endings is not None:
            self._judge_endings(endings)

    def _taken_at_once(self, events: Sequence[KeptEvent], endings: Sequence[KeptEnding]) -> list[_Row]:
        """Take in a game of whose events nothing is to be told, and give its first row; nothing where it is none."""
        game = plain_game([kept.record for kept in events])
        if game is None or not _are_in_order(events):
            return []
        if self._has_columns and not rows_of(events).are_of(game):
            return []
        self.game_id, self.fold = game.first.game_id, game.fold
        for sequence in {ending.columns[0] for ending in endings}.intersection(range(len(events))):
            self._recorded_at[sequence] = decode(events[sequence].record)[0].recorded_at
        self._first = _Row(0, events[0], game.first, b"", None)
        return [self._first]

    @property
    def is_folded(self) -> bool:
        """Whether the rules could be asked of every event."""
        return self._is_folding

    def judge_loose(self, events: Iterable[KeptEvent]) -> None:
        """Rows that can be of no game, because there are too many: each is still judged by itself."""
        for kept in events:
            self._judge_alone(_row(kept))

    # Putting it in order.

    def _ordered(self, events: list[KeptEvent]) -> list[_Row]:
        rows = [_row(kept) for kept in events]
        # Most of its events know whose they are, whatever the list of games says.
        names = Counter(row.event.game_id for row in rows if row.event is not None)
        if names:
            self.game_id = names.most_common(1)[0][0]
        ours = [row for row in map(self._claimed, rows) if row is not None]
        ours.sort(key=lambda row: (row.place, row.kept.position))
        return [row for place in _grouped(ours) for row in _true_one_first(place)]

    def _claimed(self, row: _Row) -> _Row | None:
        """The row as it is one of this game; None where it has only been put into it by its number."""
        event = row.event
        if event is None or (event.game_id == self.game_id and event.sequence == row.kept.sequence):
            return row
        if link(event.previous_hash, row.public) != event.hash:
            # What it says of its place cannot be trusted, and will be told of there.
            return row._replace(place=_place_of(row.kept))
        if event.game_id == self.game_id:
            return row
        if self._has_columns and row.kept.columns == event_columns(event):
            problem = "this is an event of another game"
            self._tell(row.kept, found(Code.COLUMNS_DIFFER, problem, table="events", column="game_number"))
            self._judge_alone(row, game=event.game_id)
            return None
        fault = found(Code.RECORD_DAMAGED, "it is not the event that it is kept as")
        return _Row(_place_of(row.kept), row.kept, None, b"", fault)

    # Judging.

    def _judged(self, rows: list[_Row]) -> list[_Row]:
        """Each event in its place, and what is there twice by itself."""
        place = None
        for row in rows:
            if row.place == place:
                self._tell(row.kept, found(Code.SEQUENCE_GAP, "this sequence is there more than once"))
                self._judge_alone(row)
                continue
            place = row.place
            self._judge(row)
        return rows

    def _judge(self, row: _Row) -> None:
        """One event in its place."""
        if row.place != self._next:
            problem = f"{self._next} to {row.place - 1} are missing" if row.place > 0 else "it is no sequence"
            self._tell(row.kept, found(Code.SEQUENCE_GAP, problem))
            self._heads = None
            self._is_folding = False
        self._next = max(row.place + 1, 0)
        if row.kept.position <= self._position:
            self._tell(row.kept, found(Code.POSITION_DAMAGED, "it is not after the event before it"))
        self._position = max(self._position, row.kept.position)
        if row.place == 0:
            self._first = row
        if row.event is None:
            self._judge_alone(row)
            self._heads = None
            self._is_folding = False
            return
        self._recorded_at[row.place] = row.event.recorded_at
        if not self._is_linked(row, row.event):
            self._is_folding = False
        self._judge_content(row, row.event)
        if self._is_folding:
            self._fold(row, row.event)

    def _is_linked(self, row: _Row, event: Event) -> bool:
        """Judge the hash of an event and what it follows; the one fault is told that explains what is there."""
        digest = link(event.previous_hash, row.public)
        heads, self._heads = self._heads, {event.hash, digest}
        follows = heads is None or event.previous_hash in heads
        if event.hash == digest and follows:
            return True
        if event.hash != digest and not follows and any(link(head, row.public) == event.hash for head in heads or ()):
            # All is as it was but this one field.
            self._heads = {event.hash}
            self._tell(row.kept, found(Code.CHAIN_BROKEN, "its previous hash is not that of the event before it"))
        elif event.hash != digest:
            self._tell(row.kept, found(Code.CHAIN_BROKEN, NOT_ITS_HASH))
        else:
            self._tell(row.kept, found(Code.CHAIN_BROKEN, NOT_THE_NEXT))
        return False

    def _judge_content(self, row: _Row, event: Event) -> None:
        """What an event says of itself, and what is kept beside it."""
        self._judge_seals(row, event)
        if event.event_id:
            if event.event_id in self._event_ids:
                self._tell(row.kept, found(Code.EVENT_ID_REPEATED))
            self._event_ids.add(event.event_id)
        self._judge_columns(row, event)

    def _judge_alone(self, row: _Row, *, game: str = "") -> None:
        """An event without a place in this game: its hash, its seals, its columns; or why it cannot be read."""
        if row.event is None:
            if row.fault is not None:
                self._tell(row.kept, row.fault)
            return
        if link(row.event.previous_hash, row.public) != row.event.hash:
            self._tell(row.kept, found(Code.CHAIN_BROKEN, NOT_ITS_HASH), game=game)
        self._judge_seals(row, row.event)
        self._judge_columns(row, row.event)

    def _judge_seals(self, row: _Row, event: Event) -> None:
        if event.body.sealed:
            try:
                check_seals(event.body)
                check_whole(event.body)
            except HeptalogError as error:
                self._is_folding = False
                self._tell(row.kept, found_by(error))

    def _judge_columns(self, row: _Row, event: Event) -> None:
        if self._has_columns and (derived := event_columns(event)) != row.kept.columns:
            for column in differing(EVENT_COLUMNS, row.kept.columns, derived):
                self._tell(row.kept, found(Code.COLUMNS_DIFFER, table="events", column=column))

    def _fold(self, row: _Row, event: Event) -> None:
        try:
            if self.fold is None:
                self.fold = Fold(event.body)
            else:
                self.fold.advance(event.body)
        except HeptalogError as error:
            self._is_folding = False
            self._tell(row.kept, found_by(error))

    # What is kept beside the events.

    def _judge_list(self, rows: Sequence[_Row], listed: Sequence[KeptGame]) -> None:
        """The rows in the list of games."""
        place: dict[str, Any] = {"game_id": self.game_id or None, "table": "games"}
        if not listed and rows:
            where = {"position": rows[0].kept.position, "sequence": rows[0].kept.sequence}
            self._tell_all(found(Code.COLUMNS_DIFFER, "the game is not in the list of games", **place | where))
        for extra in listed[1:]:
            problem = "another game in the list has its number"
            self._tell_all(found(Code.COLUMNS_DIFFER, problem, **place | {"game_id": extra.game_id}))
        if listed and not rows:
            self._tell_all(found(Code.COLUMNS_DIFFER, "a game in the list has no events", **place))
        if not listed or self._first is None:
            return
        kept, event = listed[0].columns, self._first.event
        if event is not None and isinstance(event.body, GameStarted):
            # A server does not give the last of them, the record once more.
            derived = game_columns(event, self._first.kept.record)[: len(kept)]
            for column in differing(GAME_COLUMNS[: len(kept)], kept, derived):
                self._tell_all(found(Code.COLUMNS_DIFFER, column=column, sequence=0, **place))

    def _judge_endings(self, endings: Sequence[KeptEnding]) -> None:
        """The list of endings, as far as the rules could be asked."""
        folded = self.fold.sequence if self.fold is not None else -1
        derived = {ending.sequence: ending for ending in (endings_of(self.fold) if self.fold is not None else ())}
        for row in endings:
            sequence = row.columns[0]
            place: dict[str, Any] = {"game_id": self.game_id or None, "sequence": sequence, "table": "endings"}
            ending = derived.pop(sequence, None)
            if ending is not None:
                columns = ending_columns(ending, self._recorded_at[sequence])
                for column in differing(ENDING_COLUMNS, row.columns, columns):
                    self._tell_all(found(Code.ENDINGS_DIFFER, column=column, **place))
            elif self._is_folding or (isinstance(sequence, int) and sequence <= folded):
                problem = "there was no such ending"
                self._tell_all(found(Code.ENDINGS_DIFFER, problem, number=self._number, **place))
        for sequence in derived:
            self._tell_all(
                found(Code.ENDINGS_DIFFER, "it is missing", game_id=self.game_id, sequence=sequence, table="endings")
            )

    def _tell(self, kept: KeptEvent, finding: Finding, *, game: str = "") -> None:
        place = {"position": kept.position, "game_id": game or self.game_id or None, "sequence": kept.sequence}
        self._tell_all(replace(finding, **place))


def _are_in_order(events: Sequence[KeptEvent]) -> bool:
    """Whether the columns have these rows one after the other, in their game and in the log."""
    positions = [0, *(kept.position for kept in events)]
    are_ascending = all(one < other for one, other in pairwise(positions))
    return are_ascending and [kept.sequence for kept in events] == list(range(len(events)))


def _row(kept: KeptEvent) -> _Row:
    try:
        event, public = decode(kept.record)
    except HeptalogError as error:
        is_known = isinstance(error, Corrupt | Unavailable)
        fault = found_by(error if is_known else Corrupt(Code.RECORD_DAMAGED, rule="evidence"))
        return _Row(_place_of(kept), kept, None, b"", fault)
    return _Row(event.sequence, kept, event, public, None)


def _place_of(kept: KeptEvent) -> int:
    """Where a row stands in its game by its columns alone."""
    return kept.sequence if isinstance(kept.sequence, int) else -1


def _grouped(rows: list[_Row]) -> Iterator[list[_Row]]:
    """Rows that follow each other and have one place."""
    for _, group in groupby(rows, key=attrgetter("place")):
        yield list(group)


def _true_one_first(rows: list[_Row]) -> list[_Row]:
    """Rows of one sequence, those first that were written at that place."""
    if len(rows) == 1:
        return rows
    return sorted(rows, key=lambda row: row.event is None or row.kept.columns != event_columns(row.event))
