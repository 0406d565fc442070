"""What the views of Seven Rocks must say."""

from collections.abc import Iterator, Sequence

from heptalog.replay.seven_rocks.outcomes import HandSettled, PointsScored, SpinnerLaid, TileLaid
from tests.analytics.histories import History, Round, Step, grouped, mean, rate
from tests.analytics.oracles import Row, oracle
from tests.analytics.oracles_rounds import named


def _rounds(games: Sequence[History]) -> list[tuple[History, Round]]:
    return [(game, each) for game in games if game.ruleset == "seven_rocks" for each in game.rounds]


def _placements(games: Sequence[History]) -> list[tuple[History, Step, TileLaid, int]]:
    """Every tile laid, with its points."""
    return [
        (game, step, laid, sum(points.points for points in step.of(PointsScored)))
        for game, each in _rounds(games)
        for step in each.steps
        for laid in step.of(TileLaid)
    ]


def _settlements(games: Sequence[History]) -> list[tuple[History, HandSettled]]:
    return [(game, hand) for game, each in _rounds(games) for hand in each.of(HandSettled)]


@oracle
def blocked_rounds(games: Sequence[History]) -> Iterator[Row]:
    settled = [(game, each) for game, each in _rounds(games) if each.ended_by in ("BLOCKED", "EMPTY_HAND")]
    for key, all_ in grouped(settled, lambda each: (each[0].tournament, each[0].ruleset)).items():
        by_end = grouped((each for _, each in all_), lambda each: each.ended_by)
        blocked, emptied = by_end["BLOCKED"], by_end["EMPTY_HAND"]
        row = named(key) | {"rounds": len(all_), "blocked": len(blocked), "blocked_rate": len(blocked) / len(all_)}
        for name, own in (("blocked", blocked), ("emptied", emptied)):
            hands = [each.of(HandSettled) for each in own]
            row[f"mean_turns_{name}"] = mean(each.turns for each in own)
            row[f"mean_pips_{name}"] = mean(sum(hand.pips for hand in four) for four in hands)
            row[f"mean_deduction_{name}"] = mean(sum(hand.deduction for hand in four) for four in hands)
        yield row


@oracle
def seven_rocks_tiles(games: Sequence[History]) -> Iterator[Row]:
    laid = grouped(_placements(games), lambda each: (each[0].tournament, each[0].ruleset, each[2].tile))
    left = grouped(
        ((game, tile) for game, hand in _settlements(games) for tile in hand.tiles),
        lambda each: (each[0].tournament, each[0].ruleset, each[1]),
    )
    for key in laid.keys() | left.keys():
        points = [points for *_, points in laid[key]]
        yield {
            **named(key, "tile"),
            "laid": len(points),
            "opened": sum(tile.arm is None for _, _, tile, _ in laid[key]),
            "spinner": sum(bool(step.of(SpinnerLaid)) for _, step, _, _ in laid[key]),
            "scored": sum(each > 0 for each in points),
            "scored_rate": mean(each > 0 for each in points),
            "points": sum(points),
            "mean_points": mean(points),
            "left_over": len(left[key]),
        }


@oracle
def seven_rocks_players(games: Sequence[History]) -> Iterator[Row]:
    laid = grouped(_placements(games), lambda each: (each[0].tournament, each[0].ruleset, _who(each[0], each[2])))
    settled = grouped(_settlements(games), lambda each: (each[0].tournament, each[0].ruleset, _who(*each)))
    for key in laid.keys() | settled.keys():
        points = [points for *_, points in laid[key]]
        hands = [hand for _, hand in settled[key]]
        yield {
            **named(key, "player_id"),
            "games": len({each[0].number for each in laid[key]} | {each[0].number for each in settled[key]}),
            "laid": len(points),
            "scored": sum(each > 0 for each in points),
            "scored_rate": mean(each > 0 for each in points),
            "points": sum(points),
            "mean_points": mean(points),
            "points_max": max(points, default=None),
            "settled": len(hands),
            "went_out": sum(not hand.tiles for hand in hands),
            "went_out_rate": rate(sum(not hand.tiles for hand in hands), len(hands)),
            "mean_pips": mean(hand.pips for hand in hands),
            "deduction": sum(hand.deduction for hand in hands),
        }


def _who(game: History, outcome: TileLaid | HandSettled) -> str:
    return game.players[outcome.seat]
