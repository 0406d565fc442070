"""What signals do to the processes of a program: which of them hears Ctrl-C, and how one of them has ended."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def unheard() -> Iterator[None]:
    """Whoever is started by this thread meanwhile never hears Ctrl-C, not even while it loads; it comes here after it.

    A terminal sends it to all processes of a program, and only the first is to act on it. What is held back here is
    inherited, so nobody needs a word of his own for it, which would come late.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ending(code: int) -> str:
    """How a process has ended, in words, by its exit code as Python gives it."""
    return f"was ended by signal {-code}" if code < 0 else f"ended with {code}"
