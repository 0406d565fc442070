"""A whole game at once is what it is event by event: the same report, the same states, whatever is in its records.

The quick way only finds that a game is good. Whatever it takes the exact way must take, with the very same meaning; and
every game that people record must be taken by it, or it would be of no use.
"""

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any

import pytest
from google.protobuf.descriptor import Descriptor
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from heptalog.replay import codec
from heptalog.replay.bodies import KINDS, NotPlain, body_in, fields_of, varint
from heptalog.replay.envelope import CONTENT_START, are_plain_times
from heptalog.replay.errors import Code, HeptalogError
from heptalog.replay.events import Body, CardHand, CardsDealt, Event, MovesRetracted, NoteAdded
from heptalog.replay.evidence.chain import GENESIS, link
from heptalog.replay.evidence.seals import check_seals, check_whole, sealed
from heptalog.replay.hands import opened
from heptalog.replay.mapping import message_at
from heptalog.replay.plain import plain_game
from heptalog.replay.registry import GAMES
from heptalog.replay.rules import AnyRules
from heptalog.replay.seven_rocks import SEVEN_ROCKS
from heptalog.replay.seven_rocks.events import TileHand, TilesDealt
from heptalog.replay.seven_up.events import CardsDiscarded, CardsRun
from heptalog.replay.times import SECOND
from heptalog.replay.verify import Examiner, Report, verify, verify_records
from tests.chain.test_two_ways import changed, joined, split
from tests.support.evidence import counted_salts, recorded, redacted
from tests.support.play import EACH_GAME, play


def agree(records: Sequence[bytes]) -> bool:
    """Compare both ways of verifying a game; whether the quick one took it."""
    examiner = Examiner()
    events: list[Event] = []

    def entries() -> Iterable[tuple[Event, bytes]]:
        for record in records:
            event, public = codec.decode(record)
            events.append(event)
            yield event, public

    exact = verify(entries(), examiner)
    report, fold = verify_records(records)
    assert told(report) == told(exact)
    assert (fold and fold.states) == (examiner.fold and examiner.fold.states)
    game = plain_game(records)
    if game is None:
        return False
    assert exact.ok, exact
    assert examiner.fold is not None
    assert game.fold.states == examiner.fold.states
    assert game.fold.state == examiner.fold.state
    assert repr([game.first.body, *game.bodies]) == repr([event.body for event in events])
    fields = zip(game.event_ids, game.times, game.recorders, events[1:], records[1:], strict=True)
    for event_id, times, recorder, event, record in fields:
        assert event_id.decode() == event.event_id
        assert recorder[2:].decode() == event.recorded_by
        assert event_id + times + recorder in record
    return True


def told(report: Report) -> object:
    error = report.error
    return report.events, report.sequence, error and (type(error), error.code, error.rule, error.facts)


def records_of(rules: AnyRules, length: int, seed: int = 3) -> list[bytes]:
    return [record for _, record in recorded(play(rules, seed, events_max=length).bodies)]


def chained(events: Iterable[Event]) -> list[bytes]:
    """The records of events, with a chain that holds, whatever else is wrong with them."""
    records, previous = [], GENESIS
    for event in events:
        event, record = codec.chained(event, previous)
        previous = event.hash
        records.append(record)
    return records


def linked(contents: Iterable[bytes]) -> list[bytes]:
    """The records with these contents, whatever they are, in a chain that holds as far as that can be."""
    records, previous = [], GENESIS
    for content in contents:
        try:
            public = codec.decode_exactly(codec.joined(GENESIS, GENESIS, content))[1]
        except HeptalogError:
            public = content
        digest = link(previous, public)
        records.append(codec.joined(previous, digest, content))
        previous = digest
    return records


@EACH_GAME
@pytest.mark.parametrize("seed", range(4))
def test_whole_games_are_taken_at_once(rules: AnyRules, seed: int) -> None:
    records = records_of(rules, 400, seed)
    assert agree(records)
    for length in (1, 2, 127, 128, 129, 130, 256, 257):
        assert agree(records[:length])


@EACH_GAME
@pytest.mark.parametrize(("is_sealed", "with_times"), [(False, True), (True, False), (False, False)])
def test_games_without_seals_or_times_are_taken_at_once(rules: AnyRules, is_sealed: bool, with_times: bool) -> None:
    bodies = play(rules, 5, events_max=200).bodies
    assert agree([record for _, record in recorded(bodies, is_sealed=is_sealed, with_times=with_times)])


