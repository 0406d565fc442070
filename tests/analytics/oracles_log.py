"""What the views must say that no fold tells alone: of refusals, which stand beside the events, and of ratings."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from heptalog.analytics.rating import RatedGame, Ratings
from tests.analytics.histories import History, grouped, rank, time
from tests.analytics.oracles import Row, oracle
from tests.analytics.oracles_rounds import named

CODES = (
    ("NOT_YOUR_TURN", "SR-R10", "tilePlayed"),
    ("MUST_FOLLOW", "SU-R15", "cardPlayed"),
    ("GAME_OVER", "game-file", "gameClosed"),
)


class MadeUp(NamedTuple):
    """A refusal, as the store would have it."""

    game_id: str
    sequence: int
    seat: int | None
    code: str
    rule: str
    kind: str
    refused_at: int


def refusals_of(games: Sequence[History]) -> list[MadeUp]:
    """Some that go with these games, and one of a game that never began."""
    some = [
        MadeUp(
            game.game_id,
            len(game.placed),
            (None, 0, 1, 99)[number % 4],
            *CODES[number % 3],
            10**18 + (game.number * 100 - number) * 10**9,
        )
        for game in games
        for number in range(game.number % 29)
    ]
    return [*some, MadeUp("never", 0, None, "PLAYERS_INVALID", "SR-R1", "gameStarted", 10**18)]


@oracle
def refusals_by_rule(games: Sequence[History]) -> Iterator[Row]:
    by_id = {game.game_id: game for game in games}
    told = [(by_id.get(each.game_id), each) for each in refusals_of(games)]
    for key, own in grouped(
        told, lambda of: (of[0] and of[0].tournament, of[0] and of[0].ruleset, of[1].rule, of[1].code, of[1].kind)
    ).items():
        yield {
            **named(key, "rule", "code", "kind"),
            "refusals": len(own),
            "games": len({each.game_id for _, each in own}),
            "first_refused_at": time(min(each.refused_at for _, each in own)),
            "last_refused_at": time(max(each.refused_at for _, each in own)),
        }


@oracle
def refusals_by_player(games: Sequence[History]) -> Iterator[Row]:
    by_id = {game.game_id: game for game in games}
    told = [
        (game, each)
        for each in refusals_of(games)
        if (game := by_id.get(each.game_id)) and each.seat is not None and each.seat < len(game.players)
    ]
    for key, own in grouped(
        told, lambda of: (of[0].tournament, of[0].ruleset, of[0].players[of[1].seat or 0], of[1].code)
    ).items():
        yield {
            **named(key, "player_id", "code"),
            "refusals": len(own),
            "games": len({each.game_id for _, each in own}),
            "last_refused_at": time(max(each.refused_at for _, each in own)),
        }


def rating_changes_of(games: Sequence[History]) -> list[tuple[Any, ...]]:
    """What each game did to ratings, in the order in which they ended."""
    ended = sorted((game.end.position, game.number, game) for game in games if game.end and game.winners and game.turns)
    ratings = Ratings()
    return [
        row
        for position, number, game in ended
        for row in ratings.rate(
            RatedGame(
                number,
                game.game_id,
                game.ruleset,
                position,
                tuple(game.players),
                tuple(map(game.side_of, range(len(game.players)))),
                game.scores,
                game.winners,
            )
        )
    ]


@oracle
def ratings(games: Sequence[History]) -> Iterator[Row]:
    changes = rating_changes_of(games)
    for ruleset, all_ in grouped(changes, lambda row: row[2]).items():
        own = grouped(all_, lambda row: row[4])
        ordinals = {player: [row[9] - 3 * row[10] for row in rows] for player, rows in own.items()}
        for player, rows in own.items():
            yield {
                "ruleset": ruleset,
                "rank": rank(ordinals[player][-1], [each[-1] for each in ordinals.values()]),
                "player_id": player,
                "games": rows[-1][6],
                "mu": rows[-1][9],
                "sigma": rows[-1][10],
                "ordinal": ordinals[player][-1],
                "ordinal_max": max(ordinals[player]),
                "last_game_id": rows[-1][1],
            }
