"""The harness that measures us beside others: turns, those who fall, figures, and the page."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec import json

from bench.peers.page import page
from bench.peers.peer import Figures, Settings, quantile
from bench.peers.results import PAGE, RESULTS, Results, Section, Told
from bench.peers.running import Fallen, take_turns
from bench.peers.shapes import Batch, Fact, Shape
from bench.peers.stores import Append, StorePeer, figures_of, load
from tests.support.documents import ROOT

GAMES = [[Fact("Played", bytes([game, place]), "{}") for place in range(12)] for game in range(3)]


class Scripted:
    """A peer that gives what it is told to, and falls where that is nothing."""

    def __init__(self, rates: dict[str, list[float]], asked: list[str], name: str) -> None:
        self._rates = rates
        self._asked = asked
        self._name = name

    def measure(self, work: str) -> Figures:
        self._asked.append(f"{self._name} {work}")
        rates = self._rates[work]
        if not rates:
            raise Fallen("no more")
        return Figures(rates.pop(0), 1.0, 2.0)


def told(name: str, *works: str) -> Told:
    return Told(name, "1.0", "a note", list(works))


def results_of(name: str, section: Section) -> Results:
    return Results(taken_on="2026-01-01", machine="a machine", rounds=3, is_quick=False, sections={name: section})


def rounds_of(*rates: float, **others: float) -> list[Figures]:
    return [Figures(rate, 1.0, 2.0, others) for rate in rates]


def test_each_work_is_done_by_all_in_turn_and_another_one_begins() -> None:
    asked: list[str] = []
    peers = {name: Scripted({"x": [1.0, 2.0], "y": [3.0, 4.0]}, asked, name) for name in ("a", "b")}
    section = take_turns(peers, {name: told(name, "x", "y") for name in peers}, rounds=2)
    assert asked == ["a x", "b x", "b y", "a y", "b x", "a x", "a y", "b y"]
    assert section.rates("x", "a") == [1.0, 2.0]
    assert section.rates("y", "b") == [3.0, 4.0]


def test_a_work_is_asked_only_of_those_who_have_it() -> None:
    asked: list[str] = []
    peers = {"a": Scripted({"x": [1.0]}, asked, "a"), "b": Scripted({"x": [1.0], "y": [1.0]}, asked, "b")}
    section = take_turns(peers, {"a": told("a", "x"), "b": told("b", "x", "y")}, rounds=1)
    assert "a y" not in asked
    assert section.rates("y", "a") == []


def test_who_falls_is_reported_and_asked_no_more() -> None:
    asked: list[str] = []
    peers = {"a": Scripted({"x": [1.0, 1.0]}, asked, "a"), "b": Scripted({"x": [5.0]}, asked, "b")}
    section = take_turns(peers, {name: told(f"Peer {name}", "x") for name in peers}, rounds=3)
    assert asked.count("b x") == 2
    assert section.rates("x", "Peer b") == [5.0]
    assert section.absent["b"] == "Peer b fell at 'x': no more"
    assert "Left out: `b`: Peer b fell" in page(results_of("appends", section))


def test_a_ratio_is_the_median_of_the_ratios_within_each_round() -> None:
    # The machine slows down to a tenth in the last round, and both with it.
    section = Section([], {}, {"x": {"ours": rounds_of(200, 220, 21), "theirs": rounds_of(100, 100, 10)}})
    assert section.ratio("x", "ours", "theirs") == pytest.approx(2.1)
    assert section.ratio("x", "ours", "nobody") is None


def test_what_does_not_end_in_the_counted_time_does_not_count() -> None:
    appends = [(0.0, 0.9), (0.9, 1.0), (1.0, 1.5), (1.5, 2.0)]
    figures = figures_of(appends, size=10, counts_from=1.0)
    assert figures.rate == pytest.approx(30.0)
    assert figures.p50 == pytest.approx(500.0)


def test_a_quantile_is_one_of_the_values() -> None:
    assert quantile([1.0, 2.0, 3.0], 0.99) == 3.0
    assert quantile([1.0], 0.5) == 1.0


class Kept:
    """A store in memory that holds whoever appends to its contract."""

    def __init__(self) -> None:
        self.streams: dict[uuid.UUID, list[Fact]] = {}

    def connected(self) -> Append:
        def append(batch: Batch) -> int:
            stream = self.streams.setdefault(batch.stream, [])
            assert len(stream) == batch.first
            assert batch.after == len(stream) - 1
            stream.extend(batch.facts)
            return len(stream) - 1

        return append

    def settle(self) -> None:
        pass

    def read_all(self) -> int:
        return sum(map(len, self.streams.values()))

    def read_one(self, stream: uuid.UUID) -> int:
        return len(self.streams[stream])


@pytest.mark.parametrize("shape", [Shape(1, 1), Shape(3, 1), Shape(2, 5)])
def test_callers_append_whole_batches_in_order(shape: Shape) -> None:
    store = Kept()
    figures = load(shape, GAMES, 0.01, store.connected)
    assert figures.rate > 0
    assert store.streams
    for stream in store.streams.values():
        assert len(stream) % shape.size == 0
        assert stream in [game[: len(stream)] for game in GAMES]


def test_what_a_caller_meets_is_raised() -> None:
    def connected() -> Append:
        raise ConnectionError("refused")

    with pytest.raises(ConnectionError, match="refused"):
        load(Shape(4, 1), GAMES, 0.01, connected)


def test_a_store_is_filled_before_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "facts.json").write_text('[[["Played", "AAE=", "{}"], ["Played", "AAI=", "{}"]]]')
    kept = Kept()

    class Peer(StorePeer):
        name = "kept"
        note = ""
        version = "1"

        @contextmanager
        def opened(self) -> Iterator[Kept]:
            yield kept

    peer = Peer(Settings(tmp_path, tmp_path, seconds=0.0, postgres=0))
    assert peer.measure("read one game").rate > 0
    assert kept.read_all() == 2


def test_answers_that_differ_are_told() -> None:
    figures = {
        "equal": {"ours": rounds_of(9, rows=3, sum=7), "theirs": rounds_of(3, rows=3, sum=7)},
        "unequal": {"ours": rounds_of(9, rows=3, sum=7), "theirs": rounds_of(3, rows=3, sum=8)},
    }
    text = page(results_of("queries", Section([told("ours"), told("theirs")], {}, figures)))
    assert "| equal | 3 | 1.00 | 1.00 (3.00×) |" in text
    assert "| unequal (**answers differ**) |" in text


def test_a_game_is_held_against_the_slowest_of_ours() -> None:
    figures = {
        "up, rules": {"ours": rounds_of(400, actions=500)},
        "rocks, rules": {"ours": rounds_of(300, actions=300)},
        "up, verify": {"ours": rounds_of(150, actions=150)},
        "chess": {"theirs": rounds_of(100, actions=100)},
    }
    text = page(results_of("replay", Section([told("ours"), told("theirs")], {}, figures)))
    assert "| theirs | chess | 100 | 100 | 3.00× | 1.50× |" in text


def test_one_caller_is_held_against_all_floors_in_turn() -> None:
    names = ("ours", "gRPC echo", "DuckDB")
    # The machine slows down to a tenth in the last round.
    alone = {
        "ours": rounds_of(100, 130, 11),
        "gRPC echo": rounds_of(600, 600, 60),
        "DuckDB": rounds_of(300, 300, 30),
    }
    together = {"ours": rounds_of(900), "gRPC echo": rounds_of(9), "DuckDB": rounds_of(9)}
    text = page(results_of("appends", Section(list(map(told, names)), {}, {"1 caller": alone, "4 callers": together})))
    assert "| one caller | gRPC echo + DuckDB | ours |\n| --- | --- | --- |\n| 1 caller | 200 | 0.55× |\n\n" in text


def test_nobody_is_held_against_floors_that_were_not_measured() -> None:
    figures = {"1 caller": {"ours": rounds_of(100), "gRPC echo": rounds_of(600)}}
    assert "one caller" not in page(results_of("appends", Section([told("ours"), told("gRPC echo")], {}, figures)))


def test_the_page_is_that_of_the_results() -> None:
    results = json.decode((ROOT / RESULTS).read_bytes(), type=Results)
    assert (ROOT / PAGE).read_text() == page(results), "make bench writes both"
