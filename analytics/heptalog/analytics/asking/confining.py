"""What a worker gives up before it looks at a statement, so that one that breaks out of the engine is nowhere."""

import contextlib
import ctypes
import math
import os
import resource
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from heptalog.analytics.asking import calling, landlock, seccomp
from heptalog.analytics.asking.limits import Limits

# The engine keeps a file open for each part that has newer rows elsewhere, and a few more.
_FILES_MAX: Final = 8_192
# What a thread takes of the address space beside what it computes with.
_THREAD_BYTES: Final = 80 << 20
_LAST_CAPABILITY: Final = 63
_CAPABILITY_VERSION: Final = 0x20080522
_CAPSET: Final = {"x86_64": 126, "aarch64": 91}
# The first victim where the machine runs out of memory.
_WORST_SCORE: Final = "1000"


def walls() -> tuple[str, ...]:
    """Which walls this machine has for a worker, each with its version where it has one."""
    found = landlock.version()
    names = [f"landlock {found}"] if found else []
    return (*names, "seccomp") if seccomp.is_known() else tuple(names)


def leave_alone(parent: int) -> None:
    """Die with the parent, be the first to go without memory, and be in nobody's way."""
    if calling.IS_LINUX:
        calling.prctl(calling.PR_SET_PDEATHSIG, int(signal.SIGKILL))
        if os.getppid() != parent:
            os._exit(1)
        Path("/proc/self/oom_score_adj").write_text(_WORST_SCORE)
    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (files_max(), files_max()))


def files_max() -> int:
    """How many files a worker may have open."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _FILES_MAX if hard == resource.RLIM_INFINITY else min(_FILES_MAX, hard)


def be_nice(niceness: int) -> None:
    """Take less of the processors than whoever is not as nice."""
    os.nice(niceness)
    # Where sessions share the processors fairly, niceness counts only within one, so the session must be nice as well.
    # It is the nursery's, and that of all its workers together.
    with contextlib.suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(niceness))


def bind(limits: Limits) -> None:
    """Limit the memory and the time of processors that this process can take from now on."""
    space = _address_space() + limits.memory_bytes + limits.threads * _THREAD_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (space, space))
    seconds = math.ceil(limits.seconds * limits.threads) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def confine(folders: Sequence[str]) -> None:
    """Keep nothing but reading these folders, answering, and computing. There must be one thread only.

    Raises OSError where a wall that the machine has cannot be put up: then nothing may be asked.
    """
    if not calling.IS_LINUX:
        return
    assert len(list(Path("/proc/self/task").iterdir())) == 1, "only this thread would be confined"
    calling.prctl(calling.PR_SET_NO_NEW_PRIVS, 1)
    calling.prctl(calling.PR_SET_DUMPABLE, 0)
    _drop_capabilities()
    if landlock.version():
        landlock.confine(folders)
    if seccomp.is_known():
        seccomp.confine()


def _drop_capabilities() -> None:
    """Be nobody in particular, even where the service runs as root."""
    for capability in range(_LAST_CAPABILITY + 1):
        # Without the right to drop them there is none to drop; numbers that the kernel does not know are not there.
        with contextlib.suppress(OSError):
            calling.prctl(calling.PR_CAPBSET_DROP, capability)
    if (number := _CAPSET.get(calling.machine())) is not None:
        header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
        nothing = (ctypes.c_uint32 * 6)()
        calling.system_call(number, ctypes.byref(header), ctypes.byref(nothing))


def _address_space() -> int:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return 0
    return pages * resource.getpagesize()
