"""Looking as somebody: `show`, `replay` and `legal` tell a viewer no more than `export` gives it."""

import json
import re
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from heptalog.replay.events import Body, MovesRetracted
from heptalog.replay.fold import fold_all
from heptalog.replay.registry import GAMES, REGISTRY
from heptalog.replay.rules import AnyRules
from heptalog.replay.words import names_of
from tests.cli.given import bad, bare, write
from tests.cli.running import Ended, run
from tests.laws.test_redaction import DEALS, cards_in, events_of, fold_of_beginning, with_cards_exchanged
from tests.laws.test_sights import numbers_at, round_that_ended
from tests.support.evidence import lines_of
from tests.support.play import play

EACH_GAME: Final = pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.key)
SHOWING: Final = pytest.mark.parametrize("key", ["seven_rocks", "seven_bridge"])


def recorded_file(path: Path, bodies: list[Body]) -> Path:
    """A game file as a service records it."""
    return write(path, lines_of(events_of(bodies)))


def values_in(lines: list[Any], deal: int) -> list[list[str]]:
    """What a copy has of the hands of a deal."""
    (body,) = (lines[deal][name] for name in ("tilesDealt", "cardsDealt") if name in lines[deal])
    return [hand.get("tiles", hand.get("cards", [])) for hand in body["hands"]]


@SHOWING
def test_what_was_shown_at_an_end_that_was_taken_back_no_command_tells(key: str, tmp_path: Path) -> None:
    rules = REGISTRY[key, 1]
    bodies, end, deal = round_that_ended(rules)
    stood = recorded_file(tmp_path / "stood.jsonl", bodies)
    taken = recorded_file(tmp_path / "taken.jsonl", [*bodies, MovesRetracted(end - 1)])
    hands = run("show", stood, "--format", "json").document["view"]["hands"]
    left = {card for seat, hand in enumerate(hands) if seat != 1 for card in hand}
    # What a joker was laid for is told, whoever has the card.
    left -= {getattr(bodies[end], "stands_for", "")}
    assert left

    def told(path: Path, *arguments: object) -> set[str]:
        ended = run(*arguments, path, "--as", "seat:1")
        # The places of a layout are named like cards, so of JSON it is told what stands where a card would.
        return set(cards_in(ended.lines) if "jsonl" in arguments else re.split(r"[\s;,]+", ended.out))

    looks = [
        ("show", "--at", end),
        ("show", "--at", end, "--format", "jsonl"),
        ("replay", "--at", end),
        ("replay", "--from", end, "--outcomes", "--format", "jsonl"),
        ("legal", "--at", end),
    ]
    for look in looks:
        assert left.isdisjoint(told(taken, *look)), look
    for look in looks[:-1]:
        assert left <= told(stood, *look), look
    copies = [values_in(run("export", path, "--as", "seat:1").lines, deal) for path in (stood, taken)]
    assert all(copies[0])
    assert copies[1][1] == copies[0][1]
    # Who has nothing left has played it all by then, or is a ghost, whose hand was shown before.
    assert not any(copies[1][seat] for seat in (0, 2, 3) if hands[seat])
    # Its own hand, and all of it for the arbiter, are there as before.
    own = run("show", taken, "--at", end, "--as", "seat:1", "--format", "json").document["view"]["hand"]
    assert own == hands[1]
    for command in ("show", "replay", "legal"):
        assert run(command, taken, "--at", end).out == run(command, stood, "--at", end).out


@EACH_GAME
def test_of_a_deal_that_was_taken_back_its_owner_has_nothing(rules: AnyRules, tmp_path: Path) -> None:
    game = play(rules, 5, events_max=30, with_rulings=False, seat_count=4)
    deal = next(place for place, body in enumerate(game.bodies) if isinstance(body, DEALS))
    acting = next(place for place in range(deal, 30) if game.fold.states[place].to_act)
    (seat,) = game.fold.states[acting].to_act
    path = recorded_file(tmp_path / "game.jsonl", [*game.bodies[: acting + 1], MovesRetracted(deal - 1)])
    asked = ("--at", acting, "--as", f"seat:{seat}")
    assert run("show", path, *asked, "--format", "json").document["view"]["hand"] is None
    assert "hidden" in run("show", path, *asked).out
    moves = run("legal", path, *asked)
    assert (moves.code, moves.out) == (0, "")
    assert f"no move that {names_of(game.fold.started)[seat]} sees" in moves.err
    assert not any(values_in(run("export", path, "--as", f"seat:{seat}").lines, deal))
    assert run("legal", path, "--at", acting).out


