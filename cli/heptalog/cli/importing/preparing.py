"""A game made ready for a log: examined, completed, chained.

What a log is given is the records, and what of them was not in the source: a log that has the game already compares it
as it was given (`sent`), since it has times and seals of its own.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple, TypeAlias

from msgspec import UNSET, Struct
from msgspec.structs import replace

from heptalog.cli.connections import Connections
from heptalog.cli.examine import bad, placed
from heptalog.cli.files import FileGame, Missing
from heptalog.cli.importing.batches import check_form
from heptalog.cli.sources import Game
from heptalog.cli.spreading import spread
from heptalog.cli.verdicts import Found, Verdict
from heptalog.replay import envelope
from heptalog.replay.bodies import NotPlain
from heptalog.replay.codec import decode, forms_of, records_from
from heptalog.replay.errors import Code, HeptalogError, Malformed, Refused
from heptalog.replay.events import Body, Event
from heptalog.replay.evidence.chain import GENESIS, links
from heptalog.replay.evidence.seals import Sealable, map_parts, sealable_parts, sealed, values_of
from heptalog.replay.fold import Fold
from heptalog.replay.identity import identified, shown_contents
from heptalog.replay.verify import Examiner
from heptalog.service.config import EVENT_SIZE_MAX, EVENTS_PER_GAME_MAX, Surroundings
from heptalog.service.store import Ending
from heptalog.service.store.endings import endings_of
from heptalog.service.store.whole import WholeGame, whole_game


class Filled(Struct, frozen=True):
    """What of a game was not in its source: the times and seals of these events, and the links of all."""

    times: tuple[int, ...]
    seals: tuple[tuple[int, tuple[int, ...]], ...]  # of these parts of an event, by its sequence
    has_links: bool  # the source's own


class Prepared(Struct, frozen=True):
    """A good game as it is to be recorded, and what of it its source does not have."""

    whole: WholeGame
    endings: tuple[Ending, ...]
    filled: Filled

    @property
    def game_id(self) -> str:
        """The game's name."""
        return self.whole.game_id

    @property
    def records(self) -> tuple[bytes, ...]:
        """Its records."""
        return self.whole.records

    def sent(self) -> list[Event]:
        """The events as the source has them, but for their ids."""
        times = frozenset(self.filled.times)
        seals = dict(self.filled.seals)
        return [self._sent(decode(record)[0], times, seals) for record in self.records]

    def _sent(self, event: Event, times: frozenset[int], seals: dict[int, tuple[int, ...]]) -> Event:
        if event.sequence in seals:
            event = replace(event, body=_without(event, seals[event.sequence]))
        if event.sequence in times:
            event = replace(event, recorded_at=0)
        return event if self.filled.has_links else replace(event, previous_hash=b"", hash=b"")


Outcome: TypeAlias = Prepared | Verdict


def outcomes(
    games: Iterable[Game | Missing], connections: Connections, *, jobs: int = 0
) -> Iterator[tuple[Game | Missing, Outcome]]:
    """Each game with what came of it, in order. `jobs` is how many processes may work; 0 is one a core."""
    return spread(_outcomes_of, games, connections, jobs=jobs)


def _outcomes_of(games: Sequence[Game | Missing], connections: Connections) -> list[Outcome]:
    return [outcome_of(game, connections) for game in games]


def outcome_of(game: Game | Missing, connections: Connections) -> Outcome:
    """The game made ready, or what is wrong with it."""
    try:
        return prepared(game, connections)
    except Found as found:
        return found.verdict


def prepared(game: Game | Missing, connections: Connections, surroundings: Surroundings | None = None) -> Prepared:
    """A good game made ready. Raises Found."""
    if isinstance(game, Missing):
        raise Found(bad(game, 0, game.error))
    given = _plainly_read(game) or _read(game, connections)
    endings = tuple(endings_of(given.fold))
    try:
        events, records, filled = _recorded(given, surroundings or Surroundings())
    except HeptalogError as error:
        raise Found(bad(game, 0, error, placed(error))) from error
    return Prepared(whole_game(events, records, endings), endings, filled)


class Given(NamedTuple):
    """A good game: its events as its source has them, the contents of those that have a place in a chain, its fold."""

    events: list[Event]
    contents: list[bytes]
    fold: Fold
    fields: list[bytes]  # of their bodies, canonical; those that are at hand


def _plainly_read(game: Game) -> Given | None:
    """A file of a game that is plain and right in everything; None where it is not plainly so, or is no file."""
    plain = game.plain() if isinstance(game, FileGame) else None
    if plain is None or len(plain.events) > EVENTS_PER_GAME_MAX:
        return None
    return Given(plain.events, plain.contents, plain.fold, plain.fields)


