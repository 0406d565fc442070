"""What Linux offers a process that gives something up, and Python does not: system calls by their numbers."""

import ctypes
import os
import platform
import sys
from typing import Final

IS_LINUX: Final = sys.platform == "linux"
_LIBRARY: Final = ctypes.CDLL(None, use_errno=True) if IS_LINUX else None

PR_SET_PDEATHSIG: Final = 1
PR_SET_DUMPABLE: Final = 4
PR_SET_SECCOMP: Final = 22
PR_CAPBSET_DROP: Final = 24
PR_SET_NO_NEW_PRIVS: Final = 38


def machine() -> str:
    """The architecture, as Linux names it."""
    return platform.machine()


def system_call(number: int, *arguments: object) -> int:
    """Make a system call. Raises OSError where it fails."""
    assert _LIBRARY is not None
    result: int = _LIBRARY.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def prctl(option: int, *arguments: object) -> None:
    """Ask the kernel for something about this process. Raises OSError where it does not have it."""
    assert _LIBRARY is not None
    # Every argument is there: the kernel refuses some options whose unused ones are not 0.
    padded = [*arguments, 0, 0, 0, 0][:4]
    words = [ctypes.c_ulong(word) if isinstance(word, int) else word for word in padded]
    if _LIBRARY.prctl(ctypes.c_int(option), *words) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
