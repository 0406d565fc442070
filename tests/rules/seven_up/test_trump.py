"""How trump is fixed: stand and beg, give and run, runs, void deals (SU-R8 to SU-R12)."""

from msgspec.structs import replace

from heptalog.replay.errors import Code
from heptalog.replay.events import UNSET
from heptalog.replay.outcomes import MatchWon, RoundEnded, RoundEndedBy
from heptalog.replay.seven_up.dealing import cards_run
from heptalog.replay.seven_up.events import CardsRun, TrumpDecided
from heptalog.replay.seven_up.outcomes import (
    DealVoided,
    GameCounted,
    GiftScored,
    HighScored,
    JackTurned,
    LowScored,
    RunAgain,
    SuitRejected,
    TrumpFixed,
    VoidReason,
)
from heptalog.replay.seven_up.state import Phase, State, stock_count
from tests.support.seven_up_positions import (
    SUITS,
    advance,
    after,
    awaiting_deal,
    beg,
    dealt,
    discard,
    give,
    hand,
    plays,
    refusal,
    reject,
    run,
    stand,
)


def rejected(state: State, *, elder: int, dealer: int) -> State:
    """The turned suit is begged off and rejected."""
    return after(state, beg(elder), reject(dealer))


def counts(state: State) -> list[int]:
    return [cards.bit_count() for cards in state.hands]


def test_SU_R8_elder_hand_stands_and_the_tricks_begin() -> None:
    state, outcomes = advance(awaiting_deal(2), dealt(2, "5S"), stand(1))
    assert (state.phase, state.to_act, state.trump, state.scores) == (Phase.PLAY, (1,), SUITS["S"], (0, 0))
    assert outcomes == [TrumpFixed(suit="S", card="5S")]


def test_SU_R8_a_suit_is_not_rejected_before_the_dealer_agrees() -> None:
    state = after(awaiting_deal(2), dealt(2, "5S"), beg(1))
    assert (state.rejected, state.phase, state.to_act) == (0, Phase.GIVE_OR_RUN, (0,))


def test_SU_R8_elder_hand_has_no_words_of_the_dealer() -> None:
    state = after(awaiting_deal(2), dealt(2, "5S"))
    assert refusal(state, give(1)).code is Code.ILLEGAL_MOVE
    assert refusal(state, reject(1)).code is Code.ILLEGAL_MOVE
    assert refusal(state, TrumpDecided(1, UNSET)).code is Code.ILLEGAL_MOVE
    assert refusal(state, stand(0)).code is Code.NOT_YOUR_TURN
    assert refusal(state, stand(7)).code is Code.SEAT_UNKNOWN


def test_SU_R9_the_dealer_has_no_words_of_elder_hand() -> None:
    state = after(awaiting_deal(2), dealt(2, "5S"), beg(1))
    assert refusal(state, stand(0)).code is Code.ILLEGAL_MOVE
    assert refusal(state, beg(0)).code is Code.ILLEGAL_MOVE
    assert refusal(state, give(1)).code is Code.NOT_YOUR_TURN


def test_SU_R9_SU_D15_SU_V3_a_gift_goes_to_elder_hand_alone() -> None:
    state, outcomes = advance(awaiting_deal(3, dealer=2, scores=(3, 3, 3)), dealt(3, "5S"), beg(0), give(2))
    assert (state.scores, state.trump, state.phase, state.to_act) == ((4, 3, 3), SUITS["S"], Phase.PLAY, (0,))
    assert outcomes == [GiftScored(seat=0, side=0, score=4), TrumpFixed(suit="S", card="5S")]


def test_SU_R9_SU_D14_SU_V4_a_gift_can_win_the_match_there_and_then() -> None:
    state, outcomes = advance(awaiting_deal(2, scores=(2, 6)), dealt(2, "5S"), beg(1), give(0))
    assert (state.scores, state.over, state.winners, state.to_act) == ((2, 7), True, (1,), ())
    assert outcomes == [GiftScored(seat=1, side=1, score=7), MatchWon((1,))]


