"""A game as a service would have recorded it: with ids, times a moment later, seals and a chain."""

from typing import Final

from msgspec import Struct

from heptalog.cli.simulating.calendar import Fixture, fixture
from heptalog.cli.simulating.chance import MILLISECOND, Chance, bits_of
from heptalog.cli.simulating.options import options_for, seat_count_for
from heptalog.cli.simulating.people import person, seated
from heptalog.cli.simulating.plans import Plan
from heptalog.cli.simulating.playing import Foul, Played, played
from heptalog.replay import codec
from heptalog.replay.events import Event, GameStarted, camel_name
from heptalog.replay.evidence.chain import GENESIS
from heptalog.replay.evidence.seals import sealed
from heptalog.replay.identity import uuid_of
from heptalog.replay.registry import NEWEST
from heptalog.service.store import Ending, Entry, Refusal
from heptalog.service.store.endings import endings_of
from heptalog.service.store.whole import WholeGame, whole_game

_TABLES: Final = 12
_DELAY: Final = (120, 1_400)  # milliseconds from the table to the log
# Hundredths of a game that are over where it is left running.
_LEFT_AT: Final = (10, 90)


class Simulated(Struct, frozen=True):
    """One game of a plan, as far as it has come: all that a log is to hold of it."""

    number: int
    whole: WholeGame
    endings: tuple[Ending, ...]
    refusals: tuple[Refusal, ...]

    @property
    def game_id(self) -> str:
        """The game's name."""
        return self.whole.game_id

    @property
    def records(self) -> tuple[bytes, ...]:
        """Its records."""
        return self.whole.records

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Its records with what they say, read again."""
        return self.entries_from(0)

    def entries_from(self, sequence: int) -> tuple[Entry, ...]:
        """Those of them from a sequence on."""
        return tuple(Entry(record, codec.decode(record)[0]) for record in self.records[sequence:])


def game_id_of(plan: Plan, number: int) -> str:
    """The name of a game, which sorts by time."""
    return _game_id(plan, number, fixture(plan, number))


def simulated(plan: Plan, number: int, *, is_left_running: bool = False) -> Simulated:
    """Play a game of a plan and record it; one that is left running is the beginning of the same game."""
    chance = Chance(plan.key("game", number))
    place = fixture(plan, number)
    rules = NEWEST[chance.one_of(plan.rulesets)]
    count = seat_count_for(rules, chance, players=plan.players)
    people = [person(plan, index) for index in seated(plan, place.event, count, chance)]
    table = str(place.turn % _TABLES + 1)
    started = GameStarted(
        tuple(one.player for one in people), options_for(rules, chance), tournament=place.tournament, table=table
    )
    game = played(started, people, started_at=place.started_at, chance=chance)
    return _recorded(plan, number, place, game, chance, is_left_running=is_left_running)


def _recorded(
    plan: Plan, number: int, place: Fixture, game: Played, chance: Chance, *, is_left_running: bool
) -> Simulated:
    game_id = _game_id(plan, number, place)
    recorder = f"table-{game.fold.started.table}"
    events: list[Event] = []
    records: list[bytes] = []
    previous = GENESIS
    for sequence, (body, time) in enumerate(zip(game.bodies, game.times, strict=True)):
        body = sealed(body, chance.salt)
        delay = (_DELAY[0] + chance.choose(_DELAY[1])) * MILLISECOND
        event = Event(sequence, body, game_id, chance.uuid(time), time, time + delay, recorder)
        content, public = codec.forms_of(event)
        previous, record = codec.record_from(content, previous, public)
        events.append(event)
        records.append(record)
    refusals = [_refusal(foul, game_id, recorder, chance) for foul in game.fouls]
    count = len(records)
    if is_left_running:
        # Chance of its own: the whole game is the same, wherever it is left.
        share = _LEFT_AT[0] + Chance(plan.key("left", number)).choose(_LEFT_AT[1] - _LEFT_AT[0])
        count = max(1, count * share // 100)
    endings = tuple(ending for ending in endings_of(game.fold) if ending.sequence < count)
    return Simulated(
        number,
        whole_game(events[:count], records[:count], endings),
        endings,
        tuple(refusal for refusal in refusals if refusal.sequence <= count),
    )


def _refusal(foul: Foul, game_id: str, recorder: str, chance: Chance) -> Refusal:
    body = sealed(foul.body, chance.salt)
    time = foul.occurred_at
    asked = Event(foul.sequence, body, game_id, chance.uuid(time), time, time + _DELAY[0] * MILLISECOND, recorder)
    return Refusal(
        game_id,
        asked.sequence,
        asked.recorded_at,
        recorder,
        camel_name(type(body)),
        foul.code,
        foul.rule,
        codec.content_of(asked),
    )


def _game_id(plan: Plan, number: int, place: Fixture) -> str:
    return uuid_of(place.started_at, bits_of(plan.key("id", number)))
