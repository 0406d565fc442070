"""Verifying a whole game at once, where all of it is plain and right.

Of an event in its place most is known before it is read: its game, its sequence, what it follows and what its own hash
must be, and nearly always who recorded it. So a record is compared with what it has to be, and only what is new in it
is read: its id, its times and its body. No event is made.

A game goes through one step after the other, some records at a time: reading, hashing, comparing, the rules. Taken
through all steps one by one, each event costs half a microsecond more, because every step finds the processor busy
with another.

Here is only found that a game is good. Where it is not plainly so, it is for `heptalog.replay.examiner` to say what is
wrong with it, if anything: event by event, in the exact way.
"""

from collections.abc import Sequence
from typing import Final

from heptalog.replay.bodies import NotPlain, body_in, small_body
from heptalog.replay.codec import HASH_TAG, PREVIOUS_TAG, decode
from heptalog.replay.envelope import CONTENT_START, are_plain_times, game_id_field, parts_after_id, places
from heptalog.replay.errors import HeptalogError
from heptalog.replay.events import Body, Event
from heptalog.replay.evidence.chain import GENESIS, link, links
from heptalog.replay.evidence.seals import check_seals, check_whole
from heptalog.replay.fold import Fold
from heptalog.replay.hands import opened

# Records that go through a step together. The sequences of so many, from a multiple of it on, take equally many bytes.
_BLOCK: Final = 128
_NOTHING: Final = (b"", b"", b"")


class PlainGame:
    """A game that is good: its first event, its fold, and of all later events what is in their records.

    Each is there as the bytes it has in the record: the id, the fields of the two times, the field of who recorded it.
    """

    __slots__ = ("bodies", "event_ids", "first", "fold", "recorders", "times")

    def __init__(self, first: Event) -> None:
        self.first = first
        self.fold = Fold(first.body)
        self.bodies: list[Body] = []
        self.event_ids: list[bytes] = []
        self.times: list[bytes] = []
        self.recorders: list[bytes] = []


def plain_game(records: Sequence[bytes]) -> PlainGame | None:
    """The game of these records, where they are all of its events, plain, chained and right in everything."""
    try:
        return _game_of(records)
    except (HeptalogError, NotPlain, IndexError, ValueError):
        return None


def _game_of(records: Sequence[bytes]) -> PlainGame:
    first, public = decode(records[0])
    if first.sequence or first.previous_hash != GENESIS or first.hash != link(GENESIS, public):
        raise NotPlain
    game = PlainGame(first)
    game_id = game_id_field(first.game_id)
    head = first.hash
    for begin in range(0, len(records), _BLOCK):
        start = max(begin, 1)
        block = records[start : begin + _BLOCK]
        following = places(start, start + len(block))
        publics = [record[CONTENT_START:] for record in block]
        fields = _read_envelopes(publics, len(game_id) + len(following[0]) + 1 if block else 0, game)
        _read_bodies(fields, publics, game.bodies)
        digests = links(head, publics)
        for record, digest, place in zip(block, digests, following, strict=True):
            if not record.startswith(b"".join((PREVIOUS_TAG, head, HASH_TAG, digest, game_id, place))):
                raise NotPlain
            head = digest
        game.fold.follow(game.bodies[start - 1 :])
    _check_ids(first.event_id.encode(), game.event_ids)
    return game


def _read_envelopes(contents: Sequence[bytes], id_at: int, game: PlainGame) -> list[bytes]:
    """Read what is new in these contents, whose event ids begin at `id_at`; the field of each body is given back."""
    event_ids, times, recorders = game.event_ids, game.times, game.recorders
    first_time = len(times)
    recorder = recorders[-1] if recorders else b""
    fields = []
    for content in contents:
        time_at = id_at + content[id_at - 1]
        tail = content[time_at:]
        # Where what stands before it are plain times, as is seen below, it stands where it should.
        time, found, field = tail.partition(recorder) if recorder else _NOTHING
        if not found:
            time, recorder, field = parts_after_id(tail)
        event_ids.append(content[id_at:time_at])
        times.append(time)
        recorders.append(recorder)
        fields.append(field)
    if not are_plain_times(times[first_time:]):
        raise NotPlain
    return fields


def _read_bodies(fields: Sequence[bytes], contents: list[bytes], bodies: list[Body]) -> None:
    """Read the bodies in these fields, and make public forms of the contents that they end."""
    for index, field in enumerate(fields):
        try:
            bodies.append(small_body(field))
        except NotPlain:
            body, public_field = _large_body(field)
            bodies.append(body)
            contents[index] = contents[index][: -len(field)] + public_field


def _large_body(field: bytes) -> tuple[Body, bytes]:
    """The body in a field that is not remembered, with its seals checked, and the field as the public form has it."""
    try:
        return opened(field)
    except NotPlain:
        body, public_field = body_in(field)
        if body.sealed:
            check_seals(body)
            check_whole(body)
        return body, public_field


def _check_ids(first: bytes, others: list[bytes]) -> None:
    """Raise NotPlain, or ValueError, unless these are texts as they stand in records, each there once."""
    sizes = set(map(len, others)) | {len(first)}
    if min(sizes) == 0 or max(sizes) > 127 or len({first, *others}) <= len(others):
        raise NotPlain
    if not b"".join(others).isascii():
        for event_id in others:
            event_id.decode()
