"""Seccomp: system calls that a worker has no use for fail, whatever it runs. A second wall behind Landlock.

Landlock knows the content of files, TCP and signals. It does not know UDP or sockets with a path, who may do what with
a file, nor that a process can be slowed down or limited by another of the same user; and a new program or process would
be one more thing to watch.
"""

import ctypes
import errno
import os
import struct
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from heptalog.analytics.asking.calling import IS_LINUX, PR_SET_SECCOMP, machine, prctl

_FILTER_MODE: Final = 2
# The architecture as the kernel tells it to a filter, and the numbers of calls on it.
_ARCHITECTURES: Final[Mapping[str, tuple[int, int]]] = MappingProxyType(
    {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
)
_CALLS: Final[Mapping[str, tuple[int | None, int | None]]] = MappingProxyType(
    {
        # Programs and processes.
        "execve": (59, 221),
        "execveat": (322, 281),
        "fork": (57, None),
        "vfork": (58, None),
        "ptrace": (101, 117),
        "process_vm_readv": (310, 270),
        "process_vm_writev": (311, 271),
        "kcmp": (312, 272),
        "kill": (62, 129),
        "tkill": (200, 130),
        "rt_sigqueueinfo": (129, 138),
        "rt_tgsigqueueinfo": (297, 240),
        "pidfd_open": (434, 434),
        "pidfd_getfd": (438, 438),
        "pidfd_send_signal": (424, 424),
        "setpriority": (141, 140),
        "sched_setscheduler": (144, 119),
        "sched_setparam": (142, 118),
        "sched_setattr": (314, 274),
        "sched_setaffinity": (203, 122),
        "ioprio_set": (251, 30),
        "migrate_pages": (256, 238),
        "move_pages": (279, 239),
        # Ways out.
        "socket": (41, 198),
        "socketpair": (53, 199),
        "connect": (42, 203),
        "bind": (49, 200),
        "listen": (50, 201),
        "accept": (43, 202),
        "accept4": (288, 242),
        "sendmsg": (46, 211),
        "sendmmsg": (307, 269),
        "recvmsg": (47, 212),
        "recvmmsg": (299, 243),
        "shmget": (29, 194),
        "shmat": (30, 196),
        "shmctl": (31, 195),
        "semget": (64, 190),
        "msgget": (68, 186),
        "mq_open": (240, 180),
        # What Landlock leaves to the owner of a file: its rights, times and locks; and writing all disks at once.
        "chmod": (90, None),
        "fchmod": (91, 52),
        "fchmodat": (268, 53),
        "fchmodat2": (452, 452),
        "chown": (92, None),
        "fchown": (93, 55),
        "lchown": (94, None),
        "fchownat": (260, 54),
        "utime": (132, None),
        "utimes": (235, None),
        "futimesat": (261, None),
        "utimensat": (280, 88),
        "setxattr": (188, 5),
        "lsetxattr": (189, 6),
        "fsetxattr": (190, 7),
        "removexattr": (197, 14),
        "lremovexattr": (198, 15),
        "fremovexattr": (199, 16),
        "flock": (73, 32),
        "sync": (162, 81),
        "syncfs": (306, 267),
        # Parts of the kernel that are large, and not for us.
        "io_uring_setup": (425, 425),
        "io_uring_enter": (426, 426),
        "io_uring_register": (427, 427),
        "bpf": (321, 280),
        "perf_event_open": (298, 241),
        "userfaultfd": (323, 282),
        "keyctl": (250, 219),
        "add_key": (248, 217),
        "request_key": (249, 218),
        "mount": (165, 40),
        "umount2": (166, 39),
        "pivot_root": (155, 41),
        "chroot": (161, 51),
        "unshare": (272, 97),
        "setns": (308, 268),
        "kexec_load": (246, 104),
        "init_module": (175, 105),
        "finit_module": (313, 273),
        "delete_module": (176, 106),
    }
)
# Allowed for oneself only: threads, one's own limits, and one's own end.
_CLONE: Final = (56, 220)
_CLONE3: Final = (435, 435)
_PRLIMIT64: Final = (302, 261)
_TGKILL: Final = (234, 131)
_IS_THREAD: Final = 0x00010000
# Calls of the 32-bit habit of x86_64 have this bit, and would slip past their numbers.
_OTHER_HABIT: Final = 0x40000000

_LOAD: Final = 0x20
_IF_EQUAL: Final = 0x15
_IF_AT_LEAST: Final = 0x35
_IF_BITS: Final = 0x45
_RETURN: Final = 0x06
_ALLOW: Final = 0x7FFF0000
_KILL: Final = 0x80000000
_FAIL: Final = 0x00050000
_AT_NUMBER: Final = 0
_AT_ARCHITECTURE: Final = 4
_AT_ARGUMENT: Final = 16

_Instruction = tuple[int, int, int, int]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def is_known() -> bool:
    """Whether the numbers of this architecture are known here."""
    return IS_LINUX and machine() in _ARCHITECTURES


def confine() -> None:
    """Take these calls from this thread and those that it starts; for ever.

    It must have been promised before that no program gains rights (no_new_privs). Raises OSError where the kernel has
    no seccomp; `is_known` says whether it can be tried.
    """
    instructions = b"".join(struct.pack("=HBBI", *one) for one in _instructions(machine(), os.getpid()))
    memory = ctypes.create_string_buffer(instructions, len(instructions))
    program = _Program(length=len(instructions) // 8, instructions=ctypes.addressof(memory))
    prctl(PR_SET_SECCOMP, _FILTER_MODE, ctypes.byref(program))


def _instructions(name: str, process: int) -> Iterator[_Instruction]:
    architecture, column = _ARCHITECTURES[name]
    yield (_LOAD, 0, 0, _AT_ARCHITECTURE)
    yield (_IF_EQUAL, 1, 0, architecture)
    yield (_RETURN, 0, 0, _KILL)
    yield (_LOAD, 0, 0, _AT_NUMBER)
    if name == "x86_64":
        yield (_IF_AT_LEAST, 0, 1, _OTHER_HABIT)
        yield (_RETURN, 0, 0, _KILL)
    for numbers in _CALLS.values():
        if (number := numbers[column]) is not None:
            yield (_IF_EQUAL, 0, 1, number)
            yield (_RETURN, 0, 0, _FAIL | errno.EPERM)
    # The library asks for clone3 first and is content with clone, whose flags a filter can see.
    yield (_IF_EQUAL, 0, 1, _CLONE3[column])
    yield (_RETURN, 0, 0, _FAIL | errno.ENOSYS)
    yield (_IF_EQUAL, 0, 4, _CLONE[column])
    yield (_LOAD, 0, 0, _AT_ARGUMENT)
    yield (_IF_BITS, 1, 0, _IS_THREAD)
    yield (_RETURN, 0, 0, _FAIL | errno.EPERM)
    yield (_RETURN, 0, 0, _ALLOW)
    for numbers in (_PRLIMIT64, _TGKILL):
        yield (_IF_EQUAL, 0, 5, numbers[column])
        yield (_LOAD, 0, 0, _AT_ARGUMENT)
        yield (_IF_EQUAL, 1, 0, 0)
        yield (_IF_EQUAL, 0, 1, process)
        yield (_RETURN, 0, 0, _ALLOW)
        yield (_RETURN, 0, 0, _FAIL | errno.EPERM)
    yield (_RETURN, 0, 0, _ALLOW)
