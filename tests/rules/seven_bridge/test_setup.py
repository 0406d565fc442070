"""Seven Bridge: players, options, the draw for the dealer and the deal (SB-R1 to SB-R6)."""

import random
from typing import Any

import pytest

from heptalog.replay.errors import Code, Refused
from heptalog.replay.events import CardHand, CardsDealt, DealerDrawn, Draw, GameStarted, Lot, Player
from heptalog.replay.seven_bridge import SEVEN_BRIDGE
from heptalog.replay.seven_bridge.dealing import deal
from heptalog.replay.seven_bridge.events import Scoring, SevenBridge
from heptalog.replay.seven_bridge.outcomes import RoundOpened
from heptalog.replay.seven_bridge.state import Phase, State, initial
from heptalog.replay.seven_bridge.tables import CARDS_BY_VALUE, DECK, NATURALS, NEXT_SEAT, OPENS, hand_sizes
from tests.support.seven_bridge_positions import (
    DEFAULTS,
    advance,
    advance_with_outcomes,
    mask,
    moves,
    new_game,
    play,
    position,
    refusal,
    split_deck,
    started,
)

JOKERS = SevenBridge(jokers=2)


def ready_to_deal(seat_count: int, dealer: int, options: SevenBridge = DEFAULTS) -> State:
    return advance(new_game(seat_count, options), DealerDrawn(dealer))


@pytest.mark.parametrize("seat_count", range(3, 8))
def test_SB_R1_three_to_seven_play(seat_count: int) -> None:
    assert initial(started(seat_count)).scores == (0,) * seat_count


@pytest.mark.parametrize("seat_count", [0, 1, 2, 8, 100])
def test_SB_R1_SB_D28_fewer_or_more_are_refused(seat_count: int) -> None:
    players = tuple(Player(str(seat)) for seat in range(seat_count))
    with pytest.raises(Refused) as caught:
        initial(GameStarted(players, DEFAULTS))
    assert (caught.value.code, caught.value.rule) == (Code.PLAYERS_INVALID, "SB-R1")


def test_options_left_out_have_the_defaults_of_the_game_file() -> None:
    terms = new_game(3).terms
    assert (terms.pass_tokens, terms.opening_seven, terms.ghosts, terms.jokers) == (3, "7D", True, 0)
    assert (terms.joker_penalty, terms.kings_race, terms.scoring) == (14, 0, Scoring.VALUES)
    assert (terms.rounds, terms.limit) == (5, 0)


def test_SB_D23_options_are_independent_and_a_zero_is_not_an_absence() -> None:
    options = SevenBridge(0, "7H", False, 2, 0, 100, Scoring.COUNT, 1, 100_000)
    terms = new_game(3, options).terms
    assert (terms.pass_tokens, terms.opening_seven, terms.ghosts, terms.jokers) == (0, "7H", False, 2)
    assert (terms.joker_penalty, terms.kings_race, terms.scoring) == (0, 100, Scoring.COUNT)
    assert (terms.rounds, terms.limit) == (1, 100_000)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("pass_tokens", 53),
        ("opening_seven", "7S"),
        ("opening_seven", ""),
        ("jokers", 1),
        ("jokers", 3),
        ("joker_penalty", 101),
        ("kings_race", 101),
        ("rounds", 0),
        ("rounds", 1_001),
        ("limit", 100_001),
        ("limit", -1),
    ],
)
def test_an_option_out_of_range_is_refused_by_its_name_in_the_game_file(option: str, value: Any) -> None:
    with pytest.raises(Refused) as caught:
        new_game(3, SevenBridge(**{option: value}))
    assert (caught.value.code, caught.value.rule) == (Code.OPTION_OUT_OF_RANGE, "game-file")
    head, *tail = option.split("_")
    assert caught.value.facts["option"] == head + "".join(word.title() for word in tail)
    assert caught.value.facts["value"] == value
    assert {"low", "high"} <= caught.value.facts.keys()


def test_SB_R2_the_dealer_is_drawn_once_before_the_first_deal() -> None:
    state = new_game(3)
    assert (state.round, state.to_act, state.phase) == (0, (), Phase.DRAW)
    dealt = split_deck(NATURALS, seat_count=3, dealer=1)
    assert refusal(state, dealt).code is Code.WRONG_PHASE
    assert refusal(state, play(0, "7D")).code is Code.WRONG_PHASE
    state = advance(state, DealerDrawn(1))
    assert (state.dealer, state.to_act) == (1, ())
    assert refusal(state, DealerDrawn(1)).code is Code.WRONG_PHASE
    state = advance(state, dealt)
    assert refusal(state, DealerDrawn(1)).code is Code.WRONG_PHASE
    assert refusal(state, dealt).code is Code.WRONG_PHASE


