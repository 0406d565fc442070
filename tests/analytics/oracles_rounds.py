"""What the views of every game must say of scores, rounds, lengths, turns and the arbiter."""

from collections import Counter
from collections.abc import Iterator, Sequence
from struct import pack, unpack

from heptalog.replay.events import TurnPassed
from heptalog.replay.seven_bridge.outcomes import GhostMade, TokenSpent, TurnWaited
from tests.analytics.histories import DAY, History, Round, grouped, mean, quantile, rate, seconds_between, time
from tests.analytics.oracles import Row, oracle

RULINGS = {
    "MovesRetracted": "MOVES_RETRACTED",
    "GameClosed": "GAME_CLOSED",
    "NoteAdded": "NOTE_ADDED",
    "InfractionCalled": "INFRACTION_CALLED",
}


def table_of(game: History) -> tuple[str | None, str, int]:
    """Its tournament, rules and number of players."""
    return game.tournament, game.ruleset, len(game.players)


def named(key: tuple[object, ...], *more: str) -> Row:
    """Tournament, rules and what else a group is made by."""
    return dict(zip(("tournament", "ruleset", *more), key, strict=True))


@oracle
def opener_advantage(games: Sequence[History]) -> Iterator[Row]:
    played = [(game, each, role, seat) for game in games for each in game.ended_rounds for role, seat in _roles(each)]
    for key, own in grouped(played, lambda each: (*table_of(each[0]), each[2])).items():
        gains = [(_gains(game, each), game.side_of(seat)) for game, each, _, seat in own]
        others = [mean(gain for at, gain in enumerate(all_) if at != side) or 0 for all_, side in gains]
        went_out = sum(each.ended_seat == seat for _, each, _, seat in own)
        ahead = sum(all_[side] == max(all_) and all_.count(max(all_)) == 1 for all_, side in gains)
        begun = [(game, seat) for game, each, _, seat in own if each.number == 1 and game.status == "WON"]
        yield {
            **named(key, "player_count", "role"),
            "rounds": len(own),
            "went_out": went_out,
            "went_out_rate": rate(went_out, sum(each.ended_seat is not None for _, each, _, _ in own)),
            "ahead": ahead,
            "ahead_rate": ahead / len(own),
            "fair_rate": 1 / len(own[0][0].scores),
            "mean_gain": mean(all_[side] for all_, side in gains),
            "mean_gain_of_others": mean(others),
            "games": len(begun),
            "games_won": sum(seat in game.winners for game, seat in begun),
            "games_won_rate": rate(sum(seat in game.winners for game, seat in begun), len(begun)),
        }


def _roles(each: Round) -> Iterator[tuple[str, int]]:
    if each.ended_by == "VOID" or each.is_deciding:
        return
    if each.opener is not None:
        yield "OPENER", each.opener
    if each.dealer is not None:
        yield "DEALER", each.dealer


def _gains(game: History, each: Round) -> list[int]:
    return [-change if game.ruleset == "seven_bridge" else change for change in each.changes]


@oracle
def score_distribution(games: Sequence[History]) -> Iterator[Row]:
    sides = [(game, side) for game in games if game.state.over for side in range(len(game.scores))]
    for key, all_ in grouped(sides, lambda each: (*table_of(each[0]), each[0].status)).items():
        for score, own in grouped(all_, lambda each: each[0].scores[each[1]]).items():
            won = sum(side in game.winners for game, side in own)  # a side's first seat has its number
            yield {
                **named(key, "player_count", "status"),
                "score": score,
                "sides": len(own),
                "won": won,
                "share": len(own) / len(all_),
            }


@oracle
def round_scores(games: Sequence[History]) -> Iterator[Row]:
    for game in games:
        for each in game.ended_rounds:
            assert each.ending is not None
            for side, (change, score) in enumerate(zip(each.changes, each.ending.after.scores, strict=True)):
                yield {
                    "game_number": game.number,
                    "game_id": game.game_id,
                    "tournament": game.tournament,
                    "player_count": len(game.players),
                    "round": each.number,
                    "side": side,
                    "change": change,
                    "score": score,
                    "ended_by": each.ended_by,
                    "ended_at": time(each.ending.event.recorded_at),
                    "ruleset": game.ruleset,
                    "month": game.month,
                }


@oracle
def round_score_distribution(games: Sequence[History]) -> Iterator[Row]:
    changes = [
        (game, change)
        for game in games
        for each in game.ended_rounds
        if each.ended_by != "VOID"
        for change in each.changes
    ]
    for key, all_ in grouped(changes, lambda each: table_of(each[0])).items():
        for change, count in Counter(change for _, change in all_).items():
            yield named(key, "player_count") | {"change": change, "sides": count, "share": count / len(all_)}


