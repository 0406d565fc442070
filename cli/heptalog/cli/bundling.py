"""Making bundles on the command line: out of a database that nobody holds, or by asking a server."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from io import BytesIO
from pathlib import Path

from heptalog.cli.connections import Connections, opening, reachable, shown
from heptalog.cli.databases import DatabaseGame
from heptalog.cli.examine import steps
from heptalog.cli.exits import WrongUse
from heptalog.cli.servers import ServerGame
from heptalog.cli.sources import Game
from heptalog.cli.viewers import seat_named, viewer_named
from heptalog.replay.errors import Code, HeptalogError, NotFound, Unavailable
from heptalog.replay.events import Player
from heptalog.replay.evidence.bundles import Examined, events_in, examine, parse_header
from heptalog.replay.evidence.reveals import Reveal
from heptalog.replay.fold import Fold
from heptalog.replay.redaction import reveals_of
from heptalog.service.bundling import bundle_of, latest_covering
from heptalog.service.config import Surroundings
from heptalog.service.evidence.checkpoints import Checkpoints
from heptalog.service.evidence.keys import Keyring, load_signing, verify
from heptalog.service.evidence.proving import Prover
from heptalog.service.evidence.signing import Signer
from heptalog.service.store.duck import DuckStore


def bundled(
    game: DatabaseGame | ServerGame, viewer: str, keys: Sequence[Path], connections: Connections, *, is_withheld: bool
) -> tuple[list[bytes], Examined]:
    """The lines of a bundle and what came of examining them: what is given away was looked at, whoever made it.

    With keys of a database's own log a checkpoint is signed, where none reaches as far as the game.
    Raises WrongUse for a viewer who is not at the table, and whatever makes it impossible.
    """
    if isinstance(game, ServerGame):
        lines = _of_server(game, viewer, connections, is_withheld=is_withheld)
    else:
        ring = load_signing(keys) if keys else None
        try:
            lines = _of_database(game, viewer, is_withheld=is_withheld)
        except Unavailable as error:
            if error.code is not Code.KEY_MISSING or ring is None:
                raise
            _sign(game.path, ring)
            lines = _of_database(game, viewer, is_withheld=is_withheld)
    return lines, _examined(lines)


def reveals_in_game(game: Game, seat: str, round_: int | None, connections: Connections) -> list[Reveal]:
    """What was hidden and is this seat's, of all rounds or of one. Raises Found, WrongUse, Refused."""
    events = []
    fold: Fold | None = None
    for step in steps(game, connections):
        events.append(step.event)
        fold = step.fold
    assert fold is not None, "a good game has a beginning"
    owner = seat_named(seat, fold.started.players)
    states = fold.states
    if round_ is not None and round_ not in (rounds := {state.round for state in states}):
        last = max(rounds)
        raise WrongUse(f"--round {round_}: the game has {f'the rounds 1 to {last}' if last > 1 else 'one round, 1'}")
    return [each for each in reveals_of(events, fold, owner) if round_ in (None, states[each.sequence].round)]


def _of_database(game: DatabaseGame, viewer: str, *, is_withheld: bool) -> list[bytes]:
    with opening(game.path), closing(DuckStore(game.path, is_read_only=True)) as store:
        entry = store.game(game.game_id)
        if entry is None:
            raise NotFound(Code.GAME_NOT_FOUND, database=shown(game.path), game=game.game_id)
        asked = viewer_named(viewer, entry.started.players)
        covering = latest_covering(Prover(store, Checkpoints(store)))
        return list(bundle_of(store, game.game_id, asked, covering, is_withheld=is_withheld))


def _sign(path: Path, ring: Keyring) -> None:
    """Sign a checkpoint over all of a database and keep it there."""
    with opening(path), closing(DuckStore(path)) as store:
        Signer(store, Checkpoints(store), ring, Surroundings().clock).checkpoint()


def _of_server(game: ServerGame, viewer: str, connections: Connections, *, is_withheld: bool) -> list[bytes]:
    client = connections.client(game.target)
    try:
        players: Sequence[Player] = client.game(game.game_id).started.players
        asked = viewer_named(viewer, players)
        return _lines(client.bundle(game.game_id, viewer=asked, is_withheld=is_withheld))
    except HeptalogError as error:
        raise reachable(error, game.target) from error


def _lines(pieces: Iterable[bytes]) -> list[bytes]:
    return BytesIO(b"".join(pieces)).readlines()


def _examined(lines: Sequence[bytes]) -> Examined:
    """What came of it. Raises what is wrong with it; who has signed it is for who has the keys."""
    remaining: Iterator[bytes] = iter(lines)
    examined = examine(parse_header(next(remaining, b"")), events_in(remaining), (), verify)
    if examined.report.error is not None:
        raise examined.report.error
    return examined
