"""Questions about the whole of a log: what cannot be read is told once, and the audit goes on without the answer."""

from collections.abc import Callable
from typing import TypeVar

from heptalog.replay.errors import Code, Unavailable
from heptalog.service.auditing.findings import Tell, because, found
from heptalog.service.auditing.sources import Source
from heptalog.service.store.duck_faults import let_through

T = TypeVar("T")


class Asking:
    """Asks a source, which has to be opened `anew` after a question that failed."""

    def __init__(self, source: Callable[[], Source], anew: Callable[[], None], tell: Tell) -> None:
        self._source = source
        self._anew = anew
        self._tell = tell
        # Tables that are not what they should be: nothing is asked of them.
        self.without: frozenset[str] = frozenset()

    def __call__(self, tables: tuple[str, ...], question: Callable[[Source], T], otherwise: T) -> T:
        """The answer, out of these tables, or `otherwise` where there is none. Raises Unavailable."""
        if self.without.intersection(tables):
            return otherwise
        try:
            return question(self._source())
        except Unavailable:
            raise
        except Exception as error:  # noqa: BLE001  # a damaged block, or a value that nobody would have written
            let_through(error)
            self._tell(found(Code.RECORD_DAMAGED, f"it cannot be read as a whole{because(error)}", table=tables[0]))
        self._anew()
        return otherwise
