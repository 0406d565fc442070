"""`heptalog show` and `heptalog legal`: how a game stands for each viewer, and what may be played."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

from heptalog.replay.events import Event, GameClosed
from heptalog.replay.fold import fold_all, scan
from heptalog.replay.gamefile import encode_line, read_events
from heptalog.replay.registry import GAMES
from heptalog.replay.rules import ARBITER, PUBLIC, AnyRules, Viewer
from heptalog.replay.words import names_of, tell_table
from tests.cli.given import BRIDGE, UP, bad, bare, write
from tests.cli.running import run


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.key)
def test_the_arbiter_sees_every_hand_and_others_only_their_own(rules: AnyRules, tmp_path: Path) -> None:
    path = write(tmp_path / "game.jsonl", bare(rules, 2, length=12))
    with path.open("rb") as file:
        fold = fold_all(event.body for event in read_events(file))
    hands = rules.view(fold.state, ARBITER).hands  # type: ignore[attr-defined]
    arbiter = run("show", path, "--format", "json")
    assert arbiter.code == 0
    assert arbiter.document["view"]["hands"] == [list(hand) for hand in hands]
    assert arbiter.document["standing"]["sequence"] == 11
    public = run("show", path, "--as", "public")
    seat = run("show", path, "--as", "seat:1")
    assert (public.code, seat.code) == (0, 0)
    for index, hand in enumerate(hands):
        assert "".join(hand) == "" or f"({len(hand)} hidden)" in _line_of(public.out, index)
        assert not any(card in _line_of(public.out, index).split() for card in hand)
        assert (" ".join(hand) in _line_of(seat.out, index)) == (index == 1)
    text = run("show", path).out
    assert all(card in text for hand in hands for card in hand)


def test_a_view_has_players_by_name_and_nothing_of_a_machine(tmp_path: Path) -> None:
    path = write(tmp_path / "game.jsonl", bare(UP, 2, length=3))
    with path.open("rb") as file:
        fold = fold_all(event.body for event in read_events(file))
    (acting,) = fold.state.to_act
    name = fold.started.players[acting].name
    other = run("show", path, "--as", f"seat:{(acting + 1) % 4}").out
    own = run("show", path, "--as", f"seat:{acting}").out
    assert f"to act: {name}\n" in other
    # With four, only two may look before trump is fixed (SU-R12).
    looks = ["hidden" not in _line_of(run("show", path, "--as", f"seat:{seat}").out, seat) for seat in range(4)]
    assert sorted(looks) == [False, False, True, True]
    public = run("show", path, "--as", "public", "--at", 0).out
    bridge = run("show", write(tmp_path / "bridge.jsonl", bare(BRIDGE, 2, length=12)), "--as", "public").out
    for text in (own, other, public, bridge):
        assert not re.search(r"\b(null|true|false|-1)\b", text)


def _line_of(table: str, seat: int) -> str:
    """The line of one seat in a table of text."""
    lines = [
        line for line in table.splitlines() if line.startswith(" ") and line.lstrip(" >").startswith(f"Player {seat}")
    ]
    return lines[-1]


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.key)
def test_at_no_event_does_a_table_tell_what_the_view_hides(rules: AnyRules) -> None:
    names = [f"Player {seat}" for seat in range(4)]
    hidden = 0
    for fold, _ in scan(event.body for event in read_events(bare(rules, 2, length=120))):
        hands: Any = rules.view(fold.state, ARBITER)
        for viewer in (PUBLIC, *(Viewer(seat) for seat in range(4))):
            view: Any = rules.view(fold.state, viewer)
            told = to_builtins(view.table)
            shown = told.get("handsLeft") or [each.get("shown", ()) for each in told.get("seats", [{}] * 4)]
            table = "\n".join(f" {line}" for line in tell_table(fold, fold.state, names, viewer))
            for seat, hand in enumerate(hands.hands):
                if not hand or f" {names[seat]}" not in table.replace(">", ""):
                    continue
                own = view.hand if viewer == Viewer(seat) else None
                if own is None and not shown[seat]:
                    hidden += 1
                    assert f"({len(hand)} hidden)" in _line_of(table, seat)
                    assert not set(hand) & set(_line_of(table, seat).replace(";", " ").split())
                else:
                    assert "hidden" not in _line_of(table, seat)
    assert hidden > 100


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.key)
def test_nobody_is_on_turn_in_a_closed_game(rules: AnyRules) -> None:
    for length in range(1, 40):
        bodies = [event.body for event in read_events(bare(rules, 2, length=length))]
        fold = fold_all([*bodies, GameClosed(reason="late", winners=(0, 2))])
        table = tell_table(fold, fold.state, ["Ana", "Bo", "Chie", "Dag"])
        assert not re.search(r"on turn|waiting for|deals|to play|to open|to be|^>", "\n".join(table), re.MULTILINE)
        assert table[-1] == "The arbiter has ended the game: Ana and Chie win"


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.key)
def test_a_replay_and_the_moves_are_told_as_a_viewer_sees_them(rules: AnyRules, tmp_path: Path) -> None:
    lines = bare(rules, 2, length=20)
    path = write(tmp_path / "game.jsonl", lines)
    with path.open("rb") as file:
        fold = fold_all(event.body for event in read_events(file))
    hands: Any = rules.view(fold.state, ARBITER)
    public = run("replay", path, "--as", "public")
    assert public.code == 0
    assert "hidden" in public.out
    for seat, hand in enumerate(hands.hands):
        assert not set(hand) & set(_line_of(public.out, seat).replace(";", " ").split())
    assert run("replay", path, "--as", "nobody").code == 2
    assert run("replay", path, "--as", "arbiter").out == run("replay", path).out
    every = run("legal", path, "--format", "jsonl").lines
    seen = [run("legal", path, "--as", f"seat:{seat}", "--format", "jsonl").lines for seat in range(4)]
    (acting,) = fold.state.to_act
    assert seen == [every if seat == acting else [] for seat in range(4)]
    assert run("legal", path, "--as", "public").out == ""
    assert "moves are each seat's own, so the public sees none: After event" in run("legal", path, "--as", "public").err
    other = next(seat for seat in range(4) if seat != acting)
    told = run("legal", path, "--as", f"seat:{other}").err
    assert told.startswith(f"heptalog: no move that {names_of(fold.started)[other]} sees: After event")
    assert run("legal", path, "--as", "seat:1", "--seat", 0).code == 2


def test_show_goes_back_to_any_event(game: Path) -> None:
    assert run("show", game, "--at", 0, "--format", "jsonl").lines[0]["standing"]["round"] == 0
    assert run("show", game, "--at", 59).out == run("show", game).out
    assert run("show", game, "--at", 60).code == 2


def test_show_looks_no_further_than_asked(tmp_path: Path) -> None:
    path = write(tmp_path / "game.jsonl", bad(bare(length=8)))
    assert run("show", path, "--at", 7).code == 0
    assert (run("show", path).code, run("show", path).out) == (1, "")


@pytest.mark.parametrize(
    "viewer", ["seat:4", "seat:", "seat:-1", "seat:x", "seat:٣", "nobody", "", "public:1", "seat:99999999999"]
)
def test_a_viewer_that_is_none_is_wrong_use(viewer: str, game: Path) -> None:
    assert (run("show", game, "--as", viewer).code, run("show", game, "--as", viewer).out) == (2, "")


def test_a_closed_game_is_shown_as_it_was_left(tmp_path: Path) -> None:
    lines = bare(BRIDGE, length=10)
    closing = {"sequence": 10, "gameClosed": {"reason": "late", "winners": [2]}}
    path = write(tmp_path / "game.jsonl", [*lines, json.dumps(closing).encode()])
    ended = run("show", path)
    assert "over, closed by the arbiter, won by Player 2 at event 10" in ended.out
    assert "The arbiter has ended the game: Player 2 wins" in ended.out
    moves = run("legal", path, "--format", "json")
    assert (moves.code, moves.document) == (0, [])
    assert moves.err.startswith("heptalog: the game is over, so there is no move: After event 10 · ")
    assert moves.err.endswith("over, closed by the arbiter, won by Player 2 at event 10\n")
    assert "over" in moves.err


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.key)
def test_legal_gives_bodies_that_may_be_appended(rules: AnyRules, tmp_path: Path) -> None:
    lines = bare(rules, 2, length=20)
    path = write(tmp_path / "game.jsonl", lines)
    while not (moves := run("legal", path, "--format", "jsonl").lines):
        lines.pop()
        write(path, lines)
    assert run("legal", path, "--format", "json").document == moves
    assert len(run("legal", path).out.splitlines()) == len(moves)
    for move in moves:
        line = json.dumps({"sequence": len(lines), **move}).encode()
        assert run("verify", write(tmp_path / "next.jsonl", [*lines, line])).code == 0


def test_legal_is_cut_down_by_seat_and_number(tmp_path: Path) -> None:
    path = write(tmp_path / "game.jsonl", bare(BRIDGE, 2, length=9))
    with path.open("rb") as file:
        fold = fold_all(event.body for event in read_events(file))
    (seat,) = fold.state.to_act
    every = run("legal", path, "--format", "jsonl").lines
    assert run("legal", path, "--seat", seat, "--format", "jsonl").lines == every
    other = run("legal", path, "--seat", (seat + 1) % 4)
    assert (other.code, other.out) == (0, "")
    first = run("legal", path, "--limit", 1, "--format", "jsonl")
    assert first.lines == every[:1]
    assert ("there are more" in first.err) == (len(every) > 1)
    assert run("legal", path, "--seat", 4).code == 2


def test_the_table_must_act_where_nobody_may(tmp_path: Path) -> None:
    path = write(tmp_path / "game.jsonl", bare(length=1))
    ended = run("legal", path)
    assert (ended.code, ended.out) == (0, "")
    assert "the table must deal or draw" in ended.err


def test_the_bodies_are_those_of_a_game_file(tmp_path: Path) -> None:
    lines = bare(length=20)
    path = write(tmp_path / "game.jsonl", lines)
    with path.open("rb") as file:
        fold = fold_all(event.body for event in read_events(file))
    written = [json.loads(encode_line(Event(20, body))) for body in fold.rules.legal(fold.state)]
    assert [{"sequence": 20, **move} for move in run("legal", path, "--format", "jsonl").lines] == written
