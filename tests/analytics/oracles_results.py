"""What the views of every game must say: results, standings, players, opponents."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tests.analytics.histories import History, grouped, mean, rank, rate, seconds_between, time
from tests.analytics.oracles import Row, oracle


class Result(NamedTuple):
    """One player of an ended game."""

    game: History
    seat: int

    @property
    def player(self) -> str:
        return self.game.players[self.seat]

    @property
    def side(self) -> int:
        return self.game.side_of(self.seat)

    @property
    def score(self) -> int:
        return self.game.scores[self.side]

    @property
    def has_won(self) -> bool:
        return self.seat in self.game.winners

    @property
    def rank(self) -> int | None:
        """Winners first, then by score; without winners there are no places."""
        if not self.game.winners:
            return None
        sides = range(len(self.game.scores))
        winning = {self.game.side_of(seat) for seat in self.game.winners}
        better = [side in winning or self.game.better(self.game.scores[side], self.score) for side in sides]
        return 1 if self.has_won else 1 + sum(better)

    @property
    def opposing(self) -> float:
        others = [score for side, score in enumerate(self.game.scores) if side != self.side]
        return sum(others) / len(others)

    @property
    def margin(self) -> float:
        gap = self.score - self.opposing
        return -gap if self.game.ruleset == "seven_bridge" else gap


def results_of(games: Sequence[History]) -> list[Result]:
    """Every player of every ended game."""
    return [Result(game, seat) for game in games if game.state.over for seat in range(len(game.players))]


def by_group(result: Result) -> tuple[str | None, str]:
    """Its tournament and rules."""
    return result.game.tournament, result.game.ruleset


@oracle
def results(games: Sequence[History]) -> Iterator[Row]:
    for each in results_of(games):
        game, end = each.game, each.game.end
        assert end is not None
        yield {
            "game_number": game.number,
            "game_id": game.game_id,
            "tournament": game.tournament,
            "table_name": game.started.table or None,
            "player_count": len(game.players),
            "side_count": len(game.scores),
            "seat": each.seat,
            "player_id": each.player,
            "player_name": game.started.players[each.seat].name,
            "side": each.side,
            "score": each.score,
            "rank": each.rank,
            "opposing_score": each.opposing,
            "margin": each.margin,
            "has_won": each.has_won,
            "status": game.status,
            "ended_at": time(end.event.recorded_at),
            "ended_position": end.position,
            "ruleset": game.ruleset,
            "month": game.month,
        }


def _tally(own: list[Result]) -> Row:
    """How often they have won, and by how much."""
    won = sum(each.has_won for each in own)
    undecided = sum(not each.game.winners for each in own)
    return {
        "games": len(own),
        "won": won,
        "lost": len(own) - won - undecided,
        "undecided": undecided,
        "win_rate": rate(won, len(own) - undecided),
        "points_for": sum(each.score for each in own) if own else None,
        "points_against": round(sum(each.opposing for each in own), 3) if own else None,
        "margin": round(sum(each.margin for each in own), 3) if own else None,
    }


def _place(row: Row) -> Any:
    return (row["won"], row["margin"])


@oracle
def standings(games: Sequence[History]) -> Iterator[Row]:
    entries = [Result(game, seat) for game in games for seat in range(len(game.players))]
    for (tournament, ruleset), everybody in grouped(entries, by_group).items():
        rows = []
        for player, own in grouped(everybody, lambda each: each.player).items():
            last = max(own, key=lambda each: each.game.number)
            rows.append(
                {
                    "tournament": tournament,
                    "ruleset": ruleset,
                    "player_id": player,
                    "player_name": last.game.started.players[last.seat].name,
                    "closed": sum(each.game.is_closed for each in own),
                    "running": sum(not each.game.state.over for each in own),
                    **_tally([each for each in own if each.game.state.over]),
                }
            )
        places = [_place(row) for row in rows if row["games"]]
        yield from ({**row, "rank": rank(_place(row), places) if row["games"] else None} for row in rows)


@oracle
def pairs(games: Sequence[History]) -> Iterator[Row]:
    together = [
        (Result(game, seat), partner)
        for game in games
        if game.state.over
        for side in range(len(game.scores))
        for seat in game.seats_of(side)[:1]
        for partner in game.seats_of(side)[1:]
    ]
    for (tournament, ruleset), teams in grouped(together, lambda team: by_group(team[0])).items():
        names = grouped(teams, lambda team: tuple(sorted((team[0].player, team[0].game.players[team[1]]))))
        rows = [
            {"tournament": tournament, "ruleset": ruleset, "player_id": one, "partner_id": other}
            | _tally([each for each, _ in own])
            for (one, other), own in names.items()
        ]
        yield from ({**row, "rank": rank(_place(row), map(_place, rows))} for row in rows)


@oracle
def tournaments(games: Sequence[History]) -> Iterator[Row]:
    in_one = [game for game in games if game.tournament]
    for (tournament, ruleset), own in grouped(in_one, lambda game: (game.tournament, game.ruleset)).items():
        yield {
            "tournament": tournament,
            "ruleset": ruleset,
            "games": len(own),
            "running": sum(game.status == "RUNNING" for game in own),
            "won": sum(game.status == "WON" for game in own),
            "closed": sum(game.status == "CLOSED" for game in own),
            "players": len({player for game in own for player in game.players}),
            "rounds": sum(game.state.round for game in own),
            "turns": sum(game.turns for game in own),
            "takebacks": sum(type(step.body).__name__ == "MovesRetracted" for game in own for step in game.steps),
            **_seen(own, "first_started_at", "last_recorded_at"),
        }


def _seen(own: list[History], first: str, last: str) -> Row:
    firsts = [game.first.recorded_at for game in own if game.first.recorded_at]
    lasts = [game.last.recorded_at for game in own if game.last.recorded_at]
    return {first: time(min(firsts, default=0)), last: time(max(lasts, default=0))}


@oracle
def players(games: Sequence[History]) -> Iterator[Row]:
    entries = [Result(game, seat) for game in games for seat in range(len(game.players))]
    for player, own in grouped(entries, lambda each: each.player).items():
        named = {each.game.number: each.game.started.players[each.seat].name for each in own}
        turns = [step for each in own for step in each.game.standing if step.turn and step.body.seat == each.seat]
        tally = _tally([each for each in own if each.game.state.over])
        yield {
            "player_id": player,
            "player_name": named[max(named)],
            "names": sorted(set(named.values()) - {""}),
            "rulesets": sorted({each.game.ruleset for each in own}),
            "tournaments": sorted({each.game.started.tournament for each in own} - {""}),
            **{name: tally[name] for name in ("won", "lost", "undecided")},
            "games": len(own),
            "running": sum(not each.game.state.over for each in own),
            "turns": len(turns),
            **_seen([each.game for each in own], "first_seen_at", "last_seen_at"),
        }


@oracle
def head_to_head(games: Sequence[History]) -> Iterator[Row]:
    met = [
        (one, other)
        for one in results_of(games)
        for other in (Result(one.game, seat) for seat in range(len(one.game.players)))
        if one.side != other.side
    ]
    for key, own in grouped(met, lambda two: (*by_group(two[0]), two[0].player, two[1].player)).items():
        won = sum(one.has_won and not other.has_won for one, other in own)
        lost = sum(other.has_won and not one.has_won for one, other in own)
        places = [(one.rank, other.rank) for one, other in own if one.rank and other.rank]
        yield {
            **dict(zip(("tournament", "ruleset", "player_id", "opponent_id"), key, strict=True)),
            "games": len(own),
            "won": won,
            "lost": lost,
            "neither": len(own) - won - lost,
            "ahead": sum(here < there for here, there in places),
            "behind": sum(here > there for here, there in places),
            "win_rate": rate(won, won + lost),
            "points_for": sum(one.score for one, _ in own),
            "points_against": sum(other.score for _, other in own),
        }


@oracle
def seat_advantage(games: Sequence[History]) -> Iterator[Row]:
    won_by_rules = [each for each in results_of(games) if each.game.status == "WON"]
    for key, own in grouped(won_by_rules, lambda each: (*by_group(each), len(each.game.players), each.seat)).items():
        win_rate = sum(each.has_won for each in own) / len(own)
        fair_rate = 1 / len(own[0].game.scores)
        yield {
            **dict(zip(("tournament", "ruleset", "player_count", "seat"), key, strict=True)),
            "games": len(own),
            "won": sum(each.has_won for each in own),
            "win_rate": win_rate,
            "fair_rate": fair_rate,
            "advantage": win_rate - fair_rate,
            "standard_error": (fair_rate * (1 - fair_rate) / len(own)) ** 0.5,
            "mean_score": mean(each.score for each in own),
            "mean_rank": mean(each.rank or 0 for each in own),
        }


@oracle
def longest_games(games: Sequence[History]) -> Iterator[Row]:
    ended = [game for game in games if game.state.over]
    for game in ended:
        end = game.end
        assert end is not None
        same = [other for other in ended if other.ruleset == game.ruleset]
        yield {
            "rank": rank(game.turns, [other.turns for other in same]),
            "rank_in_tournament": rank(
                game.turns, [other.turns for other in same if other.tournament == game.tournament]
            ),
            "game_number": game.number,
            "game_id": game.game_id,
            "tournament": game.tournament,
            "table_name": game.started.table or None,
            "player_count": len(game.players),
            "status": game.status,
            "turns": game.turns,
            "rounds": game.state.round,
            "events": len(game.placed),
            "takebacks": sum(type(step.body).__name__ == "MovesRetracted" for step in game.steps),
            "seconds": seconds_between(game.first.recorded_at, end.event.recorded_at),
            "started_at": time(game.first.recorded_at),
            "ended_at": time(end.event.recorded_at),
            "ruleset": game.ruleset,
            "month": game.month,
        }
