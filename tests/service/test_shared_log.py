"""Two servers on one log: each knows what the other has recorded once it matters."""

from collections.abc import Iterator

import pytest

from heptalog.replay.errors import Code, Conflict, Refused
from heptalog.replay.events import Event
from heptalog.service.appends import Append
from heptalog.service.store import NO_GAME
from heptalog.service.store.memory import MemoryStore
from tests.service.asking import FOREIGN, ROCKS, check_positions, check_record, new_game, remark
from tests.support.serving import WAIT_SECONDS, Service


class Pair:
    """Our server and theirs, on one log; our live game does not see what they do."""

    def __init__(self, ours: Service, theirs: Service) -> None:
        self.service = ours
        self.ours = ours.client()
        self.theirs = theirs.client()


@pytest.fixture
def pair() -> Iterator[Pair]:
    """A game that both know, with one remark."""
    store = MemoryStore()
    with Service(store) as ours, Service(store) as theirs:
        pair = Pair(ours, theirs)
        new_game(pair.ours, remark_count=1)
        assert pair.theirs.append(Append("game", 0, (remark("r1"),))).is_deduplicated
        yield pair


def test_a_head_that_another_server_moved_is_told_as_it_is(pair: Pair) -> None:
    head = pair.theirs.append(Append("game", 1, (remark("x"), remark("y")))).head
    with pytest.raises(Conflict) as conflict:
        pair.ours.append(Append("game", 2, (remark("a"),)))
    assert conflict.value.code is Code.SEQUENCE_MISMATCH
    assert (conflict.value.facts["actual"], conflict.value.facts["head_hash"]) == (3, head.hash.hex())
    assert pair.ours.append(Append("game", 3, (remark("a"),), expected_hash=head.hash)).head.sequence == 4
    check_record(pair.ours, "game", 5)


def test_who_names_the_true_head_goes_on_at_once(pair: Pair) -> None:
    head = pair.theirs.append(Append("game", 1, (remark("x"),))).head
    assert pair.ours.append(Append("game", 2, (remark("a"),), expected_hash=head.hash)).head.sequence == 3
    with pytest.raises(Refused):
        pair.theirs.append(Append("game", 3, (Event(0, FOREIGN),)))
    assert pair.theirs.append(Append("game", 3, (remark("b"),))).head.sequence == 4
    check_record(pair.ours, "game", 5)


def test_a_true_and_a_stale_head_in_one_commit(pair: Pair) -> None:
    writer = pair.service.app.writer
    with pair.service.store.held() as hold:
        writer.submit(Append("ballast", NO_GAME, (Event(0, ROCKS),)))
        hold.wait_until_reached()
        pair.theirs.append(Append("game", 1, (remark("x"),)))
        # The second one stands on the first, which cannot come in; the last one says so itself.
        futures = [
            writer.submit(Append("game", expected, (remark(name),)))
            for expected, name in ((1, "a"), (2, "b"), (1, "a"), (9, "c"), (2, "d"))
        ]
    errors = [future.exception(WAIT_SECONDS) for future in futures]
    assert [type(error) for error in errors] == [Conflict, Conflict, Conflict, Conflict, type(None)]
    assert futures[-1].result().head.sequence == 3
    check_record(pair.ours, "game", 4)
    check_positions(pair.ours, 5)


def test_a_retry_that_went_to_another_server_first_is_known(pair: Pair) -> None:
    append = Append("game", 1, (remark("a"), remark("b")))
    receipt = pair.theirs.append(append)
    pair.theirs.append(Append("game", 3, (remark("x"),)))
    again = pair.ours.append(append)
    assert again.is_deduplicated
    assert (again.head, again.sequences) == (receipt.head, receipt.sequences)
    check_record(pair.ours, "game", 5)


@pytest.mark.parametrize(
    ("events", "code"),
    [
        ((remark("a", "something else"),), Code.EVENT_ID_REUSED),
        ((remark("a"), remark("b")), Code.BATCH_PARTLY_KNOWN),
        ((remark("b"),), Code.SEQUENCE_MISMATCH),
    ],
)
def test_what_is_no_retry_is_told_so(pair: Pair, events: tuple[Event, ...], code: Code) -> None:
    pair.theirs.append(Append("game", 1, (remark("a"),)))
    with pytest.raises(Conflict) as conflict:
        pair.ours.append(Append("game", 1, events))
    assert conflict.value.code is code
    assert pair.ours.append(Append("game", 2, (remark("c"),))).head.sequence == 3


def test_an_opening_that_went_to_another_server_first_is_known(pair: Pair) -> None:
    opening = Append("new", NO_GAME, (Event(0, ROCKS, event_id="start"),))

    def intrude() -> None:
        pair.theirs.append(opening)

    pair.service.store.intruder = intrude
    receipt = pair.ours.append(opening)
    assert (receipt.is_deduplicated, receipt.head.sequence) == (True, 0)
    check_record(pair.ours, "new", 1)
