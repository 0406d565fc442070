"""What holds in every reachable position of Seven Up (SU-I1 to SU-I6), over games played by chance."""

import random
from collections.abc import Iterator
from itertools import islice

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heptalog.replay.errors import Refused
from heptalog.replay.events import Body, CardHand, CardPlayed, CardsDealt, DealerDrawn
from heptalog.replay.outcomes import MatchWon, Outcome
from heptalog.replay.rules import ARBITER, PUBLIC, Viewer
from heptalog.replay.seven_up import SEVEN_UP
from heptalog.replay.seven_up.events import CardsDiscarded, CardsRun, Decision, InfractionCalled, TrumpDecided
from heptalog.replay.seven_up.outcomes import (
    GameCounted,
    GiftScored,
    HighScored,
    InfractionCharged,
    JackScored,
    JackTurned,
    LowScored,
    TrickWon,
)
from heptalog.replay.seven_up.state import Phase, State, may_look, stock_count
from heptalog.replay.seven_up.tables import BITS, DECK, HAND_SIZE, TRICK_COUNT, WHOLE_DECK
from tests.support.seven_up_positions import started

EVENT_LIMIT = 3_000  # a game of this kind has some hundred events; of three, infractions can make it longer
MOVES_SEEN = 40  # of tens of thousands of discards the first few will do
POINTS = (JackTurned, GiftScored, HighScored, LowScored, JackScored, GameCounted, InfractionCharged)

games = st.builds(
    lambda *given: list(play(*given)),
    st.integers(2, 4),
    st.sampled_from([1, 2, 7, 20]),
    st.integers(0, 2**32),
)
Step = tuple[State, Body, State, tuple[Outcome, ...]]


def play(seats: int, target: int, seed: int) -> Iterator[Step]:
    """A game by chance, step by step: the state before, what happened, the state after, what followed."""
    chance = random.Random(seed)
    state = SEVEN_UP.initial(started(seats, target=target))
    for _ in range(EVENT_LIMIT):
        if state.over:
            return
        body = happening(state, chance)
        SEVEN_UP.check(state, body)
        following, outcomes = SEVEN_UP.apply(state, body)
        yield state, body, following, outcomes
        state = following
    raise AssertionError("a game has to end")


def happening(state: State, chance: random.Random) -> Body:
    """What happens next: the table's doing, a move, or once in a while the arbiter's call."""
    if not state.to_act:
        return SEVEN_UP.deal(state, chance.randrange)
    if state.phase is Phase.PLAY and chance.random() < 0.01:
        return InfractionCalled(chance.randrange(state.seat_count))
    if state.phase is Phase.DISCARD:
        seat = chance.choice(state.to_act)
        hand = [card for card in DECK if BITS[card] & state.hands[seat]]
        return CardsDiscarded(seat, tuple(chance.sample(hand, len(hand) - HAND_SIZE)))
    return chance.choice(list(SEVEN_UP.legal(state)))


@given(games)
@settings(max_examples=60, deadline=None)
def test_SU_I1_the_pack_is_always_whole(steps: list[Step]) -> None:
    for _, _, state, _ in steps:
        parts = [*state.hands, *state.discards, *state.captured, *state.trick, *state.turned]
        assert sum(parts) == state.dealt
        assert sum(part.bit_count() for part in parts) + stock_count(state) == len(DECK)
        assert state.dealt & ~WHOLE_DECK == 0


@given(games)
@settings(max_examples=60, deadline=None)
def test_SU_I2_every_point_is_one_and_nobody_exceeds_the_target(steps: list[Step]) -> None:
    for before, body, state, outcomes in steps:
        scores = list(before.scores)
        for outcome in outcomes:
            if isinstance(outcome, POINTS) and outcome.side >= 0:
                scores[outcome.side] += outcome.points if isinstance(outcome, InfractionCharged) else 1
                assert scores[outcome.side] == outcome.score
        assert tuple(scores) == state.scores
        assert sum(score >= state.target for score in state.scores) == state.over
        assert max(state.scores) <= state.target
        assert state.over == any(isinstance(outcome, MatchWon) for outcome in outcomes)
        if not isinstance(body, InfractionCalled):
            assert all(new >= old for old, new in zip(before.scores, state.scores, strict=True))


@given(games)
@settings(max_examples=60, deadline=None)
def test_SU_I3_every_hand_has_six_cards_at_the_first_lead(steps: list[Step]) -> None:
    for before, _, state, _ in steps:
        if state.phase is Phase.PLAY and before.phase is not Phase.PLAY:
            assert [cards.bit_count() for cards in state.hands] == [HAND_SIZE] * state.seat_count
            assert state.kept == state.hands


@given(games)
@settings(max_examples=60, deadline=None)
def test_SU_I4_the_holder_of_the_highest_trump_takes_it(steps: list[Step]) -> None:
    tricks: list[TrickWon] = []
    for _, _, _, outcomes in steps:
        for outcome in outcomes:
            if isinstance(outcome, TrickWon):
                tricks = [*(tricks if outcome.number > 1 else []), outcome]
            if isinstance(outcome, HighScored):
                assert len(tricks) == TRICK_COUNT
                assert [trick.seat for trick in tricks if outcome.card in trick.cards] == [outcome.seat]


