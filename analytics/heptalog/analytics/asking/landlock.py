"""Landlock: a process that can read some folders, and reach no other file, socket or process, whatever it runs.

The numbers are the kernel's (linux/landlock.h), the same on every architecture.
"""

import ctypes
import os
from collections.abc import Iterable
from typing import Final

from heptalog.analytics.asking.calling import IS_LINUX, system_call

_CREATE_RULESET: Final = 444
_ADD_RULE: Final = 445
_RESTRICT_SELF: Final = 446
_GIVE_VERSION: Final = 1
_BENEATH: Final = 1
_READ_FILE: Final = 1 << 2
_READ_FOLDER: Final = 1 << 3
# What can be done with files, by the version that first knew it: executing, writing, making, removing (13 rights),
# moving between folders, truncating, device controls.
_FILE_RIGHTS: Final = ((1, (1 << 13) - 1), (2, 1 << 13), (3, 1 << 14), (5, 1 << 15))
_TCP: Final = (4, 0b11)
# Abstract sockets and signals of processes outside.
_OUTSIDE: Final = (6, 0b11)


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("outside", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def version() -> int:
    """Which Landlock the kernel has; 0 where it has none."""
    if not IS_LINUX:
        return 0
    try:
        return system_call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_GIVE_VERSION))
    except OSError:
        return 0


def confine(folders: Iterable[str]) -> None:
    """Let this thread, and those that it starts, read these folders and nothing else; for ever.

    Threads that run already are not confined, so there must be none. Raises OSError where a folder is none, or where
    the kernel does not do it; `version` says whether it can.
    """
    known = version()
    rules = _Ruleset(
        files=sum(rights for since, rights in _FILE_RIGHTS if known >= since),
        network=_TCP[1] if known >= _TCP[0] else 0,
        outside=_OUTSIDE[1] if known >= _OUTSIDE[0] else 0,
    )
    # An older kernel does not know the later fields, and takes a shorter structure.
    size = 8 if known < _TCP[0] else 16 if known < _OUTSIDE[0] else 24
    ruleset = system_call(_CREATE_RULESET, ctypes.byref(rules), ctypes.c_size_t(size), ctypes.c_uint32(0))
    try:
        for folder in folders:
            _let_read(ruleset, folder)
        system_call(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)


def _let_read(ruleset: int, folder: str) -> None:
    place = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        rule = _Beneath(allowed=_READ_FILE | _READ_FOLDER, folder=place)
        system_call(_ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(_BENEATH), ctypes.byref(rule), ctypes.c_uint32(0))
    finally:
        os.close(place)