@EACH_GAME
def test_redacted_copies_and_nothing_are_left(rules: AnyRules) -> None:
    events = [event for event, _ in recorded(play(rules, 3, events_max=100).bodies)]
    assert not agree([codec.encode(copy) for copy in redacted(events)])
    assert not agree([])
    # Without a chain there are no such records.
    assert not agree([codec.encode(replace(event, previous_hash=b"", hash=b"")) for event in events])


@EACH_GAME
def test_every_change_of_one_byte_is_judged_alike(rules: AnyRules) -> None:
    records = records_of(rules, 9)
    random = Random(4)
    for index, record in enumerate(records):
        for place, byte in enumerate(record):
            other = random.choice((0, 127, 255, byte ^ 1, byte ^ 8, byte ^ 128))
            wrong = random.choice(
                (
                    record[:place] + bytes((other,)) + record[place + 1 :],
                    record[:place],
                    record[:place] + record[place + 1 :],
                    record[:place] + bytes((other,)) + record[place:],
                )
            )
            assert agree([*records[:index], wrong, *records[index + 1 :]]) == (wrong == record)


@EACH_GAME
def test_every_change_of_one_byte_is_judged_alike_where_the_chain_holds(rules: AnyRules) -> None:
    contents = [record[CONTENT_START:] for record in records_of(rules, 9)]
    random = Random(5)
    taken = 0
    for index, content in enumerate(contents):
        for place, byte in enumerate(content):
            for other in random.sample((0, 127, 255, byte ^ 1, byte ^ 2, byte ^ 8, byte ^ 128), 3):
                wrong = content[:place] + bytes((other,)) + content[place + 1 :]
                taken += agree(linked([*contents[:index], wrong, *contents[index + 1 :]]))
    # Ids, times and names may be any; whatever has a meaning of its own may not.
    assert taken > 100


@given(st.randoms(use_true_random=False), st.sampled_from(GAMES), st.integers(1, 3))
def test_fields_put_together_wrongly_are_judged_alike(draw: Random, rules: AnyRules, times: int) -> None:
    contents = [record[CONTENT_START:] for record in records_of(rules, 8)]
    index = draw.randrange(len(contents))
    parts = split(contents[index])
    for _ in range(times):
        parts = changed(parts, draw)
    contents[index] = joined(parts, draw, padding=draw.choice((0, 0, 0.1)))
    agree(linked(contents))


@EACH_GAME
def test_events_in_another_order_are_judged_alike(rules: AnyRules) -> None:
    entries = recorded(play(rules, 3, events_max=40).bodies)
    others = recorded(play(rules, 4, events_max=40).bodies, game_id="other")
    records, foreign = [record for _, record in entries], [record for _, record in others]
    events = [event for event, _ in entries]
    for index in range(len(records) - 1):
        for wrong in (
            [*records[:index], records[index + 1], records[index], *records[index + 2 :]],
            [*records[:index], *records[index + 1 :]],
            [*records[: index + 1], *records[index:]],
            [*records[:index], foreign[index], *records[index + 1 :]],
            [*records[: index + 1], *foreign[index + 1 :]],
        ):
            assert not agree(wrong)
        swapped = [*events[:index], events[index + 1], events[index], *events[index + 2 :]]
        assert not agree(chained(swapped))
        assert not agree(chained([*events[:index], *events[index + 1 :]]))


IN_PLACE: list[tuple[Callable[[Event], Event], bool]] = [
    (lambda event: replace(event, game_id="other"), False),
    (lambda event: replace(event, game_id=""), False),
    (lambda event: replace(event, sequence=event.sequence + 1), False),
    (lambda event: replace(event, sequence=0), False),
    (lambda event: replace(event, event_id="game-0"), False),
    (lambda event: replace(event, event_id="game-1"), False),
    (lambda event: replace(event, body=NoteAdded("x" * 200)), True),
    (lambda event: replace(event, body=NoteAdded("in between")), True),
    (lambda event: replace(event, body=MovesRetracted(0)), True),
    (lambda event: replace(event, event_id=""), False),
    (lambda event: replace(event, event_id="x" * 127), True),
    (lambda event: replace(event, event_id="x" * 128), False),
    (lambda event: replace(event, event_id="né"), True),
    (lambda event: replace(event, recorded_by=""), True),
    (lambda event: replace(event, recorded_by="another"), True),
    (lambda event: replace(event, recorded_by="né"), True),
    (lambda event: replace(event, recorded_by="x" * 128), False),
    (lambda event: replace(event, occurred_at=0), True),
    (lambda event: replace(event, recorded_at=0), True),
    (lambda event: replace(event, occurred_at=1), False),
    (lambda event: replace(event, recorded_at=2**28 * SECOND), True),
    (lambda event: replace(event, recorded_at=2**35 * SECOND), False),
    *[
        (lambda event, nanos=nanos: replace(event, recorded_at=1_796_061_234 * SECOND + nanos), True)
        for nanos in (0, 1, 127, 128, 2**14 - 1, 2**14, 2**21, 2**28 - 1, 2**28, 2**29, 3 * 2**28, SECOND - 1)
    ],
]


