"""Typing is part of the product: what a user's type checker says of right and of wrong calls.

The checkers read this file in `make check`. `assert_type` fails there where a type is another; and since an ignore that
nothing needs is an error, every wrong call below is known to be caught.
"""

from collections.abc import Generator, Iterator
from typing import assert_type

import pytest

from heptalog.replay import Fold, GameStarted, Player, SevenRocks, Standing, TilePlayed, Viewer
from heptalog.replay.events import Body
from heptalog.replay.outcomes import Outcome
from heptalog.replay.rules import AnyRules
from heptalog.replay.seven_rocks import SEVEN_ROCKS
from heptalog.replay.seven_rocks.state import State
from heptalog.service.client import AsyncClient, Client, Receipt, Recorder, Stored

PLAYERS = tuple(Player(name) for name in ("ana", "bo", "chie", "dag"))
STARTED = GameStarted(players=PLAYERS, rules=SevenRocks())


def test_a_fold_and_the_rules_have_their_types() -> None:
    fold = Fold(STARTED)
    assert_type(fold.standing(), Standing)
    state = SEVEN_ROCKS.initial(STARTED)
    assert_type(state, State)
    assert_type(SEVEN_ROCKS.legal(state), Iterator[Body])
    rules: AnyRules = SEVEN_ROCKS
    assert rules.key == "seven_rocks"


def outcomes_of(fold: Fold, body: Body) -> None:
    """Read by the checkers only."""
    assert_type(fold.advance(body), tuple[Outcome, ...])


def calls_of(client: Client) -> None:
    """Read by the checkers only."""
    recorder = client.create_game(STARTED)
    assert_type(recorder, Recorder)
    assert_type(recorder.append(TilePlayed(seat=0, tile="6-4")), Receipt)
    assert_type(client.read("game"), Generator[Stored, None, None])
    client.state("game", viewer=2)  # type: ignore[arg-type]
    recorder.append("6-4")  # type: ignore[arg-type]
    client.append("game")  # type: ignore[arg-type]


async def awaited_calls_of(client: AsyncClient) -> None:
    """Read by the checkers only."""
    recorder = await client.create_game(STARTED)
    assert_type(await recorder.append(TilePlayed(seat=0, tile="6-4")), Receipt)
    assert_type(await client.standing("game"), Standing)
    await recorder.append(tile="6-4")  # type: ignore[call-arg]


def test_wrong_structs_are_caught_before_they_run() -> None:
    with pytest.raises(TypeError):
        TilePlayed(card="6-4")  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        GameStarted(players=PLAYERS)  # type: ignore[call-arg]
    Viewer(seat="2")  # type: ignore[arg-type]
    with pytest.raises(AttributeError):
        STARTED.table = "7"  # type: ignore[misc]
