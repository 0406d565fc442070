"""stdout and stderr as the program needs them: always there, in UTF-8, and with no way to fail twice."""

import os
import sys
from io import BufferedWriter, FileIO, TextIOWrapper
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class ResultFile(FileIO):
    """stdout: the first write that fails is raised, and what is written after it goes nowhere."""

    is_lost = False
    is_unheard = False  # whoever was to read it has gone, and needs no word of it

    def write(self, data: "ReadableBuffer") -> int | None:  # type: ignore[override]  # as the file itself answers
        """Write, or after a failure only say so."""
        if self.is_lost:
            return memoryview(data).nbytes
        try:
            return super().write(data)
        except OSError as error:
            # Python itself writes what is left at its end, and must not fail again.
            self.is_lost = True
            self.is_unheard = isinstance(error, BrokenPipeError)
            raise


class TalkFile(FileIO):
    """stderr: what cannot be written is dropped, for talk decides nothing."""

    def write(self, data: "ReadableBuffer") -> int:
        """Write what can be written."""
        try:
            written = super().write(data)
        except OSError:
            written = None
        return memoryview(data).nbytes if written is None else written


def prepared() -> ResultFile:
    """Put both streams into place; the file behind stdout, which knows whether something was lost."""
    # A descriptor that is closed would be given to the next file that is opened, and a message end in a database.
    # stdout is opened for reading, so that a result for nobody still is a failure.
    for descriptor, flags in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        _occupy(descriptor, flags)
    result = ResultFile(1, "w", closefd=False)
    sys.stdout = _text(result, is_line_buffered=result.isatty())
    sys.stderr = _text(TalkFile(2, "w", closefd=False), is_line_buffered=True)
    return result


def _occupy(descriptor: int, flags: int) -> None:
    try:
        os.fstat(descriptor)
    except OSError:
        # The lowest that is free is given, and those below are taken.
        opened = os.open(os.devnull, flags)
        os.set_inheritable(opened, True)


def _text(file: FileIO, *, is_line_buffered: bool) -> TextIOWrapper:
    # UTF-8 whatever the terminal says it speaks. Half a character in the name of a file must not end the program.
    return TextIOWrapper(
        BufferedWriter(file), encoding="utf-8", errors="backslashreplace", line_buffering=is_line_buffered
    )
