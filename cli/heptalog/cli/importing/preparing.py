"""A game made ready for a log: examined, completed, chained.

What a log is given is the records, and what of them was not in the source: a log that has the game already compares it
as it was given (`sent`), since it has times and seals of its own.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from msgspec import UNSET, Struct
from msgspec.structs import replace

from heptalog.cli.connections import Connections
from heptalog.cli.examine import bad, placed
from heptalog.cli.files import Missing
from heptalog.cli.importing.batches import check_form
from heptalog.cli.sources import Game
from heptalog.cli.spreading import spread
from heptalog.cli.verdicts import Found, Verdict
from heptalog.replay.codec import decode, forms_of, joined, record_from
from heptalog.replay.errors import Code, HeptalogError, Malformed, Refused
from heptalog.replay.events import Body, Event
from heptalog.replay.evidence.chain import GENESIS
from heptalog.replay.evidence.seals import Sealable, map_parts, sealable_parts, sealed, values_of
from heptalog.replay.identity import identified
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
    examiner = Examiner()
    given = _read(game, connections, examiner)
    assert examiner.fold is not None, "a good game has a beginning"
    endings = tuple(endings_of(examiner.fold))
    try:
        events, records, filled = _recorded(given, surroundings or Surroundings())
    except HeptalogError as error:
        raise Found(bad(game, 0, error, placed(error))) from error
    return Prepared(whole_game(events, records, endings), endings, filled)


class Given(NamedTuple):
    """An event as its source has it, and the content of one that has a place in a chain."""

    event: Event
    content: bytes


def _read(game: Game, connections: Connections, examiner: Examiner) -> list[Given]:
    """The events of a good game, examined. Raises Found."""
    given: list[Given] = []
    sequence = 0
    try:
        for event, public in game.entries(connections):
            sequence = event.sequence
            if len(given) == EVENTS_PER_GAME_MAX:
                # No log takes more, so no more is read.
                raise Refused(Code.GAME_TOO_LONG, rule="api", limit=EVENTS_PER_GAME_MAX)
            content = b""
            if event.hash:
                content, public = forms_of(event)
            examiner.advance(event, public)
            if examiner.redacted is not None:
                raise examiner.redacted
            given.append(Given(event, content))
    except HeptalogError as error:
        raise Found(bad(game, examiner.accepted, error, placed(error, sequence))) from error
    return given


def _recorded(given: list[Given], surroundings: Surroundings) -> tuple[list[Event], list[bytes], Filled]:
    """The events as they are recorded, their records, and what is filled in.

    Where something has to be filled in that the chain covers, the chain as given cannot hold: a new one is made.
    Raises Malformed where no log takes one of them.
    """
    events = [event for event, _ in given]
    if given[-1].event.hash and all(map(_is_whole, events)):
        check_form(events)
        records = _as_given(given)
        filled = Filled((), (), has_links=True)
    else:
        events = identified(events)
        check_form(events)
        events, records, filled = _completed(events, surroundings)
    for sequence, record in enumerate(records):
        if len(record) > EVENT_SIZE_MAX:
            size, limit = len(record), EVENT_SIZE_MAX
            raise Malformed(Code.EVENT_TOO_LARGE, rule="api", size=size, limit=limit, sequence=sequence)
    return events, records, filled


def _is_whole(event: Event) -> bool:
    return bool(event.event_id and event.game_id and event.recorded_at) and not _unsealed_parts(event)


def _as_given(given: list[Given]) -> list[bytes]:
    """The records of events that lack nothing, and whose chain holds."""
    records: list[bytes] = []
    previous = GENESIS
    for event, content in given:
        records.append(joined(previous, event.hash, content))
        previous = event.hash
    return records


def _completed(events: list[Event], surroundings: Surroundings) -> tuple[list[Event], list[bytes], Filled]:
    """The events with what they lack but for their links, their records, and what they lacked."""
    completed: list[Event] = []
    records: list[bytes] = []
    times: list[int] = []
    seals: list[tuple[int, tuple[int, ...]]] = []
    previous = GENESIS
    for event in events:
        if unsealed := _unsealed_parts(event):
            event = replace(event, body=sealed(event.body, surroundings.salts))
            seals.append((event.sequence, unsealed))
        if not event.recorded_at:
            event = replace(event, recorded_at=surroundings.clock())
            times.append(event.sequence)
        content, public = forms_of(event)
        previous, record = record_from(content, previous, public)
        completed.append(event)
        records.append(record)
    return completed, records, Filled(tuple(times), tuple(seals), has_links=False)


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