def test_SU_R10_SU_R12_SU_D12_SU_V5_only_elder_hand_and_dealer_get_cards() -> None:
    state, outcomes = advance(awaiting_deal(4), dealt(4, "5S", keep="JH"), beg(1), reject(0))
    assert (state.phase, state.to_act, state.rejected) == (Phase.RUN, (), SUITS["S"])
    assert outcomes == [SuitRejected("S")]
    state, outcomes = advance(state, run(state, "JH"))
    assert counts(state) == [9, 9, 6, 6]
    assert stock_count(state) == 20
    assert (state.scores, state.phase, state.to_act) == ((1, 0), Phase.STAND_OR_BEG, (1,))
    assert outcomes == [JackTurned(seat=0, side=0, card="JH", score=1)]


def test_SU_R10_SU_D1_SU_B7_a_run_must_be_a_run() -> None:
    state = rejected(after(awaiting_deal(2), dealt(2, "5S")), elder=1, dealer=0)
    good = run(state, "AD", elder="KS QS JS", dealer="AH KH QH")
    assert refusal(state, run(state, "KS", elder="KS QS JS", dealer="AH KH QH")).code is Code.DEAL_INVALID
    assert refusal(state, run(state, "AS", elder="KS QS", dealer="AH KH QH")).code is Code.DEAL_INVALID
    assert refusal(state, run(state, "AS", elder="KS QS JS", dealer="AH KH QH JH")).code is Code.DEAL_INVALID
    assert refusal(state, run(state, "AS", elder="KS QS JS", dealer="AH KH KS")).code is Code.DEAL_INVALID
    assert refusal(state, run(state, "AS", elder="KS QS 5S", dealer="AH KH QH")).code is Code.DEAL_INVALID
    assert refusal(state, run(state, "2C", elder="KS QS JS", dealer="AH KH QH")).code is Code.DEAL_INVALID
    assert refusal(state, run(state, "1S", elder="KS QS JS", dealer="AH KH QH")).code is Code.CARD_UNKNOWN
    assert refusal(state, CardsRun()).code is Code.CARD_UNKNOWN
    assert refusal(after(state, good), good).code is Code.WRONG_PHASE


def test_SU_R10_a_slip_of_the_pen_in_a_packet_is_told_by_seat_and_place() -> None:
    state = rejected(after(awaiting_deal(3, dealer=2), dealt(3, "5S")), elder=0, dealer=2)
    refused = refusal(state, run(state, "AD", elder="KS 10S JS", dealer="AH KH QH"))
    assert (refused.code, refused.rule, refused.facts) == (Code.CARD_UNKNOWN, "SU-D1", {"seat": 0, "place": 1})
    refused = refusal(state, run(state, "AD", elder="KS QS JS", dealer="AH KH 10H"))
    assert (refused.code, refused.rule, refused.facts) == (Code.CARD_UNKNOWN, "SU-D1", {"seat": 2, "place": 2})


def test_SU_R10_a_card_once_turned_or_run_cannot_come_again() -> None:
    state = rejected(after(awaiting_deal(2), dealt(2, "5S")), elder=1, dealer=0)
    state = rejected(after(state, run(state, "AH", elder="KS QS JS")), elder=1, dealer=0)
    assert refusal(state, run(state, "KS", elder="AD KD QD", dealer="JD TD 9D")).code is Code.DEAL_INVALID
    assert refusal(state, run(state, "AH", elder="AD KD QD", dealer="JD TD 9D")).code is Code.DEAL_INVALID


def test_SU_R6_SU_R11_SU_D7_SU_V6_SU_B7_a_rejected_suit_runs_again_without_a_word_or_a_point() -> None:
    state = rejected(after(awaiting_deal(4), dealt(4, "5S", keep="JS 2H")), elder=1, dealer=0)
    state, outcomes = advance(state, run(state, "JS", keep="2H"))
    assert (state.scores, state.phase, state.to_act) == ((0, 0), Phase.RUN, ())
    assert outcomes == [RunAgain("JS")]
    assert refusal(state, stand(1)).code is Code.WRONG_PHASE
    assert refusal(state, dealt(4, "5S")).code is Code.WRONG_PHASE
    state = after(state, run(state, "2H"))
    assert counts(state) == [12, 12, 6, 6]
    assert stock_count(state) == 13
    assert state.to_act == (1,)