@oracle
def round_endings(games: Sequence[History]) -> Iterator[Row]:
    ended = [(game, each) for game in games for each in game.ended_rounds]
    for key, all_ in grouped(ended, lambda each: table_of(each[0])).items():
        for ended_by, own in grouped(all_, lambda each: each[1].ended_by).items():
            yield {
                **named(key, "player_count"),
                "ended_by": ended_by,
                "rounds": len(own),
                "share": len(own) / len(all_),
                "mean_turns": mean(each.turns for _, each in own),
                "turns_max": max(each.turns for _, each in own),
            }


@oracle
def game_lengths(games: Sequence[History]) -> Iterator[Row]:
    for key, own in grouped([game for game in games if game.status == "WON"], table_of).items():
        turns = [game.turns for game in own]
        ends = [(game.first.recorded_at, game.end.event.recorded_at) for game in own if game.end]
        seconds = [length for length in (seconds_between(*each) for each in ends) if length is not None]
        yield {
            **named(key, "player_count"),
            "games": len(own),
            "turns_min": min(turns),
            "turns_median": quantile(turns, 0.5),
            "turns_p90": quantile(turns, 0.9),
            "turns_max": max(turns),
            "mean_turns": mean(turns),
            "mean_rounds": mean(game.state.round for game in own),
            "rounds_max": max(game.state.round for game in own),
            "timed": len(seconds),
            "seconds_median": quantile(seconds, 0.5),
            "seconds_p90": quantile(seconds, 0.9),
            "seconds_max": max(seconds, default=None),
        }


@oracle
def activity(games: Sequence[History]) -> Iterator[Row]:
    begun = [(game.first.recorded_at, game, True) for game in games]
    ended = [(game.end.event.recorded_at, game, False) for game in games if game.end]
    happened = [(at - at % DAY, game, is_begin) for at, game, is_begin in begun + ended if at]
    for key, own in grouped(happened, lambda each: (each[1].tournament, each[1].ruleset, each[0])).items():
        midnight = time(key[2])
        assert midnight is not None
        yield {
            **named(key[:2]),
            "day": midnight.date(),
            "started": sum(is_begin for _, _, is_begin in own),
            "ended": sum(not is_begin for _, _, is_begin in own),
            "turns": sum(game.turns for _, game, is_begin in own if is_begin),
        }


@oracle
def think_times(games: Sequence[History]) -> Iterator[Row]:
    turns = [(game, step) for game in games for step in game.standing if step.turn]
    for key, own in grouped(
        turns, lambda each: (each[0].tournament, each[0].ruleset, each[0].players[each[1].body.seat], each[1].turn)
    ).items():
        seconds = [step.think_seconds for _, step in own if step.think_seconds is not None]
        yield {
            **named(key, "player_id", "kind"),
            "turns": len(own),
            "timed": len(seconds),
            "seconds_median": _in_four_bytes(quantile(seconds, 0.5)),
            "seconds_p90": _in_four_bytes(quantile(seconds, 0.9)),
            "seconds_max": max(seconds, default=None),
        }


def _in_four_bytes(seconds: float | None) -> float | None:
    if seconds is None:
        return None
    shortened: float = unpack("f", pack("f", seconds))[0]
    return round(shortened, 3)


@oracle
def pass_rates(games: Sequence[History]) -> Iterator[Row]:
    seated = [(game, seat) for game in games if game.ruleset != "seven_up" for seat in range(len(game.players))]
    for key, own in grouped(
        seated, lambda each: (each[0].tournament, each[0].ruleset, each[0].players[each[1]])
    ).items():
        turns = [step for game, seat in own for step in game.standing if step.turn and step.body.seat == seat]
        passes = [step for step in turns if isinstance(step.body, TurnPassed)]
        yield {
            **named(key, "player_id"),
            "turns": len(turns),
            "passes": len(passes),
            "pass_rate": rate(len(passes), len(turns)),
            "tokens": sum(bool(step.of(TokenSpent)) for step in passes),
            "ghosts": sum(bool(step.of(GhostMade)) for step in passes),
            "waits": sum(bool(step.of(TurnWaited)) for step in passes),
        }


@oracle
def rulings_by_kind(games: Sequence[History]) -> Iterator[Row]:
    for key, all_ in grouped(games, lambda game: (game.tournament, game.ruleset)).items():
        called = [(game, step) for game in all_ for step in game.steps if type(step.body).__name__ in RULINGS]
        for kind, own in grouped(called, lambda each: RULINGS[type(each[1].body).__name__]).items():
            with_one = {game.number for game, _ in own}
            yield {
                **named(key),
                "kind": kind,
                "rulings": len(own),
                "retracted": sum(not step.stands for _, step in own),
                "games": len(with_one),
                "games_in_all": len(all_),
                "games_share": len(with_one) / len(all_),
            }