@EACH_GAME
def test_two_games_with_the_same_copy_are_told_in_the_same_bytes(rules: AnyRules, tmp_path: Path) -> None:
    compared = 0
    for seed in range(12):
        bodies = play(rules, seed, events_max=40, with_rulings=False, seat_count=4).bodies
        deals = [place for place, body in enumerate(bodies) if isinstance(body, DEALS)]
        bodies.append(MovesRetracted(deals[-1] - seed % 2))
        twin = with_cards_exchanged(bodies, deals[-1], Random(seed))
        if twin == bodies or fold_of_beginning(twin, at_least=len(bodies) - 1) is None:
            continue
        folds = [fold_all(some) for some in (bodies, twin)]
        if any(numbers_at(folds[0], at) != numbers_at(folds[1], at) for at in range(len(bodies))):
            continue
        # Hashes and commitments are others, and no look shows one.
        paths = [
            recorded_file(tmp_path / name / "game.jsonl", some) for name, some in (("one", bodies), ("other", twin))
        ]
        for viewer in ("public", "seat:0", "seat:1", "seat:2", "seat:3"):
            copies = [values_in(run("export", path, "--as", viewer).lines, deals[-1]) for path in paths]
            if copies[0] != copies[1]:
                continue
            compared += 1
            for look in looks_at(len(bodies)):
                one, other = (told_of(run(look[0], path, "--as", viewer, *look[1:]), path) for path in paths)
                assert one == other, (seed, viewer, look)
    assert compared > 3


def looks_at(length: int) -> list[tuple[object, ...]]:
    """Every way to look at a game, at some of its events."""
    ways: list[tuple[object, ...]] = [("replay",), ("replay", "--outcomes", "--format", "json")]
    for at in (length // 2, length - 2, length - 1, length):
        ways += [("show", "--at", at), ("show", "--at", at, "--format", "json"), ("legal", "--at", at)]
        ways += [("replay", "--to", at), ("legal", "--at", at, "--seat", 1, "--format", "json")]
    return ways


def told_of(ran: Ended, path: Path) -> tuple[int, str, str]:
    """All that a command told, but where the file lies."""
    return ran.code, ran.out, ran.err.replace(str(path), "")


def test_a_game_that_is_bad_somewhere_is_shown_to_the_arbiter_only(tmp_path: Path) -> None:
    path = write(tmp_path / "game.jsonl", bad(bare(length=8)))
    for look in (("show", "--at", 3), ("legal", "--at", 3), ("replay", "--to", 3), ("replay",)):
        shown = run(look[0], path, *look[1:], "--as", "public")
        assert (shown.code, shown.out) == (1, ""), look
        assert run(look[0], path, *look[1:]).out
    copy = run("export", path, "--as", "public")
    assert (copy.code, copy.out) == (1, "")


def test_who_looks_at_what_is_not_there_is_told_so(tmp_path: Path) -> None:
    path = write(tmp_path / "game.jsonl", bare(length=8))
    for look in (("show", "--at", 8), ("legal", "--at", 8), ("replay", "--at", 8)):
        one, other = (run(look[0], path, *look[1:], "--as", viewer) for viewer in ("arbiter", "public"))
        assert (one.code, one.out, one.err) == (other.code, other.out, other.err) == (2, "", one.err)
        assert "has no event 8: its last is 7" in one.err
    foreign = run("legal", path, "--as", "seat:1", "--seat", 0)
    assert (foreign.code, foreign.out) == (2, "")
    assert "only the arbiter and the seat itself" in foreign.err


def test_a_player_may_be_named_and_the_arbiter_sees_as_without_a_name(tmp_path: Path) -> None:
    path = write(tmp_path / "game.jsonl", bare(length=20))
    players = json.loads(path.read_bytes().splitlines()[0])["gameStarted"]["players"]
    for command in ("show", "replay", "legal"):
        assert run(command, path, "--as", players[2]["id"]).out == run(command, path, "--as", "seat:2").out
        assert run(command, path, "--as", "arbiter").out == run(command, path).out


def test_who_looks_is_taken_in_any_case_and_a_player_may_be_called_public(tmp_path: Path) -> None:
    lines = bare(length=20)
    path = write(tmp_path / "game.jsonl", lines)
    for text, plain in (("ARBITER", "arbiter"), ("Public", "public"), ("Seat:2", "seat:2")):
        assert run("show", path, "--as", text).out == run("show", path, "--as", plain).out
    odd = write(tmp_path / "odd.jsonl", [lines[0].replace(b"Player 1", b"Public"), *lines[1:]])
    assert run("show", odd, "--as", "Public").out == run("show", odd, "--as", "seat:1").out
    assert run("show", odd, "--as", "public").out != run("show", odd, "--as", "Public").out
