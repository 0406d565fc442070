"""Recorded games for tests of what keeps and shows them: played at random by the real rules, sealed and chained."""

from collections.abc import Iterable, Sequence
from itertools import islice
from random import Random
from uuid import UUID

from heptalog.replay.codec import chained
from heptalog.replay.events import Body, Event, GameClosed, GameStarted, MovesRetracted, NoteAdded, Options, Player, Tag
from heptalog.replay.evidence.chain import GENESIS
from heptalog.replay.evidence.seals import sealed
from heptalog.replay.fold import Closed, Fold
from heptalog.replay.rules import AnyRules
from heptalog.replay.times import SECOND
from heptalog.service.store import NO_GAME, Batch, Ending, Entry, Status
from tests.support.play import seat_counts

NAMES = ("Ana", "Bo", "Chie", "Dag", "Eun", "Fay", "Gil")
STARTED_AT = 1_790_000_000 * SECOND
# Of the moves that are legal only so many are looked at: discards can be tens of thousands.
CHOICE_MAX = 40


def recorded_game(
    rules: AnyRules,
    seed: int,
    *,
    game_id: str = "",
    player_count: int = 0,
    options: Options | None = None,
    tournament: str = "",
    table: str = "",
    event_count_max: int = 2_000,
    ruling_rate: float = 0.0,
) -> list[Entry]:
    """One game from its start to its end, or to `event_count_max` events; the same for the same arguments.

    Without a `player_count` four play, or as few as may. `ruling_rate` is how often the arbiter steps in: with a
    remark, a takeback or a closing, after the end too.
    """
    random = Random(f"{rules.key} {seed}")
    counts = seat_counts(rules)
    player_count = player_count or (4 if 4 in counts else counts[0])
    started = GameStarted(
        tuple(Player(f"{name.lower()}-{seed % 5}", name) for name in NAMES[:player_count]),
        rules.options() if options is None else options,
        tournament=tournament,
        table=table,
        tags=(Tag("seed", str(seed)),),
    )
    bodies = _play(rules, started, random, event_count_max=event_count_max, ruling_rate=ruling_rate)
    return entries_of(bodies, game_id or f"{rules.key}-{seed}", random)


def entries_of(bodies: Iterable[Body], game_id: str, random: Random) -> list[Entry]:
    """These bodies as the service would record them, one a second."""
    entries: list[Entry] = []
    previous = GENESIS
    for sequence, body in enumerate(bodies):
        recorded_at = STARTED_AT + sequence * SECOND + random.randrange(SECOND)
        event, record = chained(
            Event(
                sequence,
                sealed(body, lambda: random.randbytes(16)),
                game_id=game_id,
                event_id=str(UUID(bytes=random.randbytes(16), version=4)),
                occurred_at=recorded_at - random.randrange(SECOND),
                recorded_at=recorded_at,
                recorded_by="table-1",
            ),
            previous,
        )
        entries.append(Entry(record, event))
        previous = event.hash
    return entries


def batch_of(entries: Sequence[Entry], endings: Iterable[Ending] = ()) -> Batch:
    """Consecutive events of one game as one batch, with those of the endings that belong to them."""
    first, last = entries[0].event, entries[-1].event
    return Batch(
        first.game_id,
        first.sequence - 1 if first.sequence else NO_GAME,
        tuple(entries),
        tuple(ending for ending in endings if first.sequence <= ending.sequence <= last.sequence),
    )


def batches_of(entries: Sequence[Entry], size: int = 0) -> list[Batch]:
    """A game as batches of so many events, or as one; endings included."""
    endings = endings_of(entries)
    step = size or len(entries)
    return [batch_of(entries[start : start + step], endings) for start in range(0, len(entries), step)]


def fold_of(entries: Iterable[Entry]) -> Fold:
    """The fold of a recorded game."""
    first, *others = [entry.event.body for entry in entries]
    fold = Fold(first)
    for body in others:
        fold.advance(body)
    return fold


def endings_of(entries: Iterable[Entry]) -> list[Ending]:
    """Every change of a game's status, from the fold."""
    endings: list[Ending] = []
    last = ending_at(0, Status.RUNNING)
    for sequence, state in enumerate(fold_of(entries).states):
        if state.over:
            status = Status.CLOSED if isinstance(state, Closed) else Status.WON
            ending = Ending(sequence, status, state.scores, state.winners)
        else:
            ending = ending_at(sequence, Status.RUNNING, state.scores)
        has_changed = ending.status is not last.status or (state.over and _result(ending) != _result(last))
        if has_changed:
            endings.append(ending)
            last = ending
    return endings


def ending_at(sequence: int, status: Status, scores: tuple[int, ...] = ()) -> Ending:
    """A change of status without winners."""
    return Ending(sequence, status, scores, ())


def _result(ending: Ending) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return ending.scores, ending.winners


def _play(
    rules: AnyRules, started: GameStarted, random: Random, *, event_count_max: int, ruling_rate: float
) -> Iterable[Body]:
    fold = Fold(started)
    yield started
    for _ in range(event_count_max - 1):
        # An end that is taken back is rare and matters: where there are rulings, every other end is looked at again.
        rate = max(ruling_rate, 0.5) if ruling_rate and fold.state.over else ruling_rate
        if random.random() < rate:
            body = _ruling(fold, random)
        elif fold.state.over:
            return
        else:
            body = _move(rules, fold, random)
        fold.advance(body)
        yield body


def _move(rules: AnyRules, fold: Fold, random: Random) -> Body:
    if not fold.state.to_act:
        return rules.deal(fold.state, random.randrange)
    return random.choice(list(islice(rules.legal(fold.state), CHOICE_MAX)))


def _ruling(fold: Fold, random: Random) -> Body:
    kind = random.randrange(3)
    if kind == 0:
        return NoteAdded("The arbiter has been called.")
    if kind == 1 or fold.state.over:
        return MovesRetracted(random.randrange(max(0, fold.sequence - 9), fold.sequence + 1), "A misunderstanding.")
    side_count = len(fold.state.scores)
    side = random.randrange(side_count)
    return GameClosed("Abandoned.", tuple(range(side, len(fold.started.players), side_count)))
