"""The draw for the first dealer and the deal (SU-R1 to SU-R7)."""

import pytest

from heptalog.replay.errors import Code, Refused
from heptalog.replay.events import CardHand, CardsDealt, DealerDrawn, Draw, Lot
from heptalog.replay.outcomes import MatchWon
from heptalog.replay.seven_up import SEVEN_UP
from heptalog.replay.seven_up.dealing import cards_dealt
from heptalog.replay.seven_up.outcomes import JackTurned
from heptalog.replay.seven_up.state import Phase
from heptalog.replay.seven_up.tables import DECK
from tests.support.seven_up_positions import advance, after, awaiting_deal, dealt, refusal, stand, started


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_SU_R1_two_three_or_four_play_and_four_score_in_pairs(seats: int) -> None:
    state = SEVEN_UP.initial(started(seats))
    assert state.scores == {2: (0, 0), 3: (0, 0, 0), 4: (0, 0)}[seats]
    assert (state.to_act, state.round, state.over, state.winners) == ((), 0, False, ())


@pytest.mark.parametrize("seats", [0, 1, 5])
def test_SU_R1_other_numbers_of_players_are_refused(seats: int) -> None:
    with pytest.raises(Refused) as caught:
        SEVEN_UP.initial(started(seats))
    assert caught.value.code is Code.PLAYERS_INVALID
    assert caught.value.facts == {"players": seats, "low": 2, "high": 4}


def test_SU_R2_the_target_is_seven_unless_the_options_say_otherwise() -> None:
    assert SEVEN_UP.initial(started(2)).target == 7
    assert [SEVEN_UP.initial(started(2, target=target)).target for target in (1, 1_000)] == [1, 1_000]


@pytest.mark.parametrize("target", [0, 1_001, 2**32 - 1])
def test_SU_R2_a_target_out_of_range_is_refused(target: int) -> None:
    with pytest.raises(Refused) as caught:
        SEVEN_UP.initial(started(2, target=target))
    assert (caught.value.code, caught.value.rule) == (Code.OPTION_OUT_OF_RANGE, "game-file")
    assert caught.value.facts == {"option": "target", "value": target, "low": 1, "high": 1_000}


def test_SU_R2_another_target_takes_the_place_of_seven() -> None:
    state = awaiting_deal(2, target=1)
    state, outcomes = advance(state, dealt(2, "JC"))
    assert (state.scores, state.over, state.winners) == ((1, 0), True, (0,))
    assert outcomes == [JackTurned(seat=0, side=0, card="JC", score=1), MatchWon((0,))]


def test_SU_R3_the_draw_comes_once_and_names_the_dealer() -> None:
    drawn = DealerDrawn(2, (Lot((Draw(0, 3), Draw(1, 13), Draw(2, 13))), Lot((Draw(2, 9), Draw(1, 8)))))
    state = after(SEVEN_UP.initial(started(3)), drawn)
    assert (state.dealer, state.phase, state.to_act, state.round) == (2, Phase.DEAL, (), 0)
    assert refusal(state, drawn).code is Code.WRONG_PHASE


def test_SU_R3_a_bare_outcome_will_do() -> None:
    assert after(SEVEN_UP.initial(started(4)), DealerDrawn(3)).dealer == 3


@pytest.mark.parametrize("seat", [2, 3, 2**32 - 1])
def test_SU_R3_a_seat_that_is_not_there_cannot_deal(seat: int) -> None:
    assert refusal(SEVEN_UP.initial(started(2)), DealerDrawn(seat)).code is Code.SEAT_UNKNOWN


def test_SU_D3_exactly_the_tied_highest_draw_again() -> None:
    everybody_again = DealerDrawn(
        0, (Lot((Draw(0, 5), Draw(1, 5), Draw(2, 4))), Lot((Draw(0, 3), Draw(1, 2), Draw(2, 1))))
    )
    assert refusal(SEVEN_UP.initial(started(3)), everybody_again).code is Code.DRAW_INVALID


def test_SU_R4_SU_V24_elder_hand_is_left_of_the_dealer() -> None:
    state = after(awaiting_deal(3, dealer=2), dealt(3, "5S"))
    assert state.to_act == (0,)


def test_SU_R5_no_deal_before_the_draw() -> None:
    assert refusal(SEVEN_UP.initial(started(2)), dealt(2, "5S")).code is Code.WRONG_PHASE


def test_SU_R5_six_cards_each_and_one_turned() -> None:
    state = after(awaiting_deal(4), dealt(4, "5S"))
    assert [cards.bit_count() for cards in state.hands] == [6, 6, 6, 6]
    assert (state.round, state.phase, state.dealt.bit_count()) == (1, Phase.STAND_OR_BEG, 25)


