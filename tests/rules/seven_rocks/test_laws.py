"""What holds in every reachable position of Seven Rocks."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heptalog.replay.errors import Refused
from heptalog.replay.events import UNSET, Body, OpenerDrawn, TurnPassed, UnsetType
from heptalog.replay.outcomes import RoundEnded, RoundEndedBy
from heptalog.replay.seven_rocks import SEVEN_ROCKS
from heptalog.replay.seven_rocks.events import Arm, TileHand, TilePlayed, TilesDealt
from heptalog.replay.seven_rocks.outcomes import HandSettled, TileLaid
from heptalog.replay.seven_rocks.state import Phase, State, held, playable
from heptalog.replay.seven_rocks.tables import SIDE, TILES
from tests.support.seven_rocks_positions import ALL_TILES, LEFT, RIGHT, steps

SEEDS = st.integers(0, 2**32)


@given(SEEDS)
def test_SR_I1_no_tile_is_lost_or_doubled(seed: int) -> None:
    for _, _, state, _ in steps(seed):
        hands = [held(state, seat) for seat in range(4)]
        if state.round:
            assert sum(hands) + state.laid == ALL_TILES
            assert len(state.line) == state.laid.bit_count()


@given(SEEDS)
def test_SR_I2_I3_scores_are_fives_and_sums_small(seed: int) -> None:
    for _, _, state, outcomes in steps(seed):
        assert all(score % 5 == 0 for score in state.scores)
        for outcome in outcomes:
            if isinstance(outcome, TileLaid):
                assert outcome.sum == sum(outcome.ends) <= 36


@given(SEEDS)
def test_SR_I4_I5_a_round_ends_and_a_block_is_one(seed: int) -> None:
    for before, _, state, outcomes in steps(seed):
        assert state.laid.bit_count() <= 28
        assert state.passes <= 3
        for outcome in outcomes:
            if isinstance(outcome, RoundEnded) and outcome.by is RoundEndedBy.BLOCKED:
                assert not any(held(before, seat) & playable(before) for seat in range(4))


@given(SEEDS)
def test_SR_I6_a_settlement_never_raises_a_score(seed: int) -> None:
    for _, _, state, outcomes in steps(seed):
        settled = [outcome for outcome in outcomes if isinstance(outcome, HandSettled)]
        assert len(settled) in (0, 4)
        assert all(entry.deduction >= 0 for entry in settled)
        if settled:
            assert (settled[2].score, settled[3].score) == state.scores


class Reckoner:
    """The model of the rule research, told by tips and started arms: a second opinion on what the ends add up to."""

    def __init__(self) -> None:
        self.tips: dict[Arm, tuple[int, bool]] = {}
        self.spinner: int | None = None
        self.started = 0

    def lay(self, first: int, second: int, arm: Arm | None) -> int:
        if arm is None and first != second:
            self.tips = {LEFT: (first, False), RIGHT: (second, False)}
        elif arm is None:
            self.spinner = first
        else:
            if arm not in self.tips:
                # A side of the spinner is started, in-line ones first.
                assert (arm in (LEFT, RIGHT)) == (self.started < 2)
                assert self.spinner in (first, second)
                touching = self.spinner
                self.started += 1
            else:
                touching = self.tips.pop(arm)[0]
            assert touching in (first, second)
            if first == second and self.spinner is None:
                self.spinner = first
                self.started = 1
            else:
                self.tips[arm] = (first + second - touching, first == second)
        total = sum(value * (2 if is_double else 1) for value, is_double in self.tips.values())
        return total + (2 * self.spinner if self.spinner is not None and self.started < 2 else 0)


@given(SEEDS)
def test_SR_I7_a_second_model_agrees(seed: int) -> None:
    reckoner = Reckoner()
    for _, body, state, outcomes in steps(seed):
        if isinstance(body, TilesDealt):
            reckoner = Reckoner()
        if isinstance(body, TilePlayed):
            laid = outcomes[0]
            assert isinstance(laid, TileLaid)
            tile = TILES[body.tile]
            assert reckoner.lay(tile.first, tile.second, laid.arm) == laid.sum
            tips = [end for end in state.ends if end < SIDE]
            assert len(tips) == len(reckoner.tips) == (2 if reckoner.spinner is None else reckoner.started)


ARMS: tuple[Arm | UnsetType, ...] = (UNSET, *Arm)


@given(SEEDS, st.integers(0, 399))
def test_legal_is_what_check_accepts(seed: int, place: int) -> None:
    *_, (_, _, state, _) = steps(seed, limit=place + 1)
    moves = list(SEVEN_ROCKS.legal(state))
    assert len(set(moves)) == len(moves)
    assert bool(moves) is bool(state.to_act)
    offered = {(move.seat, move.tile, move.arm) for move in moves if isinstance(move, TilePlayed)}
    for seat in range(-1, 5):
        assert accepts(state, TurnPassed(seat)) is (TurnPassed(seat) in moves)
        for spelling, tile in TILES.items():
            arms = {arm for by, name, arm in offered if (by, name) == (seat, tile.name)}
            for arm in ARMS:
                if state.phase is Phase.OPEN:
                    expected = (seat, spelling, arm) in offered
                else:
                    expected = len(arms) == 1 if arm is UNSET else arm in arms
                assert accepts(state, TilePlayed(seat, spelling, arm)) is expected


def accepts(state: State, body: Body) -> bool:
    try:
        SEVEN_ROCKS.check(state, body)
    except Refused:
        return False
    return True


WILD_SEATS = st.integers(-(2**33), 2**33)
WILD_TILES = st.sampled_from(sorted(TILES)) | st.text(max_size=6)
WILD = st.one_of(
    st.builds(TilePlayed, WILD_SEATS | st.integers(0, 3), WILD_TILES, st.sampled_from(ARMS)),
    st.builds(TurnPassed, WILD_SEATS),
    st.builds(OpenerDrawn, WILD_SEATS),
    st.builds(
        TilesDealt,
        st.lists(st.builds(TileHand, st.lists(WILD_TILES, max_size=8).map(tuple)), max_size=5).map(tuple),
    ),
)


@given(SEEDS, st.integers(0, 399), st.lists(WILD, max_size=20))
def test_nothing_from_outside_crashes_check(seed: int, place: int, bodies: list[Body]) -> None:
    *_, (_, _, state, _) = steps(seed, limit=place + 1)
    for body in bodies:
        if accepts(state, body):
            SEVEN_ROCKS.apply(state, body)


@given(SEEDS)
def test_a_state_survives_its_encodings(seed: int) -> None:
    for _, _, state, _ in steps(seed):
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(state), type=State) == state
        assert msgspec.json.decode(msgspec.json.encode(state), type=State) == state


def test_a_decoded_state_plays_on() -> None:
    for state, body, following, outcomes in steps(7):
        copy = msgspec.json.decode(msgspec.json.encode(state), type=State)
        SEVEN_ROCKS.check(copy, body)
        assert SEVEN_ROCKS.apply(copy, body) == (following, outcomes)


@pytest.mark.parametrize("seed", range(40))
def test_random_matches_end(seed: int) -> None:
    *_, (_, _, state, _) = steps(seed, target=50, limit=5_000)
    assert state.over
    assert state.winners in ((0, 2), (1, 3))
    assert state.scores[state.winners[0]] >= 50
