"""Recording into one game of a log: looked at first, checked as the service checks it, and never without its head."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Final, TypeAlias

from msgspec import Struct

from heptalog.cli.connections import Connections, opening, reachable, shown
from heptalog.cli.databases import DatabaseGame, reading
from heptalog.cli.examine import Step
from heptalog.cli.exits import WrongUse
from heptalog.cli.files import FileGame
from heptalog.cli.importing.batches import in_game
from heptalog.cli.servers import ServerGame
from heptalog.cli.sources import one_game
from heptalog.replay.codec import decode
from heptalog.replay.errors import Code, HeptalogError, NotFound, Unavailable
from heptalog.replay.events import Event
from heptalog.replay.fold import Fold, Standing
from heptalog.service.appends import Append, Receipt
from heptalog.service.config import Settings, Surroundings
from heptalog.service.handler import Handler
from heptalog.service.live import LiveGame, LiveGames, live_game
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.memory import MemoryStore
from heptalog.service.writer import Writer

LoggedGame: TypeAlias = DatabaseGame | ServerGame

# Games come one after the other and are not needed again: few are kept.
_LIVE_EVENTS_MAX: Final = 50_000
# Then nobody knows what the server has done.
_UNANSWERED: Final = (Code.SERVER_UNREACHABLE, Code.DEADLINE_PASSED)


class Outcome(Struct, frozen=True):
    """What became of some events, or would: how the game stands before them, and each with what follows from it."""

    before: Fold
    steps: tuple[Step, ...]
    is_known: bool  # they were there


class Report(Struct, frozen=True, rename="camel"):
    """The same for programs: `added` events are new, `known` were there; of a dry run none is added."""

    game_id: str
    added: int
    known: int
    sequences: tuple[int, ...]
    event_ids: tuple[str, ...]
    before: Standing
    after: Standing


def logged_game(text: str) -> LoggedGame:
    """The game of a log that a name stands for. Raises WrongUse, Unavailable."""
    game = one_game(text)
    if isinstance(game, FileGame):
        if not game.path.exists():
            raise Unavailable(Code.SOURCE_NOT_FOUND, path=shown(game.path))
        raise WrongUse(
            f"{game.name}: a game is recorded in a database or by a server, and heptalog import brings it in"
        )
    return game


def game_now(game: LoggedGame, connections: Connections) -> LiveGame:
    """The game as its log has it now, its chain and its rules checked. Raises NotFound, Corrupt, Unavailable."""
    if isinstance(game, ServerGame):
        try:
            with closing(connections.client(game.target).read(game.game_id)) as records:
                now = live_game(game.game_id, list(records))
        except HeptalogError as error:
            raise reachable(error, game.target) from error
    else:
        connections.complain(game.path)
        with reading(game.path), closing(connections.records(game.path, game.game_id)) as records:
            now = live_game(game.game_id, list(records))
    if now is None:
        raise NotFound(Code.GAME_NOT_FOUND, game=game.name)
    return now


def checked(append: Append, now: LiveGame) -> Outcome:
    """What would become of these events. Raises what a log would raise, and changes nothing."""
    head = now.fold.sequence
    live = LiveGames(_LIVE_EVENTS_MAX)
    live.keep(LiveGame(now.game_id, now.fold.until(head), list(now.records), dict(now.event_ids)))
    try:
        prepared = Handler(MemoryStore(), live, Surroundings()).prepare(append)
    except HeptalogError as error:
        raise in_given(error, append) from error
    return _outcome(append, now, prepared.sequences, is_known=max(prepared.sequences) <= head)


def recorded(append: Append, now: LiveGame, game: LoggedGame, connections: Connections) -> Outcome:
    """Have it recorded, where the rules refuse it as a refusal. Raises what the log raises."""
    try:
        receipt = _receipt(append, game, connections)
    except HeptalogError as error:
        raise in_given(error, append) from error
    is_known, head = receipt.is_deduplicated, now.fold.sequence
    if receipt.sequences[0] > head + 1 or (is_known and max(receipt.sequences) > head):
        # Others have recorded since it was read: something before what was asked, or that itself.
        now = game_now(game, connections)
    return _outcome(append, now, receipt.sequences, is_known=is_known)


def in_given(error: HeptalogError, append: Append) -> HeptalogError:
    """The error as who gave the events needs it: with the line of the one that it is about, where it is about one."""
    index = error.facts.get("index")
    error = in_game(error, append.events)
    if isinstance(index, int):
        error.facts["line"] = index + 1
    return error


def report_of(outcome: Outcome, *, is_added: bool) -> Report:
    """An outcome for programs; `is_added` says that new events have been recorded."""
    events = [step.event for step in outcome.steps]
    return Report(
        game_id=events[0].game_id,
        added=len(events) if is_added and not outcome.is_known else 0,
        known=len(events) if outcome.is_known else 0,
        sequences=tuple(event.sequence for event in events),
        event_ids=tuple(event.event_id for event in events),
        before=outcome.before.standing(),
        after=outcome.steps[-1].fold.standing(),
    )


def steps_again(now: LiveGame, sequences: Iterable[int]) -> Iterator[Step]:
    """Events that the log has, each with what followed from it."""
    for sequence in sequences:
        event, _ = decode(now.records[sequence])
        yield Step(event, now.fold.outcomes_at(sequence, event.body), now.fold.until(sequence))


def _outcome(append: Append, now: LiveGame, sequences: Sequence[int], *, is_known: bool) -> Outcome:
    before = now.fold.until(min(sequences) - 1)
    if is_known:
        steps = tuple(steps_again(now, sorted(sequences)))
    else:
        steps = tuple(_steps_ahead(before.until(before.sequence), append.events))
    return Outcome(before, steps, is_known)


def _steps_ahead(fold: Fold, events: Iterable[Event]) -> Iterator[Step]:
    for event in events:
        outcomes = fold.advance(event.body)
        yield Step(event, outcomes, fold.until(fold.sequence))


def _receipt(append: Append, game: LoggedGame, connections: Connections) -> Receipt:
    if isinstance(game, ServerGame):
        try:
            return connections.client(game.target).append(append)
        except HeptalogError as error:
            raise _unanswered(reachable(error, game.target), append) from error
    # One process has a database open in one way only.
    connections.close()
    with opening(game.path):
        store = DuckStore(game.path)
    with closing(store), service_over(store) as writer:
        return writer.submit(append).result()


@contextmanager
def service_over(store: DuckStore) -> Iterator[Writer]:
    """What decides over a store of ours as a server would, until what was asked of it is done."""
    live = LiveGames(_LIVE_EVENTS_MAX)
    writer = Writer(store, live, Handler(store, live, Surroundings()), Settings(str(store.path)))
    writer.start()
    try:
        yield writer
    finally:
        writer.drain()


def _unanswered(error: HeptalogError, append: Append) -> HeptalogError:
    if error.code in _UNANSWERED:
        again = f"the same command with --after {append.expected} records it once"
        error.facts["problem"] = f"whether it was recorded is not known; {again}"
    return error
