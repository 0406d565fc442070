"""Random legal games of any registered game, made from a seed and by the Rules protocol alone.

A game is a function of its rules and its seed, and a shorter one is the beginning of a longer one: a test that fails
fails again from the same two numbers, and is cut down by the length alone.

How a table plays is a `Manner`. The default one plays any game there is by its default options; those of the known
games also vary the options and lean towards what is rare: jokers, ghosts, deciding rounds, runs, void deals, blocks.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from random import Random
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from heptalog.replay.errors import Refused
from heptalog.replay.events import (
    Body,
    CardHand,
    CardPlayed,
    CardsDealt,
    GameClosed,
    GameStarted,
    MovesRetracted,
    NoteAdded,
    Options,
    Player,
    Tag,
    TurnPassed,
)
from heptalog.replay.fold import Fold, Outcomes
from heptalog.replay.registry import GAMES
from heptalog.replay.rules import ARBITER, AnyRules
from heptalog.replay.seven_bridge.events import Scoring, SevenBridge
from heptalog.replay.seven_rocks.events import SevenRocks, TilePlayed
from heptalog.replay.seven_up.events import CardsDiscarded, Decision, InfractionCalled, SevenUp, TrumpDecided

EACH_GAME: Final = pytest.mark.parametrize("rules", GAMES, ids=lambda rules: f"{rules.key}_{rules.version}")
EVENT_COUNT_MAX: Final = 400
SEAT_COUNT_MAX: Final = 8
_MOVES_LOOKED_AT: Final = 256
_RULING_CHANCE: Final = 0.03
_WORDS: Final = ("", "", "late", "a remark", "Ñandú, 七並べ", 'quotes " and \\', "\u2028 \x7f", "🂱")


class Game(NamedTuple):
    """A game as it was played: what happened, what followed from each event, and the fold at its end."""

    bodies: list[Body]
    outcomes: list[Outcomes]
    fold: Fold


def play(
    rules: AnyRules,
    seed: int,
    *,
    events_max: int = EVENT_COUNT_MAX,
    with_rulings: bool = True,
    options: Options | None = None,
    seat_count: int | None = None,
) -> Game:
    """Play one game to its end, or until it has `events_max` events."""
    # A text seeds the same way in every process, whatever the hash seed.
    random = Random(f"{rules.key} {rules.version} {seed}")
    manner = MANNERS.get(rules.key, Manner)(rules, random)
    started = manner.started(options, seat_count)
    game = Game([started], [()], Fold(started))
    while len(game.bodies) < events_max:
        body = _next_body(game.fold, manner, with_rulings=with_rulings)
        if body is None:
            break
        game.outcomes.append(game.fold.advance(body))
        game.bodies.append(body)
    return game


def games(rules: AnyRules, *, events_max: int = EVENT_COUNT_MAX, with_rulings: bool = True) -> st.SearchStrategy[Game]:
    """Games as Hypothesis draws them: most are whole, and a failing one shrinks to its shortest beginning."""
    lengths = st.one_of(st.just(events_max), st.integers(1, events_max))
    return st.builds(
        lambda seed, length: play(rules, seed, events_max=length, with_rulings=with_rulings),
        st.integers(0, 2**32 - 1),
        lengths,
    )


def seat_counts(rules: AnyRules) -> tuple[int, ...]:
    """How many may play: the numbers of players that the game itself accepts."""
    return tuple(count for count in range(1, SEAT_COUNT_MAX + 1) if _is_accepted(rules, count))


def players(count: int) -> tuple[Player, ...]:
    """So many different players."""
    return tuple(Player(f"p{seat}", f"Player {seat}") for seat in range(count))


def _is_accepted(rules: AnyRules, count: int) -> bool:
    try:
        rules.initial(GameStarted(players(count), rules.options()))
    except Refused:
        return False
    return True


def _next_body(fold: Fold, manner: "Manner", *, with_rulings: bool) -> Body | None:
    random = manner.random
    if fold.state.over:
        # What comes after the end, a takeback of it most of all, is part of the record.
        return _ruling(fold, random) if with_rulings and random.random() < 0.4 else None
    if with_rulings and random.random() < _RULING_CHANCE:
        return _ruling(fold, random)
    call = manner.call(fold.state)
    if call is not None:
        return call
    if fold.state.to_act:
        return manner.move(fold.state)
    return manner.deal(fold.state)


def _ruling(fold: Fold, random: Random) -> Body:
    if random.random() < 0.3:
        return NoteAdded(random.choice(_WORDS))
    if not fold.state.over and random.random() < 0.2:
        return GameClosed(random.choice(_WORDS), closing_winners(fold, random))
    head = fold.sequence
    recent = max(0, head - random.randrange(1, 6))
    to_sequence = random.choice((recent, recent, recent, head, 0, random.randrange(head + 1)))
    return MovesRetracted(to_sequence, random.choice(_WORDS))


def closing_winners(fold: Fold, random: Random) -> tuple[int, ...]:
    """Some sides, each with all its seats, as an arbiter may name them."""
    side_count = len(fold.state.scores)
    sides = random.sample(range(side_count), random.randrange(side_count + 1))
    return tuple(seat for seat in range(len(fold.started.players)) if seat % side_count in sides)


class Manner:
    """How one table plays; the default is a fair choice among the moves of any game."""

    def __init__(self, rules: AnyRules, random: Random) -> None:
        self.rules = rules
        self.random = random

    def started(self, options: Options | None, seat_count: int | None) -> GameStarted:
        """Who plays, and by which options."""
        random = self.random
        drawn_options, drawn_count = self.options(), random.choice(seat_counts(self.rules))
        version = UNSET if self.rules.version == 1 and random.random() < 0.7 else self.rules.version
        tags = tuple(Tag(f"tag{number}", random.choice(_WORDS)) for number in range(random.choice((0, 0, 1, 3))))
        return GameStarted(
            players(seat_count or drawn_count),
            options or drawn_options,
            rules_version=version,
            tournament=random.choice(_WORDS),
            table=random.choice(("", "1", "B 7")),
            tags=tags,
        )

    def options(self) -> Options:
        """The options played with."""
        return self.rules.options()

    def deal(self, state: Any) -> Body:
        """What the table does where no seat may act; now and then a draw of which only the outcome is known."""
        body = self.rules.deal(state, self.random.randrange)
        if hasattr(body, "lots") and self.random.random() < 0.2:
            return replace(body, lots=())
        return body

    def move(self, state: Any) -> Body:
        """One move of a seat that may act."""
        return self.random.choice(list(islice(self.rules.legal(state), _MOVES_LOOKED_AT)))

    def call(self, state: Any) -> Body | None:
        """What an arbiter says in this game, now and then."""
        del state
        return None


class SevenRocksManner(Manner):
    """Short and long matches, tiles in either spelling, arms left out where they may be."""

    def options(self) -> Options:
        target = self.random.choice((UNSET, 1, 5, 10, 30, 60, 100, self.random.randrange(1, 100_001)))
        return SevenRocks(target)

    def move(self, state: Any) -> Body:
        moves = list(self.rules.legal(state))
        body = self.random.choice(moves)
        if not isinstance(body, TilePlayed) or body.arm is UNSET:
            return body
        if self.random.random() < 0.3:
            body = replace(body, tile=body.tile[::-1])
        is_only_arm = sum(isinstance(move, TilePlayed) and move.tile in (body.tile, body.tile[::-1]) for move in moves)
        return replace(body, arm=UNSET) if is_only_arm == 1 and self.random.random() < 0.3 else body


class SevenUpManner(Manner):
    """Some tables beg and run whenever they can, so that runs, rejected suits and void deals occur."""

    def __init__(self, rules: AnyRules, random: Random) -> None:
        super().__init__(rules, random)
        self.eagerness = random.choice((0.3, 0.5, 0.9, 1.0))
        self.call_chance = random.choice((0.0, 0.01, 0.01, 0.15))

    def options(self) -> Options:
        return SevenUp(self.random.choice((UNSET, UNSET, UNSET, 1, 2, 3, 15, 1_000)))

    def deal(self, state: Any) -> Body:
        body = super().deal(state)
        if isinstance(body, CardsDealt) and self.random.random() < 0.2:
            # A turned jack scores (SU-R6). Two cards change names all over the deal, so that it stays a deal.
            return _with_names_exchanged(body, body.turned, self.random.choice(("JC", "JD", "JH", "JS")))
        return body

    def move(self, state: Any) -> Body:
        first = next(iter(self.rules.legal(state)))
        if isinstance(first, CardsDiscarded):
            # There can be tens of thousands of these, so one is made and not chosen.
            seat = self.random.choice(state.to_act)
            cards = list(self.rules.view(state, ARBITER).hands[seat])  # type: ignore[attr-defined]  # its own type
            self.random.shuffle(cards)
            return CardsDiscarded(seat, tuple(cards[6:]))
        if isinstance(first, TrumpDecided):
            is_eager = self.random.random() < self.eagerness
            choices = {move.decision for move in self.rules.legal(state) if isinstance(move, TrumpDecided)}
            wanted = (Decision.BEG, Decision.RUN) if is_eager else (Decision.STAND, Decision.GIVE)
            return TrumpDecided(first.seat, next(decision for decision in wanted if decision in choices))
        return super().move(state)

    def call(self, state: Any) -> Body | None:
        if self.random.random() >= self.call_chance:
            return None
        body = InfractionCalled(self.random.randrange(len(state.hands)))
        try:
            self.rules.check(state, body)
        except Refused:
            return None
        return body


class SevenBridgeManner(Manner):
    """Some tables pass as long as they may, and some play for the jokers to be left: ghosts, exhausted rounds, ties."""

    def __init__(self, rules: AnyRules, random: Random) -> None:
        super().__init__(rules, random)
        self.pass_chance = random.choice((0.05, 0.3, 0.9))
        self.keeps_jokers = random.random() < 0.6
        self.is_joker_table = random.random() < 0.25

    def started(self, options: Options | None, seat_count: int | None) -> GameStarted:
        is_small = self.is_joker_table and seat_count is None and self.random.random() < 0.7
        return super().started(options, 3 if is_small else seat_count)

    def options(self) -> Options:
        random = self.random
        seven = random.choice((UNSET, "7D", "7H"))
        if self.is_joker_table:
            # Two with nothing but a joker pay nothing, and so tie for the first place.
            return SevenBridge(pass_tokens=3, opening_seven=seven, jokers=2, joker_penalty=0, rounds=1)
        return SevenBridge(
            pass_tokens=random.choice((UNSET, UNSET, UNSET, 0, 1, 52)),
            opening_seven=seven,
            ghosts=random.choice((UNSET, True, True, False)),
            jokers=random.choice((0, 2, 2)),
            joker_penalty=random.choice((UNSET, 0, 100)),
            kings_race=random.choice((0, 5, 5, 100)),
            scoring=random.choice((UNSET, Scoring.VALUES, Scoring.COUNT)),
            rounds=random.choice((UNSET, 1, 1, 2, 1_000)),
            limit=random.choice((0, 0, 0, 1, 100)),
        )

    def deal(self, state: Any) -> Body:
        body = super().deal(state)
        if isinstance(body, CardsDealt) and self.is_joker_table and "X1" in _cards_in(body):
            # A joker for each of two neighbours, who then may be all that is left (SB-D20h).
            first, second = [hand.cards for hand in body.hands if hand.cards][:2]
            return _with_names_exchanged(_with_names_exchanged(body, first[0], "X1"), second[-1], "X2")
        return body

    def move(self, state: Any) -> Body:
        moves = list(self.rules.legal(state))
        passes = [move for move in moves if isinstance(move, TurnPassed)]
        plain = [move for move in moves if isinstance(move, CardPlayed) and not move.stands_for]
        if self.is_joker_table:
            hand: tuple[str, ...] = self.rules.view(state, ARBITER).hands[state.turn]  # type: ignore[attr-defined]
            holds_joker = "X1" in hand or "X2" in hand
            return self.random.choice((plain or passes or moves) if holds_joker else (passes or moves))
        if passes and self.random.random() < self.pass_chance:
            return passes[0]
        return self.random.choice(plain if plain and self.keeps_jokers else moves)


def _cards_in(body: CardsDealt) -> Iterator[str]:
    return (card for hand in body.hands for card in hand.cards)


def _with_names_exchanged(body: CardsDealt, one: str, other: str) -> CardsDealt:
    names = {one: other, other: one}
    return CardsDealt(
        tuple(CardHand(tuple(names.get(card, card) for card in hand.cards)) for hand in body.hands),
        names.get(body.turned, body.turned),
    )


MANNERS: Final[Mapping[str, type[Manner]]] = MappingProxyType(
    {"seven_rocks": SevenRocksManner, "seven_up": SevenUpManner, "seven_bridge": SevenBridgeManner}
)
