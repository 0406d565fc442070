"""An export as it is going to be: the files of the one before, and those that have been made since."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from msgspec.structs import replace

from heptalog.analytics.parquet.folder import Place
from heptalog.analytics.parquet.manifest import Listed, Manifest, described, games_in
from heptalog.analytics.parquet.merging import FILE_SIZE, Input, Merge, Rule, merged, tail_of
from heptalog.analytics.parquet.pieces import AtOnce
from heptalog.analytics.parquet.records import EXPORTED
from heptalog.analytics.tables import Table

# Where a file lies that has no rows: every table has one, so that whoever reads it finds its columns.
_NOWHERE: Final = ("none", "0000-00")


class Key(NamedTuple):
    """What is in files of its own."""

    table: str
    ruleset: str = ""
    month: str = ""


class Change(NamedTuple):
    """What becomes of the files of a key: these rows are new in it, and of some files not all are taken over."""

    new: tuple[str, ...] = ()
    rule: Rule | None = None
    touched: frozenset[str] = frozenset()


class Draft:
    """The files of the coming export. What it has made lies in the folder of the work until it is published."""

    def __init__(self, place: Place, manifest: Manifest, at_once: AtOnce, *, file_size: int = FILE_SIZE) -> None:
        self._place = place
        self._at_once = at_once
        self._file_size = file_size
        self._files = list(manifest.files)
        self._made: set[str] = set()
        self._number = place.manifest.number

    def paths(self, table: str, *, is_unfinished: bool = False) -> list[str]:
        """Where the files of a table lie now: those of ended games, or of running ones."""
        return [self.path(file) for file in self._files if file.table == table and file.is_unfinished == is_unfinished]

    def path(self, file: Listed) -> str:
        """Where a file lies now."""
        return str((self._place.new if file.path in self._made else self._place.folder) / file.path)

    def files_of(self, key: Key, *, is_unfinished: bool = False) -> list[Listed]:
        """The files of ended games, or of running ones, by their numbers."""
        files = [
            file
            for file in self._files
            if (file.table, file.ruleset, file.month, file.is_unfinished) == (*key, is_unfinished)
        ]
        return sorted(files, key=_number_of)

    def drop_unfinished(self) -> None:
        """Leave out all that was made of running games."""
        self._files = [file for file in self._files if not file.is_unfinished]

    def drop(self, table: Table) -> None:
        """Leave out the files of a table."""
        self._files = [file for file in self._files if file.table != table.name]

    def change(self, changes: Mapping[Key, Change], *, is_unfinished: bool = False) -> None:
        """Make new files of what is new and of those that it takes in, or that are not taken over whole."""
        merges = []
        for key, change in sorted(changes.items()):
            files = self.files_of(key, is_unfinished=is_unfinished)
            size = sum(Path(path).stat().st_size for path in change.new)
            tail = tail_of(files, size, self._file_size) if change.new else ()
            taken = [file for file in files if file in tail or self.path(file) in change.touched]
            if not taken and not change.new:
                continue
            inputs = [Input(self.path(file), change.rule) for file in taken] + [Input(path) for path in change.new]
            merges.append(self._merge(key, inputs, is_unfinished=is_unfinished))
            self._files = [file for file in self._files if file not in taken]
        self._do(merges)

    def publish(self, manifest: Manifest) -> Manifest:
        """Make it the export, with what this says of it besides its files. Raises OSError."""
        self._files = [file for file in self._files if file.rows or not any(self._others(file))]
        have = {file.table for file in self._files}
        self._do([self._merge(_empty(table), ()) for table in EXPORTED if table.name not in have])
        files = tuple(sorted(self._files, key=lambda file: file.path))
        games, events = games_in(files)
        manifest = replace(manifest, games=games, events=events, number=self._number, tables=described(), files=files)
        self._place.publish(manifest)
        self._made.clear()
        return self._place.manifest

    def _others(self, file: Listed) -> Iterable[Listed]:
        return (other for other in self._files if other.table == file.table and other.rows)

    def _merge(self, key: Key, inputs: Sequence[Input], *, is_unfinished: bool = False) -> Merge:
        number = self._number + 1
        return Merge(*key, tuple(inputs), str(self._place.new), number, is_unfinished, self._file_size)

    def _do(self, merges: Sequence[Merge]) -> None:
        for files in self._at_once(merged, merges):
            self._files += files
            self._made.update(file.path for file in files)
            self._number = max((self._number, *map(_number_of, files)))


def _number_of(file: Listed) -> int:
    return int(Path(file.path).stem)


def _empty(table: Table) -> Key:
    return Key(table.name, *_NOWHERE) if table.is_of_games else Key(table.name)
