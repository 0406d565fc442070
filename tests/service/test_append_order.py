"""What is wrong with a batch is told of the first event that is wrong, and then nothing of it has happened."""

from collections.abc import Callable
from itertools import permutations

import pytest
from msgspec.structs import replace

from heptalog.replay import codec
from heptalog.replay.errors import Code, HeptalogError
from heptalog.replay.events import Event, NoteAdded
from heptalog.service.appends import Append
from heptalog.service.config import EVENT_SIZE_MAX
from heptalog.service.store import NO_GAME
from tests.service.asking import FOREIGN, ROCKS, check_record, remark
from tests.support.evidence import recorded
from tests.support.serving import Service

COUNT = 5


def foreign(event: Event) -> Event:
    """What the rules refuse; it has no hash, so that it is the rules that say no."""
    return replace(event, body=FOREIGN, hash=b"", previous_hash=b"")


def unlinked(event: Event) -> Event:
    """With a hash that is not its own."""
    return replace(event, hash=bytes(32))


def large(event: Event) -> Event:
    """As it was sent it is small enough, and with what the server fills in it is not."""
    return Event(0, NoteAdded("x" * (EVENT_SIZE_MAX - 60)), event_id=event.event_id)


FAULTS: dict[Callable[[Event], Event], Code] = {
    foreign: Code.EVENT_FOREIGN,
    unlinked: Code.CHAIN_BROKEN,
    large: Code.EVENT_TOO_LARGE,
}


def events_of(game_id: str) -> list[Event]:
    """The events of a small game, with their hashes."""
    bodies = [ROCKS, *(remark(f"n{number}").body for number in range(1, COUNT))]
    return [event for event, _ in recorded(bodies, game_id=game_id)]


@pytest.mark.parametrize(("earlier", "later"), list(permutations(FAULTS, 2)))
@pytest.mark.parametrize("is_new", [True, False], ids=["new", "old"])
@pytest.mark.parametrize("place", [1, 2])
def test_the_first_fault_is_the_one_that_is_told(
    each_service: Service,
    place: int,
    is_new: bool,
    earlier: Callable[[Event], Event],
    later: Callable[[Event], Event],
) -> None:
    client = each_service.client()
    good = events_of("game")
    first = 0 if is_new else 1
    if not is_new:
        client.append(Append("game", NO_GAME, (good[0],), is_imported=True))
    bad = list(good[first:])
    bad[place] = earlier(bad[place])
    bad[place + 1] = later(bad[place + 1])
    with pytest.raises(HeptalogError) as told:
        client.append(Append("game", first - 1, tuple(bad), is_imported=True))
    assert (told.value.code, int(str(told.value.facts["index"]))) == (FAULTS[earlier], place)
    # As if it had not been: the very same without its faults goes on where the game was.
    receipt = client.append(Append("game", first - 1, tuple(good[first:]), is_imported=True))
    assert (receipt.is_deduplicated, receipt.head.sequence) == (False, COUNT - 1)
    check_record(client, "game", COUNT)


def test_all_of_an_append_is_accepted_at_once(service: Service) -> None:
    client = service.client()
    client.append(Append("game", NO_GAME, (Event(0, ROCKS), remark("a"), remark("b"))))
    client.append(Append("game", 2, (remark("c"),)))
    times = [codec.decode(stored.record)[0].recorded_at for stored in client.read("game")]
    assert times[0] == times[1] == times[2] < times[3]
