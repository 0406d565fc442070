"""Appending, as a use case: load, recognise a retry, compare heads, check the rules, seal, chain. Knows no gRPC.

The handler runs in the one writer and may run ahead of the disk: what it has prepared is in its live games before it
is durable, so that the next append, in the same commit or the next, can stand on it. `settle` makes it visible after
the commit, `forget` drops the games of a commit that failed.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby

from heptalog.replay import codec
from heptalog.replay.errors import Code, Conflict, HeptalogError, Malformed, NotFound, Refused
from heptalog.replay.events import Body, Event, camel_name
from heptalog.replay.evidence.chain import GENESIS
from heptalog.replay.evidence.seals import sealed
from heptalog.replay.fold import Fold
from heptalog.replay.recording import recorded
from heptalog.service.appending.prepared import Prepared
from heptalog.service.appending.shape import check_shape
from heptalog.service.appends import Append, Receipt, placed
from heptalog.service.config import (
    EVENT_SIZE_MAX,
    EVENTS_PER_GAME_MAX,
    Surroundings,
)
from heptalog.service.live import LiveGame, LiveGames, head_at, load
from heptalog.service.retry import is_same
from heptalog.service.store import NO_GAME, Batch, Entry, Head, LogStore, Refusal
from heptalog.service.store.endings import endings_of


class Handler:
    """Decides what may be appended to a store."""

    def __init__(self, store: LogStore, live: LiveGames, surroundings: Surroundings) -> None:
        self._store = store
        self._live = live
        self._surroundings = surroundings

    def prepare(self, append: Append) -> Prepared:
        """Check an append and run ahead with it. Raises what is wrong, and then nothing has changed."""
        check_shape(append)
        game = self._game(append.game_id)
        if game is not None and (known := _known_sequences(append, game)):
            return Prepared(game, known)
        _check_expected(append, game)
        game, entries = self._entries(append, game)
        first = append.expected + 1
        batch = Batch(append.game_id, append.expected, entries, tuple(endings_of(game.fold, first)))
        return Prepared(game, tuple(range(first, first + len(entries))), batch)

    def is_behind(self, game_id: str) -> bool:
        """Whether another writer has been here: the log has another head than the live game believes to be durable.

        Only while no commit is on its way.
        """
        game = self._live.find(game_id)
        if game is None or game.durable == NO_GAME:
            return False
        head = self._store.head(game_id)
        return head is not None and (head.sequence, head.hash) != (game.durable, game.hash_at(game.durable))

    def recognise(self, append: Append) -> Prepared | None:
        """What was prepared met a conflict, and its game is forgotten: is all of it what another writer has recorded?

        Raises Conflict where some of it is.
        """
        game = self._game(append.game_id)
        known = () if game is None else _known_sequences(append, game)
        return Prepared(game, known) if game is not None and known else None

    def settle(self, prepared: Prepared, head: Head) -> Receipt:
        """What was prepared is durable with this head: show it, and give its receipt."""
        game = prepared.game
        game.durable = max(game.durable, prepared.sequences[-1])
        return Receipt(game.game_id, head, prepared.sequences)

    def receipt_again(self, prepared: Prepared) -> Receipt:
        """The receipt that was given when all of this was recorded: the head of then, not what others added since."""
        game_id, last = prepared.game.game_id, max(prepared.sequences)
        head = self._store.head(game_id)
        if head is None or head.sequence != last:
            head = head_at(self._store, game_id, last)
        assert head is not None, "what is durable has been a head"
        return Receipt(game_id, head, prepared.sequences, is_deduplicated=True)

    def forget(self, game_ids: Iterable[str]) -> None:
        """A commit failed: drop the games that ran ahead with it."""
        for game_id in game_ids:
            self._live.forget(game_id)

    def refusal(self, append: Append, error: Refused) -> Refusal:
        """What the side table keeps of a refusal."""
        index = error.facts["index"]
        assert isinstance(index, int), "a refusal knows its event"
        (asked,) = self._completed(append, [append.events[index]], index)
        return Refusal(
            game_id=append.game_id,
            sequence=asked.sequence,
            refused_at=self._surroundings.clock(),
            recorded_by=asked.recorded_by,
            kind=camel_name(type(asked.body)),
            code=error.code,
            rule=error.rule,
            content=codec.content_of(asked),
        )

    def _game(self, game_id: str) -> LiveGame | None:
        game = self._live.find(game_id)
        if game is None and (game := load(self._store, game_id)) is not None:
            self._live.keep(game)
        return game

    def _entries(self, append: Append, game: LiveGame | None) -> tuple[LiveGame, tuple[Entry, ...]]:
        """Run ahead: first the rules of all events, then their links; where one is wrong, take back all of them."""
        events = self._completed(append, append.events)
        fold, head = (None, GENESIS) if game is None else (game.fold, game.head_hash)
        refused: HeptalogError | None = None
        bodies = [event.body for event in events]
        try:
            if fold is None:
                fold = Fold(bodies.pop(0))
            _follow(fold, bodies, is_imported=append.is_imported)
        except HeptalogError as error:
            refused = error
        count = 0 if fold is None else fold.sequence - append.expected
        try:
            # What is wrong with one that the rules have taken comes before what they say of a later one.
            entries = _linked(append, events[:count], head)
            if refused is not None:
                if isinstance(refused, Refused):
                    refused.facts["game_id"] = append.game_id
                raise placed(refused, count)
        except HeptalogError:
            # A refusal of the first event, as most are, has nothing to take back.
            if game is not None and count:
                game.truncate(append.expected)
            raise
        if game is None:
            assert fold is not None, "what is not refused has begun"
            game = LiveGame(append.game_id, fold, [], {})
            self._live.keep(game)
        game.take(entries)
        return game, entries

    def _completed(self, append: Append, sent: Sequence[Event], first: int = 0) -> list[Event]:
        """Events as they will be recorded, but for their links; all of an append is accepted at once."""
        game_id = append.game_id
        new_id, salts, now = self._surroundings.new_id, self._surroundings.salts, self._surroundings.clock()
        return [
            Event(
                sequence,
                sealed(event.body, salts) if event.body.sealed else event.body,
                game_id,
                event.event_id or new_id(),
                event.occurred_at,
                event.recorded_at or now,
                event.recorded_by,
            )
            for sequence, event in enumerate(sent, append.expected + 1 + first)
        ]


def _known_sequences(append: Append, game: LiveGame) -> tuple[int, ...]:
    """Where all of these events are recorded already; nothing where none is. A retry comes before the heads."""
    if game.event_ids.keys().isdisjoint([event.event_id for event in append.events]):
        return ()
    known = [game.event_ids.get(event.event_id, -1) for event in append.events]
    for event, sequence in zip(append.events, known, strict=True):
        if sequence >= 0 and not is_same(event, codec.decode(game.records[sequence])[0]):
            raise Conflict(
                Code.EVENT_ID_REUSED, rule="api", game_id=game.game_id, event_id=event.event_id, at_sequence=sequence
            )
    if any(sequence < 0 for sequence in known):
        raise Conflict(
            Code.BATCH_PARTLY_KNOWN,
            rule="api",
            game_id=game.game_id,
            known_events=_ranges([index for index, sequence in enumerate(known) if sequence >= 0]),
            new_events=_ranges([index for index, sequence in enumerate(known) if sequence < 0]),
        )
    return tuple(known)


def _ranges(places: Sequence[int]) -> str:
    """Ascending places in a request, such as `0-2 5`: 512 ids would not fit into the trailers of a call."""
    runs = ([place for _, place in run] for _, run in groupby(enumerate(places), lambda pair: pair[1] - pair[0]))
    return " ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def _check_expected(append: Append, game: LiveGame | None) -> None:
    if game is None:
        if append.expected != NO_GAME:
            raise NotFound(Code.GAME_NOT_FOUND, rule="api", game_id=append.game_id)
        return
    if append.expected == NO_GAME:
        raise Conflict(Code.GAME_EXISTS, rule="api", game_id=append.game_id)
    is_as_long = append.expected == game.fold.sequence
    if not is_as_long or append.expected_hash not in (b"", game.head_hash):
        # Where the numbers are equal they do not say what differs.
        problem = "it is as long, and its last event has another hash"
        hashes = {"problem": problem, "expected_hash": append.expected_hash.hex()} if is_as_long else {}
        raise Conflict(
            Code.SEQUENCE_MISMATCH,
            rule="api",
            game_id=append.game_id,
            expected=append.expected,
            actual=game.fold.sequence,
            head_hash=game.head_hash.hex(),
            **hashes,
        )


def _follow(fold: Fold, bodies: Sequence[Body], *, is_imported: bool) -> None:
    """Take these events. Raises what the rules say of one, and then it and those after it are not taken."""
    room = EVENTS_PER_GAME_MAX - len(fold.states)
    taken = bodies if len(bodies) <= room else bodies[: max(0, room)]
    if is_imported or not fold.rules.upcasts:
        fold.follow(taken)
    else:
        for body in taken:
            # Of an older kind there are no new ones.
            fold.check(body)
            fold.advance(body)
    if len(taken) < len(bodies):
        raise Refused(Code.GAME_TOO_LONG, rule="api", limit=EVENTS_PER_GAME_MAX)


def _linked(append: Append, events: Sequence[Event], head: bytes) -> tuple[Entry, ...]:
    """Events that the rules have taken, behind this head. Raises Malformed for the first that is wrong all the same."""
    entries: list[Entry] = []
    for sent, (event, record) in zip(append.events, recorded(events, append.game_id, head), strict=False):
        if len(record) > EVENT_SIZE_MAX:
            large = Malformed(Code.EVENT_TOO_LARGE, rule="api", size=len(record), limit=EVENT_SIZE_MAX)
            raise placed(large, len(entries))
        if sent.hash not in (b"", event.hash) or sent.previous_hash not in (b"", event.previous_hash):
            raise placed(Malformed(Code.CHAIN_BROKEN, rule="evidence", field="hash"), len(entries))
        entries.append(Entry(record, event))
    return tuple(entries)
