"""A whole game file at once: what is plain is taken as it is read line by line, and nothing else is taken."""

import json
import re
from collections.abc import Callable, Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from heptalog.replay.bodies import NotPlain, field_of
from heptalog.replay.codec import chained, joined
from heptalog.replay.errors import HeptalogError
from heptalog.replay.events import Event, GameStarted, NoteAdded
from heptalog.replay.evidence.chain import GENESIS
from heptalog.replay.fold import fold_all
from heptalog.replay.gamefile import encode_line, read_events
from heptalog.replay.plainfile import plain_file
from heptalog.replay.registry import REGISTRY
from heptalog.replay.rules import AnyRules
from heptalog.replay.verify import verify
from tests.support.evidence import lines_of, recorded, redacted
from tests.support.play import EACH_GAME, Game, games, play

UP = REGISTRY["seven_up", 1]


def whole(rules: AnyRules = UP, seed: int = 3, *, length: int = 60) -> list[bytes]:
    """The lines of a game as a service records it."""
    return lines_of(event for event, _ in recorded(play(rules, seed, events_max=length).bodies))


def bare(rules: AnyRules = UP, seed: int = 3, *, length: int = 60) -> list[bytes]:
    """The lines of a game as somebody notes it down."""
    return lines_of(map(Event, range(length), play(rules, seed, events_max=length).bodies))


def exactly(lines: Sequence[bytes]) -> list[Event] | None:
    """The events of a good game that is told whole, read and examined one by one."""
    try:
        events = list(read_events(lines))
    except HeptalogError:
        return None
    return events if verify((event, None) for event in events).ok else None


@EACH_GAME
@settings(max_examples=25)
@given(data=st.data())
def test_a_game_that_is_spelt_as_we_write_it_is_plain(rules: AnyRules, data: st.DataObject) -> None:
    game: Game = data.draw(games(rules, events_max=200))
    made = recorded(
        game.bodies,
        game_id=data.draw(st.sampled_from(["game", "{8a6f}", 'a "quoted" name'])),
        is_sealed=data.draw(st.booleans()),
        with_times=data.draw(st.booleans()),
    )
    plain = plain_file(lines_of(event for event, _ in made))
    assert plain is not None
    assert plain.events == [event for event, _ in made]
    assert [joined(*links, content) for links, content in zip(links_of(plain.events), plain.contents, strict=True)] == [
        record for _, record in made
    ]
    assert plain.fold.states == game.fold.states


@EACH_GAME
@settings(max_examples=10)
@given(data=st.data())
def test_a_bare_game_is_plain_too(rules: AnyRules, data: st.DataObject) -> None:
    game: Game = data.draw(games(rules, events_max=200))
    events = list(map(Event, range(len(game.bodies)), game.bodies))
    plain = plain_file(lines_of(events))
    assert plain is not None
    assert (plain.events, plain.contents) == (events, [])
    assert plain.fold.states == game.fold.states


def links_of(events: Sequence[Event]) -> list[tuple[bytes, bytes]]:
    return [(event.previous_hash, event.hash) for event in events]


@pytest.mark.parametrize("lines_made", [whole, bare])
@EACH_GAME
def test_what_is_changed_is_taken_only_where_it_is_good(
    rules: AnyRules, lines_made: Callable[..., list[bytes]]
) -> None:
    lines = lines_made(rules, 4, length=40)
    random = Random(7)
    taken = 0
    for _ in range(1500):
        foul = list(lines)
        place = random.randrange(len(foul))
        line = bytearray(foul[place])
        match random.randrange(6):
            case 0:
                del foul[place]
            case 1:
                foul.insert(place, foul[random.randrange(len(foul))])
            case 2:
                del line[random.randrange(len(line)) :][: random.randrange(1, 9)]
                foul[place] = bytes(line)
            case 3:
                line.insert(random.randrange(len(line)), random.choice(b' "{}[],:0aA=\\\t\r'))
                foul[place] = bytes(line)
            case _:
                line[random.randrange(len(line))] = random.choice(b'0123456789abcXYZ ,:"{}=/+-TA')
                foul[place] = bytes(line)
        plain = plain_file(foul)
        if plain is not None:
            taken += 1
            assert plain.events == exactly(foul)
            assert plain.fold.states == fold_all(event.body for event in plain.events).states
    assert taken < 1500


