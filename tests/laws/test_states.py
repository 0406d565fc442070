"""Laws of states and of what follows: frozen, repeatable, storable, and complete at every step."""

import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from heptalog.replay.events import RULINGS, Body, GameStarted, MovesRetracted
from heptalog.replay.fold import Closed, Fold, fold_all, scan
from heptalog.replay.outcomes import GameEndedByArbiter, MatchWon, MovesTakenBack
from heptalog.replay.rules import ARBITER, PUBLIC, AnyRules, Viewer
from tests.support.evidence import digest_of_games
from tests.support.play import EACH_GAME, Game, games, play

ROOT = Path(__file__).resolve().parents[2]


@EACH_GAME
@settings(max_examples=40)
@given(data=st.data())
def test_nothing_changes_a_state(rules: AnyRules, data: st.DataObject) -> None:
    game: Game = data.draw(games(rules))
    for sequence, body in enumerate(game.bodies[1:]):
        state: Any = game.fold.states[sequence]
        if type(state) is Closed or type(body) not in rules.bodies:
            continue
        before = msgspec.msgpack.encode(state), msgspec.msgpack.encode(body)
        rules.check(state, body)
        rules.apply(state, body)
        for _ in zip(rules.legal(state), range(5), strict=False):
            pass
        for viewer in (ARBITER, PUBLIC, Viewer(0)):
            rules.view(state, viewer)
        rules.words.table(state, _names(game))
        assert (msgspec.msgpack.encode(state), msgspec.msgpack.encode(body)) == before


@EACH_GAME
@settings(max_examples=40)
@given(data=st.data())
def test_a_game_folds_to_the_same_every_time(rules: AnyRules, data: st.DataObject) -> None:
    game: Game = data.draw(games(rules))
    steps = [(fold.standing(), outcomes) for fold, outcomes in scan(game.bodies)]
    assert [outcomes for _, outcomes in steps] == game.outcomes
    again = fold_all(game.bodies)
    assert again.states == game.fold.states
    assert steps[-1][0] == again.standing()


def test_another_hash_seed_gives_the_same_states_outcomes_lines_and_hashes() -> None:
    here = digest_of_games(seeds=range(8))
    for hash_seed in ("0", "4242"):
        there = subprocess.run(
            [sys.executable, "-c", "from tests.support.evidence import main; main()"],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        assert there.stdout.strip() == here


@EACH_GAME
@settings(max_examples=40)
@given(data=st.data())
def test_a_state_survives_storage_and_the_game_goes_on_from_it(rules: AnyRules, data: st.DataObject) -> None:
    game: Game = data.draw(games(rules, with_rulings=data.draw(st.booleans())))
    packed, text = msgspec.msgpack, msgspec.json
    for sequence, state in enumerate(game.fold.states):
        if type(state) is Closed:
            continue
        stored: Any = state
        loaded = packed.decode(packed.encode(stored), type=rules.state)
        assert loaded == state
        assert hash(loaded) == hash(state)
        assert text.decode(text.encode(stored), type=rules.state) == state
        following = game.bodies[sequence + 1 : sequence + 2]
        if following and type(following[0]) in rules.bodies:
            rules.check(loaded, following[0])
            assert rules.apply(loaded, following[0]) == (game.fold.states[sequence + 1], game.outcomes[sequence + 1])


@EACH_GAME
@settings(max_examples=50)
@given(data=st.data())
def test_a_takeback_gives_exactly_the_earlier_state(rules: AnyRules, data: st.DataObject) -> None:
    game: Game = data.draw(games(rules))
    head = game.fold.sequence
    to_sequence = data.draw(st.integers(0, head))
    fold = fold_all(game.bodies)
    assert fold.advance(MovesRetracted(to_sequence)) == (MovesTakenBack(to_sequence),)
    assert fold.sequence == head + 1
    assert fold.state == game.fold.states[to_sequence]
    assert fold.standing() == msgspec.structs.replace(
        fold_all(game.bodies[: to_sequence + 1]).standing(), sequence=head + 1
    )
    # What was taken back may happen again and comes to the same, a takeback of a later event excepted.
    for sequence in range(to_sequence + 1, head + 1):
        body = game.bodies[sequence]
        if isinstance(body, MovesRetracted) and body.to_sequence > to_sequence:
            body = MovesRetracted(body.to_sequence + head + 1 - to_sequence, body.reason)
            fold.advance(body)
        else:
            assert fold.advance(body) == game.outcomes[sequence]
        assert fold.state == game.fold.states[sequence]


@EACH_GAME
@settings(max_examples=60)
@given(data=st.data())
def test_every_report_has_its_shape(rules: AnyRules, data: st.DataObject) -> None:
    game: Game = data.draw(games(rules))
    seat_count = len(game.fold.started.players)
    side_count = len(game.fold.states[0].scores)
    assert side_count == seat_count or (seat_count == 4 and side_count == 2)
    for sequence, (state, outcomes) in enumerate(zip(game.fold.states, game.outcomes, strict=True)):
        body = game.bodies[sequence]
        assert len(state.scores) == side_count
        assert all(type(score) is int for score in state.scores)
        assert list(state.to_act) == sorted({seat for seat in state.to_act if 0 <= seat < seat_count})
        assert list(state.winners) == sorted({seat for seat in state.winners if 0 <= seat < seat_count})
        assert not (state.over and state.to_act)
        assert state.over or not state.winners
        assert {outcome.winners for outcome in outcomes if isinstance(outcome, MatchWon | GameEndedByArbiter)} == (
            {state.winners} if state.over and not isinstance(body, RULINGS[::2]) else set()
        )
        known = (*rules.outcomes, MovesTakenBack, GameEndedByArbiter)
        assert all(type(outcome) in known for outcome in outcomes)
        if sequence == 0:
            assert (state.round, state.over, state.to_act, set(state.scores)) == (0, False, (), {0})
        elif not isinstance(body, MovesRetracted):
            is_deal = type(body).__name__.endswith("Dealt")
            assert state.round == game.fold.states[sequence - 1].round + is_deal


@EACH_GAME
@settings(max_examples=40)
@given(data=st.data())
def test_everything_can_be_told(rules: AnyRules, data: st.DataObject) -> None:
    game: Game = data.draw(games(rules))
    names = _names(game)
    for body, outcomes, state in zip(game.bodies, game.outcomes, game.fold.states, strict=True):
        shown: Any = state.state if isinstance(state, Closed) else state
        told = [rules.words.outcome(outcome, names) for outcome in outcomes if type(outcome) in rules.outcomes]
        if type(body) in rules.bodies:
            told.append(rules.words.event(body, names))
        assert all(text and text == text.strip() and "\n" not in text for text in told)
        assert all("\n" not in line for line in rules.words.table(shown, names))


@EACH_GAME
def test_a_fold_can_be_cut_back(rules: AnyRules) -> None:
    game = play(rules, 7, events_max=60)
    random = Random(1)
    for _ in range(10):
        sequence = random.randrange(len(game.bodies))
        fold: Fold = fold_all(game.bodies)
        fold.truncate(sequence)
        assert (fold.sequence, fold.state) == (sequence, game.fold.states[sequence])
        for body in game.bodies[sequence + 1 :]:
            fold.advance(body)
        assert fold.states == game.fold.states


def test_the_table_of_bodies_has_each_once() -> None:
    from heptalog.replay.codec import BODIES

    assert len(set(BODIES)) == len(BODIES)
    assert BODIES[0] is GameStarted
    assert all(issubclass(body, Body) for body in BODIES)


def _names(game: Game) -> list[str]:
    return [player.name for player in game.fold.started.players]
