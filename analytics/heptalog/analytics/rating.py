"""Ratings: how well somebody plays a game, from all the games that ended, in the order in which they ended.

They are OpenSkill's model of Plackett and Luce: for any number of sides, with partners and with ties. A rating is a
mean and how uncertain that is; each ruleset has ratings of its own, for a tile is not a card.

A game is rated where it was won by the rules, and where the arbiter closed it with winners after somebody had played: a
match that was broken off has a result then. A game that was closed without winners has none, and one that was closed
before the first turn tells nothing of how anybody plays. Winners come first, whatever the scores, for a tie may have
been decided by another round; the others follow by score.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from msgspec import Struct
from openskill.models import PlackettLuce

from heptalog.analytics.projecting.game import GameProjection
from heptalog.analytics.projecting.rows import Row
from heptalog.replay.registry import LOWEST_IS_BEST


class Rating(NamedTuple):
    """How many games somebody has been rated for, the mean after the last of them, and how uncertain it is."""

    games: int
    mu: float
    sigma: float


class RatedGame(Struct, frozen=True):
    """How a game ended, as far as ratings ask. Players and sides are by seat, scores by side; winners are seats."""

    game_number: int
    game_id: str
    ruleset: str
    ended_position: int
    players: tuple[str, ...]
    sides: tuple[int, ...]
    scores: tuple[int, ...]
    winners: tuple[int, ...]


class Ratings:
    """The ratings of everybody so far. Games come in the order of `ended_position`.

    The same games give the same ratings to the last bit, however often they are begun anew or resumed. Where an end
    was taken back that came before `last_position`, what came after it is made anew: resume from the rows before it.
    """

    def __init__(
        self, known: Mapping[tuple[str, str], Rating] = MappingProxyType({}), *, last_position: int = 0
    ) -> None:
        """Begin with nobody, or with what is known by ruleset and player (`resume`)."""
        self._model = PlackettLuce()
        self._newcomer = Rating(0, self._model.mu, self._model.sigma)
        self._ratings = dict(known)
        self.last_position = last_position

    def rate(self, result: RatedGame) -> list[Row]:
        """Rate the next game: its rows of rating_changes, by seat."""
        assert result.ended_position > self.last_position, "games are rated in the order in which they ended"
        self.last_position = result.ended_position
        ranks = ranks_of(result)
        before = [self._ratings.get((result.ruleset, player), self._newcomer) for player in result.players]
        # Sums of floats depend on their order, which must not depend on who sat where.
        sides = [sorted(_seats_of(result, side), key=result.players.__getitem__) for side in range(len(ranks))]
        order = sorted(
            range(len(ranks)), key=lambda side: (ranks[side], [result.players[seat] for seat in sides[side]])
        )
        teams = [[self._model.rating(before[seat].mu, before[seat].sigma) for seat in sides[side]] for side in order]
        rated = self._model.rate(teams, ranks=[float(ranks[side]) for side in order])
        after = list(before)
        for side, team in zip(order, rated, strict=True):
            for seat, rating in zip(sides[side], team, strict=True):
                after[seat] = Rating(before[seat].games + 1, rating.mu, rating.sigma)
                self._ratings[result.ruleset, result.players[seat]] = after[seat]
        return [
            (
                result.game_number,
                result.game_id,
                result.ruleset,
                result.ended_position,
                player,
                ranks[result.sides[seat]],
                after[seat].games,
                before[seat].mu,
                before[seat].sigma,
                after[seat].mu,
                after[seat].sigma,
            )
            for seat, player in enumerate(result.players)
        ]


def resume(rows: Iterable[Sequence[Any]]) -> Ratings:
    """Go on from rows of rating_changes: at least the last of each player in each ruleset, in any order."""
    known: dict[tuple[str, str], Rating] = {}
    last_position = 0
    for _, _, ruleset, ended_position, player, _, games, _, _, mu, sigma in rows:
        rating = known.get((ruleset, player))
        if rating is None or rating.games < games:
            known[ruleset, player] = Rating(games, mu, sigma)
        last_position = max(last_position, ended_position)
    return Ratings(known, last_position=last_position)


def ranks_of(result: RatedGame) -> tuple[int, ...]:
    """The place of each side, 1 the best; equals share one, and leave the next ones out."""
    sign = 1 if result.ruleset in LOWEST_IS_BEST else -1
    winning = {result.sides[seat] for seat in result.winners}
    keys = [(0, 0) if side in winning else (1, sign * score) for side, score in enumerate(result.scores)]
    return tuple(1 + sum(other < key for other in keys) for key in keys)


def result_of(game: GameProjection) -> RatedGame | None:
    """How a game ended; None where it has not, or where it is not rated."""
    state, ended_position = game.state, game.ended_position
    if ended_position is None or not state.winners or not game.turn_count:
        return None
    side_count = len(state.scores)
    players = tuple(player.id for player in game.started.players)
    return RatedGame(
        game_number=game.game_number,
        game_id=game.game_id,
        ruleset=game.ruleset,
        ended_position=ended_position,
        players=players,
        sides=tuple(seat % side_count for seat in range(len(players))),
        scores=state.scores,
        winners=state.winners,
    )


def _seats_of(result: RatedGame, side: int) -> list[int]:
    return [seat for seat, its in enumerate(result.sides) if its == side]