@pytest.mark.parametrize(
    ("hands", "turned", "code"),
    [
        (["2C 3C 4C 5C 6C 7C"], "AS", Code.DEAL_INVALID),
        (["2C 3C 4C 5C 6C 7C", "2D 3D 4D 5D 6D 7D", "2H 3H 4H 5H 6H 7H"], "AS", Code.DEAL_INVALID),
        (["2C 3C 4C 5C 6C 7C", "2D 3D 4D 5D 6D"], "AS", Code.DEAL_INVALID),
        (["2C 3C 4C 5C 6C 7C 8C", "2D 3D 4D 5D 6D"], "AS", Code.DEAL_INVALID),
        (["2C 3C 4C 5C 6C 7C", "2D 3D 4D 5D 6D 7C"], "AS", Code.DEAL_INVALID),
        (["2C 3C 4C 5C 6C 7C", "2D 3D 4D 5D 6D 6D"], "AS", Code.DEAL_INVALID),
        (["2C 3C 4C 5C 6C 7C", "2D 3D 4D 5D 6D 7D"], "7D", Code.DEAL_INVALID),
        (["2C 3C 4C 5C 6C 7C", "2D 3D 4D 5D 6D 7D"], "", Code.CARD_UNKNOWN),
        (["2C 3C 4C 5C 6C 7C", "2D 3D 4D 5D 6D X1"], "AS", Code.CARD_UNKNOWN),
        (["2C 3C 4C 5C 6C 7C", "2D 3D 4D 5D 6D 10D"], "AS", Code.CARD_UNKNOWN),
        ([], "AS", Code.DEAL_INVALID),
    ],
)
def test_SU_R5_SU_D1_a_deal_that_cannot_be_is_refused(hands: list[str], turned: str, code: Code) -> None:
    body = CardsDealt(tuple(CardHand(tuple(cards.split())) for cards in hands), turned)
    assert refusal(awaiting_deal(2), body).code is code


def test_SU_R5_a_refused_deal_tells_no_card() -> None:
    body = CardsDealt(
        (CardHand(("2C", "3C", "4C", "5C", "6C", "7C")), CardHand(("2C", "3D", "4D", "5D", "6D", "7D"))), "AS"
    )
    assert "2C" not in str(refusal(awaiting_deal(2), body))


def test_SU_R5_a_slip_of_the_pen_in_a_hand_is_told_by_seat_and_place() -> None:
    body = CardsDealt(
        (CardHand(("2C", "3C", "4C", "5C", "6C", "7C")), CardHand(("2D", "10S", "4D", "5D", "6D", "7D"))), "AS"
    )
    refused = refusal(awaiting_deal(2), body)
    assert (refused.code, refused.rule, refused.facts) == (Code.CARD_UNKNOWN, "SU-D1", {"seat": 1, "place": 1})


def test_SU_D1_the_pack_has_52_cards_ace_high_without_jokers() -> None:
    assert len(set(DECK)) == 52
    assert DECK[:13] == ("2C", "3C", "4C", "5C", "6C", "7C", "8C", "9C", "TC", "JC", "QC", "KC", "AC")


def test_SU_D4_three_to_each_from_elder_hand_on_twice() -> None:
    deck = [str(number) for number in range(1, 20)]
    body = cards_dealt(deck, seat_count=3, elder=1)
    assert [hand.cards for hand in body.hands] == [
        ("7", "8", "9", "16", "17", "18"),
        ("1", "2", "3", "10", "11", "12"),
        ("4", "5", "6", "13", "14", "15"),
    ]
    assert body.turned == "19"


def test_SU_R6_SU_V1_a_turned_jack_scores_for_the_dealer() -> None:
    state, outcomes = advance(awaiting_deal(2), dealt(2, "JC"))
    assert (state.scores, state.phase, state.to_act) == ((1, 0), Phase.STAND_OR_BEG, (1,))
    assert outcomes == [JackTurned(seat=0, side=0, card="JC", score=1)]


def test_SU_R6_the_jack_scores_for_the_pair_of_the_dealer() -> None:
    assert after(awaiting_deal(4, dealer=3), dealt(4, "JC")).scores == (0, 1)


def test_SU_R7_SU_V2_a_turned_jack_can_win_the_match_there_and_then() -> None:
    state, outcomes = advance(awaiting_deal(2, scores=(6, 6)), dealt(2, "JC"))
    assert (state.scores, state.over, state.winners, state.to_act) == ((7, 6), True, (0,), ())
    assert outcomes[-1] == MatchWon((0,))
    assert refusal(state, stand(1)).code is Code.GAME_OVER
    assert refusal(state, dealt(2, "5S")).code is Code.GAME_OVER


def test_SU_R7_SU_D2_both_partners_win() -> None:
    state = after(awaiting_deal(4, dealer=1, scores=(6, 6)), dealt(4, "JC"))
    assert state.winners == (1, 3)
