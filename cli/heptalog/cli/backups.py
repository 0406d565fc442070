"""Backups on the command line: what is backed up, and what is said of it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from heptalog.cli.bundles import trusted_by
from heptalog.cli.connections import Connections, opening, reachable
from heptalog.cli.databases import Database, reading
from heptalog.cli.render import counted, to_the_second
from heptalog.cli.servers import Server
from heptalog.cli.sources import log_named
from heptalog.replay.errors import HeptalogError
from heptalog.replay.evidence.notes import VerifierKey
from heptalog.service.backup.parts import Have, Part, parts_of
from heptalog.service.backup.restoring import Restored
from heptalog.service.backup.taking import Source, Taken


def keys_of(texts: Sequence[str] | None) -> tuple[VerifierKey, ...]:
    """The keys that are named, in files or as they are. Raises Malformed, Unavailable."""
    return tuple(key for trusted in trusted_by(texts or ()) for key in trusted.keys)


def source_named(text: str, connections: Connections) -> Source:
    """The log of a server or of a database. Raises what `log_named` raises."""
    match log_named(text):
        case Server(target=target):
            return lambda have: _served(target, connections, have)
        case Database(path=path):
            return lambda have: _lying(path, connections, have)


def lines_of_backup(taken: Taken) -> Iterator[str]:
    """What is said of a backup."""
    yield f"{counted(taken.new_events, 'new event')}, {counted(taken.new_refusals, 'new refusal')}"
    yield f"{taken.directory}: {counted(taken.events, 'event')}, {counted(taken.refusals, 'refusal')}"
    yield from _evidence(taken.root, taken.checkpoint, taken.signed_by)


def lines_of_restored(restored: Restored) -> Iterator[str]:
    """What is said of a log that was restored, or of a backup that was checked."""
    for bad in restored.bad_games:
        yield f"BAD  {bad.game_id}: sequence {bad.sequence}{f' ({bad.rule})' if bad.rule else ''} [{bad.code}]"
    name = restored.database or ("the backup has" if restored.bad_games else "the backup is good")
    yield (
        f"{name}: {counted(restored.events, 'event')} of {counted(restored.games, 'game')}, "
        f"{counted(restored.refusals, 'refusal')}, {counted(restored.checkpoints, 'checkpoint')}, "
        f"as of {to_the_second(restored.made_at)}"
    )
    if restored.void_names:
        names = ", ".join(restored.void_names)
        yield f"to be signed under another name than {names}: under that more was signed than is in it"
    yield from _evidence(restored.root, restored.checkpoint, restored.signed_by)


def _evidence(root: str, checkpoint: int, signed_by: Sequence[str]) -> Iterator[str]:
    yield f"root {root}"
    if checkpoint:
        signed = f", signed by {', '.join(signed_by)}" if signed_by else ", its signatures not checked"
        yield f"latest checkpoint over {counted(checkpoint, 'event')}{signed}"


def _served(target: str, connections: Connections, have: Have) -> Iterator[Part]:
    try:
        yield from connections.client(target).backup(have)
    except HeptalogError as error:
        raise reachable(error, target) from error


def _lying(path: Path, connections: Connections, have: Have) -> Iterator[Part]:
    with opening(path):
        store = connections.store(path)
        # A backup of what is left would stand for the whole.
        if (fault := connections.fault(path)) is not None:
            raise fault
    with reading(path):
        yield from parts_of(store, have)
