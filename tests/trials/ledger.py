"""What was sent to a log, what the log has acknowledged, and what it is later found to hold.

The ledger lives in the process that tries the server, and so outlives every crash. It knows what each event must say,
since it was there when the event was made; what it has once been told or shown must never be told otherwise.
"""

from collections.abc import Iterable
from threading import Lock
from typing import Final, NamedTuple

from heptalog.replay.codec import decode
from heptalog.replay.errors import HeptalogError
from heptalog.replay.events import Event
from heptalog.replay.evidence.checkpoints import checkpoint_in
from heptalog.replay.evidence.merkle import Frontier, leaf_hash
from heptalog.service.appends import Append, Receipt
from heptalog.service.retry import is_same
from heptalog.service.store import Checkpoint, Stored

SHOWN_MAX: Final = 20


class Place(NamedTuple):
    """Where an event is in the log, as a receipt or a reading said it; the hash of the last of a batch is known."""

    position: int
    hash: bytes = b""


class Sent:
    """One game: its events, the batches in which they were sent, and what was acknowledged or found of it."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.bounds = {0}  # of the batches: how many events came before one, or with it
        self.acknowledged: list[Place] = []
        self.found: list[Place] = []
        self.counted = 0  # of what was found, whether it had its receipt


class Figures:
    """Counts of a whole trial."""

    def __init__(self) -> None:
        self.acknowledged = self.batches = self.deduplicated = self.refused = 0
        self.lost = self.duplicated = self.partial = self.contradicted = self.foreign = 0
        self.unacknowledged_present = self.checkpoints = 0

    @property
    def wrong(self) -> int:
        """How many things there are that may not be."""
        return self.lost + self.duplicated + self.partial + self.contradicted + self.foreign


class Ledger:
    """All games of a trial. May be written by many threads; it is checked when nobody writes."""

    def __init__(self) -> None:
        self.games: dict[str, Sent] = {}
        self.figures = Figures()
        self.refused_ids: set[str] = set()
        self.violations: list[str] = []
        self._log: list[tuple[str, int, bytes]] = []  # by position, as it was found
        self._tree = Frontier()  # up to the largest checkpoint
        self._checkpoints: dict[int, bytes] = {}
        self._lock = Lock()

    @property
    def found_count(self) -> int:
        """How many events were in the log when it was last looked at."""
        return len(self._log)

    def found_after(self, count: int) -> set[str]:
        """The games of all events but the first `count`."""
        return {game_id for game_id, _, _ in self._log[count:]}

    def head(self, game_id: str) -> tuple[int, bytes]:
        """Where the last event of a game was found, and its hash."""
        place = self.games[game_id].found[-1]
        return place.position, place.hash

    # While a server runs.

    def sends(self, append: Append) -> None:
        """A batch is on its way. It is sent whole and as it is until it is acknowledged."""
        with self._lock:
            game = self.games.setdefault(append.game_id, Sent())
            start = append.expected + 1
            if start == len(game.events):
                game.events += append.events
            game.bounds |= {start, start + len(append.events)}

    def acknowledges(self, append: Append, receipt: Receipt) -> None:
        """The log has said that a batch is on disk."""
        with self._lock:
            first = append.expected + 1
            last = first + len(append.events) - 1
            name = f"{append.game_id} {first}-{last}"
            if receipt.sequences != tuple(range(first, last + 1)) or receipt.head.sequence != last:
                self._wrong("contradicted", f"{name}: the receipt is of {receipt.sequences}")
            for sequence in range(first, last + 1):
                position = receipt.head.position - (last - sequence)
                self._place(append.game_id, sequence, Place(position, receipt.head.hash if sequence == last else b""))
            self.figures.batches += 1
            self.figures.acknowledged += len(append.events)
            self.figures.deduplicated += receipt.is_deduplicated

    def refuses(self, event_id: str) -> None:
        """The log has said that it refuses this."""
        with self._lock:
            self.refused_ids.add(event_id)
            self.figures.refused += 1

    def wrong(self, kind: str, text: str) -> None:
        """Something was found that may not be."""
        with self._lock:
            self._wrong(kind, text)

    # While nobody writes.

    def check(self, records: Iterable[Stored], *, start: int = 1) -> None:
        """Hold what the log has from this position on to its end against all that is known."""
        position = start
        for stored in records:
            if stored.position != position:
                self._wrong("lost", f"position {position} is missing; {stored.position} is there")
                position = stored.position
            self._check_record(stored)
            position += 1
        if position <= len(self._log):
            self._wrong("lost", f"positions {position} to {len(self._log)} had been there")
            del self._log[position - 1 :]
        for game_id, game in self.games.items():
            self._check_game(game_id, game)

    def check_checkpoints(self, checkpoints: Iterable[Checkpoint]) -> None:
        """Hold all checkpoints of the log against those that there were, and against the tree over its events."""
        sizes: list[int] = []
        for checkpoint in checkpoints:
            sizes.append(checkpoint.size)
            body = checkpoint_in(checkpoint.note)
            known = self._checkpoints.setdefault(checkpoint.size, body.root)
            if checkpoint.size > self._tree.size:
                for _, _, digest in self._log[self._tree.size : checkpoint.size]:
                    self._tree.append(leaf_hash(digest))
                if self._tree.size != checkpoint.size or self._tree.root() != body.root:
                    self._wrong("contradicted", f"the checkpoint over {checkpoint.size} events has another root")
            if known != body.root:
                self._wrong("contradicted", f"the checkpoint over {checkpoint.size} events was another")
        if missing := self._checkpoints.keys() - set(sizes):
            self._wrong("lost", f"the checkpoint over {min(missing)} events", len(missing))
        self.figures.checkpoints = len(self._checkpoints)

    def count_unacknowledged(self) -> int:
        """How many events were found since this was last asked whose receipts had not come."""
        count = 0
        for game in self.games.values():
            count += max(0, len(game.found) - max(len(game.acknowledged), game.counted))
            game.counted = len(game.found)
        self.figures.unacknowledged_present += count
        return count

    def check_refusals(self, event_ids: Iterable[str]) -> None:
        """Hold the refusals of the log against those that were told."""
        missing = self.refused_ids - set(event_ids)
        if missing:
            self._wrong("lost", f"{len(missing)} refusals, {min(missing)} among them")

    def _check_record(self, stored: Stored) -> None:
        game_id, sequence, position = stored.game_id, stored.sequence, stored.position
        name = f"{game_id} {sequence} at {position}"
        game = self.games.get(game_id)
        if game is None or sequence >= len(game.events):
            self._wrong("foreign", f"{name}: nobody has sent it")
            return
        try:
            event, _ = decode(stored.record)
        except HeptalogError as error:
            self._wrong("partial", f"{name}: {error}")
            return
        sent = game.events[sequence]
        if event.event_id != sent.event_id or event.game_id != game_id or not is_same(sent, event):
            self._wrong("contradicted", f"{name}: not the event that was sent")
        found = (game_id, sequence, event.hash)
        if position <= len(self._log):
            if self._log[position - 1] != found:
                self._wrong("contradicted", f"{name}: there was another event")
            return
        self._log.append(found)
        if sequence < len(game.found):
            self._wrong("duplicated", f"{name}: it is at {game.found[sequence].position} already")
        elif sequence > len(game.found):
            self._wrong("lost", f"{name}: it follows {len(game.found) - 1}")
        else:
            game.found.append(Place(position, event.hash))

    def _check_game(self, game_id: str, game: Sent) -> None:
        if len(game.found) < len(game.acknowledged):
            count = len(game.acknowledged) - len(game.found)
            self._wrong("lost", f"{game_id} {len(game.found)}: {count} acknowledged events", count)
        for sequence, (told, there) in enumerate(zip(game.acknowledged, game.found, strict=False)):
            if told.position != there.position or told.hash not in (b"", there.hash):
                self._wrong("contradicted", f"{game_id} {sequence}: acknowledged at {told.position}, {there.position}")
        if len(game.found) < len(game.events) and len(game.found) not in game.bounds:
            self._wrong("partial", f"{game_id}: {len(game.found)} of {len(game.events)}, and no batch ends there")

    def _place(self, game_id: str, sequence: int, place: Place) -> None:
        game = self.games[game_id]
        if sequence < len(game.found):
            there = game.found[sequence]
            if there.position != place.position or place.hash not in (b"", there.hash):
                self._wrong("contradicted", f"{game_id} {sequence}: found at {there.position}, told {place.position}")
        if sequence == len(game.acknowledged):
            game.acknowledged.append(place)
        elif game.acknowledged[sequence].position != place.position:
            self._wrong("contradicted", f"{game_id} {sequence}: acknowledged twice, at two positions")

    def _wrong(self, kind: str, text: str, count: int = 1) -> None:
        setattr(self.figures, kind, getattr(self.figures, kind) + count)
        if len(self.violations) < SHOWN_MAX:
            self.violations.append(f"{kind}: {text}")
