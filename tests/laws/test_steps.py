"""Laws of check and apply: what one refuses the other refuses for the same reason, and neither leaves a trace of it."""

from itertools import islice
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heptalog.replay.errors import Refused
from heptalog.replay.events import Body
from heptalog.replay.fold import Closed, Fold
from heptalog.replay.rules import AnyRules
from tests.support.fouls import foul
from tests.support.moves import look_alikes
from tests.support.play import EACH_GAME, games

LOOK_ALIKES_TRIED = 300
LEGAL_TRIED = 20
FOULS_TRIED = 12


@EACH_GAME
def test_there_is_a_step_for_every_kind(rules: AnyRules) -> None:
    assert set(rules.steps) == set(rules.bodies)


@EACH_GAME
@settings(max_examples=40)
@given(data=st.data())
def test_apply_refuses_what_check_refuses_and_nothing_else(rules: AnyRules, data: st.DataObject) -> None:
    game = data.draw(games(rules))
    random = Random(data.draw(st.integers(0, 2**32)))
    all_alike = list(look_alikes(rules, len(game.fold.started.players)))
    for sequence in {game.fold.sequence, data.draw(st.integers(0, game.fold.sequence))}:
        state: Any = game.fold.states[sequence]
        if type(state) is Closed:
            continue
        before = msgspec.msgpack.encode(state)
        alike = random.sample(all_alike, min(LOOK_ALIKES_TRIED, len(all_alike)))
        foul_ones = fouls(game.fold, sequence, random)
        legal = list(islice(rules.legal(state), LEGAL_TRIED)) or game.bodies[sequence + 1 : sequence + 2]
        answers = [is_refused(rules, state, body) for body in (*alike, *foul_ones, *legal) if type(body) in rules.steps]
        assert any(answers)
        assert not (all(answers) and state.to_act)
        assert msgspec.msgpack.encode(state) == before


def fouls(fold: Fold, sequence: int, random: Random) -> list[Body]:
    """Some events that may not happen where the game was then."""
    before = Fold(fold.started)
    before.states = fold.states[: sequence + 1]
    before.state = fold.states[sequence]
    return [foul(before, random).body for _ in range(FOULS_TRIED)]


def is_refused(rules: AnyRules, state: Any, body: Body) -> bool:
    """Whether both refuse it; one alone, or for another reason, breaks the law."""
    refusals: list[tuple[Any, ...] | None] = []
    for ask in (rules.check, rules.apply, rules.steps[type(body)]):
        try:
            ask(state, body)
        except Refused as error:
            refusals.append((error.code, error.rule, error.facts))
        else:
            refusals.append(None)
    first, *others = refusals
    assert others == [first, first], body
    return first is not None


@EACH_GAME
@settings(max_examples=30)
@given(data=st.data())
def test_to_follow_is_to_advance(rules: AnyRules, data: st.DataObject) -> None:
    game = data.draw(games(rules))
    wrong = foul(game.fold, Random(data.draw(st.integers(0, 2**32)))).body
    one, other = Fold(game.bodies[0]), Fold(game.bodies[0])
    other.follow(game.bodies[1:])
    for body in game.bodies[1:]:
        one.advance(body)
    assert other.states == one.states == game.fold.states
    assert other.state is other.states[-1]
    # What came before a refused event stays, and nothing of what comes after it is taken.
    with pytest.raises(Refused):
        other.follow([wrong, *game.bodies[1:]])
    assert other.states == one.states
    assert other.state is other.states[-1]
