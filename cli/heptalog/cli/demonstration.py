"""The demonstration: a real server in another process, a game of each kind through gRPC, and the other commands."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from random import Random
from threading import Timer
from typing import IO, Final

import typer

from heptalog.cli.commands.audit import audit
from heptalog.cli.commands.bundle import bundle
from heptalog.cli.commands.diff import diff
from heptalog.cli.commands.export import export
from heptalog.cli.commands.games import games
from heptalog.cli.commands.keygen import keygen
from heptalog.cli.commands.replay import replay
from heptalog.cli.commands.sql import sql
from heptalog.cli.commands.verify import verify
from heptalog.cli.connections import Connections
from heptalog.cli.exits import Exit, complain
from heptalog.cli.output import write_text
from heptalog.cli.render import counted
from heptalog.replay.errors import Code, Refused, Unavailable
from heptalog.replay.events import GameStarted, Player
from heptalog.replay.fold import Fold
from heptalog.replay.playout import play
from heptalog.replay.registry import NEWEST
from heptalog.replay.rules import AnyRules
from heptalog.replay.words import title_of
from heptalog.service.client import Client

_PLAYERS: Final = tuple(Player(name.lower(), name) for name in ("Ana", "Bo", "Chie", "Dag", "Eun", "Fay", "Gus"))
# How many sit down, the best first: every game takes one of these.
_SEAT_COUNTS: Final = (4, 2, 3, 5, 6, 7)
_START_SECONDS: Final = 30.0
_STOP_SECONDS: Final = 30.0
# One that can be asked in the middle of a tournament, and one for afterwards.
_WINNERS: Final = (
    "SELECT player_name AS player, count(*) AS played, count(*) FILTER (has_won) AS won, "
    "list(score ORDER BY ruleset) AS scores FROM results GROUP BY player_name ORDER BY won DESC, player"
)
_TURNS: Final = "SELECT ruleset, kind, count(*) AS turns FROM turns GROUP BY ALL ORDER BY ALL"


def demonstrate(folder: Path, seed: int) -> Exit:
    """Do all of it in this folder."""
    database = folder / "demo.duckdb"
    key, public = folder / "demo.key", folder / "demo.pub"
    if database.exists():
        _title("There was a demonstration here before: its games stay, and others are recorded beside them")
    if key.exists():
        _title(f"The server will sign the root of its log with the key that is there, {key}")
    else:
        _title("A key, with which the server will sign the root of its log")
        _run(
            lambda: keygen("demo.example/log", out=key, public=public),
            f"keygen demo.example/log --out {key} --public {public}",
        )
    with _server(database, key, folder / "server.log") as address:
        server = f"grpc://{address}"
        _title(f"A server listens on {address}, over {database}")
        with Connections() as connections:
            folds = dict(recorded(connections.client(address), seed))
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
        _title("Who has won what? Asked while the server records")
        _run(lambda: sql(server, _WINNERS), f'sql {server} "{_WINNERS}"')
    _title("The server has stopped; the file and the database hold the same game")
    _run(lambda: diff(str(file), f"{database}#{up}", envelope=True), f"diff {file} {database}#{up} --envelope")
    proof = folder / f"{up}.bundle"
    _title("The game and its proof in one file, for anybody who has the public key")
    _run(lambda: bundle(f"{database}#{up}", out=proof), f"bundle {database}#{up} --out {proof}")
    _run(lambda: verify([str(proof)], keys=[str(public)]), f"verify {proof} --key {public}", is_set_apart=True)
    _title("Every stored byte again, up to the signed root")
    _run(lambda: audit(str(database), key=[str(public)], no_state=True), f"audit {database} --key {public} --no-state")
    _title("What was done how often? Asked of the database itself")
    _run(lambda: sql(str(database), _TURNS), f'sql {database} "{_TURNS}"')
    return Exit.FINE


@contextmanager
def _server(database: Path, key: Path, log: Path) -> Iterator[str]:
    """A server in a process of its own, by its address; it must end by itself, and well."""
    command = [sys.executable, "-P", "-m", "heptalog.cli", "serve", str(database), "--port", "0", "--key", str(key)]
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


def recorded(client: Client, seed: int) -> Iterator[tuple[str, Fold]]:
    """Record one game of each kind, by its newest rules and move by move; its id and its fold."""
    taken = {entry.game_id for entry in client.games()}
    _title("One game of each kind is recorded through gRPC, move by move")
    for key, rules in NEWEST.items():
        name = f"{key}-{seed}"
        game_id = next(one for number in count(1) if (one := name if number == 1 else f"{name}-{number}") not in taken)
        fold = _played(client, started_by(rules), game_id, Random(f"{key} {seed}"))  # noqa: S311  # no secret hangs on it
        write_text(f"{title_of(key):<13} {counted(fold.sequence + 1, 'event'):>11}, {_ending_text(fold)}")
        yield game_id, fold


def started_by(rules: AnyRules) -> GameStarted:
    """The start of a game by these rules and their usual options, with as many players as they take."""
    starts = [
        GameStarted(
            players=_PLAYERS[:seat_count],
            rules=rules.options(),
            rules_version=rules.version,
            tournament="Demonstration",
            table="1",
        )
        for seat_count in _SEAT_COUNTS
    ]
    # Where none will do, the rules say why as soon as it is played.
    return next((started for started in starts if _is_accepted(rules, started)), starts[0])


def _is_accepted(rules: AnyRules, started: GameStarted) -> bool:
    try:
        rules.initial(started)
    except Refused:
        return False
    return True


def _played(client: Client, started: GameStarted, game_id: str, random: Random) -> Fold:
    """Play a whole game by chance; the server decides, and the fold here only tells of it afterwards."""
    bodies = play(started, random.randrange)
    fold = Fold(next(bodies))
    recorder = client.create_game(started, game_id=game_id, recorded_by="demo")
    for body in bodies:
        recorder.append(body, recorded_by="demo")
        fold.advance(body)
    return fold


def _ending_text(fold: Fold) -> str:
    if not fold.state.over:
        return "not yet over"
    return f"won by {' and '.join(_PLAYERS[seat].name for seat in fold.state.winners)}"


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
