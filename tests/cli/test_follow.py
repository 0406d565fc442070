"""`heptalog follow`: what a running server records, as it comes, through the server's end and its next beginning."""

import json
import re
import signal
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from heptalog.cli.exits import Exit
from heptalog.cli.render import feed_json, feed_text
from heptalog.replay.events import GameClosed, MovesRetracted, NoteAdded
from heptalog.replay.rules import PUBLIC
from heptalog.service.client import Client, FeedFilter
from heptalog.service.config import Settings
from heptalog.service.store.memory import MemoryStore
from tests.cli.running import PROGRAM, WAIT_SECONDS, run, serving
from tests.service.asking import ROCKS
from tests.service.cutting import Proxy
from tests.service.following import events_in, until_caught_up
from tests.support.serving import Service


@contextmanager
def following_lines(*arguments: str) -> Iterator["subprocess.Popen[str]"]:
    """The program, whose lines are read as they come."""
    command: Sequence[str | Path] = [PROGRAM, "follow", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def next_line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().rstrip("\n")


def next_word(process: "subprocess.Popen[str]") -> str:
    """What is said beside the result."""
    assert process.stderr is not None
    return process.stderr.readline().rstrip("\n")


@pytest.fixture
def service() -> Iterator[Service]:
    """A server over memory."""
    with Service(MemoryStore()) as running:
        yield running


def test_a_game_is_told_from_its_beginning_until_it_is_over(service: Service) -> None:
    game = service.client().create_game(ROCKS, game_id="final")
    game.append(NoteAdded("ana is late"))
    game.append(GameClosed(reason="rain", winners=(0, 2)))
    url = f"grpc://{service.target}#final"
    told = run("follow", url, "--until-over")
    assert (told.code, told.err) == (0, "")
    assert told.out == (
        "    0  ana, bo, chie and dag begin Seven Rocks\n"
        "    1  Remark: ana is late\n"
        "    2  The arbiter ends the game: rain · ana and chie win\n"
    )
    lines = run("follow", url, "--until-over", "--format", "jsonl", "--after-position", "1", "--as", "public").lines
    assert [line["position"] for line in lines] == [2, 3]
    assert [line["sequence"] for line in lines] == [1, 2]
    assert {line["gameId"] for line in lines} == {"final"}
    assert lines[0]["line"]["noteAdded"] == {"text": "ana is late"}
    assert lines[1]["outcomes"] == [{"outcome": "gameEndedByArbiter", "winners": [0, 2]}]
    assert [(line["event"], line["over"], line["scores"]) for line in lines] == [
        ("noteAdded", False, [0, 0]),
        ("gameClosed", True, [0, 0]),
    ]
    assert lines[1]["words"] == ["The arbiter ends the game: rain", "ana and chie win"]
    exported = run("export", url)
    assert [json.loads(line) for line in exported.out.splitlines()][1:] == [line["line"] for line in lines]


def test_a_game_is_over_where_it_stands_so(service: Service) -> None:
    game = service.client().create_game(ROCKS, game_id="final")
    game.append(GameClosed(reason="a fire alarm"))
    game.append(MovesRetracted(to_sequence=0, reason="a false one"))
    game.append(GameClosed(reason="rain"))
    url = f"grpc://{service.target}#final"
    told = run("follow", url, "--until-over")
    assert (told.code, told.out.count("\n")) == (0, 4)
    # What ended before is no reason to wait.
    for position in ("3", "4"):
        assert run("follow", url, "--until-over", "--after-position", position).code == 0


def test_all_games_are_told_from_now_on(tmp_path: Path) -> None:
    with (
        serving(tmp_path / "log.duckdb", "--no-tables") as server,
        Client(server.url.removeprefix("grpc://")) as client,
    ):
        client.create_game(ROCKS, game_id="before")
        with following_lines(server.url) as process:
            assert next_word(process) == f"heptalog: following {server.url} from position 1 on; Ctrl-C ends it"
            client.create_game(ROCKS, game_id="one")
            assert next_line(process) == "        2  one     0  ana, bo, chie and dag begin Seven Rocks"
            client.resume("before").append(NoteAdded("now"))
            assert next_line(process) == "        3  before     1  Remark: now"
            process.send_signal(signal.SIGINT)
            assert process.wait(WAIT_SECONDS) == 130
            assert process.stderr is not None
            assert not process.stderr.read()


def test_a_server_that_is_killed_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "log.duckdb"
    # A port that was let go of may be anybody's: where to find the server stays the same, and its port does not.
    with serving(path, "--no-tables") as server, Proxy(server.port) as proxy:
        url = f"grpc://{proxy.target}"
        with following_lines(url, "--format", "jsonl", "--after-position", "0") as process:
            with Client(proxy.target) as client:
                game = client.create_game(ROCKS, game_id="one")
                game.append(NoteAdded("first"))
            assert [json.loads(next_line(process))["position"] for _ in range(2)] == [1, 2]
            assert next_word(process).startswith(f"heptalog: following {url}")
            server.process.kill()
            assert next_word(process) == f"heptalog: {url} is away, and waited for"
            server.process.wait(WAIT_SECONDS)
            with serving(path, "--no-tables") as other:
                proxy.port = other.port
                with Client(proxy.target) as client:
                    client.resume("one").append(NoteAdded("second"))
                line = json.loads(next_line(process))
                assert (line["position"], line["line"]["noteAdded"]["text"]) == (3, "second")
                assert re.fullmatch(rf"heptalog: following {url} from position [23] on; .*", next_word(process))


def test_who_reads_no_further_is_no_failure(tmp_path: Path) -> None:
    with (
        serving(tmp_path / "log.duckdb", "--no-tables") as server,
        Client(server.url.removeprefix("grpc://")) as client,
    ):
        game = client.create_game(ROCKS, game_id="one")
        with following_lines(f"{server.url}#one") as process:
            assert next_line(process).endswith("begin Seven Rocks")
            assert process.stdout is not None
            process.stdout.close()
            game.append(NoteAdded("nobody hears it"))
            assert process.wait(WAIT_SECONDS) == 141


def test_who_has_gone_is_noticed_though_nothing_happens() -> None:
    with Service(MemoryStore(), settings=Settings("", heartbeat_seconds=0.05)) as service:
        service.client().create_game(ROCKS, game_id="one")
        with following_lines(f"grpc://{service.target}#one") as process:
            assert next_line(process).endswith("begin Seven Rocks")
            assert process.stdout is not None
            process.stdout.close()
            assert process.wait(WAIT_SECONDS) == 141


def test_what_cannot_be_read_is_told_so(service: Service) -> None:
    service.client().create_game(ROCKS, game_id="one")
    (event,) = events_in(until_caught_up(service.client().subscribe(FeedFilter(viewer=PUBLIC))))
    unread = replace(event, unread="RECORD_DAMAGED")
    assert feed_text(unread, is_one_game=True) == "    0  cannot be read by the server [RECORD_DAMAGED]"
    assert feed_json(unread) == {"position": 1, "gameId": "one", "sequence": 0, "unread": "RECORD_DAMAGED"}


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["{file}"], Exit.WRONG_USE, "only a running server can be followed, grpc://HOST:PORT"),
        (["{database}#one"], Exit.WRONG_USE, "only a running server can be followed"),
        (["{url}", "--until-over"], Exit.WRONG_USE, "name it, grpc://HOST:PORT#GAME"),
        (["{url}", "--ruleset", "seven_tops"], Exit.WRONG_USE, "the games are seven_rocks"),
        (["{url}#one", "--as", "nobody"], Exit.WRONG_USE, "or a player of the game by id or name"),
        (["{url}#one", "--as", "seat:4"], Exit.WRONG_USE, "the game has the seats 0 to 3"),
        (["{url}", "--as", "seat:1"], Exit.WRONG_USE, "a seat is one of a game"),
        (["{url}", "--after-position", "9"], Exit.WRONG_USE, "POSITION_AFTER_HEAD"),
        (["{url}#two"], Exit.UNREACHABLE, "GAME_NOT_FOUND"),
        (["grpc://127.0.0.1:1"], Exit.UNREACHABLE, "SERVER_UNREACHABLE"),
    ],
)
def test_what_cannot_be_followed(
    words: list[str], code: Exit, told: str, service: Service, tmp_path: Path, game: Path
) -> None:
    service.client().create_game(ROCKS, game_id="one")
    names: dict[str, Any] = {"url": f"grpc://{service.target}", "file": game, "database": tmp_path / "log.duckdb"}
    ended = run("follow", *(word.format(**names) for word in words))
    assert ended.code == code
    assert told in ended.err
    assert not ended.out
    assert len(ended.err.splitlines()) == 1


def test_a_server_that_is_not_there_is_not_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    for start in ([], ["--after-position", "0"]):
        assert run("follow", f"grpc://127.0.0.1:{port}", *start).code == Exit.UNREACHABLE