def test_SB_V24_SB_D2_only_the_tied_highest_draw_again() -> None:
    tie = Lot((Draw(0, 13), Draw(1, 13), Draw(2, 1)))
    again = Lot((Draw(1, 4), Draw(0, 9)))
    assert advance(new_game(3), DealerDrawn(0, (tie, again))).dealer == 0
    assert refusal(new_game(3), DealerDrawn(0, (tie,))).code is Code.DRAW_INVALID
    everybody = Lot((Draw(0, 9), Draw(1, 4), Draw(2, 2)))
    assert refusal(new_game(3), DealerDrawn(0, (tie, everybody))).code is Code.DRAW_INVALID
    assert refusal(new_game(3), DealerDrawn(1, (tie, again))).code is Code.DRAW_INVALID


def test_SB_R2_a_bare_outcome_is_enough_but_the_seat_must_be_there() -> None:
    assert advance(new_game(3), DealerDrawn(2)).dealer == 2
    assert refusal(new_game(3), DealerDrawn(3)).code is Code.SEAT_UNKNOWN
    assert refusal(new_game(3), DealerDrawn(4_294_967_295)).code is Code.SEAT_UNKNOWN


def test_SB_R3_SB_B1_the_deck_has_52_cards_ace_low_kings_included() -> None:
    assert len(set(NATURALS)) == 52
    assert len(DECK) == 54
    assert NATURALS[:13] == ("AC", "2C", "3C", "4C", "5C", "6C", "7C", "8C", "9C", "TC", "JC", "QC", "KC")


def test_SB_R10_SB_D25_the_border_grows_outwards_and_never_from_ace_to_king() -> None:
    assert OPENS[mask("7D")] == mask("6D 8D")
    assert OPENS[mask("6D")] == mask("5D")
    assert OPENS[mask("8D")] == mask("9D")
    assert OPENS[mask("AD")] == OPENS[mask("KD")] == 0


def test_SB_R17_values_run_from_one_to_thirteen() -> None:
    values = {rank: value for value, kind in CARDS_BY_VALUE for rank in "A23456789TJQK" if kind & mask(rank + "S")}
    assert values == dict(zip("A23456789TJQK", range(1, 14), strict=True))


def test_SB_R8_the_next_of_a_set_of_seats_is_the_first_one_clockwise() -> None:
    for seats in range(1 << 7):
        for seat in range(7):
            clockwise = [(seat + step) % 7 for step in range(1, 8)]
            expected = next((after for after in clockwise if seats & 1 << after), -1)
            assert NEXT_SEAT[seats][seat] == expected


@pytest.mark.parametrize(
    ("cards", "sizes"),
    [
        (52, (26, 26)),
        (52, (18, 17, 17)),
        (52, (13, 13, 13, 13)),
        (52, (11, 11, 10, 10, 10)),
        (52, (9, 9, 9, 9, 8, 8)),
        (52, (8, 8, 8, 7, 7, 7, 7)),
        (54, (27, 27)),
        (54, (18, 18, 18)),
        (54, (14, 14, 13, 13)),
        (54, (11, 11, 11, 11, 10)),
        (54, (9, 9, 9, 9, 9, 9)),
        (54, (8, 8, 8, 8, 8, 7, 7)),
    ],
)
def test_SB_V1_SB_R5_SB_D1_SB_D20a_hand_sizes_from_the_dealer_clockwise(cards: int, sizes: tuple[int, ...]) -> None:
    assert hand_sizes(cards, len(sizes)) == sizes


def test_SB_V1_SB_D1_with_five_players_and_dealer_3_seats_3_and_4_get_eleven() -> None:
    state = ready_to_deal(5, dealer=3)
    right = split_deck(NATURALS, seat_count=5, dealer=3)
    assert [len(hand.cards) for hand in right.hands] == [10, 10, 10, 11, 11]
    advance(state, right)
    wrong = refusal(state, split_deck(NATURALS, seat_count=5, dealer=4))
    assert (wrong.code, wrong.rule) == (Code.DEAL_INVALID, "SB-R5")


