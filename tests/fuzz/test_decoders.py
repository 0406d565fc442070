"""Whatever comes in, only our own errors come out, and what is taken in is what a second opinion takes in too.

Valid lines and records of random games are changed at random: bytes cut, put in and turned round; parts of the JSON
replaced, renamed and repeated. What ever failed is kept in `corpus` and tried first.
"""

import json
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import pytest
from google.protobuf import json_format
from hypothesis import given, settings
from hypothesis import strategies as st

from heptalog.replay import codec
from heptalog.replay.errors import HeptalogError, Malformed
from heptalog.replay.events import CardHand, Event
from heptalog.replay.gamefile import decode_line, encode_line, read_events
from heptalog.replay.registry import GAMES
from heptalog.replay.sentences import sentence
from heptalog.replay.seven_up.events import CardsRun
from heptalog.replay.verify import Examiner, verify
from heptalog.v1 import event_pb2 as pb
from tests.fuzz.mutating import lines_spoilt, spoilt, turned
from tests.support.evidence import Recorded, lines_of, recorded, redacted
from tests.support.play import play

T = TypeVar("T")

CORPUS = [path for path in sorted((Path(__file__).parent / "corpus").iterdir()) if path.suffix in (".line", ".record")]
NAMES = ("Z", "@", "seat", "card", "noteAdded", "turnPassed", "hash", "", "seal")
LEAVES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        3,
        2**31,
        2**32,
        2**32 - 1,
        10**30,
        0.0,
        1.5,
        "",
        "7D",
        "X1",
        "6-4",
        "LEFT",
        "1",
        "é",
    ),
    *([], {}, [[]], [None], {"": 1}, {"seat": 1}, ["7D", "7D"], "A" * 44, "AAAA", "2026-01-31T12:00:00Z"),
)


@cache
def games() -> tuple[list[Recorded], ...]:
    """The games that are spoilt."""
    return tuple(
        recorded(play(rules, seed, events_max=60).bodies, is_sealed=seed % 2 == 0)
        for rules in GAMES
        for seed in range(6)
    )


randoms = st.integers(0, 2**64).map(Random)


@settings(max_examples=1_500)
@given(randoms)
def test_a_line_of_changed_bytes(random: Random) -> None:
    (line,) = lines_of([random.choice(random.choice(games())).event])
    check_line(spoilt(line, random))


@settings(max_examples=2_500)
@given(randoms)
def test_a_line_of_changed_parts(random: Random) -> None:
    (line,) = lines_of([random.choice(random.choice(games())).event])
    tree = json.loads(line)
    for _ in range(random.randrange(1, 4)):
        _spoil_tree(tree, random)
    text = json.dumps(tree, ensure_ascii=random.random() < 0.5, separators=random.choice(((",", ":"), (", ", ": "))))
    if random.random() < 0.2:
        # A dict cannot hold a name twice, a text can.
        text = text.replace('"Z', '"seat').replace("@", random.choice(list(tree) or [""]))
    check_line(text.encode())


@settings(max_examples=500)
@given(st.binary(max_size=200))
def test_a_line_of_any_bytes(line: bytes) -> None:
    check_line(line)
    check_record(line)


@settings(max_examples=2_000)
@given(randoms)
def test_a_record_of_changed_bytes(random: Random) -> None:
    record = random.choice(random.choice(games())).record
    check_record(spoilt(record, random) if random.random() < 0.5 else turned(record, random, codec.CONTENT_START))


@settings(max_examples=300)
@given(randoms)
def test_a_file_with_changed_lines(random: Random) -> None:
    events = [event for event, _ in random.choice(games())]
    lines = lines_of(redacted(events) if random.random() < 0.3 else events)
    lines = lines_spoilt(lines, random)
    check_file(lines)


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_what_failed_once(path: Path) -> None:
    data = path.read_bytes()
    check_line(data.rstrip(b"\n"))
    check_record(data)
    check_file(data.split(b"\n"))
    if path.name.startswith("refused-"):
        with pytest.raises(HeptalogError):
            (codec.decode if path.suffix == ".record" else decode_line)(data.rstrip(b"\n"))


def check_line(line: bytes) -> None:
    """A line is refused as malformed, or is an event in every form there is."""
    event = _tried(lambda: decode_line(line), Malformed)
    if event is not None:
        if _has_its_hands(event):
            assert json_format.Parse(line, pb.Event()) == codec.message_of(event)
        check_event(event)


def check_record(record: bytes) -> None:
    """Bytes are refused, or are the one record of an event."""
    entry = _tried(lambda: codec.decode(record))
    if entry is not None:
        event, public = entry
        if _has_its_hands(event):
            assert codec.encode(event) == record
            assert codec.public_form(event) == public
        check_event(event)
    _tried(lambda: codec.event_of(codec.parse(record)))


def _has_its_hands(event: Event) -> bool:
    """Whether no hand is missing from a run: a struct cannot tell that from an empty one. The rules refuse both."""
    return not (isinstance(event.body, CardsRun) and CardHand() in (event.body.elder, event.body.dealer))


def check_event(event: Event) -> None:
    """An event that could be read can be written, and examined in any game without another kind of failure."""
    assert codec.event_of(codec.message_of(event)) == event
    assert decode_line(encode_line(event)) == event
    for game in games()[::4]:
        examiner = Examiner()
        for earlier, _ in game[: min(event.sequence, 8)]:
            examiner.advance(earlier)
        if examiner.fold is not None:
            fold = examiner.fold
            _tried(lambda fold=fold: fold.check(event.body))  # type: ignore[misc]
        _tried(lambda examiner=examiner: examiner.advance(event))  # type: ignore[misc]


def _tried(call: Callable[[], T], kind: type[HeptalogError] = HeptalogError) -> T | None:
    """What a call gives, or nothing where it is refused, which can be told in a sentence."""
    try:
        return call()
    except kind as error:
        told = sentence(error)
    assert told
    return None


def check_file(lines: list[bytes]) -> None:
    """A file is verified to its end, or to a fault with its place."""
    report = verify((event, None) for event in read_events(lines))
    assert report.ok == (report.error is None)
    if report.error is not None:
        assert 0 <= report.sequence < 2**32
        assert 1 <= report.error.facts.get("line", 1) <= max(1, len(lines))  # type: ignore[operator]
        assert sentence(report.error)


def _spoil_tree(tree: Any, random: Random) -> None:
    """Change one part, however deep."""
    while True:
        if not isinstance(tree, dict | list) or not tree:
            return
        key = random.choice(list(tree)) if isinstance(tree, dict) else random.randrange(len(tree))
        if isinstance(tree[key], dict | list) and tree[key] and random.random() < 0.7:
            tree = tree[key]
            continue
        match random.randrange(4):
            case 0:
                del tree[key]
            case 1 if isinstance(tree, dict):
                tree[random.choice(NAMES)] = tree.pop(key)
            case 2 if isinstance(tree, list):
                tree.append(deepcopy(tree[key]))
            case _:
                tree[key] = deepcopy(random.choice(LEAVES))
        return
