"""How Seven Rocks is told to people: short plain sentences, and the table as text."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from heptalog.replay.events import UNSET, Body, OpenerDrawn, TurnPassed
from heptalog.replay.outcomes import MatchWon, Outcome, RoundEnded, RoundEndedBy
from heptalog.replay.phrases import Names, listed, name_of, tell_hidden, tell_lots
from heptalog.replay.rules import ARBITER, NOTHING_WITHHELD, Viewer, Withheld
from heptalog.replay.seven_rocks.events import Arm, TilePlayed, TilesDealt
from heptalog.replay.seven_rocks.outcomes import BranchesOpened, HandSettled, PointsScored, SpinnerLaid, TileLaid
from heptalog.replay.seven_rocks.scoring import counted_ends
from heptalog.replay.seven_rocks.state import Phase, State, hand_of
from heptalog.replay.seven_rocks.tables import SEAT_COUNT, SIDES
from heptalog.replay.seven_rocks.view import sees_hand, view_of_line

_TOWARDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        Arm.LEFT: " to the left",
        Arm.RIGHT: " to the right",
        Arm.UP: " to the upper branch",
        Arm.DOWN: " to the lower branch",
    }
)
_WAITING: Final[Mapping[Phase, str]] = MappingProxyType(
    {
        Phase.DEAL: "tiles to be dealt",
        Phase.DRAW: "opener to be drawn",
        Phase.OPEN: "to open",
        Phase.PLAY: "to play",
    }
)


class SevenRocksWords:
    """The words of Seven Rocks; those of rulings and of the start are every game's."""

    def event(self, body: Body, names: Names) -> str:
        """One readable line for what happened; also for an event that was refused, whose seat may be nobody's."""
        return _EVENTS[type(body)](body, names)

    def outcome(self, outcome: Outcome, names: Names) -> str:
        """One readable phrase for what followed from it."""
        return _OUTCOMES[type(outcome)](outcome, names)

    def table(
        self,
        state: State,
        names: Names,
        viewer: Viewer = ARBITER,
        withheld: Withheld = NOTHING_WITHHELD,
        *,
        is_closed: bool = False,
    ) -> list[str]:
        """The scores, the line, its ends and every hand, of those that the viewer does not see the number of tiles."""
        width = max(len("Line"), *map(len, names))
        lines = [_headline(state, names, is_closed=is_closed)]
        if state.line:
            lines += [f"{title:<{width}}  {text}" for title, text in _line_of(state)]
        if state.round:
            lines += [f"{names[seat]:<{width}}  {_hand(state, seat, viewer, withheld)}" for seat in range(SEAT_COUNT)]
        return lines


def _headline(state: State, names: Names, *, is_closed: bool) -> str:
    scores = ", ".join(f"{_pair(side, names)} {score}" for side, score in enumerate(state.scores))
    told = f"Round {state.round} of a match to {state.target}: {scores}"
    if is_closed:
        return told
    if state.over:
        waiting = f"{_pair(state.winner, names)} won"
    else:
        waiting = " ".join([*(name_of(seat, names) for seat in state.to_act), _WAITING[state.phase]])
    return f"{told}; {waiting}"


def _hand(state: State, seat: int, viewer: Viewer, withheld: Withheld) -> str:
    tiles = hand_of(state, seat)
    if not tiles:
        return "-"
    return " ".join(tiles) if sees_hand(state, seat, viewer, withheld) else tell_hidden(len(tiles))


def _line_of(state: State) -> list[tuple[str, str]]:
    line = view_of_line(state)
    # Only the first double of the round is starred: later ones look the same but do not branch.
    row = " ".join(f"*{tile}*" if tile == line.spinner else tile for tile in line.row)
    branches = [(title, " ".join(tiles)) for title, tiles in (("Up", line.up), ("Down", line.down)) if tiles]
    counted = " + ".join(map(str, counted_ends(state.ends)))
    open_values = ", ".join(f"{end.value} {end.arm.lower()}" for end in line.ends)
    return [("Line", row), *branches, ("Ends", f"{counted} = {line.sum}"), ("Open", open_values)]


def _tiles_dealt(_body: TilesDealt, _names: Names) -> str:
    return "The tiles are dealt"


def _opener_drawn(body: OpenerDrawn, names: Names) -> str:
    lots = tell_lots(body.lots, names)
    return f"{name_of(body.seat, names)} is drawn to open" + (f" ({lots})" if lots else "")


def _tile_played(body: TilePlayed, names: Names) -> str:
    towards = "" if body.arm is UNSET else _TOWARDS[body.arm]
    return f"{name_of(body.seat, names)} plays {body.tile}{towards}"


def _turn_passed(body: TurnPassed, names: Names) -> str:
    return f"{name_of(body.seat, names)} knocks"


def _tile_laid(outcome: TileLaid, _names: Names) -> str:
    terms = " + ".join(map(str, outcome.ends))
    return f"the ends make {terms} = {outcome.sum}" if len(outcome.ends) > 1 else f"the ends make {outcome.sum}"


def _spinner_laid(outcome: SpinnerLaid, _names: Names) -> str:
    return f"{outcome.tile} is the double that branches"


def _branches_opened(outcome: BranchesOpened, _names: Names) -> str:
    return f"the branches of {outcome.tile} are open"


def _points_scored(outcome: PointsScored, names: Names) -> str:
    return f"{_pair(outcome.side, names)} score {outcome.points} and have {outcome.score}"


def _hand_settled(outcome: HandSettled, names: Names) -> str:
    left = f"{' '.join(outcome.tiles)}, {outcome.pips} pips" if outcome.tiles else "nothing"
    name, pair = name_of(outcome.seat, names), _pair(outcome.side, names)
    return f"{name} is left with {left}: {pair} lose {outcome.deduction} and have {outcome.score}"


def _round_ended(outcome: RoundEnded, names: Names) -> str:
    if outcome.by is RoundEndedBy.EMPTY_HAND:
        return f"{name_of(outcome.seat, names)} is out, and round {outcome.round} ends"
    return f"nobody can play, and round {outcome.round} ends blocked"


def _match_won(outcome: MatchWon, names: Names) -> str:
    return f"{listed(outcome.winners, names)} win the match"


def _pair(side: int, names: Names) -> str:
    return listed(SIDES[side], names)


_EVENTS: Final[Mapping[type[Body], Callable[[Any, Names], str]]] = MappingProxyType(
    {
        TilesDealt: _tiles_dealt,
        OpenerDrawn: _opener_drawn,
        TilePlayed: _tile_played,
        TurnPassed: _turn_passed,
    }
)
_OUTCOMES: Final[Mapping[type[Outcome], Callable[[Any, Names], str]]] = MappingProxyType(
    {
        TileLaid: _tile_laid,
        SpinnerLaid: _spinner_laid,
        BranchesOpened: _branches_opened,
        PointsScored: _points_scored,
        HandSettled: _hand_settled,
        RoundEnded: _round_ended,
        MatchWon: _match_won,
    }
)