@pytest.mark.parametrize(("change", "is_taken"), IN_PLACE)
@pytest.mark.parametrize("index", [1, 5, 130])
def test_an_event_that_is_otherwise_is_judged_alike(
    change: Callable[[Event], Event], is_taken: bool, index: int
) -> None:
    bodies: list[Body] = list(play(SEVEN_ROCKS, 3, events_max=20, with_rulings=False).bodies)
    bodies += [NoteAdded("x")] * 140
    events = [event for event, _ in recorded(bodies)]
    # What comes in between takes no other event's place, so that only what is said of it can be wrong.
    events.insert(index, replace(events[index], body=NoteAdded("y"), event_id="inserted"))
    events[index] = replace(events[index], sequence=index)
    events = [*events[:index], *(replace(event, sequence=index + i) for i, event in enumerate(events[index:]))]
    if change(events[index]).body == MovesRetracted(0):
        events = events[: index + 1]
    events[index] = change(events[index])
    assert agree(chained(events)) == is_taken


def test_ids_are_told_apart_by_all_of_their_bytes() -> None:
    events = [event for event, _ in recorded(play(SEVEN_ROCKS, 3, events_max=30).bodies)]
    for ids, is_taken in (
        (lambda n: f"{'x' * n}", False),  # the first has none
        (lambda n: f"{'x' * (n + 1)}", True),
        (lambda n: f"{n:04x}", True),
        (lambda n: f"{n // 2:04x}", False),
        (lambda n: f"{n % 29}", False),
        (lambda n: chr(0xE9 + n), True),
    ):
        assert agree(chained(replace(event, event_id=ids(event.sequence)) for event in events)) == is_taken  # type: ignore[no-untyped-call]


def test_a_broken_link_anywhere_is_judged_alike() -> None:
    bodies = [*play(SEVEN_ROCKS, 3, events_max=20).bodies, *[NoteAdded("x")] * 120]
    records = [record for _, record in recorded(bodies)]
    for index in (0, 1, 2, 126, 127, 128, 129, len(records) - 1):
        for place in (2, 33, 36, 67, 70, len(records[index]) - 1):
            record = records[index]
            wrong = record[:place] + bytes((record[place] ^ 1,)) + record[place + 1 :]
            assert not agree([*records[:index], wrong, *records[index + 1 :]])


def test_a_long_game_is_taken_at_once() -> None:
    # Sequences take one byte more from 128 and from 16,384 on, and are looked up below 1,024.
    bodies: list[Body] = list(play(SEVEN_ROCKS, 3, events_max=10).bodies)
    records = [record for _, record in recorded([*bodies, *[NoteAdded("x")] * 16_500])]
    game = plain_game(records)
    assert game is not None
    assert game.fold.sequence == len(records) - 1
    assert plain_game([*records[:-1], records[-2]]) is None
    report, _ = verify_records([*records[:-1], records[-2]])
    assert report.error is not None
    assert (report.error.code, report.events) == (Code.SEQUENCE_GAP, len(records) - 1)


# Times.


@given(
    st.lists(st.sampled_from((0, 1, 2, 3, 4, 6, 8, 9, 11, 12, 16, 0x32, 0x3A, 127, 128, 219, 220, 255)), max_size=30)
)
def test_bytes_that_are_no_times_are_no_times(field: list[int]) -> None:
    times_agree(bytes(field))


@given(
    st.integers(0, 2**36),
    st.integers(0, 2**30) | st.sampled_from((0, 1, 2**28, 3 * 2**28, SECOND - 1, SECOND)),
    st.sampled_from(((0x32,), (0x3A,), (0x32, 0x3A), (0x3A, 0x32), (0x32, 0x32), (0x42,))),
    st.randoms(use_true_random=False),
)
def test_times_are_plain_where_both_ways_say_so(seconds: int, nanos: int, tags: tuple[int, ...], draw: Random) -> None:
    field = b""
    for tag in tags:
        time = b"".join(bytes((name,)) + varint(value) for name, value in ((8, seconds), (16, nanos)) if value)
        field += bytes((tag, len(time))) + time
    times_agree(field)
    if field:
        place = draw.randrange(len(field))
        times_agree(field[:place] + bytes((draw.choice((0, 1, 2, 3, 127, 128, 255)),)) + field[place + 1 :])
        times_agree(field[:place])


