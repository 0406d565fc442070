"""Seven Bridge: what holds in every game, whoever plays it and however badly (SB-I1 to SB-I7)."""

import random
from collections.abc import Iterator
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import json, msgpack
from msgspec.structs import replace

from heptalog.replay.cards import RANKS, names_in
from heptalog.replay.errors import Refused
from heptalog.replay.events import Body, CardPlayed, TurnPassed
from heptalog.replay.outcomes import MatchWon, Outcome, RoundEnded, RoundEndedBy
from heptalog.replay.rules import ARBITER, PUBLIC, Viewer
from heptalog.replay.seven_bridge import SEVEN_BRIDGE
from heptalog.replay.seven_bridge.apply import apply
from heptalog.replay.seven_bridge.check import check
from heptalog.replay.seven_bridge.dealing import deal
from heptalog.replay.seven_bridge.events import Scoring, SevenBridge
from heptalog.replay.seven_bridge.legal import legal
from heptalog.replay.seven_bridge.outcomes import GhostMade
from heptalog.replay.seven_bridge.state import NOBODY, Phase, State
from heptalog.replay.seven_bridge.tables import BITS, COLUMNS, DECK, JOKER_BITS, NATURALS, SEVENS
from heptalog.replay.seven_bridge.view import view
from heptalog.replay.seven_bridge.words import SevenBridgeWords
from tests.support.seven_bridge_positions import NAMES, new_game

# Far more than the longest match of these options can take.
EVENTS_MAX = 5_000

COMMON = {
    "pass_tokens": st.sampled_from((0, 1, 3, 5)),
    "opening_seven": st.sampled_from(("7D", "7H")),
    "ghosts": st.booleans(),
    "jokers": st.sampled_from((0, 2)),
    "scoring": st.sampled_from(Scoring),
}
# Not both a race and a limit: where bonuses outweigh penalties, nobody need ever exceed the limit.
options = st.one_of(
    st.builds(SevenBridge, rounds=st.integers(1, 3), kings_race=st.sampled_from((0, 5)), **COMMON),
    st.builds(SevenBridge, limit=st.integers(1, 20), **COMMON),
)
games = given(seed=st.integers(0, 2**32 - 1), seat_count=st.integers(3, 7), options=options)
some = settings(deadline=None, max_examples=25)


class Step(NamedTuple):
    before: State
    body: Body
    after: State
    outcomes: tuple[Outcome, ...]


def walk(seed: int, seat_count: int, options: SevenBridge) -> Iterator[Step]:
    """A match to its end, by chance. Where the seed is even, players keep their jokers and tokens as long as they can:
    only so is a round ever exhausted (SB-D20h)."""
    chance = random.Random(seed)
    state = new_game(seat_count, options)
    for _ in range(EVENTS_MAX):
        if state.over:
            return
        if state.turn == NOBODY:
            body = deal(state, chance.randrange)
        else:
            moves = list(legal(state))
            plain = [move for move in moves if isinstance(move, CardPlayed) and not move.stands_for]
            body = chance.choice(plain if plain and seed % 2 == 0 else moves)
        check(state, body)
        after, outcomes = apply(state, body)
        yield Step(state, body, after, outcomes)
        state = after
    raise AssertionError("the match does not end")


def border_by_the_book(state: State) -> set[str]:
    """SB-R10 by names: a seven not placed, and the next card outwards at each end."""
    border = set()
    for suit, column in COLUMNS.items():
        ranks = [RANKS.index(card[0]) for card in names_in(state.filled & column, DECK)]
        if not ranks:
            border.add("7" + suit)
            continue
        border |= {RANKS[rank] + suit for rank in (min(ranks) - 1, max(ranks) + 1) if 0 <= rank < len(RANKS)}
    return border


def every_body(state: State) -> Iterator[Body]:
    """Everything a seat could try, sensible or not."""
    for seat in (*range(len(state.hands)), len(state.hands), -1):
        yield TurnPassed(seat)
        for card in (*DECK, "1Z", ""):
            yield CardPlayed(seat, card)
    for joker in ("X1", "X2", "7S"):
        for place in (*DECK, "1Z"):
            yield CardPlayed(state.turn, joker, place)


def measure(state: State) -> int:
    """SB-I6: cards not in the layout, tokens of active players, active players."""
    active = [seat for seat in range(len(state.hands)) if state.active >> seat & 1]
    out = sum(hand.bit_count() for hand in state.hands) + state.exposed.bit_count()
    return out + sum(state.tokens[seat] for seat in active) + len(active)


@games
@some
def test_SB_I1_columns_are_contiguous_and_contain_their_seven(seed: int, seat_count: int, options: SevenBridge) -> None:
    for step in walk(seed, seat_count, options):
        for column in COLUMNS.values():
            filled = step.after.filled & column
            if filled:
                assert filled & SEVENS
                lowest = filled & -filled
                assert (filled + lowest) & filled == 0
        if step.after.phase is Phase.PLAY:
            assert set(names_in(step.after.border, DECK)) == border_by_the_book(step.after)


