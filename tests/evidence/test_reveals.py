"""Reveals: what is shown later of what a copy leaves out, held against what was committed to."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from heptalog.replay.errors import Code, Corrupt, Malformed, Refused
from heptalog.replay.evidence.bundles import bundle_lines, events_in, parse_header
from heptalog.replay.evidence.reveals import Reveal, Revealing, decode_reveal, encode_reveal, reveals_in
from heptalog.replay.evidence.seals import unsealed
from heptalog.replay.fold import fold_all
from heptalog.replay.redaction import reveals_of
from heptalog.replay.rules import ARBITER, PUBLIC, AnyRules
from heptalog.replay.seven_rocks.events import TilesDealt
from heptalog.service.bundling import bundle_of
from tests.evidence.bundling import ROCKS, covering, examined, good, small, store_with
from tests.support.evidence import recorded, redact
from tests.support.play import EACH_GAME, Game, games
from tests.support.recording import recorded_game


@EACH_GAME
@settings(max_examples=15)
@given(data=st.data())
def test_every_hidden_part_is_one_seats_to_show(rules: AnyRules, data: st.DataObject) -> None:
    game: Game = data.draw(games(rules))
    events = [event for event, _ in recorded(game.bodies)]
    seats = range(len(game.fold.started.players))
    shown = [reveal for seat in seats for reveal in reveals_of(events, game.fold, seat)]
    every = [reveal for event in events for reveal in reveals_in(event)]
    assert sorted(shown, key=lambda each: (each.sequence, each.part)) == sorted(
        every, key=lambda each: (each.sequence, each.part)
    )


def test_what_has_no_seal_cannot_be_shown() -> None:
    bodies = [entry.event.body for entry in recorded_game(ROCKS, 1, event_count_max=4)]
    events = [event for event, _ in recorded(bodies, is_sealed=False)]
    bare = [replace(event, body=unsealed(event.body)) for event in events]
    with pytest.raises(Refused) as refused:
        list(reveals_of(bare, fold_all(event.body for event in bare), 0))
    assert refused.value.code is Code.SEAL_MISSING


@EACH_GAME
def test_what_is_revealed_later_is_held_against_the_record(rules: AnyRules) -> None:
    store = store_with(rules, length=60)
    whole = b"".join(bundle_of(store, f"{rules.key}-0", ARBITER, covering(store)))
    events = list(events_in(whole.splitlines(keepends=True)[1:]))
    # All that can be hidden is.
    lines = [replace(event, body=redact(event.body)) for event in events]
    header = replace(parse_header(whole.splitlines()[0]), viewer=PUBLIC)
    data = b"".join(bundle_lines(header, lines))
    reveals = [decode_reveal(encode_reveal(reveal)) for event in events for reveal in reveals_in(event)]
    assert len(reveals) == examined(data).hidden > 0
    for count in (1, len(reveals)):
        revealing = Revealing(reveals[:count])
        result = examined(data, revealing=revealing)
        assert good(result)
        assert [(each.sequence, each.part) for each in revealing.revealed] == [
            (reveal.sequence, reveal.part) for reveal in reveals[:count]
        ]
        assert result.hidden == len(reveals) - count
    # The rules were asked to the end.
    assert result.report.events == len(events)
    # A fuller copy reveals what is there already, and nothing more.
    revealing = Revealing(reveals)
    assert good(examined(whole, revealing=revealing))
    assert revealing.revealed == []


@pytest.mark.parametrize(
    "change",
    [
        lambda reveal: replace(reveal, tiles=reveal.tiles[::-1]),
        lambda reveal: replace(reveal, tiles=reveal.tiles[:-1]),
        lambda reveal: replace(reveal, tiles=()),
        lambda reveal: replace(reveal, tiles=(*reveal.tiles[:-1], "0-0" if reveal.tiles[-1] != "0-0" else "1-1")),
        lambda reveal: replace(reveal, tiles=(reveal.tiles[0][::-1], *reveal.tiles[1:])),
        # The very bytes that were committed to, as one tile.
        lambda reveal: replace(reveal, tiles=(" ".join(reveal.tiles),)),
        lambda reveal: replace(reveal, cards=("7D",)),
        lambda reveal: replace(reveal, salt=reveal.salt[:-1] + bytes([reveal.salt[-1] ^ 1])),
        lambda reveal: replace(reveal, salt=reveal.salt + b"\0"),
        lambda reveal: replace(reveal, part="hands[0]"),
    ],
)
def test_what_was_not_committed_to_is_found_at_its_place(change: Callable[[Reveal], Reveal]) -> None:
    reveal = change(hands_of_small()[2])
    with pytest.raises(Corrupt) as corrupt:
        examined_or_raise(small(), [reveal])
    assert corrupt.value.code is Code.SEAL_BROKEN
    assert (corrupt.value.facts["sequence"], corrupt.value.facts["field"]) == (1, reveal.part)


@pytest.mark.parametrize(
    "change",
    [
        lambda reveal: replace(reveal, part="hands[4]"),
        lambda reveal: replace(reveal, part=""),
        lambda reveal: replace(reveal, sequence=0),
        lambda reveal: replace(reveal, sequence=99),
        lambda reveal: replace(reveal, game_id="another"),
    ],
)
def test_a_reveal_of_something_else_is_a_fault_of_form(change: Callable[[Reveal], Reveal]) -> None:
    with pytest.raises(Malformed) as malformed:
        examined_or_raise(small(), [change(hands_of_small()[2])])
    assert malformed.value.code is Code.FIELD_INVALID


@pytest.mark.parametrize("line", [b"", b"[]", b"{}", b'{"sequence":1,"salt":"?"}', b'{"sequence":1,"salt":"","x":1}'])
def test_what_is_no_reveal_is_refused(line: bytes) -> None:
    with pytest.raises(Malformed):
        decode_reveal(line)


def examined_or_raise(data: bytes, reveals: Sequence[Reveal]) -> None:
    error = examined(data, reveals=reveals).report.error
    assert error is not None
    raise error


def hands_of_small() -> list[Reveal]:
    """The hands that the small bundle leaves out."""
    entries = recorded_game(ROCKS, 1, event_count_max=4)
    (deal,) = [entry.event for entry in entries if isinstance(entry.event.body, TilesDealt)]
    return list(reveals_in(deal))
