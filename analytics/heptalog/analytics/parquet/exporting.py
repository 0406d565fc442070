"""An export, from the log into its folder: what is new since the one before, step by step.

A step is a few million events. Of the games that they belong to those that have ended are projected anew, in pieces;
the pieces are merged into files, the files that had such a game before are written again without it, and all of it is
published. So an export is always that of one moment, and one that is interrupted goes on from its last step.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeAlias

import duckdb
from msgspec import Struct
from msgspec.structs import replace

from heptalog.analytics.keeping.opening import hash_at
from heptalog.analytics.keeping.place import check_name
from heptalog.analytics.keeping.segments import write
from heptalog.analytics.parquet.draft import Change, Draft, Key
from heptalog.analytics.parquet.folder import Place, taken, unwritten
from heptalog.analytics.parquet.held import HeldGame, Holdings, games_left_out
from heptalog.analytics.parquet.manifest import Manifest, check_files
from heptalog.analytics.parquet.merging import FILE_SIZE, Rule
from heptalog.analytics.parquet.pieces import AtOnce, LeftOut, Opener, Pieces, made
from heptalog.analytics.parquet.planning import check_log, steps, touched, works
from heptalog.analytics.parquet.records import EXPORTED, LEFT_OUT, RUNNING, rows_in_arrow
from heptalog.analytics.parquet.series import Held, Waiting, rated, told
from heptalog.analytics.sources import Source
from heptalog.analytics.tables import RATING_CHANGES, REFUSALS
from heptalog.replay.times import SECOND

# A step has so many events: what is planned with is in memory, and lost is what was done since the last one.
STEP_EVENTS: Final = 4_000_000
# So many events are one piece of work, and below so many a second process would only be waited for.
WORK_EVENTS: Final = 60_000
SMALL_EVENTS: Final = 30_000
_PIECES: Final = "pieces"
# About so many events a running game has.
_EVENTS_A_GAME: Final = 50


class Settings(Struct, frozen=True):
    """How an export is made. `clock` is nanoseconds since 1970; `at_once` does work in many processes."""

    at_once: AtOnce
    clock: Callable[[], int]
    made_by: str = "heptalog"
    has_running: bool = False
    step_events: int = STEP_EVENTS
    work_events: int = WORK_EVENTS
    small_events: int = SMALL_EVENTS
    file_size: int = FILE_SIZE


# Gives the log once the folder is ours, and it is known what is in it already.
Begin: TypeAlias = Callable[[Place], Opener]


class Exported(Struct, frozen=True, rename="camel"):
    """What an export holds, and what is new in it. `unread` are games that cannot be read, with the codes of why."""

    folder: str
    position: int
    games: int
    events: int
    new_events: int
    running: int
    unread: tuple[LeftOut, ...]
    files: int
    size: int


class Exporting:
    """One export on its way."""

    def __init__(self, place: Place, opener: Opener, source: Source, holdings: Holdings, settings: Settings) -> None:
        """Find out what is new. Raises Unavailable (EXPORT_FOREIGN) where it is an export of another log."""
        self._place = place
        self._opener = opener
        self._source = source
        self._holdings = holdings
        self._settings = settings
        # Asked in this order: what was refused is of a game that is there, or of one that never was.
        self._refusals = source.refusal_count()
        self._position = source.position()
        self.check_follows(place)
        self._done = place.done
        self._begun = self._done.position
        self._held = Held(self._done.refusals, self._done.refusals_open)
        self._left_out = games_left_out(place.folder, self._done)
        self._at_once: AtOnce = settings.at_once if self.is_large else map
        self._draft = Draft(place, self._done, self._at_once, file_size=settings.file_size)
        self._is_new = any(file.is_unfinished for file in self._done.files)
        self._pieces = 0

    @property
    def events(self) -> int:
        """How many events are new."""
        return self._position - self._begun

    def check_follows(self, place: Place) -> None:
        """Raise Unavailable (EXPORT_FOREIGN) where what is in a folder was made of another log, or of a longer one."""
        check_log(place.folder, place.manifest, self._source, position=self._position, refusals=self._refusals)

    @property
    def is_large(self) -> bool:
        """Whether it is worth more than one process."""
        running = len(self._left_out) * _EVENTS_A_GAME if self._settings.has_running else 0
        return self.events + running >= self._settings.small_events

    def run(self, tell: Callable[[int], None] = lambda count: None) -> Exported:
        """Export; `tell` is given how many events have been done since it was last. Raises what the log raises."""
        try:
            self._draft.drop_unfinished()
            ends = list(steps(self._begun, self._position, self._settings.step_events))
            for position in ends:
                self._step(self._done.position, position, tell)
                if position != ends[-1]:
                    self._publish(position)
            self._finish()
        except (OSError, duckdb.Error) as error:
            raise unwritten(self._place.folder, error) from error
        return self._exported()

    def _step(self, after: int, position: int, tell: Callable[[int], None]) -> None:
        games = touched(self._source, after, position)
        if after == self._begun:
            # What could not be read before is tried again: a newer version may be able to.
            games |= {key: games.get(key, 0) for key, game in self._left_out.items() if game.reason != RUNNING}
        if not games:
            return
        held = self._holdings.games(self._draft.paths("games"), games)
        pieces = list(self._made(games, position, tell=tell))
        for game_id in games:
            self._left_out.pop(game_id, None)
        self._left_out |= {game.game_id: game for some in pieces for game in some.left_out}
        self._draft.change(self._changes(pieces, held))
        self._rate(pieces, held)
        self._hold_back(held)
        self._is_new = True

    def _made(
        self, games: Mapping[str, int], position: int, *, tell: Callable[[int], None], is_unfinished: bool = False
    ) -> Iterator[Pieces]:
        work = works(
            self._opener,
            games,
            self._folder(),
            position=position,
            count=self._settings.work_events,
            is_unfinished=is_unfinished,
        )
        for pieces in self._at_once(made, work):
            tell(pieces.events)
            yield pieces

    def _changes(self, pieces: Sequence[Pieces], held: Sequence[HeldGame]) -> dict[Key, Change]:
        """What is new in each table, and what is not in it any more: the games that are held and have changed."""
        new: dict[Key, list[str]] = {}
        for some in pieces:
            for file in some.files:
                new.setdefault(Key(file.table, file.ruleset, file.month), []).append(some.path(file))
        changes = {key: Change(tuple(paths)) for key, paths in new.items()}
        gone: dict[tuple[str, str], list[int]] = {}
        for game in held:
            gone.setdefault((game.ruleset, game.month), []).append(game.game_number)
        for table in EXPORTED:
            for partition, numbers in gone.items() if table.is_of_games else ():
                key = Key(table.name, *partition)
                there = [self._draft.path(file) for file in self._draft.files_of(key)]
                rule = Rule("game_number", tuple(numbers))
                changes[key] = changes.get(key, Change())._replace(
                    rule=rule, touched=self._holdings.files_with(there, numbers)
                )
        return changes

    def _rate(self, pieces: Sequence[Pieces], held: Sequence[HeldGame]) -> None:
        """Rate what has ended; where an ending has changed, all that came after it is rated anew."""
        changes = self._draft.paths(RATING_CHANGES.name)
        last = self._holdings.last_rated(changes)
        endings = [game.ended_position for game in held if game.ended_position is not None]
        ended = self._holdings.first_ended([path for some in pieces for path in some.paths("games")])
        since = min((*endings, *(() if ended is None else (ended,))), default=None)
        if since is None:
            return
        games, seats = self._draft.paths("games"), self._draft.paths("seats")
        new = rated(self._folder(), self._holdings, games=games, seats=seats, changes=changes, since=since)
        is_anew = since <= last
        change = Change(
            new, Rule("ended_position", end=since) if is_anew else None, frozenset(changes if is_anew else ())
        )
        self._draft.change({Key(RATING_CHANGES.name): change})

    def _hold_back(self, held: Sequence[HeldGame]) -> None:
        """Take back what was told of games that run again."""
        gone = [game.game_id for game in held if game.game_id in self._left_out]
        files = self._draft.paths(REFUSALS.name)
        if first := self._holdings.first_told(files, gone):
            rule = Rule("game_id", tuple(gone))
            self._draft.change({Key(REFUSALS.name): Change((), rule, frozenset(files))})
            self._held = replace(self._held, first=min(first, self._held.first or first))

    def _finish(self) -> None:
        """What can be said only of the whole: running games, refusals, and what is left out."""
        running = {game_id: 0 for game_id, game in self._left_out.items() if game.reason == RUNNING}
        if self._settings.has_running and running:
            pieces = list(self._made(running, self._position, tell=lambda count: None, is_unfinished=True))
            self._draft.change(self._changes(pieces, ()), is_unfinished=True)
            self._is_new = True
        self._tell_refusals(frozenset(running))
        if self._is_new or self._refusals != self._done.refusals or not self._done.tables:
            self._publish(self._position, is_last=True)

    def _tell_refusals(self, running: frozenset[str]) -> None:
        waiting = Waiting(running, self._left_out.keys() - running, self._settings.has_running)
        held = self._held
        known = self._holdings.told(self._draft.paths(REFUSALS.name), held.first) if held.first else ()
        said = told(self._folder(), self._source, known=known, held=held, count=self._refusals, waiting=waiting)
        self._held = said.held
        self._draft.change({Key(REFUSALS.name): Change(said.paths)})
        self._draft.change({Key(REFUSALS.name): Change(said.unfinished)}, is_unfinished=True)

    def _publish(self, position: int, *, is_last: bool = False) -> None:
        # Running games come with the last step.
        has_running = is_last and self._settings.has_running
        absent = [game for game in self._left_out.values() if game.reason != RUNNING or not has_running]
        self._list_left_out(absent)
        moment = datetime.fromtimestamp(self._settings.clock() // SECOND, UTC)
        self._done = self._draft.publish(
            Manifest(
                kind=self._place.manifest.kind,
                made_by=self._settings.made_by,
                made_at=f"{moment:%Y-%m-%dT%H:%M:%SZ}",
                log=hash_at(self._source, 1),
                position=position,
                hash=hash_at(self._source, position) if position else "",
                refusals=self._held.count,
                refusals_open=self._held.first,
                left_out=len(absent),
            )
        )
        shutil.rmtree(self._place.work / _PIECES, ignore_errors=True)

    def _list_left_out(self, absent: Sequence[LeftOut]) -> None:
        rows = sorted((game.game_number or 0, game.game_id, game.reason) for game in absent)
        table = rows_in_arrow(LEFT_OUT, [(number or None, *rest) for number, *rest in rows])
        folder = self._folder()
        files = write(folder, {LEFT_OUT.name: table}, 1)
        self._draft.drop(LEFT_OUT)
        self._draft.change({Key(LEFT_OUT.name): Change(tuple(str(folder / file.path) for file in files))})

    def _folder(self) -> Path:
        """A folder for the next pieces."""
        self._pieces += 1
        return self._place.work / _PIECES / str(self._pieces)

    def _exported(self) -> Exported:
        done = self._done
        reasons = [game for game in self._left_out.values() if game.reason != RUNNING]
        return Exported(
            str(self._place.folder),
            done.position,
            done.games,
            done.events,
            self._position - self._begun,
            len(self._left_out) - len(reasons),
            tuple(reasons),
            len(done.files),
            done.size,
        )


@contextmanager
def exporting(folder: Path, begin: Begin, settings: Settings) -> Iterator[Exporting]:
    """An export of a log into a folder, which nobody else exports to until it is left.

    Raises Unavailable where the folder is none of ours or holds another log (EXPORT_FOREIGN) or nothing can be written
    there, or its path has something that would be read as more than a name; Corrupt (EXPORT_DAMAGED) where what it
    holds is not what was written, and what opening the log raises.
    """
    check_name(folder.resolve())
    with taken(folder, "parquet") as place:
        check_files(folder, place.manifest.files)
        opener = begin(place)
        with opener() as source, duckdb.connect() as connection:
            yield Exporting(place, opener, source, Holdings(connection), settings)
