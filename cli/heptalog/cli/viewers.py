"""Who looks, as it is said on the command line: the arbiter, the public, a seat, or a player by id or name."""

from collections.abc import Sequence
from typing import Final, NoReturn

from heptalog.cli.exits import WrongUse
from heptalog.replay.events import Player
from heptalog.replay.rules import ARBITER, PUBLIC, Role, Viewer

_SEAT: Final = "seat"
_DIGITS_MAX: Final = 9


def viewer_named(text: str, players: Sequence[Player]) -> Viewer:
    """The viewer that is meant. Raises WrongUse."""
    kind, has_seat, number = text.partition(":")
    if kind == _SEAT and has_seat:
        return Viewer(_seat_at(number, players) if _is_number(number) else _nobody(text))
    match text:
        case "arbiter":
            return ARBITER
        case "public":
            return PUBLIC
        case _:
            return Viewer(seat_named(text, players))


def seat_named(text: str, players: Sequence[Player]) -> int:
    """The seat with this number, or of the player with this id or name. Raises WrongUse."""
    if _is_number(text):
        return _seat_at(text, players)
    # An id is one player's; a name may be two's, or nobody's.
    for named in ([player.id for player in players], [player.name for player in players]):
        if text and named.count(text) == 1:
            return named.index(text)
    return _nobody(text)


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


def _nobody(text: str) -> NoReturn:
    raise WrongUse(f"{text}: who looks is arbiter, public, seat:N, or a player of the game by id or name")
