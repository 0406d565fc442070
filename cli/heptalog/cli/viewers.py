"""Who looks, as it is said on the command line: the arbiter, the public, a seat, or a player by id or name."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NoReturn

from heptalog.cli.exits import WrongUse
from heptalog.replay.events import Player
from heptalog.replay.rules import ARBITER, PUBLIC, Role, Viewer
from heptalog.replay.words import printable

_SEAT: Final = "seat"
_DIGITS_MAX: Final = 9
_ROLES: Final[Mapping[str, Viewer]] = MappingProxyType({"arbiter": ARBITER, "public": PUBLIC})
# What can be named beside a player.
_VIEWERS: Final = "who looks is arbiter, public, seat:N"
_SEATS: Final = "a seat is its number"


def viewer_named(text: str, players: Sequence[Player]) -> Viewer:
    """The viewer that is meant. Raises WrongUse."""
    kind, has_seat, number = text.partition(":")
    if kind.lower() == _SEAT and has_seat:
        return Viewer(_seat_at(number, players) if _is_number(number) else _nobody(text, _VIEWERS, players))
    role = _ROLES.get(text.lower())
    # In any case, but a player may be called Public.
    if role is not None and (text.islower() or all(text not in (player.id, player.name) for player in players)):
        return role
    return Viewer(_seat_named(text, players, _VIEWERS))


def seat_named(text: str, players: Sequence[Player]) -> int:
    """The seat with this number, or of the player with this id or name. Raises WrongUse."""
    return _seat_named(text, players, _SEATS)


def _seat_named(text: str, players: Sequence[Player], choice: str) -> int:
    if _is_number(text):
        return _seat_at(text, players)
    # An id is one player's; a name may be two's, or nobody's.
    for named in ([player.id for player in players], [player.name for player in players]):
        if text and named.count(text) == 1:
            return named.index(text)
    return _nobody(text, choice, players)


def viewer_text(viewer: Viewer) -> str:
    """A viewer as it is named on the command line."""
    return f"{_SEAT}:{viewer.seat}" if viewer.role is Role.SEAT else viewer.role.value.lower()


def no_such_seat(named: str, seat_count: int) -> WrongUse:
    """What is told of a number that no seat of the game has."""
    return WrongUse(f"{named}: the game has the seats 0 to {seat_count - 1}")


def _seat_at(number: str, players: Sequence[Player]) -> int:
    if int(number) >= len(players):
        raise no_such_seat(f"seat {number}", len(players))
    return int(number)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _DIGITS_MAX


def _nobody(text: str, choice: str, players: Sequence[Player]) -> NoReturn:
    at_table = [f"{seat} {player.name or player.id}" for seat, player in enumerate(players)]
    seats = f": {', '.join(at_table)}" if at_table else ""
    raise WrongUse(printable(f"{text}: {choice}, or a player of the game by id or name{seats}"))
