"""Laws of the bots: their moves are legal, hang on nothing that their seat cannot see, and one is the better player."""

from collections.abc import Iterator
from random import Random
from typing import Any, Final

import pytest
from msgspec.structs import replace

from heptalog.replay.bots import Strength, move, moves
from heptalog.replay.events import GameStarted
from heptalog.replay.registry import GAMES
from heptalog.replay.rules import AnyRules, Choose
from heptalog.replay.seven_up.state import may_look
from heptalog.replay.seven_up.tables import WHOLE_DECK
from tests.support.moves import Legal
from tests.support.play import EACH_GAME, MANNERS, players, seat_counts

EACH_STRENGTH = pytest.mark.parametrize("strength", list(Strength))
EVENTS_MAX: Final = 5_000
# The better player wins so many of 400 games at least; what chance alone would give is in brackets.
WINS_LEAST: Final = {"seven_rocks": 360, "seven_up": 280, "seven_bridge": 240}  # (200, 200, 100)


def states(rules: AnyRules, seed: int, strengths: list[Strength], *, varied: bool = False) -> Iterator[tuple[Any, Any]]:
    """Each state of a game in which a seat may act, with the chance that is left; each seat plays by its strength."""
    random = Random(f"{rules.key} {seed}")
    options = MANNERS[rules.key](rules, random).options() if varied else rules.options()
    state = rules.initial(GameStarted(players(len(strengths)), options))
    for _ in range(EVENTS_MAX):
        if state.over:
            break
        if state.to_act:
            yield state, random
            seat = state.to_act[0]
            body = move(rules, state, seat, strengths[seat], random.randrange)
        else:
            body = rules.deal(state, random.randrange)
        rules.check(state, body)
        state, _ = rules.apply(state, body)
    yield state, random


@EACH_GAME
@EACH_STRENGTH
def test_a_bot_plays_by_the_rules(rules: AnyRules, strength: Strength) -> None:
    # 60 games of every table size, with options that no organiser would choose.
    for seat_count in seat_counts(rules):
        for seed in range(12):
            for state, _ in states(rules, seed, [strength] * seat_count, varied=True):
                for seat in state.to_act:
                    body = move(rules, state, seat, strength, Random(seed).randrange)
                    rules.check(state, body)
                    assert getattr(body, "seat", seat) == seat


@EACH_GAME
def test_any_legal_move_may_come_by_chance(rules: AnyRules) -> None:
    for state, _ in list(states(rules, 5, [Strength.RANDOM] * 4))[:60:7]:
        legal = Legal(rules, state).moves
        if not state.to_act or len(legal) > 40:
            continue
        seat = state.to_act[0]
        found = {move(rules, state, seat, Strength.RANDOM, Random(n).randrange) for n in range(60 * len(legal))}
        assert found == set(legal)


@EACH_GAME
@EACH_STRENGTH
def test_a_bot_sees_what_its_seat_sees(rules: AnyRules, strength: Strength) -> None:
    # Given two states that differ in nothing but what this seat cannot see, then both are played alike.
    compared = 0
    for seed in range(8):
        seat_count = seat_counts(rules)[seed % len(seat_counts(rules))]
        for number, (state, random) in enumerate(states(rules, seed, [strength] * seat_count, varied=True)):
            for seat in state.to_act:
                if number % 3 or (rules.key == "seven_up" and not may_look(state, seat)):
                    continue
                other = with_other_hands(rules, state, seat, random)
                moves = [move(rules, each, seat, strength, Random(number).randrange) for each in (state, other)]
                assert moves[0] == moves[1]
                compared += state != other
    assert compared > 100


def with_other_hands(rules: AnyRules, state: Any, seat: int, random: Random) -> Any:
    """The same for this seat: the cards that it cannot see lie elsewhere."""
    if rules.key == "seven_rocks":
        dealt = exchanged([hand & ~state.laid for hand in state.dealt], seat, random)
        laid = [hand & state.laid for hand in state.dealt]
        return replace(state, dealt=tuple(one | other for one, other in zip(dealt, laid, strict=True)))
    if rules.key == "seven_bridge":
        return replace(state, hands=tuple(exchanged(list(state.hands), seat, random)))
    stock = WHOLE_DECK & ~state.dealt
    *hands, left = exchanged([*state.hands, stock], seat, random)
    return replace(state, hands=tuple(hands), dealt=WHOLE_DECK & ~left)


def exchanged(hands: list[int], seat: int, random: Random) -> list[int]:
    """All cards of the other seats shuffled, each seat with as many as before."""
    cards = [1 << bit for number, hand in enumerate(hands) if number != seat for bit in range(60) if hand >> bit & 1]
    random.shuffle(cards)
    sizes = [hand.bit_count() for hand in hands]
    return [
        hand if number == seat else sum(cards.pop() for _ in range(sizes[number])) for number, hand in enumerate(hands)
    ]


@EACH_GAME
def test_greedy_beats_random(rules: AnyRules) -> None:
    wins = 0
    for seed in range(400):
        sides = 2 if rules.key != "seven_bridge" else 4
        greedy = seed % sides
        strengths = [Strength.GREEDY if seat % sides == greedy else Strength.RANDOM for seat in range(4)]
        *_, (last, _) = states(rules, seed, strengths)
        wins += greedy in [seat % sides for seat in last.winners]
    assert wins >= WINS_LEAST[rules.key]


def test_a_game_without_bots_is_played_by_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = GAMES[0]
    state = next(states(rules, 1, [Strength.RANDOM] * 4))[0]
    choose: Choose = lambda count: count - 1  # noqa: E731
    for strength in ("_GREEDY", "_RANDOM"):
        monkeypatch.setattr(moves, strength, {})
    body = move(rules, state, state.to_act[0], Strength.GREEDY, choose)
    assert body == moves.any_move(rules, state, state.to_act[0], choose)
    assert body in Legal(rules, state)