def _read(game: Game, connections: Connections) -> Given:
    """The events of a good game, examined one by one. Raises Found."""
    examiner = Examiner()
    events: list[Event] = []
    contents: list[bytes] = []
    sequence = 0
    try:
        for event, public in game.entries(connections):
            sequence = event.sequence
            if len(events) == EVENTS_PER_GAME_MAX:
                # No log takes more, so no more is read.
                raise Refused(Code.GAME_TOO_LONG, rule="api", limit=EVENTS_PER_GAME_MAX)
            content = b""
            if event.hash:
                content, public = forms_of(event)
            examiner.advance(event, public)
            if examiner.redacted is not None:
                raise examiner.redacted
            events.append(event)
            contents.append(content)
    except HeptalogError as error:
        raise Found(bad(game, examiner.accepted, error, placed(error, sequence))) from error
    assert examiner.fold is not None, "a good game has a beginning"
    return Given(events, contents, examiner.fold, [])


def _recorded(given: Given, surroundings: Surroundings) -> tuple[list[Event], list[bytes], Filled]:
    """The events as they are recorded, their records, and what is filled in.

    Where something has to be filled in that the chain covers, the chain as given cannot hold: a new one is made.
    Raises Malformed where no log takes one of them.
    """
    events = given.events
    if events[-1].hash and all(map(_is_whole, events)):
        check_form(events)
        records = _as_given(given)
        filled = Filled((), (), has_links=True)
    else:
        contents = shown_contents(events, given.fields)
        is_bare = not any(event.game_id or event.event_id or event.hash or event.previous_hash for event in events)
        events = identified(events, contents)
        check_form(events)
        events, records, filled = _completed(events, contents if is_bare else [], surroundings)
    size = max(map(len, records))
    if size > EVENT_SIZE_MAX:
        sequence = next(place for place, record in enumerate(records) if len(record) > EVENT_SIZE_MAX)
        size, limit = len(records[sequence]), EVENT_SIZE_MAX
        raise Malformed(Code.EVENT_TOO_LARGE, rule="api", size=size, limit=limit, sequence=sequence)
    return events, records, filled


def _is_whole(event: Event) -> bool:
    return bool(event.event_id and event.game_id and event.recorded_at) and not _unsealed_parts(event)


def _as_given(given: Given) -> list[bytes]:
    """The records of events that lack nothing, and whose chain holds."""
    digests = [event.hash for event in given.events]
    return records_from(given.contents, digests, GENESIS)


def _completed(
    events: list[Event], bare: list[bytes], surroundings: Surroundings
) -> tuple[list[Event], list[bytes], Filled]:
    """The events with what they lack but for their links, their records, and what they lacked.

    `bare` are their contents as they were without ids, if none had any.
    """
    completed: list[Event] = []
    times: list[int] = []
    seals: list[tuple[int, tuple[int, ...]]] = []
    for event in events:
        if unsealed := _unsealed_parts(event):
            event = replace(event, body=sealed(event.body, surroundings.salts))
            seals.append((event.sequence, unsealed))
        if not event.recorded_at:
            event = replace(event, recorded_at=surroundings.clock())
            times.append(event.sequence)
        completed.append(event)
    contents, publics = _forms(completed, bare)
    digests = links(GENESIS, publics)
    records = records_from(contents, digests, GENESIS)
    return completed, records, Filled(tuple(times), tuple(seals), has_links=False)


def _forms(events: list[Event], bare: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    """The contents of events and their public forms; `bare` are the contents of those without ids, if there are any."""
    if bare:
        # Most of an event is in it already: the rest is put between.
        with suppress(NotPlain):
            return _completed_forms(events, bare, envelope.game_id_field(events[0].game_id))
    forms = list(map(forms_of, events))
    return [content for content, _ in forms], [public for _, public in forms]


def _completed_forms(events: list[Event], bare: list[bytes], game: bytes) -> tuple[list[bytes], list[bytes]]:
    """The same made of contents without ids; `game` is the field of the game's id. Raises NotPlain."""
    contents: list[bytes] = []
    publics: list[bytes] = []
    for event, without in zip(events, bare, strict=True):
        if event.body.sealed:
            content, public = forms_of(event)
        else:
            content = public = envelope.content_with(without, event, game)
        contents.append(content)
        publics.append(public)
    return contents, publics


def _unsealed_parts(event: Event) -> tuple[int, ...]:
    """The numbers of the parts of an event that are hidden at the table and have no seal yet."""
    if not event.body.sealed:
        return ()
    parts = enumerate(part for _, part in sealable_parts(event.body))
    return tuple(number for number, part in parts if part.seal is UNSET and values_of(part))


def _without(event: Event, seals: tuple[int, ...]) -> Body:
    """The body of an event without these seals."""
    numbers = iter(range(len(list(sealable_parts(event.body)))))

    def strip(part: Sealable) -> Sealable:
        return replace(part, seal=UNSET) if next(numbers) in seals else part

    return map_parts(event.body, strip)
