"""The demonstration: a real server in another process, three games recorded through gRPC, and the other commands."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path
from random import Random
from threading import Timer
from typing import IO, Final

import typer

from heptalog.cli.connections import Connections
from heptalog.cli.diff import diff
from heptalog.cli.exits import Exit, complain
from heptalog.cli.exports import export
from heptalog.cli.games import games
from heptalog.cli.output import write_text
from heptalog.cli.render import counted
from heptalog.cli.replay import replay
from heptalog.cli.sql import sql
from heptalog.cli.verify import verify
from heptalog.replay.errors import Code, Unavailable
from heptalog.replay.events import GameStarted, Player
from heptalog.replay.fold import Fold
from heptalog.replay.registry import GAMES
from heptalog.replay.rules import AnyRules
from heptalog.replay.words import title_of
from heptalog.service.client import Client

_PLAYERS: Final = (Player("ana", "Ana"), Player("bo", "Bo"), Player("chie", "Chie"), Player("dag", "Dag"))
# Of the moves that are legal only so many are thought about: discards can be tens of thousands.
_MOVES_MAX: Final = 64
_START_SECONDS: Final = 30.0
_STOP_SECONDS: Final = 30.0
_QUESTION: Final = (
    "SELECT player_name AS player, count(*) AS played, count(*) FILTER (has_won) AS won, "
    "list(score ORDER BY ruleset) AS scores FROM results GROUP BY player_name ORDER BY won DESC, player"
)


def demonstrate(folder: Path, seed: int) -> Exit:
    """Do all of it in this folder."""
    database = folder / "demo.duckdb"
    with _server(database, folder / "server.log") as address:
        server = f"grpc://{address}"
        _title(f"A server listens on {address}, over {database}")
        with Connections() as connections:
            folds = dict(_recorded(connections.client(address), seed))
        _title("These games it has now")
        _run(lambda: games([server], results=True), f"games {server} --results")
        up = next(game_id for game_id, fold in folds.items() if fold.rules.key == "seven_up")
        bridge = next(game_id for game_id, fold in folds.items() if fold.rules.key == "seven_bridge")
        first = _last_round(folds[up])
        _title("The last round of Seven Up, as it was played")
        _run(lambda: replay(f"{server}#{up}", from_=first), f"replay {server}#{up} --from {first}")
        _title("Every game again: chain, seals, and the rules at every event")
        _run(lambda: verify([server]), f"verify {server}")
        _title("What if nobody in Seven Bridge had more than one pass?")
        options = "passTokens=1"
        _run(
            lambda: diff(f"{server}#{bridge}", options=[options]),
            f"diff {server}#{bridge} --options {options}",
            expected=Exit.FINDING,
        )
        file = folder / f"{up}.jsonl"
        _run(lambda: export(f"{server}#{up}", out=file), f"export {server}#{up} --out {file}", is_set_apart=True)
    _title("The server has stopped; the file and the database hold the same game")
    _run(lambda: diff(str(file), f"{database}#{up}", envelope=True), f"diff {file} {database}#{up} --envelope")
    _title("Who has won what?")
    _run(lambda: sql(database, _QUESTION), f'sql {database} "{_QUESTION}"')
    return Exit.FINE


@contextmanager
def _server(database: Path, log: Path) -> Iterator[str]:
    """A server in a process of its own, by its address; it must end by itself, and well."""
    command = [sys.executable, "-P", "-m", "heptalog.cli", "serve", str(database), "--port", "0"]
    with (
        log.open("wb") as talk,
        # Our own program, with arguments of our own making.
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=talk, text=True) as process,  # noqa: S603
    ):
        try:
            assert process.stdout is not None, "it was asked for"
            yield _address(process.stdout, process, log)
        except BaseException:
            process.kill()
            raise
        process.terminate()
        code = process.wait(_STOP_SECONDS)
    if code:
        raise Unavailable(Code.SERVER_UNREACHABLE, problem=f"the server ended with {code}; see {log}")


def _address(output: IO[str], process: "subprocess.Popen[str]", log: Path) -> str:
    alarm = Timer(_START_SECONDS, process.kill)
    alarm.start()
    try:
        line = output.readline()
    finally:
        alarm.cancel()
    if not line:
        raise Unavailable(Code.SERVER_UNREACHABLE, problem=f"the server did not start; see {log}")
    return line.split()[-1]


def _recorded(client: Client, seed: int) -> Iterator[tuple[str, Fold]]:
    """Record one game of each kind, move by move; its id and its fold."""
    taken = {entry.game_id for entry in client.games()}
    _title("One game of each kind is recorded through gRPC, move by move")
    for rules in GAMES:
        name = f"{rules.key}-{seed}"
        game_id = next(one for number in count(1) if (one := name if number == 1 else f"{name}-{number}") not in taken)
        fold = _played(client, rules, game_id, Random(f"{rules.key} {seed}"))  # noqa: S311  # no secret hangs on it
        winners = " and ".join(_PLAYERS[seat].name for seat in fold.state.winners)
        write_text(f"{title_of(rules.key):<13} {counted(fold.sequence + 1, 'event'):>11}, won by {winners}")
        yield game_id, fold


def _played(client: Client, rules: AnyRules, game_id: str, random: Random) -> Fold:
    """Play a whole game by chance; the server decides, and the fold here only knows what may be played."""
    started = GameStarted(_PLAYERS, rules.options(), tournament="Demonstration", table="1")
    recorder = client.create_game(started, game_id=game_id, recorded_by="demo")
    fold = Fold(started)
    while not fold.state.over:
        if fold.state.to_act:
            body = random.choice(list(islice(rules.legal(fold.state), _MOVES_MAX)))
        else:
            body = rules.deal(fold.state, random.randrange)
        recorder.append(body, recorded_by="demo")
        fold.advance(body)
    return fold


def _last_round(fold: Fold) -> int:
    """The event that dealt the last round."""
    last = fold.state.round
    return next(sequence for sequence, state in enumerate(fold.states) if state.round == last)


def _title(text: str) -> None:
    write_text()
    write_text(f"--- {text}")
    write_text()


def _run(command: Callable[[], None], text: str, *, expected: Exit = Exit.FINE, is_set_apart: bool = False) -> None:
    """Run one of the other commands as it would be typed. Raises typer.Exit where it ends in another way."""
    if is_set_apart:
        write_text()
    write_text(f"$ heptalog {text}")
    code = Exit.FINE
    try:
        command()
    except typer.Exit as end:
        code = Exit(end.exit_code)
    if code is not expected:
        complain(f"that ended with {int(code)}, not {int(expected)}")
        raise typer.Exit(code or Exit.FINDING)
