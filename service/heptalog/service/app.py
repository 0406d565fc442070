"""Composition: one service put together from its store, its writer and its readers, without any network."""

import logging
from collections.abc import Sequence

from heptalog.replay.errors import HeptalogError, NotFound
from heptalog.replay.evidence.notes import VerifierKey
from heptalog.service.answering import Readers
from heptalog.service.commits import Commits
from heptalog.service.config import FEEDER_THREADS, READER_THREADS, Settings, Surroundings
from heptalog.service.evidence.checkpoints import Checkpoints
from heptalog.service.evidence.keys import Keyring
from heptalog.service.evidence.proving import Prover
from heptalog.service.evidence.signing import Signer
from heptalog.service.handler import Handler
from heptalog.service.live import LiveGames
from heptalog.service.positions import Positions
from heptalog.service.store import LogStore
from heptalog.service.tables.tables import Tables
from heptalog.service.writer import Writer

_log = logging.getLogger(__name__)


class App:
    """A running service: what the servicers are made of."""

    def __init__(
        self,
        store: LogStore,
        settings: Settings,
        surroundings: Surroundings | None = None,
        keys: Keyring | None = None,
        witnesses: Sequence[VerifierKey] = (),
    ) -> None:
        """Without keys nothing is signed. Raises what a Signer raises for keys that are not of this log."""
        live = LiveGames(settings.live_events_max)
        self.surroundings = surroundings or Surroundings()
        self.checkpoints = Checkpoints(store, witnesses)
        self.signer = None if keys is None else Signer(store, self.checkpoints, keys, self.surroundings.clock)
        self.prover = Prover(store, self.checkpoints, self.signer)
        handler = Handler(store, live, self.surroundings)
        self.store = store
        self.positions = Positions(store, live)
        self.commits = Commits()
        self.tables = Tables(store, settings, self.commits) if settings.queries_max else None
        self.writer = Writer(store, live, handler, settings, self.commits.committed)
        self.readers = Readers(READER_THREADS)
        # Signing reads much back and is done one at a time: who waits for it must not keep the others from reading.
        self.signing = Readers(1)
        # Whoever catches up reads much, and must not keep the others from reading either.
        self.feeders = Readers(FEEDER_THREADS)
        self.writer.start()

    @property
    def is_broken(self) -> bool:
        """Whether it can do its work no longer, whatever is asked of it."""
        return self.writer.is_broken or self.store.is_broken or self.prover.is_broken

    def close(self) -> None:
        """Finish what is queued, sign what is new, then let go of the store."""
        self.writer.drain()
        self._close_tables()
        self._sign_last()
        self.readers.close()
        self.signing.close()
        self.feeders.close()
        self.store.close()

    def _close_tables(self) -> None:
        if self.tables is not None:
            try:
                self.tables.close()
            except Exception:  # noqa: BLE001  # our own bug there may not keep the log from its end
                _log.exception("the tables were not closed")

    def _sign_last(self) -> None:
        if self.signer is None or self.is_broken:
            return
        try:
            self.signer.checkpoint()
        except NotFound:
            pass  # nothing was recorded
        except HeptalogError as error:
            _log.error("no last checkpoint was signed: %s", error)
        except Exception:  # noqa: BLE001  # as above
            _log.exception("no last checkpoint was signed")
