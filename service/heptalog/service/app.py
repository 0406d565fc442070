"""Composition: one service put together from its store, its writer and its readers, without any network."""

from heptalog.service.answering import Readers
from heptalog.service.config import Settings, Surroundings
from heptalog.service.handler import Handler
from heptalog.service.live import LiveGames
from heptalog.service.queries import Queries
from heptalog.service.store import LogStore
from heptalog.service.writer import Writer


class App:
    """A running service: what the servicers are made of."""

    def __init__(self, store: LogStore, settings: Settings, surroundings: Surroundings | None = None) -> None:
        live = LiveGames(settings.live_events_max)
        self.surroundings = surroundings or Surroundings()
        handler = Handler(store, live, self.surroundings)
        self.store = store
        self.queries = Queries(store, live)
        self.writer = Writer(store, live, handler, settings)
        self.readers = Readers(settings.reader_threads)
        self.writer.start()

    @property
    def is_broken(self) -> bool:
        """Whether it can do its work no longer, whatever is asked of it."""
        return self.writer.is_broken or self.store.is_broken

    def close(self) -> None:
        """Finish what is queued, then let go of the store."""
        self.writer.drain()
        self.readers.close()
        self.store.close()
