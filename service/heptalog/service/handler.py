"""Appending, as a use case: load, recognise a retry, compare heads, check the rules, seal, chain. Knows no gRPC.

The handler runs in the one writer and may run ahead of the disk: what it has prepared is in its live games before it
is durable, so that the next append, in the same commit or the next, can stand on it. `settle` makes it visible after
the commit, `forget` drops the games of a commit that failed.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from msgspec import Struct

from heptalog.replay import codec
from heptalog.replay.errors import Code, Conflict, Corrupt, HeptalogError, Malformed, NotFound, Redacted, Refused
from heptalog.replay.events import Event, camel_name, snake_name
from heptalog.replay.evidence.chain import GENESIS
from heptalog.replay.evidence.seals import check_seals, check_whole, sealed
from heptalog.replay.fold import Fold
from heptalog.service.appends import Append, Receipt, placed
from heptalog.service.config import (
    EVENT_SIZE_MAX,
    EVENTS_PER_APPEND_MAX,
    EVENTS_PER_GAME_MAX,
    ID_LENGTH_MAX,
    Surroundings,
)
from heptalog.service.live import LiveGame, LiveGames, head_at, load
from heptalog.service.retry import is_same
from heptalog.service.store import NO_GAME, Batch, Ending, Entry, Head, LogStore, Refusal
from heptalog.service.store.endings import ending_between

_ID: Final = re.compile(r"[^\s\x00-\x1f\x7f]+")


class Prepared(Struct, frozen=True, gc=False):
    """An append that is ready for the disk; `batch` is absent where all of it is there already."""

    game: LiveGame
    sequences: tuple[int, ...]
    batch: Batch | None = None


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
        game, entries, endings = self._entries(append, game)
        batch = Batch(append.game_id, append.expected, tuple(entries), tuple(endings))
        return Prepared(game, tuple(range(append.expected + 1, game.fold.sequence + 1)), batch)

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
        asked = self._completed(append, index, append.events[index])
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

    def _entries(self, append: Append, game: LiveGame | None) -> tuple[LiveGame, list[Entry], list[Ending]]:
        """Run ahead event by event; where one is wrong, take back the ones before it too."""
        entries: list[Entry] = []
        endings: list[Ending] = []
        before, was_over = (None, False) if game is None else (game.fold.state, game.fold.state.over)
        for index, sent in enumerate(append.events):
            try:
                event = self._completed(append, index, sent)
                game, entry = _advanced(game, event, sent, is_imported=append.is_imported)
            except HeptalogError as error:
                # A refusal of the first event, as most are, has nothing to take back.
                if game is not None and entries and append.expected != NO_GAME:
                    game.truncate(append.expected)
                if isinstance(error, Refused):
                    error.facts["game_id"] = append.game_id
                raise placed(error, index) from error
            entries.append(entry)
            state = game.fold.state
            over = state.over
            # While a game goes on there is nothing to compare.
            if (over or was_over) and (ending := ending_between(before, state, event.sequence)):
                endings.append(ending)
            before, was_over = state, over
        assert game is not None, "an append has at least one event"
        self._live.keep(game)
        return game, entries, endings

    def _completed(self, append: Append, index: int, sent: Event) -> Event:
        """The event as it will be recorded, but for its links."""
        body = sent.body
        return Event(
            append.expected + 1 + index,
            sealed(body, self._surroundings.salts) if body.sealed else body,
            append.game_id,
            sent.event_id or self._surroundings.new_id(),
            sent.occurred_at,
            sent.recorded_at or self._surroundings.clock(),
            sent.recorded_by,
        )


def check_shape(append: Append) -> None:
    """Raise Malformed for what is wrong with a request whatever the game; paths are those of its fields."""
    _check_id(append.game_id, "game_id")
    if not 1 <= len(append.events) <= EVENTS_PER_APPEND_MAX:
        problem = f"1 to {EVENTS_PER_APPEND_MAX} events"
        raise Malformed(Code.FIELD_INVALID, rule="api", field="events", problem=problem)
    seen: set[str] = set()
    for index, event in enumerate(append.events):
        try:
            _check_event(append, index, event)
        except HeptalogError as error:
            raise placed(error, index) from None
        if event.event_id and event.event_id in seen:
            repeated = Malformed(Code.EVENT_ID_REPEATED, rule="api", field="event_id", event_id=event.event_id)
            raise placed(repeated, index)
        seen.add(event.event_id)


def _check_event(append: Append, index: int, event: Event) -> None:
    if event.event_id:
        _check_id(event.event_id, "event_id")
    if event.game_id not in ("", append.game_id):
        raise Malformed(Code.FIELD_INVALID, rule="api", field="game_id", problem="not the game of the request")
    if event.sequence not in (0, append.expected + 1 + index):
        raise Malformed(Code.FIELD_INVALID, rule="api", field="sequence", problem="not the one that comes next")
    if len(event.recorded_by) > ID_LENGTH_MAX:
        raise Malformed(Code.FIELD_INVALID, rule="api", field="recorded_by", problem=f"over {ID_LENGTH_MAX} characters")
    if not append.is_imported and (event.recorded_at or event.previous_hash or event.hash):
        for field in ("recorded_at", "previous_hash", "hash"):
            if getattr(event, field):
                problem = "the server's to fill in, unless the events are imported"
                raise Malformed(Code.FIELD_INVALID, rule="api", field=field, problem=problem)
    if event.body.sealed:
        _check_sealed(event)


def _check_sealed(event: Event) -> None:
    try:
        check_seals(event.body)
        check_whole(event.body)
    except (Malformed, Corrupt, Redacted) as error:
        # What the caller brings itself is a fault of the request, not of the log.
        path = ".".join(filter(None, (snake_name(type(event.body)), str(error.facts.pop("field", "")))))
        raise Malformed(error.code, rule=error.rule, field=path, **error.facts) from None


def _check_id(value: str, field: str) -> None:
    if len(value) > ID_LENGTH_MAX or not _ID.fullmatch(value):
        problem = f"1 to {ID_LENGTH_MAX} characters without spaces"
        raise Malformed(Code.FIELD_INVALID, rule="api", field=field, problem=problem)


def _known_sequences(append: Append, game: LiveGame) -> tuple[int, ...]:
    """Where all of these events are recorded already; nothing where none is. A retry comes before the heads."""
    known = [game.event_ids.get(event.event_id, -1) for event in append.events]
    if all(sequence < 0 for sequence in known):
        return ()
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
    has_other_hash = append.expected_hash not in (b"", game.head_hash)
    if append.expected != game.fold.sequence or has_other_hash:
        raise Conflict(
            Code.SEQUENCE_MISMATCH,
            rule="api",
            game_id=append.game_id,
            expected=append.expected,
            actual=game.fold.sequence,
            head_hash=game.head_hash.hex(),
        )


def _advanced(game: LiveGame | None, event: Event, sent: Event, *, is_imported: bool) -> tuple[LiveGame, Entry]:
    """The game with one more event: rules first, then its link and its size, then there is no way back."""
    if event.sequence >= EVENTS_PER_GAME_MAX:
        raise Refused(Code.GAME_TOO_LONG, rule="api", limit=EVENTS_PER_GAME_MAX)
    fold = Fold(event.body) if game is None else game.fold
    if game is not None:
        fold.check(event.body, is_recorded=is_imported)
    linked, record = codec.chained(event, GENESIS if game is None else game.head_hash)
    if len(record) > EVENT_SIZE_MAX:
        raise Malformed(Code.EVENT_TOO_LARGE, rule="api", size=len(record), limit=EVENT_SIZE_MAX)
    if sent.hash not in (b"", linked.hash) or sent.previous_hash not in (b"", linked.previous_hash):
        raise Malformed(Code.CHAIN_BROKEN, rule="evidence", field="hash")
    if game is None:
        game = LiveGame(event.game_id, fold, [record], {event.event_id: 0})
        game.durable = NO_GAME
    else:
        fold.apply(event.body)
        game.records.append(record)
        game.event_ids[event.event_id] = event.sequence
    return game, Entry(record, linked)
