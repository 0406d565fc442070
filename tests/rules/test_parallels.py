"""What every game names and shapes alike, so that reading the second one is free."""

from importlib import import_module
from inspect import Parameter, signature

import pytest
from msgspec import Struct

from heptalog.replay.registry import GAMES

KEYS = sorted({rules.key for rules in GAMES})


@pytest.mark.parametrize("key", KEYS)
def test_phases_share_their_words(key: str) -> None:
    phases = set(import_module(f"heptalog.replay.{key}.state").Phase)
    assert {"DRAW", "DEAL", "PLAY", "OVER"} <= phases


@pytest.mark.parametrize("key", KEYS)
def test_views_have_one_shape(key: str) -> None:
    module = import_module(f"heptalog.replay.{key}.view")
    views = {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Struct) and value.__module__ == module.__name__
    }
    assert {"TableView", "PublicView", "SeatView", "ArbiterView"} <= views.keys()
    assert all(name.endswith("View") for name in views)
    assert all(
        parameter.kind is Parameter.KEYWORD_ONLY
        for each in views.values()
        for parameter in signature(each).parameters.values()
    )