@given(games)
@settings(max_examples=60, deadline=None)
def test_SU_I5_SU_I6_at_most_one_gift_and_seven_dealer_points_in_a_deal(steps: list[Step]) -> None:
    gifts, gained, side = 0, 0, -1
    for before, body, state, outcomes in steps:
        if isinstance(body, CardsDealt):
            gifts, gained, side = 0, 0, before.dealer % len(state.scores)
        gifts += sum(isinstance(outcome, GiftScored) for outcome in outcomes)
        if side >= 0 and not isinstance(body, InfractionCalled):
            gained += state.scores[side] - before.scores[side]
        assert gifts <= 1
        assert gained <= 7


@given(games)
@settings(max_examples=40, deadline=None)
def test_SU_legal_is_what_check_accepts(steps: list[Step]) -> None:
    for state, _, _, _ in steps:
        moves = set(islice(SEVEN_UP.legal(state), MOVES_SEEN))
        assert bool(moves) == bool(state.to_act)
        for move in moves:
            SEVEN_UP.check(state, move)
        if state.phase is Phase.DISCARD:
            continue
        for move in every_move(state.seat_count):
            if move not in moves:
                assert not accepted(state, move)


@given(games)
@settings(max_examples=40, deadline=None)
def test_SU_a_state_survives_storage(steps: list[Step]) -> None:
    for _, _, state, _ in steps:
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(state), type=State) == state
        assert msgspec.json.decode(msgspec.json.encode(state), type=State) == state


@given(games)
@settings(max_examples=30, deadline=None)
def test_SU_every_position_can_be_seen_and_told(steps: list[Step]) -> None:
    for _, body, state, outcomes in steps:
        names = ("Ana", "Bo", "Chie", "Dag")[: state.seat_count]
        assert SEVEN_UP.words.event(body, names)
        assert all(SEVEN_UP.words.outcome(outcome, names) for outcome in outcomes)
        assert len(SEVEN_UP.words.table(state, names)) >= 2 + state.seat_count
        assert all(type(outcome) in SEVEN_UP.outcomes for outcome in outcomes)
        for viewer in (PUBLIC, ARBITER, *map(Viewer, range(state.seat_count))):
            assert msgspec.json.encode(SEVEN_UP.view(state, viewer))


@given(games)
@settings(max_examples=30, deadline=None)
def test_SU_C5_a_view_does_not_depend_on_what_it_hides(steps: list[Step]) -> None:
    for _, _, state, _ in steps:
        for seat in range(state.seat_count):
            known = seat if may_look(state, seat) else -1
            hands = tuple(hand if other == known else swapped(state, hand) for other, hand in enumerate(state.hands))
            changed = msgspec.structs.replace(state, hands=hands)
            assert SEVEN_UP.view(changed, Viewer(seat)) == SEVEN_UP.view(state, Viewer(seat))
            assert SEVEN_UP.view(changed, PUBLIC) == SEVEN_UP.view(state, PUBLIC)


SEATS = st.sampled_from([0, 1, 2, 3, 4, -1, 2**32 - 1])
CARDS = st.sampled_from([*DECK, "", "X1", "10C", "7s"])
HANDS = st.builds(CardHand, st.lists(CARDS, max_size=8).map(tuple))
anything = st.one_of(
    st.builds(DealerDrawn, SEATS),
    st.builds(CardsDealt, st.lists(HANDS, max_size=5).map(tuple), CARDS),
    st.builds(TrumpDecided, SEATS, st.sampled_from([*Decision, msgspec.UNSET])),
    st.builds(CardsRun, HANDS, HANDS, CARDS),
    st.builds(CardsDiscarded, SEATS, st.lists(CARDS, max_size=10).map(tuple)),
    st.builds(CardPlayed, SEATS, CARDS, st.sampled_from(["", "7D"])),
    st.builds(InfractionCalled, SEATS),
)


@given(games, st.lists(anything, min_size=1, max_size=20), st.data())
@settings(max_examples=60, deadline=None)
def test_SU_check_refuses_or_apply_succeeds_whatever_comes(
    steps: list[Step], bodies: list[Body], data: st.DataObject
) -> None:
    state = data.draw(st.sampled_from([state for _, _, state, _ in steps]))
    for body in bodies:
        if accepted(state, body):
            state, _ = SEVEN_UP.apply(state, body)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_SU_the_same_chance_plays_the_same_game(seats: int) -> None:
    assert list(play(seats, 7, 77)) == list(play(seats, 7, 77))


def every_move(seats: int) -> Iterator[Body]:
    """All that a player could try, discards apart."""
    for seat in range(seats + 1):
        yield from (TrumpDecided(seat, decision) for decision in Decision)
        yield from (CardPlayed(seat, card) for card in DECK)


def accepted(state: State, body: Body) -> bool:
    """Whether check lets it pass; anything but a refusal is a bug and comes through."""
    try:
        SEVEN_UP.check(state, body)
    except Refused:
        return False
    return True


def swapped(state: State, hand: int) -> int:
    """As many other cards in place of this hand."""
    rest = iter([bit for bit in BITS.values() if not bit & (hand | state.dealt)])
    return sum(next(rest, bit) for bit in BITS.values() if bit & hand)