@games
@some
def test_SB_I2_no_card_is_lost_or_made(seed: int, seat_count: int, options: SevenBridge) -> None:
    for _, _, state, _ in walk(seed, seat_count, options):
        if not state.round:
            continue
        laid = state.filled & ~state.stand_ins
        parts = (*state.hands, state.exposed, laid)
        jokers_laid = sum(place != 0 for place in state.joker_places)
        assert sum(part.bit_count() for part in parts) + jokers_laid == len(state.terms.deck)
        assert sum(parts) & ~JOKER_BITS == (1 << len(NATURALS)) - 1
        assert state.stand_ins & ~state.filled == 0


@games
@some
def test_SB_I3_SB_I6_tokens_stay_above_zero_and_every_turn_brings_the_end_nearer(
    seed: int, seat_count: int, options: SevenBridge
) -> None:
    for before, body, after, _ in walk(seed, seat_count, options):
        assert min(after.tokens) >= 0
        if before.turn != NOBODY:
            waits = isinstance(body, TurnPassed) and not before.tokens[body.seat] and not before.terms.ghosts
            assert measure(after) < measure(before) or (waits and measure(after) == measure(before))


@games
@some
def test_SB_I4_SB_I5_SB_D14_a_ghost_exposes_no_seven_and_nothing_playable(
    seed: int, seat_count: int, options: SevenBridge
) -> None:
    for _, _, state, outcomes in walk(seed, seat_count, options):
        for ghost in outcomes:
            if isinstance(ghost, GhostMade):
                exposed = state.shown[ghost.seat]
                assert not exposed & (SEVENS | state.border | state.stand_ins)
                assert state.active


@games
@some
def test_SB_I7_SB_D14_without_jokers_a_round_has_one_winner(seed: int, seat_count: int, options: SevenBridge) -> None:
    for _, _, state, outcomes in walk(seed, seat_count, replace(options, jokers=0)):
        for ended in outcomes:
            if isinstance(ended, RoundEnded):
                assert ended.by is RoundEndedBy.EMPTY_HAND
                assert state.hands[ended.seat] == 0


@games
@some
def test_SB_B8_the_match_ends_with_one_winner_among_the_lowest(
    seed: int, seat_count: int, options: SevenBridge
) -> None:
    *_, (_, _, state, outcomes) = walk(seed, seat_count, options)
    assert outcomes[-1] == MatchWon(state.winners)
    (winner,) = state.winners
    assert state.scores[winner] == min(state.scores)
    assert state.to_act == ()


@games
@settings(deadline=None, max_examples=10)
def test_legal_is_what_check_accepts(seed: int, seat_count: int, options: SevenBridge) -> None:
    for number, (state, _, _, _) in enumerate(walk(seed, seat_count, options)):
        if number % 7 and state.phase is not Phase.OPEN:
            continue
        accepted = []
        for body in every_body(state):
            try:
                check(state, body)
            except Refused:
                continue
            accepted.append(body)
        expected = list(legal(state))
        assert len(expected) == len(set(map(repr, expected)))
        assert sorted(map(repr, accepted)) == sorted(map(repr, expected))
        assert bool(expected) == bool(state.to_act)


@games
@some
def test_the_state_survives_both_encodings(seed: int, seat_count: int, options: SevenBridge) -> None:
    for _, _, state, _ in walk(seed, seat_count, options):
        assert msgpack.decode(msgpack.encode(state), type=State) == state
        assert json.decode(json.encode(state), type=State) == state


@games
@settings(deadline=None, max_examples=10)
def test_C_5_a_view_is_the_same_whatever_the_others_hold(seed: int, seat_count: int, options: SevenBridge) -> None:
    chance = random.Random(seed)
    for _, _, state, _ in walk(seed, seat_count, options):
        if state.turn == NOBODY:
            continue
        viewers = [PUBLIC, *(Viewer(seat) for seat in range(seat_count))]
        for viewer in viewers:
            other = swap_hidden(state, viewer.seat, chance)
            assert json.encode(view(other, viewer)) == json.encode(view(state, viewer))


def swap_hidden(state: State, seat: int, chance: random.Random) -> State:
    """The same table where the hands that `seat` does not see are dealt anew among themselves."""
    others = [other for other in range(len(state.hands)) if other != seat]
    pool = [card for other in others for card in names_in(state.hands[other], DECK)]
    chance.shuffle(pool)
    hands = list(state.hands)
    for other in others:
        size = hands[other].bit_count()
        hands[other] = sum(BITS[card] for card in pool[:size])
        pool = pool[size:]
    return replace(state, hands=tuple(hands))


@games
@settings(deadline=None, max_examples=10)
def test_there_are_words_for_whatever_happens(seed: int, seat_count: int, options: SevenBridge) -> None:
    words, names = SevenBridgeWords(), NAMES[:seat_count]
    for _, body, state, outcomes in walk(seed, seat_count, options):
        texts = [words.event(body, names), *(words.outcome(outcome, names) for outcome in outcomes)]
        texts += words.table(state, names)
        assert all(text.strip() and text.isprintable() for text in texts)
        assert all(type(outcome) in SEVEN_BRIDGE.outcomes for outcome in outcomes)
        json.encode(view(state, ARBITER))