def test_SU_D6_elder_hand_is_served_before_the_dealer() -> None:
    state = after(awaiting_deal(4, dealer=3), dealt(4, "5S", keep="AC AD AH KC KD KH AS"))
    state = rejected(state, elder=0, dealer=3)
    state = after(state, cards_run(["AC", "AD", "AH", "KC", "KD", "KH", "AS"]))
    assert hand(state, 0) >= {"AC", "AD", "AH"}
    assert hand(state, 3) >= {"KC", "KD", "KH"}


def test_SU_R7_SU_B1_a_jack_turned_in_a_run_can_win_the_match() -> None:
    state = rejected(after(awaiting_deal(2, scores=(6, 0)), dealt(2, "5S")), elder=1, dealer=0)
    state, outcomes = advance(state, run(state, "JD"))
    assert (state.scores, state.over, state.winners, state.to_act) == ((7, 0), True, (0,), ())
    assert outcomes == [JackTurned(seat=0, side=0, card="JD", score=7), MatchWon((0,))]
    assert refusal(state, dealt(2, "5S")).code is Code.GAME_OVER


def test_SU_R6_SU_D16_SU_V7_each_jack_of_a_fresh_suit_scores() -> None:
    state = rejected(after(awaiting_deal(2), dealt(2, "JS", keep="9S JD")), elder=1, dealer=0)
    state = after(state, run(state, "9S", keep="JD"))
    assert (state.scores, state.phase) == ((1, 0), Phase.RUN)
    state = after(state, run(state, "JD"))
    assert (state.scores, state.phase) == ((2, 0), Phase.STAND_OR_BEG)


def test_SU_D8_SU_D10_SU_D11_SU_V8_a_short_stock_voids_the_deal() -> None:
    state = after(awaiting_deal(4, scores=(2, 3)), dealt(4, "5S", keep="6S 7S JH"))
    before = rejected(state, elder=1, dealer=0)
    state = after(before, run(before, "6S", keep="7S JH"))
    state = after(state, run(state, "7S", keep="JH"))
    state = after(state, run(state, "JH"))
    assert stock_count(state) == 6
    assert (state.scores, state.to_act) == ((3, 3), (1,))
    state, outcomes = advance(state, beg(1), reject(0))
    assert outcomes == [
        SuitRejected("H"),
        DealVoided(seat=0, reason=VoidReason.STOCK_SHORT),
        RoundEnded(round=1, by=RoundEndedBy.VOID),
    ]
    assert state == awaiting_deal_again(round_number=1, scores=(3, 3))
    state = after(state, dealt(4, "5S"))
    assert (state.round, state.to_act) == (2, (1,))


def test_SU_D8_a_rejected_suit_on_a_short_stock_voids_the_deal_at_once() -> None:
    state = after(awaiting_deal(4), dealt(4, "5S", keep="6S 7S 8S"))
    state = rejected(state, elder=1, dealer=0)
    state = after(state, run(state, "6S", keep="7S 8S"))
    state = after(state, run(state, "7S", keep="8S"))
    state, outcomes = advance(state, run(state, "8S"))
    assert outcomes == [
        RunAgain("8S"),
        DealVoided(seat=0, reason=VoidReason.STOCK_SHORT),
        RoundEnded(round=1, by=RoundEndedBy.VOID),
    ]
    assert state == awaiting_deal_again(round_number=1, scores=(0, 0))


def test_SU_D8_three_players_can_run_four_times() -> None:
    state = rejected(after(awaiting_deal(3), dealt(3, "5S", keep="6S 7S 8S 9S")), elder=1, dealer=0)
    for turned, left in (("6S", 26), ("7S", 19), ("8S", 12)):
        state = after(state, run(state, turned, keep="6S 7S 8S 9S"))
        assert (stock_count(state), state.phase) == (left, Phase.RUN)
    assert after(state, run(state, "9S")).phase is Phase.DEAL


