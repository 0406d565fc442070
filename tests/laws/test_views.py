"""Laws of what is hidden: a viewer is given the same bytes whatever it may not see (C-5)."""

from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any, Final

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from heptalog.replay.errors import Refused
from heptalog.replay.events import Body, CardsDealt
from heptalog.replay.fold import Closed, Fold
from heptalog.replay.registry import GAMES
from heptalog.replay.rules import ARBITER, PUBLIC, AnyRules, Viewer
from heptalog.replay.seven_rocks.events import TilesDealt
from tests.support.moves import CARDS, TILES, look_alikes
from tests.support.play import EACH_GAME, Game, games

SWAPS_TRIED: Final = 3
PROBE_CHANCE: Final = 0.1
PROBES: Final = 25


@EACH_GAME
@settings(max_examples=80)
@given(data=st.data())
def test_what_a_viewer_may_not_see_makes_no_difference(rules: AnyRules, data: st.DataObject) -> None:
    game: Game = data.draw(games(rules, with_rulings=False, events_max=250))
    random = Random(data.draw(st.integers(0, 2**32)))
    deals = [n for n, body in enumerate(game.bodies) if isinstance(body, CardsDealt | TilesDealt)]
    if not deals:
        return
    start = random.choice(deals)
    for _ in range(SWAPS_TRIED):
        one, other = _two_dealt(game.bodies[start], random)
        _compare(game, start, one, other, random)


def _two_dealt(body: Body, random: Random) -> tuple[str, str]:
    """Two cards or tiles that change places: both dealt, or in Seven Up one of them still in the stock."""
    dealt = [card for _, hand in _hands_of(body) for card in hand]
    one = random.choice(dealt)
    others = [card for card in dealt if card != one]
    turned = getattr(body, "turned", "")
    if turned:
        others += [card for card in CARDS if card not in (*dealt, turned, "X1", "X2")]
    return one, random.choice(others)


def _hands_of(body: Any) -> Iterator[tuple[int, tuple[str, ...]]]:
    for seat, hand in enumerate(body.hands):
        yield seat, getattr(hand, hand.value_field)


def _exchanged(body: Any, one: str, other: str) -> Any:
    names = {one: other, other: one}

    def renamed(hand: Any) -> Any:
        values = getattr(hand, hand.value_field)
        return replace(hand, **{hand.value_field: tuple(names.get(value, value) for value in values)})

    return replace(body, hands=tuple(renamed(hand) for hand in body.hands))


def _compare(game: Game, start: int, one: str, other: str, random: Random) -> None:
    """Play on from another deal; while both cards are hidden from a viewer, the two games look the same to it."""
    rules = game.fold.rules
    twin = Fold(game.bodies[0])
    for body in game.bodies[1:start]:
        twin.advance(body)
    try:
        twin.advance(_exchanged(game.bodies[start], one, other))
    except Refused:
        return
    for sequence in range(start, len(game.bodies)):
        state = game.fold.states[sequence]
        if sequence > start:
            try:
                twin.advance(game.bodies[sequence])
            except Refused:
                # The swap made this move impossible: from here on they are two different games.
                return
        if _is_settled(state) or _is_settled(twin.state) or state.scores != twin.state.scores:
            # The round is over, and its cards are shown or have been counted.
            return
        if state.to_act != twin.state.to_act or not _are_hidden(game.fold, sequence, twin, one, other):
            return
        for viewer in _blind_viewers(game.fold, sequence, twin, one, other):
            views = [msgspec.json.encode(rules.view(each, viewer)) for each in (state, twin.state)]
            assert views[0] == views[1], (viewer, one, other, sequence)
            if viewer.seat >= 0 and random.random() < PROBE_CHANCE:
                _compare_refusals(rules, viewer.seat, state, twin.state, random)


def _is_settled(state: Any) -> bool:
    """Whether no round is being played; a table that is to draw or to run cards is in the middle of one."""
    return str(state.phase) in ("DEAL", "OVER")


def _are_hidden(fold: Fold, sequence: int, twin: Fold, one: str, other: str) -> bool:
    """Whether neither card lies open on the table, in either game."""
    return all({one, other}.isdisjoint(_open_cards(fold.rules, state)) for state in (fold.states[sequence], twin.state))