def test_nothing_that_could_hide_a_value_is_remembered() -> None:
    from heptalog.replay import plainfile

    events = list(read_events(whole()))
    assert any(event.body.sealed for event in events)
    for event in events:
        text = b',"' + encode_line(Event(0, event.body)).partition(b',"')[2]
        if event.body.sealed or isinstance(event.body, GameStarted):
            with pytest.raises(NotPlain):
                plainfile._small_body(text)
        else:
            assert plainfile._small_body(text) == (event.body, field_of(event.body))


def with_line(lines: list[bytes], place: int, change: Callable[[bytes], bytes]) -> list[bytes]:
    return [*lines[:place], change(lines[place]), *lines[place + 1 :]]


def twice(line: bytes) -> bytes:
    """The line with its sequence in it a second time."""
    start = line.index(b",")
    return line[:start] + line[:start].replace(b"{", b",") + line[start:]


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: [],
        lambda lines: lines[1:],
        lambda lines: [*lines[:9], *lines[10:]],
        lambda lines: [*lines, lines[-1]],
        lambda lines: [*lines[:5], b"", *lines[5:]],
        lambda lines: with_line(lines, 5, lambda line: b" " + line),
        lambda lines: with_line(lines, 5, lambda line: line + b"\r"),
        lambda lines: with_line(lines, 5, lambda line: json.dumps(json.loads(line)).encode()),
        lambda lines: with_line(lines, 5, twice),
        lambda lines: with_line(lines, 5, lambda line: re.sub(rb'("seat":\d)', rb"\1,\1", line)),
        lambda lines: with_line(lines, 5, lambda line: line.replace(b'"hash":"', b'"hash":"A')),
        lambda lines: with_line(lines, 5, lambda line: line.replace(b"game-5", b"game-4")),
        lambda lines: with_line(lines, 5, lambda line: line.replace(b'"game"', b'"name"')),
        lambda lines: with_line(lines, 5, lambda line: line.replace(b"2026", b"1969")),
    ],
    ids=[
        "nothing", "no beginning", "a gap", "an event again", "a blank line", "a blank before", "a blank behind",
        "other spelling", "a name twice", "a name twice in a body", "bytes in other spelling", "an id again",
        "two games", "a time before 1970",
    ],
)  # fmt: skip
def test_what_is_not_plain_is_left_to_the_exact_way(change: Callable[[list[bytes]], list[bytes]]) -> None:
    assert plain_file(whole()) is not None
    assert plain_file(change(whole())) is None


def test_a_redacted_game_is_left_to_the_exact_way() -> None:
    events = [event for event, _ in recorded(play(UP, 3, events_max=60).bodies)]
    assert plain_file(lines_of(redacted(events))) is None


def test_a_chain_in_part_is_left_to_the_exact_way() -> None:
    events = [event for event, _ in recorded(play(UP, 3, events_max=60).bodies)]
    for place in (0, 7, len(events) - 1):
        torn = [*events[:place], replace(events[place], previous_hash=b"", hash=b""), *events[place + 1 :]]
        assert plain_file(lines_of(torn)) is None
    # The hash before it may be left out where a file is examined, but that is not how we write it.
    without = [replace(event, previous_hash=b"") for event in events]
    assert exactly(lines_of(without)) == without
    assert plain_file(lines_of(without)) is None


@pytest.mark.parametrize("name", ["hash", "previous_hash"])
@pytest.mark.parametrize("place", [0, 7, -1], ids=["first", "middle", "last"])
def test_one_link_alone_is_left_to_the_exact_way(name: str, place: int) -> None:
    events = [replace(event, previous_hash=b"", hash=b"") for event, _ in recorded(play(UP, 3, events_max=60).bodies)]
    assert plain_file(lines_of(events)) is not None
    events[place] = replace(events[place], **{name: b"abc"})
    assert plain_file(lines_of(events)) is None


def test_a_foul_is_left_to_the_exact_way() -> None:
    bodies = play(UP, 3, events_max=60).bodies
    foul = [*bodies, next(body for body in bodies if isinstance(body, GameStarted))]
    assert plain_file(lines_of(event for event, _ in recorded(foul))) is None
    assert plain_file(lines_of(map(Event, range(len(foul)), foul))) is None


def test_a_game_that_somebody_else_has_chained_is_held_against_its_own_hashes() -> None:
    event, _ = chained(Event(0, NoteAdded("a game starts otherwise")), GENESIS)
    assert plain_file([encode_line(event)]) is None


def test_a_line_that_is_too_long_is_left_to_the_exact_way() -> None:
    lines = bare()
    for size, is_taken in ((1 << 10, True), (1 << 20, False)):
        remark = encode_line(Event(len(lines), NoteAdded("x" * size)))
        assert (plain_file([*lines, remark]) is not None) is is_taken
