"""Which cards may be played, and who wins the trick (SU-R14 to SU-R18)."""

import pytest

from heptalog.replay.errors import Code, Refused
from heptalog.replay.events import CardPlayed
from heptalog.replay.seven_up import SEVEN_UP
from heptalog.replay.seven_up.outcomes import TrickWon
from heptalog.replay.seven_up.state import Phase, State
from tests.support.seven_up_positions import (
    advance,
    after,
    awaiting_deal,
    dealt,
    discard,
    give,
    in_play,
    plays,
    refusal,
    stand,
)


def playable(state: State) -> set[str]:
    """The cards that may be played; check has to agree on every card of the hand."""
    moves = [move for move in SEVEN_UP.legal(state) if isinstance(move, CardPlayed)]
    for move in moves:
        SEVEN_UP.check(state, move)
    return {move.card for move in moves}


def follower(held: str, *, led: str, trump: str, number: int) -> State:
    """Seat 1 has led a card to seat 0, who holds `held`."""
    return in_play(held, "", trump=trump, number=number, trick=led)


def test_SU_R14_elder_hand_leads_whatever_it_likes() -> None:
    state = in_play("2C", "9S 4H KD", trump="H")
    assert state.to_act == (1,)
    assert playable(state) == {"9S", "4H", "KD"}


@pytest.mark.parametrize(
    ("number", "led", "held", "allowed"),
    [
        pytest.param(1, "5S", "9S 4H KD", "9S", id="SU_V11_SU_R15_SU_D22_first_trick_no_trumping"),
        pytest.param(1, "5S", "4H KD", "4H KD", id="SU_V12_SU_D21_first_trick_void"),
        pytest.param(2, "5S", "9S 4H KD", "9S 4H", id="SU_V13_SU_R16_follow_or_trump"),
        pytest.param(6, "5S", "4H KD", "4H KD", id="SU_R16_void_is_free"),
        pytest.param(2, "5S", "9S KD", "9S", id="SU_R16_no_trump_to_play"),
        pytest.param(3, "5H", "4H 9S KD", "4H", id="SU_V14_SU_R17_trump_led"),
        pytest.param(3, "5H", "9S KD", "9S KD", id="SU_V14_trump_led_none_held"),
        pytest.param(1, "5H", "4H 9S", "4H", id="SU_D23_trump_led_in_the_first_trick"),
        pytest.param(1, "2S", "3S AS", "3S AS", id="SU_R15_no_duty_to_beat"),
        pytest.param(4, "9H", "8H AH", "8H AH", id="SU_D24_no_duty_to_overtrump"),
    ],
)
def test_SU_what_a_follower_may_play(number: int, led: str, held: str, allowed: str) -> None:
    state = follower(held, led=led, trump="H", number=number)
    assert playable(state) == set(allowed.split())
    for card in set(held.split()) - set(allowed.split()):
        assert refusal(state, CardPlayed(0, card)).code is Code.MUST_FOLLOW


def test_SU_D24_undertrumping_is_allowed() -> None:
    state = in_play("3H 9S", "", "", trump="H", number=2, leader=1, trick="5S 9H")
    assert playable(state) == {"3H", "9S"}


@pytest.mark.parametrize(("number", "led", "rule"), [(1, "5S", "SU-R15"), (2, "5S", "SU-R16"), (2, "5H", "SU-R17")])
def test_SU_R15_SU_R16_SU_R17_the_refusal_names_the_rule_that_says_no(number: int, led: str, rule: str) -> None:
    error = refusal(follower("9S 4H KD", led=led, trump="H", number=number), CardPlayed(0, "KD"))
    assert error.rule == rule
    assert error.facts == {"seat": 0, "card": "KD", "led": led[1], "trump": "H"}


def test_SU_B5_trump_once_led_forces_nothing_in_a_later_trick() -> None:
    state = in_play("2H 9D 3S", "3H KD 5S", trump="H", number=2)
    state = after(state, *plays("1 3H, 0 2H"), *plays("1 5S"))
    assert playable(state) == {"3S"}


