"""A process that works on the tables as the server has it: started, told, listened to, and ended."""

import logging
import socket
import subprocess
import sys
from contextlib import suppress
from typing import Final, Protocol, TypeAlias

import msgspec

from heptalog.analytics.signals import ending, unheard
from heptalog.replay.errors import Code, Corrupt, HeptalogError, Unavailable
from heptalog.service.tables.messages import Alive, Command, Failed, Reply, Stop, Wire
from heptalog.service.tables.serving import Place

# It tells every few seconds that it lives; after so long without a word it hangs.
SILENCE_SECONDS: Final = 60.0
_ENDING_SECONDS: Final = 10.0
_PROGRAMS: Final = "heptalog.service.tables"
_Worker: TypeAlias = Wire[Command, Reply]
_log = logging.getLogger(__name__)


class Gone(Exception):
    """The process has ended, or says nothing any more."""


class Follower(Protocol):
    """A process that follows."""

    @property
    def number(self) -> int:
        """The number that the operating system gave it."""
        ...

    def tell(self, command: Command) -> Reply:
        """Have it do something. Raises Gone, or the error that ended it."""
        ...

    def stop(self) -> None:
        """End it in order."""
        ...

    def end(self) -> None:
        """End it at once, from any thread: who tells it something is told that it is gone."""
        ...

    def kill(self) -> None:
        """End it at once, and let go of it."""
        ...


def meaning_of(error: Exception) -> HeptalogError:
    """Why nothing can be asked, as it is told to who asks."""
    if isinstance(error, Gone | OSError):
        return Unavailable(Code.TABLES_BEHIND, rule="api", problem=str(error))
    if isinstance(error, Corrupt):
        what = f"the log is damaged, {error.code}: heptalog audit says where, heptalog doctor what can be done"
        return Unavailable(Code.TABLES_BEHIND, rule="api", **(dict(error.facts) | {"problem": what}))
    if isinstance(error, HeptalogError):
        facts = dict(error.facts)
        problem = facts.pop("problem", "") or error.code
        return Unavailable(Code.TABLES_BEHIND, rule="api", problem=problem, **facts)
    _log.error("a bug", exc_info=error)
    return Unavailable(Code.TABLES_BEHIND, rule="api")


class Process:
    """A running process: `following` or `building`. For one thread, but for `end`."""

    def __init__(self, program: str, place: Place, *, niceness: int) -> None:
        """Start it. Raises OSError where that cannot be done."""
        ours, theirs = socket.socketpair()
        try:
            ours.settimeout(SILENCE_SECONDS)
            number = str(theirs.fileno())
            told = msgspec.json.encode(place).decode()
            command = [sys.executable, "-m", f"{_PROGRAMS}.{program}", number, str(niceness), told]
            # Its standard input is what ends it with us; what it has to tell goes where our own errors go.
            with unheard():
                self._process = subprocess.Popen(  # noqa: S603  # our own program
                    command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, pass_fds=[theirs.fileno()]
                )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        self._wire: _Worker = Wire(ours, Reply)

    @property
    def number(self) -> int:
        """The number that the operating system gave it."""
        return self._process.pid

    def tell(self, command: Command) -> Reply:
        """Have it do something, and wait until it has. Raises Gone, or the error that it met and that ended it."""
        with suppress(OSError):  # it may have said why, and that is read below
            self._wire.send(command)
        return self.listen()

    def listen(self) -> Reply:
        """What it says next. Raises as `tell` does."""
        try:
            while isinstance(reply := self._wire.receive(), Alive):
                pass
        except (EOFError, OSError) as error:
            self.kill()
            raise Gone(self._ending(error)) from error
        if isinstance(reply, Failed):
            # It ends by itself; killed now it would leave behind what it shares with processes of its own.
            self.hang_up()
            raise reply.error
        return reply

    def stop(self) -> None:
        """End it in order, or by force where it takes too long."""
        with suppress(Exception):  # whatever it says, it ends
            self.tell(Stop())
            self._process.wait(_ENDING_SECONDS)
        self.kill()

    def end(self) -> None:
        """End it at once, from any thread; whoever listens to it is told that it is gone."""
        self._process.kill()

    def hang_up(self) -> None:
        """Hear nothing more from it, so that it clears away what it has begun; end it where that takes too long."""
        self._wire.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_ENDING_SECONDS)
        self.kill()

    def kill(self) -> None:
        """End it at once, and let go of it."""
        self.end()
        self._process.wait()
        self._wire.close()
        if self._process.stdin is not None:
            self._process.stdin.close()

    def _ending(self, error: Exception) -> str:
        if isinstance(error, TimeoutError):
            return "the process that keeps them hangs"
        return f"the process that keeps them {ending(self._process.wait())}"
