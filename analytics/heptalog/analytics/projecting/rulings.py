"""What counts as a call of the arbiter: by kind of event, what a row says of it."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from heptalog.replay.events import Body, GameClosed, MovesRetracted, NoteAdded
from heptalog.replay.seven_up.events import InfractionCalled

# Kind, seat, to_sequence, winners and text as columns.
Told: TypeAlias = tuple[str, int | None, int | None, tuple[int, ...] | None, str | None]


def _moves_retracted(body: MovesRetracted) -> Told:
    return "MOVES_RETRACTED", None, body.to_sequence, None, body.reason or None


def _game_closed(body: GameClosed) -> Told:
    return "GAME_CLOSED", None, None, body.winners, body.reason or None


def _note_added(body: NoteAdded) -> Told:
    return "NOTE_ADDED", None, None, None, body.text or None


def _infraction_called(body: InfractionCalled) -> Told:
    return "INFRACTION_CALLED", body.seat, None, None, None


# The keys are the bodies that an arbiter records; each function takes the type it stands under.
CALLS: Final[Mapping[type[Body], Callable[[Any], Told]]] = MappingProxyType(
    {
        MovesRetracted: _moves_retracted,
        GameClosed: _game_closed,
        NoteAdded: _note_added,
        InfractionCalled: _infraction_called,
    }
)
