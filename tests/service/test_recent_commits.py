"""What follows a commit: the last records are remembered within bounds, and every listener hears of it."""

from collections.abc import Sequence

import pytest

from heptalog.replay.registry import GAMES
from heptalog.service.commits import Commits
from heptalog.service.recent import Recent
from heptalog.service.store import Batch, Head, Stored
from tests.support.recording import batches_of, recorded_game

BATCHES = batches_of(recorded_game(GAMES[0], 1, event_count_max=60), 4)


def heads_of(batches: Sequence[Batch], start: int = 1) -> list[Head]:
    """What the store answers where these are the next."""
    heads = []
    last = start - 1
    for batch in batches:
        last += len(batch.entries)
        heads.append(Head(batch.entries[-1].event.sequence, batch.entries[-1].event.hash, last))
    return heads


@pytest.mark.parametrize(("records_max", "bytes_max"), [(20, 1 << 30), (10_000, 4_000), (10_000, 1)])
def test_only_so_much_is_remembered_and_always_the_last(records_max: int, bytes_max: int) -> None:
    recent = Recent(records_max, bytes_max)
    records: list[Stored] = []
    heads = heads_of(BATCHES)
    for batch, head in zip(BATCHES, heads, strict=True):
        recent.add([batch], [head])
        kept = [at for at in range(1, head.position + 1) if recent.read(at, head.position)]
        assert kept == list(range(kept[0], head.position + 1))
        records = recent.read(kept[0], head.position)
        assert [stored.position for stored in records] == kept
        assert len(records) <= records_max
        assert sum(len(stored.record) for stored in records) <= bytes_max or len(records) == 1
        assert records[-1].record == batch.entries[-1].record
    assert len(records) < 60


def test_what_is_no_continuation_takes_the_place_of_all() -> None:
    recent = Recent()
    recent.add(BATCHES[:2], heads_of(BATCHES[:2]))
    recent.add(BATCHES[2:3], heads_of(BATCHES[2:3], start=20))
    assert not recent.read(1, 8)
    assert [stored.position for stored in recent.read(20, 23)] == [20, 21, 22, 23]


def test_one_listener_that_fails_keeps_no_other_from_hearing(caplog: pytest.LogCaptureFixture) -> None:
    heard: list[int] = []

    def fail() -> None:
        raise ZeroDivisionError

    commits = Commits()
    commits.listen(fail)
    commits.listen(lambda: heard.append(len(commits.recent.read(1, 4))))
    for _ in range(2):
        commits.committed(BATCHES[:1], heads_of(BATCHES[:1]))
    assert heard == [4, 4]
    assert caplog.text.count("was not told of a commit") == 1
