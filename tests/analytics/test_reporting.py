"""What a report says of given answers: the arithmetic, and the words that follow from it."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest

from heptalog.analytics.reporting import words
from heptalog.analytics.reporting.answers import QUESTIONS, Answers, gather, question
from heptalog.analytics.reporting.counting import bins_for, correlation, mean, quantile
from heptalog.analytics.reporting.drawing import drawn
from heptalog.analytics.reporting.figures import advantages, lengths, overview, rounds, scoring, seven_up
from heptalog.analytics.reporting.figures.figure import Figure
from heptalog.analytics.reporting.report import report
from heptalog.replay.errors import Code, NotFound


def given(name: str, *rows: dict[str, Any], ruleset: str = "seven_bridge", tournament: str | None = None) -> Answers:
    """Answers with nothing but these."""
    everything: dict[str, list[Any]] = {key: [] for key in QUESTIONS}
    everything[name] = [{"ruleset": ruleset, **row} for row in rows]
    return Answers(tournament, everything, 7, 7)


def made(figure: Figure | None) -> Figure:
    """The figure, which can be drawn."""
    assert figure is not None
    assert "<title" in drawn("figure", figure.draw, title=figure.title, text=figure.caption)
    return figure


@pytest.mark.parametrize(
    ("counts", "part", "expected"),
    [([(1, 1)], 0.5, 1), ([(1, 1), (2, 1)], 0.5, 1), ([(1, 1), (2, 2)], 0.5, 2), ([(1, 9), (5, 1)], 0.9, 1)],
)
def test_a_quantile_is_the_least_value_that_holds_so_many(
    counts: Sequence[tuple[float, int]], part: float, expected: float
) -> None:
    assert quantile(counts, part) == expected


def test_a_mean_and_a_correlation_of_nothing_are_nothing() -> None:
    assert mean([]) == 0
    assert correlation([]) == 0
    assert correlation([(1, 1), (1, 5)]) == 0
    assert correlation([(1, 3), (2, 2), (3, 1)]) == pytest.approx(-1)


def test_bins_hold_everything_and_are_no_more_than_asked_for() -> None:
    # 4,320 spans, some of them below zero.
    for low in range(-130, 130, 7):
        for size in (0, 1, 3, 9, 23, 24, 25, 49, 99, 500, 4_000, 99_999):
            for bins_max in range(6, 26, 2):
                bins = bins_for(low, low + size, bins_max=bins_max)
                assert len(bins) <= bins_max
                assert bins[0].start <= low
                assert low + size < bins[-1].end
                assert all(one.end == other.start for one, other in pairwise(bins))
                assert {str(each.end - each.start)[0] for each in bins} <= {"1", "2", "5"}


def test_numbers_are_told_as_people_write_them() -> None:
    assert words.number(-1234.56) == "\N{MINUS SIGN}1,234.6"
    assert words.number(-0.01) == "0.0"
    assert words.number(None) == "-"
    assert words.share(1, 8) == "12.5\N{NO-BREAK SPACE}%"
    assert words.share(0, 0) == "-"
    assert words.seconds(59.94) == "59.9 s"
    assert words.seconds(59.97) == "1 min 0 s"
    assert words.seconds(3_725) == "1 h 2 min"


def test_a_tournament_is_text_in_a_question() -> None:
    for name in QUESTIONS:
        assert ":tournament" not in question(name, None)
        assert "'it''s; --'" in question(name, "it's; --") or name == "ratings"


def test_a_tournament_that_nobody_knows_is_told_with_the_nearest_before_all_else_is_asked() -> None:
    asked: list[str] = []

    def ask(sql: str) -> tuple[int, pa.Table]:
        asked.append(sql)
        return 7, pa.table({"tournament": ["Nowhere Open", "Riga"]} if "AS games" not in sql else {"games": [0]})

    with pytest.raises(NotFound) as caught:
        gather(ask, "Nowhere", tell=lambda: None)
    assert caught.value.code is Code.TOURNAMENT_UNKNOWN
    assert caught.value.facts["nearest"] == "Nowhere Open"
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("position_step", "said"), [(0, "up to position 7."), (1, "up to position 7; the log went on")]
)
def test_a_page_says_which_moment_it_is_about(position_step: int, said: str) -> None:
    positions = iter(range(7, 7 + 100 * position_step, position_step) if position_step else [7] * 100)
    names = ("games", "running", "closed", "tournaments", "rounds", "turns", "players")
    totals = {name: [0] for name in names}
    empty = pa.table({**totals, "first_day": [None], "last_day": [None]})

    def ask(sql: str) -> tuple[int, pa.Table]:
        return next(positions), empty if "AS tournaments" in sql else empty.slice(1)

    assert said in report(ask, None, tell=lambda: None).decode()


def test_a_seat_is_better_only_beyond_chance() -> None:
    row = {"player_count": 4, "fair_rate": 0.25}
    far = made(advantages.seats(given("seats", {**row, "seat": 0, "games": 1000, "won": 400}), "seven_bridge"))
    near = made(advantages.seats(given("seats", {**row, "seat": 0, "games": 1000, "won": 262}), "seven_bridge"))
    assert "40.0\N{NO-BREAK SPACE}%" in far.caption
    assert "Chance alone hardly ever makes that much." in far.caption
    assert "no seat is known to be better" in near.caption
    # What is drawn reaches as far as what is told: three times what chance makes of a quarter of a thousand games.
    assert "Lines reach three standard errors" in far.caption
    drawn = advantages._seat({**row, "seat": 0, "games": 1000, "won": 262})
    assert (drawn["low"], drawn["high"]) == (-2.908, 5.308)


def test_partners_sit_together() -> None:
    rows = [
        {"player_count": 4, "fair_rate": 0.5, "seat": seat, "games": 100, "won": 60 - 20 * (seat % 2)}
        for seat in range(4)
    ]
    figure = made(advantages.seats(given("seats", *rows, ruleset="seven_up"), "seven_up"))
    assert [row[0] for row in figure.table.rows] == ["four play, seats 0 and 2", "four play, seats 1 and 3"]
    assert "Of 100 games" in figure.caption


def test_penalties_are_better_where_they_are_less() -> None:
    row = {"player_count": 4, "role": "OPENER", "rounds": 50, "ahead": 20}
    answers = given("openers", {**row, "mean_gain": -20.0, "mean_gain_of_others": -23.5})
    assert (
        "who opens comes out 3.50 better than another side (50 rounds)"
        in made(advantages.openers(answers, "seven_bridge")).caption
    )


def test_rounds_that_few_games_reach_are_left_out() -> None:
    rows = [
        {"round": number, "games": games, "winners": 3.0 * number, "others": 1.0 * number}
        for number, games in ((1, 100), (2, 60), (3, 5), (4, 4))
    ]
    figure = made(scoring.progress(given("progress", *rows, ruleset="seven_up"), "seven_up"))
    assert [row[0] for row in figure.table.rows] == ["1", "2", "3"]
    assert "grows from 2.0 to 6.0 after round 3, which 5 games of 100 have reached" in figure.caption
    assert scoring.progress(given("progress", rows[0]), "seven_bridge") is None


def test_a_distribution_counts_every_side_once() -> None:
    rows = [{"score": score, "sides": 2, "won": 1} for score in range(-30, 300, 3)]
    figure = made(scoring.distribution(given("scores", *rows), "seven_bridge"))
    assert sum(int(won) + int(lost) for _, won, lost in figure.table.rows) == 2 * len(rows)
    assert "penalty" in figure.caption


def test_lengths_and_thinking_go_by_the_median() -> None:
    rows = [{"turns": turns, "games": 1, "microseconds": 60_000_000} for turns in range(1, 101)]
    told = made(lengths.games(given("lengths", *rows), "seven_bridge")).caption
    assert "no more than 50 turns, nine in ten no more than 90; the longest had 100. A game takes 1 min 0 s" in told
    times = [
        {"kind": kind, "half_seconds": 2 * number, "turns": 10}
        for kind, low in (("CARD_PLAYED", 10), ("TURN_PASSED", 1))
        for number in range(low, low + 9)
    ]
    figure = made(lengths.thinking(given("thinking", *times), "seven_bridge"))
    assert "A card played takes longest, a pass is quickest (5.0 s)" in figure.caption
    untimed = made(lengths.games(given("lengths", {"turns": 3, "games": 1, "microseconds": None}), "seven_bridge"))
    assert "in the mean" not in untimed.caption


@pytest.mark.parametrize(
    ("win_rates", "said"),
    [((9, 6, 3, 0), "wins less"), ((0, 3, 6, 9), "wins more"), ((5, 5, 5, 5), "neither more nor less")],
)
def test_who_passes_more_wins_as_the_numbers_say(win_rates: Sequence[int], said: str) -> None:
    rows = [
        {"player_id": f"p{number}", "player_name": "", "turns": 100, "passes": 10 + number, "games": 10, "won": won}
        for number, won in enumerate(win_rates)
    ]
    assert said in made(rounds.passes(given("passes", *rows), "seven_bridge")).caption


def test_ghosts_and_endings_are_shares_of_all() -> None:
    ghosts = [
        {"player_count": count, "rounds": 100, "ghosts": count, "penalty_ghost": 40.0, "penalty_other": 4.0}
        for count in (3, 5)
    ]
    assert (
        "Of 200 hands 4.0\N{NO-BREAK SPACE}% become a ghost, most often where five play"
        in made(rounds.ghosts(given("ghosts", *ghosts), "seven_bridge")).caption
    )
    endings = [
        {"ended_by": by, "rounds": count, "mean_turns": 20.0} for by, count in (("EMPTY_HAND", 75), ("BLOCKED", 25))
    ]
    told = made(rounds.endings(given("endings", *endings), "seven_bridge")).caption
    assert "75.0\N{NO-BREAK SPACE}% end by an empty hand" in told
    assert rounds.endings(given("endings", endings[0]), "seven_bridge") is None


def test_points_and_trumps_name_most_and_least() -> None:
    points = [
        {"kind": kind, "scored": count, "for_dealer": 1, "for_elder": count - 1, "for_others": 0}
        for kind, count in (("HIGH", 80), ("GIFT", 20))
    ]
    told = made(seven_up.points(given("points", *points, ruleset="seven_up"), "seven_up"))
    assert "High is scored most often (80 times), gift least (20)" in told.caption
    assert len(told.table.columns) == 4
    trump = {"trump": "H", "deals": 10, "stood": 7, "given": 3, "elder_points": 2.0, "dealer_points": 1.5}
    assert (
        "In 10 deals hearts are trump most often"
        in made(seven_up.trumps(given("trumps", trump, ruleset="seven_up"), "seven_up")).caption
    )


def test_a_leader_is_certain_only_where_no_range_reaches() -> None:
    row = {"player_id": "p", "player_name": "Ana", "games": 9, "sigma": 1.0, "ordinal": 0.0, "players": 2}
    rows = [{**row, "rank": rank, "mu": mu} for rank, mu in ((1, 40.0), (2, 38.0))]
    assert (
        "Every other range shown reaches into that, so the order is not certain"
        in made(overview.ratings(given("ratings", *rows), "seven_bridge")).caption
    )
    apart = [{**row, "rank": rank, "mu": mu} for rank, mu in ((1, 40.0), (2, 20.0))]
    assert "No other range shown reaches" in made(overview.ratings(given("ratings", *apart), "seven_bridge")).caption
