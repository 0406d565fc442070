"""Reading back: forwards, backwards, from anywhere, so many; and one moment from beginning to end."""

from collections.abc import Callable
from itertools import islice
from threading import Event, Thread
from typing import Any

import pytest

from heptalog.replay.errors import Code, Unavailable
from heptalog.replay.registry import GAMES
from heptalog.service.store import Ending, LogStore, Reading, Status, Stored, duck_read
from tests.contract.given import appended, as_stored, begin, fill, game, refusals
from tests.support.recording import batch_of, batches_of, recorded_game

SPANS = [
    (start, limit, is_backwards)
    for start in (None, 0, 1, 2, 7, 14, 15, 16, 29, 30, 31, 2**40)
    for limit in (0, 1, 2, 6, 30, 2**40)
    for is_backwards in (False, True)
]


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers take two, then at most five events at a time, so that few events are many pieces."""
    monkeypatch.setattr(duck_read, "PIECE_FIRST", 2)
    monkeypatch.setattr(duck_read, "PIECE_MAX", 5)
    monkeypatch.setattr(duck_read, "NAMES_MAX", 1)


@pytest.mark.usefixtures("small_pieces")
def test_every_span_of_all_games(store: LogStore) -> None:
    everything = as_stored(fill(store, [game(1), game(2), game(3, length=6)], size=2))
    assert len(everything) == 30
    for start, limit, is_backwards in SPANS:
        read = store.read_all(start=start, limit=limit, is_backwards=is_backwards)
        assert list(read) == _span(everything, start, limit, lambda stored: stored.position, is_backwards=is_backwards)


@pytest.mark.usefixtures("small_pieces")
def test_every_span_of_a_game(store: LogStore) -> None:
    written = as_stored(fill(store, [game(1, length=16), game(2)], size=3))
    one = [stored for stored in written if stored.game_id == "game-1"]
    assert len(one) == 16
    for start, limit, is_backwards in SPANS:
        read = store.read_game("game-1", start=start, limit=limit, is_backwards=is_backwards)
        assert list(read) == _span(one, start, limit, lambda stored: stored.sequence, is_backwards=is_backwards)


def test_a_long_game_and_a_long_log_come_whole(store: LogStore) -> None:
    """Longer than the largest piece."""
    entries = recorded_game(GAMES[0], 0, game_id="long", event_count_max=20_000, ruling_rate=1.0)
    for batch in batches_of(entries, 5_000):
        appended(store, batch)
    assert len(entries) == 20_000
    assert list(store.read_all()) == list(store.read_game("long")) == as_stored(entries)
    assert list(store.read_all(is_backwards=True)) == as_stored(entries)[::-1]


def test_several_games_come_one_after_the_other(store: LogStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order given, each whole, however they lie in the log and however many are read at once."""
    monkeypatch.setattr(duck_read, "GAMES_AT_ONCE", 2)
    written = as_stored(fill(store, [game(number) for number in range(5)], size=2))
    names = ["game-3", "game-0", "unknown", "game-4", "game-3", "game-1"]
    expected = [stored for name in names for stored in written if stored.game_id == name]
    assert list(store.read_games(names)) == expected
    assert list(store.read_games(["unknown"])) == []
    assert list(store.read_games([])) == []


READINGS: dict[str, Callable[[LogStore], Reading[Any]]] = {
    "read_all": lambda store: store.read_all(),
    "read_all backwards": lambda store: store.read_all(is_backwards=True),
    "read_game": lambda store: store.read_game("game-1"),
    "read_games": lambda store: store.read_games(["game-1", "game-9"]),
    "read_game backwards": lambda store: store.read_game("game-1", is_backwards=True),
    "read_game not there yet": lambda store: store.read_game("game-9"),
    "heads": lambda store: store.heads(),
    "endings": lambda store: store.endings("game-1"),
    "refusals": lambda store: store.refusals(),
    "refusals of a game": lambda store: store.refusals("game-1"),
    "refusals of a game but the first": lambda store: store.refusals("game-1", after=1),
}


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("reading", READINGS.values(), ids=READINGS)
@pytest.mark.parametrize("taken", [0, 1, 3])
def test_a_reader_sees_one_moment(store: LogStore, reading: Callable[[LogStore], Reading[Any]], taken: int) -> None:
    fill(store, [game(2), game(4), game(5)])
    endings = [Ending(sequence, status, (sequence,), ()) for sequence, status in enumerate([*Status, *Status, *Status])]
    store.append([batch_of(game(1)[:8], endings)], refusals(8))
    before = list(reading(store))
    reader = reading(store)
    seen = list(islice(reader, taken))
    store.append([batch_of(game(1)[8:], endings), batch_of(game(9)), begin(7)], refusals(3))
    seen += list(reader)
    assert seen == before
    assert len(list(reading(store))) > len(before)