def test_SU_D9_SU_V9_four_rejected_suits_void_the_deal_whatever_is_left() -> None:
    state = after(awaiting_deal(2), dealt(2, "5S", keep="5H 5D 5C"))
    for turned in ("5H", "5D", "5C"):
        state = rejected(state, elder=1, dealer=0)
        state = after(state, run(state, turned, keep="5H 5D 5C"))
    assert stock_count(state) == 18
    state, outcomes = advance(state, beg(1), reject(0))
    assert DealVoided(seat=0, reason=VoidReason.SUITS_REJECTED) in outcomes
    assert state == awaiting_deal_again(seats=2, round_number=1, scores=(0, 0))


def test_SU_D13_elder_hand_may_stand_or_beg_at_every_turned_card() -> None:
    state = rejected(after(awaiting_deal(2), dealt(2, "5S", keep="5H 5D")), elder=1, dealer=0)
    state = rejected(after(state, run(state, "5H", keep="5D")), elder=1, dealer=0)
    state = after(state, run(state, "5D"), stand(1))
    assert (state.trump, state.phase) == (SUITS["D"], Phase.DISCARD)


def test_SU_D13_a_trump_in_hand_is_needed_for_neither_word() -> None:
    without = after(awaiting_deal(2), dealt(2, "5S", {1: "2C 3C 4C 2D 3D 4D"}))
    assert after(without, stand(1)).trump == SUITS["S"]
    only_trumps = after(awaiting_deal(2), dealt(2, "5S", {1: "AS KS QS JS TS 9S"}))
    assert after(only_trumps, beg(1)).phase is Phase.GIVE_OR_RUN


def test_SU_I5_at_most_one_gift_in_a_deal() -> None:
    state = after(awaiting_deal(2), dealt(2, "5S", keep="5H"))
    state = rejected(state, elder=1, dealer=0)
    state = after(state, run(state, "5H"), beg(1), give(0))
    assert state.scores == (0, 1)
    assert refusal(state, give(0)).code is Code.WRONG_PHASE


def test_SU_I6_SU_V25_one_deal_can_win_a_match_from_nothing() -> None:
    hands = {0: "AC 2C AD AH AS KS", 1: "2D 3D 4D 5D 6D 7D", 2: "KC QC 3C 4C 5C 6C", 3: "2H 3H 4H 5H 6H 7H"}
    state = rejected(after(awaiting_deal(4), dealt(4, "JS", hands)), elder=1, dealer=0)
    state = rejected(after(state, run(state, "JH", elder="8D 9D TD", dealer="2S 3S 4S")), elder=1, dealer=0)
    state = rejected(after(state, run(state, "JD", elder="QD KD 8H", dealer="5S 6S 7S")), elder=1, dealer=0)
    state = after(state, run(state, "JC", elder="9H TH QH", dealer="8S 9S TS"), stand(1))
    assert state.scores == (4, 0)
    state = after(state, discard(1, "8D 9D TD QD KD 8H 9H TH QH"), discard(0, "2S 3S 4S 5S 6S 7S 8S 9S TS"))
    state, outcomes = advance(
        state,
        *plays("1 2D, 2 KC, 3 2H, 0 AD"),
        *plays("2 QC, 3 3H, 0 AC, 1 3D"),
        *plays("0 AS, 1 4D, 2 3C, 3 4H"),
        *plays("2 4C, 3 5H, 0 2C, 1 5D"),
        *plays("2 5C, 3 6H, 0 AH, 1 6D"),
        *plays("2 6C, 3 7H, 0 KS, 1 7D"),
    )
    assert outcomes[-5:] == [
        HighScored(seat=0, side=0, card="AC", score=5),
        LowScored(seat=0, side=0, card="2C", score=6),
        GameCounted(pips=(24, 0), tied=False, side=0, score=7),
        RoundEnded(round=1, by=RoundEndedBy.TRICKS_PLAYED),
        MatchWon((0, 2)),
    ]


def awaiting_deal_again(*, seats: int = 4, round_number: int, scores: tuple[int, ...]) -> State:
    """What a void deal leaves: the table as before the deal, save for the number of rounds and the scores."""
    return replace(awaiting_deal(seats), round=round_number, scores=scores)
