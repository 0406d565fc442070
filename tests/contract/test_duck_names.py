"""What is certainly not there: never said of a game that is, and of nearly every other."""

from pathlib import Path
from typing import Any

import pytest

from heptalog.service.store import duck_names
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.duck_names import Names
from tests.contract.given import begin, fill, game
from tests.support.recording import batch_of


class Asked:
    """The list of games as a database answers for it, and how often it was asked."""

    def __init__(self, game_ids: list[str]) -> None:
        self.numbers = [(duck_names._number(game_id),) for game_id in game_ids]
        self.count = 0

    def __call__(self, statement: str, parameters: Any) -> list[tuple[int]]:
        low, high = parameters
        self.count += 1
        return self.numbers[low - 1 : high]


@pytest.mark.parametrize("piece_size", [1, 3, 7, 100])
@pytest.mark.parametrize("new_max", [0, 2, 100])
def test_what_is_there_is_never_said_not_to_be(monkeypatch: pytest.MonkeyPatch, piece_size: int, new_max: int) -> None:
    monkeypatch.setattr(duck_names, "PIECE_SIZE", piece_size)
    monkeypatch.setattr(duck_names, "NEW_MAX", new_max)
    there = [f"game-{number}" for number in range(7)]
    ask = Asked(there)
    names = Names(len(there))
    for number in range(12):
        names.add([f"later-{number}"])
        there.append(f"later-{number}")
        # All that is known of, in the middle of reading too.
        assert all(names.may_have(game_id) for game_id in there)
        names.read_on(ask)
        assert all(names.may_have(game_id) for game_id in there)
    assert ask.count == -(-7 // piece_size)
    assert not any(names.may_have(f"none-{number}") for number in range(100))


def test_a_name_may_be_among_them_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duck_names, "NEW_MAX", 3)
    there = [f"game-{number}" for number in range(50)]
    names = Names(len(there))
    names.read_on(Asked([*there[:25], *there[:25]]))
    for start in range(0, 50, 5):
        names.add(there[start : start + 10])
        assert all(names.may_have(game_id) for game_id in there[:25])
        assert all(names.may_have(game_id) for game_id in there[: start + 10])
    assert not any(names.may_have(f"none-{number}") for number in range(100))


def test_of_no_games_all_are_new() -> None:
    names = Names(0)
    assert not names.may_have("a")
    names.add(["a"])
    assert names.may_have("a")


def test_that_a_game_is_new_is_known_without_a_question(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duck_names, "PIECE_SIZE", 2)
    fill(store := DuckStore(path), [game(number) for number in range(5)])
    store.close()
    store = DuckStore(path)
    finder, questions = store._finder, []
    ask = finder._rows

    def asked(statement: str, parameters: object) -> list[tuple[Any, ...]]:
        questions.append(statement)
        return ask(statement, parameters)

    monkeypatch.setattr(finder, "_rows", asked)
    for _ in range(3):
        # The names are read some at a time, and until then it is asked for.
        assert store.head("game-8") is None
    assert len(questions) == 5
    assert store.head("game-8") is None
    store.append([begin(8)])
    assert store.head("game-9") is None
    assert len(questions) == 5
    found = store.head("game-3")
    assert found is not None
    assert found.sequence == len(game(3)) - 1
    assert len(questions) == 6
    store.close()


def test_a_game_whose_commit_failed_may_be_begun_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    store = DuckStore(path)
    monkeypatch.setattr("heptalog.service.store.duck_writer.run_all", fail)
    with pytest.raises(KeyboardInterrupt):
        store.append([begin(1)])
    monkeypatch.undo()
    assert store.head("game-1") is None
    (head,) = store.append([batch_of(game(1))])
    assert head == store.head("game-1")
    store.close()