def test_readers_see_whole_commits_while_the_writer_goes_on(store: LogStore) -> None:
    batches = [batch for number in range(8) for batch in batches_of(game(number, length=40), 4)]
    is_done = Event()
    failures: list[BaseException] = []
    counts: list[list[int]] = [[], []]

    def read(own: list[int]) -> None:
        try:
            is_last = False
            while not is_last:
                is_last = is_done.is_set()
                durable = store.position()
                positions = [stored.position for stored in store.read_all()]
                assert positions == list(range(1, len(positions) + 1))
                assert len(positions) >= durable
                own.append(len(positions))
        except BaseException as error:  # noqa: BLE001  # it is raised again by the test itself
            failures.append(error)

    readers = [Thread(target=read, args=[own]) for own in counts]
    for reader in readers:
        reader.start()
    try:
        ends = {0} | {head.position for batch in batches for head in appended(store, batch)}
    finally:
        is_done.set()
        for reader in readers:
            reader.join(30)
    assert failures == []
    for own in counts:
        assert own == sorted(own)
        assert set(own) <= ends
        assert own[-1] == store.position()


def test_a_reader_that_is_left_half_read_is_let_go(store: LogStore) -> None:
    fill(store, [game(1), game(2)])
    reader = store.read_all()
    assert next(reader).position == 1
    del reader
    unread = store.read_all()
    del unread
    appended(store, begin(3))
    assert store.position() == 25


@pytest.mark.parametrize("reading", [*READINGS.values(), lambda store: store.checkpoints()], ids=[*READINGS, "notes"])
@pytest.mark.parametrize("taken", [0, 1, 100])
def test_a_reading_that_is_closed_lets_go_of_its_moment(
    store: LogStore, reading: Callable[[LogStore], Reading[Any]], taken: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once, wherever it stands, and also where it was never begun: nobody waits for it to be collected."""
    store.append([batch_of(game(1)[:8], [Ending(7, Status.WON, (7,), ())]), begin(9)], refusals(3))
    held: list[object] = []
    begun, close = duck_read.Snapshot.__init__, duck_read.Snapshot.close

    def counted(snapshot: duck_read.Snapshot, *args: Any, **given: Any) -> None:
        held.append(snapshot)
        begun(snapshot, *args, **given)

    def closed(snapshot: duck_read.Snapshot) -> None:
        if snapshot in held:
            held.remove(snapshot)
        close(snapshot)

    monkeypatch.setattr(duck_read.Snapshot, "__init__", counted)
    monkeypatch.setattr(duck_read.Snapshot, "close", closed)
    reader = reading(store)
    assert len(list(islice(reader, taken))) <= taken
    reader.close()
    assert held == []
    assert list(reader) == []


def test_closing_the_store_ends_its_readers(store: LogStore, request: pytest.FixtureRequest) -> None:
    if "memory" in request.node.name:
        pytest.skip("its readers have all they need")
    fill(store, [game(number, length=400) for number in range(6)], size=400)
    reader = store.read_all()
    next(reader)
    store.close()
    with pytest.raises(Unavailable) as caught:
        list(reader)
    assert caught.value.code is Code.DRAINING


def _span(
    items: list[Stored], start: int | None, limit: int, place: Callable[[Stored], int], *, is_backwards: bool
) -> list[Stored]:
    """What a reading must give, in other words than the stores'."""
    if is_backwards:
        found = [item for item in reversed(items) if start is None or place(item) <= start]
    else:
        found = [item for item in items if start is None or place(item) >= start]
    return found if limit == 0 else [item for count, item in enumerate(found) if count < limit]