def test_SB_R5_a_deal_is_the_whole_deck_once() -> None:
    state = ready_to_deal(4, dealer=0)
    right = split_deck(NATURALS, seat_count=4, dealer=0)
    first, *others = right.hands

    def with_first_hand(*cards: str) -> CardsDealt:
        return CardsDealt((CardHand(cards), *others))

    twice = with_first_hand(*first.cards[:-1], others[0].cards[0])
    assert refusal(state, twice).code is Code.DEAL_INVALID
    assert refusal(state, with_first_hand(*first.cards[:-1], first.cards[0])).code is Code.DEAL_INVALID
    assert refusal(state, with_first_hand(*first.cards[:-1])).code is Code.DEAL_INVALID
    assert refusal(state, with_first_hand(*first.cards[:-1], "1Z")).code is Code.CARD_UNKNOWN
    assert refusal(state, with_first_hand(*first.cards[:-1], "X1")).code is Code.CARD_UNKNOWN
    assert refusal(state, CardsDealt(right.hands[:3])).code is Code.DEAL_INVALID
    assert refusal(state, CardsDealt((*right.hands, CardHand()))).code is Code.DEAL_INVALID
    assert refusal(state, CardsDealt(right.hands, "2C")).code is Code.DEAL_INVALID


def test_C_5_a_refused_deal_names_no_card() -> None:
    state = ready_to_deal(4, dealer=0)
    hands = split_deck(NATURALS, seat_count=4, dealer=0).hands
    for wrong in ("KS", "X2", "9s", ""):
        changed = CardsDealt((CardHand((*hands[0].cards[:-1], wrong)), *hands[1:]))
        facts = refusal(state, changed).facts
        assert facts.keys() <= {"seat", "problem"}
        assert not set(str(facts).split()) & set(DECK)


def test_SB_R25_SB_D20_with_jokers_the_deck_is_54_and_both_are_dealt() -> None:
    state = ready_to_deal(7, 5, JOKERS)
    advance(state, split_deck(DECK, seat_count=7, dealer=5))
    assert refusal(state, split_deck(NATURALS, seat_count=7, dealer=5)).code is Code.DEAL_INVALID


def test_SB_R6_SB_D27_every_round_begins_with_all_tokens_and_an_empty_layout() -> None:
    state, outcomes = advance_with_outcomes(ready_to_deal(3, 2), split_deck(NATURALS, seat_count=3, dealer=2))
    opener = next(seat for seat in range(3) if state.hands[seat] & mask("7D"))
    assert state.tokens == (3, 3, 3)
    assert (state.round, state.to_act, state.filled, state.exposed) == (1, (opener,), 0, 0)
    assert outcomes == (RoundOpened(1, 2, opener, (0, 1, 2)),)


def test_SB_R22_an_option_gives_five_tokens() -> None:
    deal = split_deck(NATURALS, seat_count=3, dealer=2)
    assert advance(ready_to_deal(3, 2, SevenBridge(pass_tokens=5)), deal).tokens == (5, 5, 5)


def test_SB_R27_SB_D21_fan_tan_begins_with_all_tokens() -> None:
    deal = split_deck(NATURALS, seat_count=3, dealer=2)
    assert advance(ready_to_deal(3, 2, SevenBridge(ghosts=False)), deal).tokens == (3, 3, 3)


def test_SB_D27_tokens_left_are_worth_nothing_and_do_not_carry_over() -> None:
    state = position(["8D", "KS", "AC"], "D7-7", tokens=[3, 1, 2])
    state = advance(state, play(0, "8D"))
    assert state.scores == (0, 13, 1)
    assert advance(state, split_deck(NATURALS, seat_count=3, dealer=1)).tokens == (3, 3, 3)


@pytest.mark.parametrize("jokers", [0, 2])
@pytest.mark.parametrize("seat_count", range(3, 8))
def test_SB_R4_the_table_draws_and_deals_what_check_accepts(seat_count: int, jokers: int) -> None:
    choose = random.Random(seat_count + jokers).randrange
    state = new_game(seat_count, SevenBridge(jokers=jokers))
    drawn = deal(state, choose)
    state = advance(state, drawn, deal(advance(state, drawn), choose))
    assert (state.round, state.phase) == (1, Phase.OPEN)
    assert moves(state) == ["7D"]


def test_SB_D3_the_rules_are_exported_whole_and_know_no_cut() -> None:
    assert (SEVEN_BRIDGE.key, SEVEN_BRIDGE.version) == ("seven_bridge", 1)
    assert [body.__name__ for body in SEVEN_BRIDGE.bodies] == ["DealerDrawn", "CardsDealt", "CardPlayed", "TurnPassed"]