def _open_cards(rules: AnyRules, state: Any) -> set[str]:
    """What has been laid, turned or exposed; captured cards were."""
    view: Any = rules.view(state, ARBITER)
    held = {name for hand in view.hands for name in hand}
    if rules.key == "seven_rocks":
        return set(TILES) - held - {tile[::-1] for tile in held}
    if rules.key == "seven_up":
        return {*view.table.turned, *view.table.trick, *(card for pile in view.captured for card in pile)}
    return set(CARDS) - held


def _blind_viewers(fold: Fold, sequence: int, twin: Fold, one: str, other: str) -> Iterator[Viewer]:
    """The public, and every seat that sees neither card in either game."""
    yield PUBLIC
    for seat in range(len(fold.started.players)):
        seen: set[str] = set()
        for state in (fold.states[sequence], twin.state):
            seen |= _own_cards(fold.rules, state, seat)
        if seen.isdisjoint((one, other)):
            yield Viewer(seat)


def _own_cards(rules: AnyRules, state: Any, seat: int) -> set[str]:
    """What a seat holds or has put away, as far as the rules let it look (SU-R12)."""
    view: Any = rules.view(state, ARBITER)
    if rules.key != "seven_up":
        return set(view.hands[seat])
    seat_count, dealer = len(view.hands), view.table.dealer
    may_look = seat_count == 2 or view.table.trump or seat in (dealer, (dealer + 1) % seat_count)
    return {*view.hands[seat], *view.discards[seat]} if may_look else set()


def _compare_refusals(rules: AnyRules, seat: int, state: Any, other: Any, random: Random) -> None:
    """What a viewer may try with its own seat is answered alike in both games."""
    tries = _tries(rules.key, len(state.hands) if hasattr(state, "hands") else 4)[seat]
    for body in random.sample(tries, min(PROBES, len(tries))):
        assert _answer(rules, state, body) == _answer(rules, other, body), body


@cache
def _tries(key: str, seat_count: int) -> list[list[Body]]:
    """By seat, all that looks like a move."""
    bodies = list(look_alikes(next(rules for rules in GAMES if rules.key == key), seat_count))
    return [[body for body in bodies if getattr(body, "seat", -1) == seat] for seat in range(seat_count)]


def _answer(rules: AnyRules, state: Any, body: Body) -> str:
    try:
        rules.check(state, body)
    except Refused as error:
        return str(error)
    return "fine"


@EACH_GAME
@settings(max_examples=30)
@given(data=st.data())
def test_no_hidden_card_is_named(rules: AnyRules, data: st.DataObject) -> None:
    game: Game = data.draw(games(rules))
    for state in game.fold.states:
        if type(state) is Closed or not state.to_act:
            continue
        whole: Any = rules.view(state, ARBITER)
        hands = [set(hand) for hand in whole.hands]
        # The places of the layout and of its border are everybody's, and are named like cards.
        places = {*whole.table.border, *_strings(whole.table.layout)} if rules.key == "seven_bridge" else set()
        if rules.key == "seven_bridge":
            places |= {joker.stands_for for joker in whole.table.jokers}
        for viewer in (PUBLIC, *(Viewer(seat) for seat in range(len(hands)))):
            view = msgspec.to_builtins(rules.view(state, viewer))
            hidden = {card for seat, hand in enumerate(hands) for card in hand if seat != viewer.seat}
            if rules.key == "seven_up":
                hidden |= {card for seat, pile in enumerate(whole.discards) for card in pile if seat != viewer.seat}
            if viewer.seat >= 0:
                hidden |= hands[viewer.seat] - _own_cards(rules, state, viewer.seat)
            assert not (hidden - places) & set(_strings(view))


@EACH_GAME
@settings(max_examples=30)
@given(data=st.data())
def test_the_arbiter_sees_all_and_a_stranger_nothing(rules: AnyRules, data: st.DataObject) -> None:
    game: Game = data.draw(games(rules))
    for state in game.fold.states[:: max(1, len(game.fold.states) // 10)]:
        inner: Any = state.state if isinstance(state, Closed) else state
        view: Any = rules.view(inner, ARBITER)
        seat_count = len(game.fold.started.players)
        assert len(getattr(view, "hands", range(seat_count))) == seat_count
        for seat in (seat_count, -3, 2**31):
            try:
                rules.view(inner, Viewer(seat))
            except Refused:
                continue
            raise AssertionError(f"seat {seat} is not at the table")


def _strings(value: Any) -> Iterator[str]:
    """Every text in a tree of builtins or structs; one that lists several names is taken apart."""
    if isinstance(value, msgspec.Struct):
        value = msgspec.to_builtins(value)
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)
