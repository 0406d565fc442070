"""Laws of what may happen next: `legal` and `check` agree, and nothing foul is ever let through."""

from itertools import product
from random import Random
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heptalog.replay.errors import HeptalogError, Refused
from heptalog.replay.events import Body, CardsDealt, TurnPassed
from heptalog.replay.fold import Closed, Fold
from heptalog.replay.rules import ARBITER, AnyRules, Choose
from heptalog.replay.seven_bridge import SEVEN_BRIDGE
from heptalog.replay.seven_up.events import CardsDiscarded
from tests.support.fouls import MAKERS, foul
from tests.support.moves import Legal, look_alikes, move_types
from tests.support.play import EACH_GAME, games, play

LEGAL_MOVES_MAX = 3_000
DISCARDS_TRIED = 40


@EACH_GAME
@settings(max_examples=50)
@given(data=st.data())
def test_what_is_legal_passes_check_and_nothing_else_does(rules: AnyRules, data: st.DataObject) -> None:
    fold = data.draw(games(rules)).fold
    # The first states of all games look alike, so the last one is always among those looked at.
    for sequence in {fold.sequence, data.draw(st.integers(0, fold.sequence))}:
        state: Any = fold.states[sequence]
        if type(state) is Closed or _move_count(rules, state) > LEGAL_MOVES_MAX:
            continue
        legal = Legal(rules, state)
        assert len(set(legal.moves)) == len(legal.moves), "no move is listed twice"
        assert bool(legal.moves) == bool(state.to_act), "who may act can act, and nobody else"
        assert {move.seat for move in legal.moves} == set(state.to_act)  # type: ignore[attr-defined]
        for move in legal.moves:
            rules.check(state, move)
        for body in look_alikes(rules, len(fold.started.players)):
            assert _passes(rules, state, body) == (body in legal), body
        if CardsDiscarded in move_types(rules):
            _check_discards(rules, state, legal, Random(data.draw(st.integers(0, 2**32))))


def _move_count(rules: AnyRules, state: Any) -> int:
    return sum(1 for _, _ in zip(rules.legal(state), range(LEGAL_MOVES_MAX + 1), strict=False))


def _passes(rules: AnyRules, state: Any, body: Body) -> bool:
    try:
        rules.check(state, body)
    except Refused:
        return False
    return True


def _check_discards(rules: AnyRules, state: Any, legal: Legal, random: Random) -> None:
    hands = rules.view(state, ARBITER).hands  # type: ignore[attr-defined]
    everything = [card for hand in hands for card in hand] or ["7D"]
    for _ in range(DISCARDS_TRIED):
        seat = random.randrange(len(hands) + 1)
        cards = random.choice([*hands, everything]) or everything
        count = random.choice((0, 1, 3, max(0, len(cards) - 6), len(cards)))
        body = CardsDiscarded(seat, tuple(random.choices(cards, k=count) if random.random() < 0.3 else cards[:count]))
        assert _passes(rules, state, body) == (body in legal), body


@EACH_GAME
@settings(max_examples=150)
@given(data=st.data())
def test_what_is_foul_is_refused_and_changes_nothing(rules: AnyRules, data: st.DataObject) -> None:
    fold = data.draw(games(rules)).fold
    random = Random(data.draw(st.integers(0, 2**32)))
    state, standing, sequence = fold.state, fold.standing(), fold.sequence
    for _ in range(5):
        wrong = foul(fold, random)
        with pytest.raises(Refused) as refused:
            fold.advance(wrong.body)
        assert refused.value.rule, wrong
        assert fold.state is state, wrong
        assert fold.sequence == sequence
        assert fold.standing() == standing


@EACH_GAME
def test_every_way_to_be_foul_occurs(rules: AnyRules) -> None:
    applicable = set()
    for seed, length in product(range(8), range(1, 40)):
        fold = play(rules, seed, events_max=length, with_rulings=False).fold
        applicable |= {name for name, make in MAKERS.items() if make(fold, Random(seed)) is not None}
    others_only = {
        "seven_rocks": {"wrong infraction", "wrong run", "wrong turned card"},
        "seven_bridge": {"wrong infraction", "wrong run"},
    }
    assert set(MAKERS) - applicable <= others_only.get(rules.key, set(MAKERS))


@EACH_GAME
@settings(max_examples=60)
@given(data=st.data())
def test_the_table_can_always_go_on(rules: AnyRules, data: st.DataObject) -> None:
    fold = data.draw(games(rules)).fold
    random = Random(data.draw(st.integers(0, 2**32)))
    for state in fold.states:
        if state.over or state.to_act:
            continue
        # With values that are all equal a draw would have no end, so it gets fair chance only.
        is_draw = hasattr(rules.deal(state, random.randrange), "lots")
        constant: tuple[Choose, ...] = (lambda _: 0, lambda count: count - 1)
        for choose in (random.randrange,) if is_draw else (random.randrange, *constant):
            body = rules.deal(state, choose)
            rules.check(state, body)
            after, _ = rules.apply(state, body)
            assert after != state


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32))
def test_a_round_of_seven_bridge_ends(seed: int) -> None:
    game = play(SEVEN_BRIDGE, seed, events_max=4_000, with_rulings=False)
    terms = game.fold.state.terms  # type: ignore[attr-defined]
    seat_count = len(game.fold.started.players)
    # Every card once, every token once, every ghost once; where there are no ghosts, all may wait between two cards.
    bound = 54 + seat_count * terms.pass_tokens + seat_count
    if not terms.ghosts:
        bound *= seat_count
    turns = 0
    for body in game.bodies:
        turns = 0 if isinstance(body, CardsDealt) else turns + 1
        assert turns <= bound
    waits = 0
    for body in game.bodies:
        waits = waits + 1 if isinstance(body, TurnPassed) else 0
        assert waits <= seat_count * (terms.pass_tokens + 1), "somebody can always play in the end (SB-D14)"


@EACH_GAME
@settings(max_examples=60)
@given(data=st.data())
def test_only_refusals_come_out_of_any_number(rules: AnyRules, data: st.DataObject) -> None:
    fold: Fold = data.draw(games(rules)).fold
    number = data.draw(st.sampled_from((-1, -2, 7, 8, 63, 64, 2**31, 2**32 - 1, 2**63, 2**70)))
    for kind in rules.bodies:
        if "seat" in kind.__struct_fields__:
            with pytest.raises(HeptalogError):
                fold.check(cast("Any", kind)(seat=number))