def times_agree(field: bytes) -> None:
    record = b"\x0a\x20" + GENESIS + b"\x12\x20" + GENESIS + field + b"\xb2\x01\0"
    if are_plain_times([field]):
        event = codec.decode_exactly(record)[0]
        assert event.event_id == event.recorded_by == event.game_id == ""
        assert are_plain_times([b"", field, b"\x3a\x06\x08\x80\x80\x80\x80\x01"])
    else:
        assert not are_plain_times([b"", field])


# Hands.

HANDS: list[Body] = [
    CardsDealt((CardHand(("7D", "TS")), CardHand(("AH", "2C"))), "9H"),
    CardsDealt((CardHand(("7D",) * 20), CardHand(("AH",) * 18))),
    TilesDealt((TileHand(("6-4", "0-0")), TileHand(("1-1",)))),
    CardsRun(CardHand(("7D", "TS")), CardHand(("AH", "2C")), "9H"),
    CardsRun(CardHand(("7D", "TS")), CardHand(("AH", "2C"))),
    CardsDiscarded(0, ("7D", "TS")),
    CardsDiscarded(3, ("7D", "TS", "2C")),
]


def hands_agree(field: bytes) -> bool:
    """Compare both ways of reading hands; whether the quick one took them."""
    try:
        body, public = opened(field)
    except NotPlain:
        return False
    exact, exact_public = body_in(field)
    check_seals(exact)
    check_whole(exact)
    assert (repr(body), public) == (repr(exact), exact_public)
    return True


@EACH_GAME
def test_what_is_dealt_is_read_by_hand(rules: AnyRules) -> None:
    kinds = {type(body) for body in HANDS}
    dealt = [event.body for event, _ in recorded(play(rules, 3, events_max=300).bodies) if type(event.body) in kinds]
    assert dealt
    for body in dealt:
        # An empty hand, of who only watches, has no seal.
        assert hands_agree(fields_of(body)[0]) == ("=()" not in repr(body))


def pb_of(body: type[Body]) -> Descriptor:
    descriptor: Any = KINDS[body].message.DESCRIPTOR
    assert isinstance(descriptor, Descriptor)
    return descriptor


def test_names_and_seals_have_the_numbers_that_are_read_by_hand() -> None:
    for body in {type(body) for body in HANDS}:
        for name in body.sealed:
            hand = message_at(pb_of(body), name) if name else pb_of(body)
            numbers = {field.name: field.number for field in hand.fields}
            assert sorted(numbers.values()) == list(range(1, len(numbers) + 1))
            assert list(numbers)[-1] == "seal"
            assert (len(numbers), next(iter(numbers)) == "seat") in ((2, False), (3, True))
            seal = message_at(hand, "seal")
            assert [(field.name, field.number) for field in seal.fields] == [
                ("salt", 1),
                ("commitment", 2),
                ("count", 3),
            ]


@pytest.mark.parametrize("body", HANDS, ids=repr)
def test_every_change_of_one_byte_of_hands_is_read_alike(body: Body) -> None:
    field = fields_of(sealed(body, counted_salts("x")))[0]
    assert hands_agree(field)
    for place, byte in enumerate(field):
        for other in {0, 1, 127, 255, byte ^ 1, byte ^ 8, byte ^ 128} - {byte}:
            changed_field = field[:place] + bytes((other,)) + field[place + 1 :]
            # Only a card that is shown to all can be another, and a seat.
            is_public = place > len(field) - 3 or (isinstance(body, CardsDiscarded) and place == 4)
            assert not hands_agree(changed_field) or is_public
        assert not hands_agree(field[:place])
        assert not hands_agree(field[:place] + field[place + 1 :])
        assert not hands_agree(field[:place] + b"\0" + field[place:])


@given(
    st.randoms(use_true_random=False),
    st.sampled_from(HANDS),
    st.lists(
        st.lists(st.sampled_from(("7D", "7", "X", "", "\n\x02", "\n", " ", "7D ", "é", "6-4")), max_size=4), max_size=3
    ),
)
def test_hands_put_together_wrongly_are_read_alike(draw: Random, body: Body, hands: list[list[str]]) -> None:
    salts = counted_salts("x")
    hands_agree(fields_of(sealed(CardsDealt(tuple(CardHand(tuple(hand)) for hand in hands)), salts))[0])
    field = fields_of(sealed(body, salts))[0]
    start = 3 if field[2] < 128 else 4
    parts = changed(split(field[start:]), draw)
    data = joined(parts, draw, padding=draw.choice((0, 0, 0.1)))
    hands_agree(field[:2] + varint(len(data)) + data)