def test_SU_D25_SU_D26_SU_V26_SU_B10_an_illegal_card_is_refused_and_costs_nothing() -> None:
    state = follower("9S KD", led="5S", trump="H", number=2)
    assert refusal(state, CardPlayed(0, "KD")).code is Code.MUST_FOLLOW
    with pytest.raises(Refused):
        SEVEN_UP.apply(state, CardPlayed(0, "KD"))
    assert (state.to_act, state.scores) == ((0,), (0, 0))
    assert after(state, CardPlayed(0, "9S")).trick_number == 3


def test_SU_R14_refusals_of_a_card() -> None:
    state = follower("9S KD", led="5S", trump="H", number=2)
    assert refusal(state, CardPlayed(1, "9S")).code is Code.NOT_YOUR_TURN
    assert refusal(state, CardPlayed(2**32 - 1, "9S")).code is Code.SEAT_UNKNOWN
    assert refusal(state, CardPlayed(0, "8S")).code is Code.NOT_HELD
    assert refusal(state, CardPlayed(0, "8D")).code is Code.NOT_HELD
    assert refusal(state, CardPlayed(0, "X1")).code is Code.CARD_UNKNOWN
    assert refusal(state, CardPlayed(0, "")).code is Code.CARD_UNKNOWN
    assert refusal(state, CardPlayed(0, "9S", "9S")).code is Code.ILLEGAL_MOVE


@pytest.mark.parametrize(
    ("trick", "place"),
    [
        ("9S AD TS 2C", 2),
        ("9S 2H AS 3H", 3),
        ("9S AS KS 2D", 1),
        ("9S 2D 3D 4C", 0),
        ("2H AS AD AC", 0),
        ("9C AS TC KD", 2),
    ],
)
def test_SU_R18_SU_V15_the_highest_trump_or_else_the_highest_of_the_suit_led_wins(trick: str, place: int) -> None:
    cards = trick.split()
    bodies = [CardPlayed(seat, card) for seat, card in enumerate(cards)]
    state = in_play(*cards, trump="H", number=2, leader=0)
    state, outcomes = advance(state, *bodies)
    assert outcomes == [TrickWon(number=2, leader=0, seat=place, side=place % 2, cards=tuple(cards))]
    assert state.captured[place].bit_count() == 4


def test_SU_D20_the_winner_of_a_trick_leads_the_next() -> None:
    state = after(in_play("AS 2C", "9S 3C", "KD 4C", trump="H", number=2), *plays("1 9S, 2 KD, 0 AS"))
    assert (state.to_act, state.leader, state.trick_number, state.trick) == ((0,), 0, 3, ())


def test_SU_R14_after_the_sixth_trick_the_next_deal_comes() -> None:
    state = after(in_play("AS", "9S", trump="H", number=6), *plays("1 9S, 0 AS"))
    assert (state.phase, state.to_act, state.round) == (Phase.DEAL, (), 1)


def test_SU_R3_SU_V24_the_deal_passes_clockwise() -> None:
    state = after(in_play("AS", "9S", "2S", trump="H", number=6, dealer=2), *plays("0 AS, 1 9S, 2 2S"))
    assert state.dealer == 0
    assert after(state, dealt(3, "5S")).to_act == (1,)


def test_SU_D38_SU_D5_there_are_no_other_moves() -> None:
    assert [body.__name__ for body in SEVEN_UP.bodies] == [
        "DealerDrawn",
        "CardsDealt",
        "TrumpDecided",
        "CardsRun",
        "CardsDiscarded",
        "CardPlayed",
        "InfractionCalled",
    ]


def test_SU_C3_events_of_another_phase_are_refused() -> None:
    state = after(awaiting_deal(2), dealt(2, "5S"))
    assert refusal(state, CardPlayed(1, "2C")).code is Code.WRONG_PHASE
    assert refusal(state, discard(1, "2C")).code is Code.WRONG_PHASE
    playing = after(state, stand(1))
    assert refusal(playing, give(0)).code is Code.WRONG_PHASE
    assert refusal(playing, dealt(2, "5S")).code is Code.WRONG_PHASE
