"""What is fuzzed: for each kind of input its seeds, how they are spoilt, and what must be true of whatever comes of it.

A target takes the input in (True) or refuses it as one of our own failures (False). Anything else is found: another
exception, a failure that has no sentence, a deadline that passes, or something taken in that should not be:

- A *record* that decodes is the only spelling of its event. If its hash is that of its public form, then it is, under
  that hash, the event that was recorded, whole or without what its seals hide.
- A *game file* that is good and has a chain is the beginning of the recorded game with that chain.
- A signed *note* or *checkpoint* whose signature holds has the text that was signed; a *proof* that holds is the proof
  that was made; a *bundle* that is good has the events that it had. A key, public or private, has one spelling.
- A *head record* that can be read is one that was written.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from random import Random
from typing import Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from heptalog.replay import codec
from heptalog.replay.errors import HeptalogError
from heptalog.replay.events import Event
from heptalog.replay.evidence.chain import link
from heptalog.replay.evidence.seals import check_seals, check_whole
from heptalog.replay.gamefile import read_events
from heptalog.replay.registry import GAMES
from heptalog.replay.sentences import sentence
from heptalog.replay.verify import verify
from tests.fuzz.mutating import lines_spoilt, message_spoilt, spoilt, turned
from tests.support.evidence import Recorded, lines_of, recorded, redact, redacted
from tests.support.play import play

Check: TypeAlias = Callable[[bytes], bool]
Spoil: TypeAlias = Callable[[bytes, Random], bytes]


class Target(NamedTuple):
    """One kind of input; `tries` is how many of it the tests make."""

    name: str
    seeds: Callable[[], Sequence[bytes]]
    spoil: Spoil
    check: Check
    tries: int = 1000


@cache
def games() -> tuple[list[Recorded], ...]:
    """The games that are spoilt: sealed and not, of every kind."""
    return tuple(
        recorded(play(rules, seed, events_max=60).bodies, game_id=f"{rules.key}-{seed}", is_sealed=seed % 2 == 0)
        for rules in GAMES
        for seed in range(4)
    )


@cache
def _events() -> dict[bytes, Event]:
    """Every recorded event by its hash."""
    return {event.hash: event for game in games() for event, _ in game}


def taken(work: Callable[[], object]) -> bool:
    """Whether this is taken in; what is refused can be told in a sentence."""
    try:
        work()
    except HeptalogError as error:
        failure = error
    else:
        return True
    assert sentence(failure)
    return False


# Records.


@cache
def _records() -> tuple[bytes, ...]:
    return tuple(record for game in games() for _, record in game)


def _spoil_record(data: bytes, random: Random) -> bytes:
    match random.randrange(4):
        case 0:
            return spoilt(data, random)
        case 1:
            return turned(data, random, codec.CONTENT_START)
        case _:
            # The links stay as they are, so that it is the content that is tried.
            start = codec.CONTENT_START
            return data[:start] + message_spoilt(data[start:], random, [one[start:] for one in _records()[:40]])


def check_record(record: bytes) -> bool:
    """Bytes are refused, or are the one record of an event; with a hash that fits, of the event that had it."""
    if not taken(lambda: codec.decode(record)):
        return False
    event, public = codec.decode(record)
    if link(event.previous_hash, public) != event.hash:
        return False
    original = _events()[event.hash]
    if not taken(lambda: check_seals(event.body)):
        return False
    assert replace(event, body=redact(event.body)) == replace(original, body=redact(original.body))
    if taken(lambda: check_whole(event.body)):
        assert event == original
    return True


# Game files.


def _files() -> list[bytes]:
    files = [[event for event, _ in game] for game in games()]
    return [b"\n".join(lines_of(events)) for events in [*files, *(redacted(events) for events in files[::4])]]


def _spoil_file(data: bytes, random: Random) -> bytes:
    if random.random() < 0.2:
        return spoilt(data, random)
    return b"\n".join(lines_spoilt(data.split(b"\n"), random))


def check_file(data: bytes) -> bool:
    """A file is verified to its end, or to a fault; with a chain that holds it is the beginning of a recorded one."""
    events: list[Event] = []

    def kept() -> Iterator[tuple[Event, None]]:
        for event in read_events(data.split(b"\n")):
            events.append(event)
            yield event, None

    report = verify(kept())
    if report.error is not None:
        assert sentence(report.error)
        return False
    for event in events:
        if event.hash:
            assert event == _events()[event.hash]
    return True


LIBRARY: Final[tuple[Target, ...]] = (
    Target("record", _records, _spoil_record, check_record, tries=4000),
    Target("file", _files, _spoil_file, check_file, tries=600),
)
