"""A nursery whose workers have broken out of the engine: they do by Python what a question names, confined like any.

    python -I broken_out.py SOCKET NICENESS

A question is the name of an attempt and its argument; what came of it is the answer.
"""

# Each attempt is one call of the operating system.
# ruff: noqa: PTH101, PTH102, PTH104, PTH108, PTH208, PTH211

import ctypes
import fcntl
import os
import resource
import signal
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from heptalog.analytics.asking import answering, nursery
from heptalog.analytics.asking.frames import ARROW, Question

LIBRARY = ctypes.CDLL(None, use_errno=True)


def called(result: int) -> str:
    """What came of a call of the library: nothing, or its number of failure."""
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return str(result)


def sql(connection: object, text: str) -> str:
    """SQL as it is, without any list, by an engine that was told that it may do everything."""
    return str(connection.sql(text).fetchall())  # type: ignore[attr-defined]


def fork(_: str) -> str:
    """Another process."""
    process = os.fork()
    if process == 0:
        os._exit(0)
    return str(process)


def datagram(address: str) -> str:
    """A word to somebody outside."""
    return str(socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", (address, 9)))


def connection_to(path: str) -> str:
    """A word to a socket with a path."""
    with socket.socket(socket.AF_UNIX) as there:
        there.connect(path)
        return "connected"


def descriptors(_: str) -> str:
    """Which descriptors are open."""
    return str([number for number in range(512) if is_open(number)])


def is_open(number: int) -> bool:
    """Whether a descriptor is."""
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def memory(size: str) -> str:
    """So much memory."""
    return str(len(bytearray(int(size))))


def thread(_: str) -> str:
    """A thread, which is allowed, and is as confined."""
    told: list[str] = []

    def run() -> None:
        try:
            told.append(Path("/etc/hostname").read_text())
        except OSError as error:
            told.append(type(error).__name__)

    started = threading.Thread(target=run)
    started.start()
    started.join()
    return told[0]


ATTEMPTS: dict[str, Callable[[str], object]] = {
    "read": lambda path: Path(path).read_text(),
    "list": lambda path: os.listdir(path),
    "write": lambda path: Path(path).write_text("x"),
    "append": lambda path: os.open(path, os.O_WRONLY | os.O_APPEND),
    "truncate": lambda path: os.truncate(path, 0),
    "unlink": lambda path: os.unlink(path),
    "mkdir": lambda path: os.mkdir(path),
    "rename": lambda path: os.rename(path, path + ".old"),
    "chmod": lambda path: os.chmod(path, 0),
    "chown": lambda path: os.chown(path, 1, 1),
    "touch": lambda path: os.utime(path, (0, 0)),
    "mark": lambda path: os.setxattr(path, "user.x", b"x"),
    "lock": lambda path: fcntl.flock(os.open(path, os.O_RDONLY), fcntl.LOCK_EX),
    "symlink": lambda path: os.symlink("/etc", path),
    "execute": lambda path: os.execv(path, [path]),
    "fork": fork,
    "spawn": lambda path: os.posix_spawn(path, [path], {}),
    "thread": thread,
    "tcp": lambda _: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
    "udp": datagram,
    "unix": connection_to,
    "netlink": lambda _: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
    "pair": lambda _: socket.socketpair(),
    "signal": lambda process: os.kill(int(process), 0),
    "stop": lambda process: os.kill(int(process), signal.SIGSTOP),
    "trace": lambda process: called(LIBRARY.ptrace(16, int(process), None, None)),
    "renice": lambda process: os.setpriority(os.PRIO_PROCESS, int(process), 19),
    "limit": lambda process: resource.prlimit(int(process), resource.RLIMIT_FSIZE, (0, 0)),
    "pin": lambda process: os.sched_setaffinity(int(process), {0}),
    "pidfd": lambda process: os.pidfd_open(int(process)),
    "unlimit": lambda _: resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1)),
    "unshare": lambda _: called(LIBRARY.unshare(0x10000000)),
    "mount": lambda path: called(LIBRARY.mount(b"none", path.encode(), b"tmpfs", 0, None)),
    "become": lambda _: os.setuid(1),
    "environment": lambda _: sorted(os.environ),
    "descriptors": descriptors,
    "memory": memory,
    "core": lambda _: resource.getrlimit(resource.RLIMIT_CORE),
    "dumpable": lambda _: called(LIBRARY.prctl(3, 0, 0, 0, 0)),
    "pid": lambda _: os.getpid(),
    "speak": lambda kind: os.write(3, kind.encode("latin-1") + (5).to_bytes(4, "big") + b"hello"),
    "shout": lambda _: os.write(3, b"a" + (1 << 31).to_bytes(4, "big")),
    "stammer": lambda _: os.write(3, b"a" + (100).to_bytes(4, "big") + b"x"),
    "die": lambda number: signal.raise_signal(int(number)),
    "leave": lambda number: os._exit(int(number)),
}


def attempt(place: int, question: Question, connection: object) -> int:
    """Do what the question names, and tell what came of it."""
    name, _, argument = question.sql.partition(" ")
    try:
        told = sql(connection, argument) if name == "sql" else str(ATTEMPTS[name](argument))
    except BaseException as error:  # noqa: BLE001  # whatever came of it is told
        told = f"{type(error).__name__}: {error}"
    answering._send(place, ARROW, told.encode())
    return 0


if __name__ == "__main__":
    answering._answer = attempt
    nursery.main(int(sys.argv[1]), int(sys.argv[2]))
