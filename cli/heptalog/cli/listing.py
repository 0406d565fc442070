"""Games in a list: what they are and how far they have come, from files, databases and servers alike."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from heptalog.cli.connections import Connections
from heptalog.cli.databases import Database
from heptalog.cli.examine import Step, bad, step_at, steps
from heptalog.cli.files import Missing
from heptalog.cli.servers import Server
from heptalog.cli.sources import Game, Named, games_of, named
from heptalog.cli.verdicts import Found, Verdict
from heptalog.replay.errors import HeptalogError
from heptalog.replay.events import Player
from heptalog.replay.fold import Status, status_of
from heptalog.replay.times import rfc3339
from heptalog.service.store import GameEntry, GameFilter, Head


class Row(Struct, frozen=True, rename="camel"):
    """One game of a list. Scores and winners are null where it took a replay to know them, and none was asked for."""

    source: str
    game_id: str | None
    ruleset: str
    players: tuple[Player, ...]
    tournament: str
    table: str
    status: Status
    events: int
    created_at: str | None
    scores: tuple[int, ...] | None = None
    winners: tuple[int, ...] | None = None


def rows(
    texts: Iterable[str], wanted: GameFilter, connections: Connections, *, with_results: bool
) -> Iterator[Row | Verdict]:
    """The games that fit, in order; in place of one that is bad or cannot be read, the verdict on it."""
    for source in [named(text) for text in texts]:
        if not isinstance(source, Database | Server):
            yield from _replayed(source, wanted, connections)
            continue
        try:
            for entry in source.listed(wanted, connections):
                if isinstance(entry, Missing):
                    yield bad(entry, 0, entry.error)
                    continue
                game = source.game(entry.game_id)
                try:
                    yield _row(game, entry, step_at(game, connections, None) if with_results else None)
                except Found as found:
                    yield found.verdict
        except HeptalogError as error:
            yield bad(Missing(source.name, error), 0, error)


def _replayed(source: Named, wanted: GameFilter, connections: Connections) -> Iterator[Row | Verdict]:
    """Games of which nothing is known before they are replayed."""
    for game in games_of(source, connections):
        if isinstance(game, Missing):
            yield bad(game, 0, game.error)
            continue
        try:
            entry, step = _entry(game, connections)
        except Found as found:
            yield found.verdict
            continue
        if wanted.fits(entry):
            yield _row(game, entry, step)


def _entry(game: Game, connections: Connections) -> tuple[GameEntry, Step]:
    """What a store would say of a game, found by replaying it, and its end."""
    first: Step | None = None
    step: Step | None = None
    for step in steps(game, connections):
        first = first or step
    assert first is not None, "a good game has a beginning"
    assert step is not None, "and an end"
    started = step.fold.started
    entry = GameEntry(
        game_id=first.event.game_id,
        ruleset=step.fold.rules.key,
        rules_version=step.fold.rules.version,
        started=started,
        created_at=first.event.recorded_at or first.event.occurred_at,
        status=status_of(step.fold.state),
        head=Head(step.event.sequence, step.event.hash, 0),
    )
    return entry, step


def _row(game: Game, entry: GameEntry, step: Step | None) -> Row:
    started = entry.started
    return Row(
        source=game.name,
        game_id=entry.game_id or None,
        ruleset=entry.ruleset,
        players=started.players,
        tournament=started.tournament,
        table=started.table,
        status=entry.status,
        events=entry.head.sequence + 1,
        created_at=rfc3339(entry.created_at) if entry.created_at else None,
        scores=None if step is None else step.fold.state.scores,
        winners=None if step is None else step.fold.state.winners,
    )
