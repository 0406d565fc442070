"""What a process that runs nothing but this program is told at its beginning.

Who uses these packages in a program of his own is told nothing of it, and has all as ever.
"""

import os
import sys
from importlib.machinery import ModuleSpec
from typing import Final

_PANDAS: Final = "pandas"
_UNSAID: Final = "ignore:resource_tracker:UserWarning"


class _Finder:
    """Finds no pandas, before anybody else is asked for it."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name == _PANDAS:
            raise ModuleNotFoundError(f"No module named {name!r}: this program does without", name=name)
        return None


def without_pandas() -> None:
    """Let nothing load pandas in this process from now on; where it is loaded already it stays.

    Arrow would load it wherever it is installed, a fifth of a second each time, and nothing here asks for a data frame.
    """
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)


def without_last_words() -> None:
    """Let nothing be said on stderr where this process is killed while others work for it.

    A process of Python's own then clears away what they shared, as it should, and would warn of it. It takes what it
    does not say from its environment.
    """
    said = os.environ.get("PYTHONWARNINGS", "")
    if _UNSAID not in said:
        os.environ["PYTHONWARNINGS"] = f"{said},{_UNSAID}" if said else _UNSAID
