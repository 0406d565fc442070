"""A cluster of PostgreSQL of our own, in a temporary folder, with the settings it comes with."""

import os
import pwd
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

USER: Final = "bench"
# Connections of every caller at once, and some to spare.
_CONNECTIONS_MAX: Final = 200
_STARTING_SECONDS: Final = 60.0


@contextmanager
def running(folder: Path) -> Iterator[int]:
    """The port of a cluster, 0 where PostgreSQL is not installed."""
    programs = installed()
    if programs is None:
        yield 0
        return
    owner = unprivileged()
    data = folder / "postgres"
    data.mkdir(mode=0o700)
    if owner is not None:
        # It refuses to run as root; the way to its folder has to be open to whom it runs as.
        os.chown(data, owner.pw_uid, owner.pw_gid)
        folder.chmod(0o711)

    def start(*command: str | Path) -> subprocess.Popen[bytes]:
        user = None if owner is None else owner.pw_uid
        group = None if owner is None else owner.pw_gid
        groups: list[int] | None = None if owner is None else []
        return subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=data,
            user=user, group=group, extra_groups=groups,
        )  # fmt: skip

    made = start(programs / "initdb", "-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C")
    assert made.wait() == 0, "initdb failed"
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    server = start(
        programs / "postgres", "-D", data, "-h", "127.0.0.1", "-p", str(port), "-k", data, "-N", str(_CONNECTIONS_MAX)
    )
    try:
        wait_for(server, port)
        yield port
    finally:
        server.terminate()
        try:
            server.wait(timeout=_STARTING_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def installed() -> Path | None:
    """Where the server's programs are: on the path, or where Debian puts the newest of them."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    folders = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    newest = max(folders, key=lambda path: int(path.parts[-3]), default=None)
    return None if newest is None else newest.parent


def unprivileged() -> pwd.struct_passwd | None:
    """Whom the server runs as: ourselves, or where we are root somebody who can do little."""
    if os.geteuid():
        return None
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return pwd.getpwnam("nobody")


def wait_for(server: subprocess.Popen[bytes], port: int) -> None:
    """Until it takes connections."""
    end = time.monotonic() + _STARTING_SECONDS
    while True:
        try:
            with closing(socket.create_connection(("127.0.0.1", port), timeout=1.0)):
                return
        except OSError:
            if server.poll() is not None or time.monotonic() > end:
                raise
            time.sleep(0.02)
