"""Laws of looking: what was taken back nobody has seen, whichever way it is looked at, and no way shows more."""

from collections.abc import Iterator, Sequence
from itertools import islice
from random import Random
from typing import Any, Final, NamedTuple

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from heptalog.replay.errors import Refused
from heptalog.replay.events import Body, MovesRetracted
from heptalog.replay.evidence.seals import map_parts, redact_part, sealable_parts, values_of
from heptalog.replay.fold import Fold, fold_all, view_of
from heptalog.replay.outcomes import RoundEnded
from heptalog.replay.redaction import redacted_for
from heptalog.replay.registry import GAMES, REGISTRY
from heptalog.replay.rules import ARBITER, PUBLIC, AnyRules, Viewer
from heptalog.replay.sights import Sights, known_after_each
from heptalog.replay.standing import Standing, standing_of
from heptalog.replay.words import tell_outcome, tell_table
from tests.laws.test_redaction import (
    DEALS,
    cards_in,
    copy_of,
    events_of,
    fold_of_beginning,
    inner,
    standing,
    viewers,
    with_a_ghost,
    with_cards_exchanged,
    with_seals_of,
)
from tests.support.evidence import lines_of
from tests.support.play import EACH_GAME, Game, games, play

MOVES_LOOKED_AT: Final = 40
TWINS_TRIED: Final = 6
NAMES: Final = tuple(f"Player {seat}" for seat in range(8))


class Looks(NamedTuple):
    """All that one viewer is shown after one event."""

    view: Any
    table: list[str]
    outcomes: list[Any]
    phrases: list[str]
    moves: list[Body]


def looks_of(bodies: Sequence[Body], viewer: Viewer) -> Iterator[Looks]:
    """What a viewer is shown after each event of a game of which all is known."""
    fold = fold_all(bodies)
    sights = Sights(fold, fold.sequence, viewer, lambda: bodies)
    for sequence, body in enumerate(bodies):
        sight = sights.at(sequence)
        outcomes = sight.outcomes(fold.outcomes_at(sequence, body))
        yield Looks(
            msgspec.to_builtins(sight.view),
            tell_table(fold, sight.state, NAMES, viewer, sight.withheld),
            [(type(outcome).__name__, msgspec.to_builtins(outcome)) for outcome in outcomes],
            [tell_outcome(fold.rules, outcome, NAMES) for outcome in outcomes],
            list(islice(sight.legal(), MOVES_LOOKED_AT)),
        )


def taken_back(data: st.DataObject, rules: AnyRules) -> list[Body]:
    """A game of which a good part was taken back: where something had been shown, most of the time."""
    game = play(
        rules, data.draw(st.integers(0, 2**32 - 1)), events_max=data.draw(st.integers(2, 160)), with_rulings=False
    )
    shown = [
        place
        for place, outcomes in enumerate(game.outcomes)
        if any(outcome.shows_hand_of or isinstance(outcome, RoundEnded) for outcome in outcomes)
    ]
    places = st.integers(1, len(game.bodies) - 1)
    last = data.draw(st.one_of(st.sampled_from(shown), places) if shown else places)
    bodies = game.bodies[: last + 1]
    deals = [place - 1 for place, body in enumerate(bodies) if isinstance(body, DEALS)]
    for _ in range(data.draw(st.integers(1, 2))):
        anywhere = st.integers(0, len(bodies) - 1)
        to = data.draw(st.one_of(st.just(last - 1), st.sampled_from(deals), anywhere) if deals else anywhere)
        bodies.append(MovesRetracted(to))
    return bodies


@EACH_GAME
@settings(max_examples=60)
@given(data=st.data())
def test_no_look_tells_a_card_that_a_copy_leaves_out(rules: AnyRules, data: st.DataObject) -> None:
    bodies = data.draw(games(rules, events_max=160)).bodies if data.draw(st.booleans()) else taken_back(data, rules)
    fold = fold_all(bodies)
    for viewer in viewers(fold):
        copy = copy_of(bodies, viewer, is_withheld=True)
        for sequence, looks in enumerate(looks_of(bodies, viewer)):
            told = set(cards_in(looks.view)) | set(cards_in([fields for _, fields in looks.outcomes]))
            # What a joker is to stand for is a place of the table.
            told |= set(cards_in([{**msgspec.to_builtins(move), "standsFor": ""} for move in looks.moves]))
            known = cards_known([copy[place].body for place in standing(bodies[: sequence + 1])])
            assert {card for card in told if is_card(card)} <= known, (viewer, sequence)


def cards_known(bodies: Sequence[Body]) -> set[str]:
    """Every card that is named in these bodies; a tile has two ways to be written."""
    known: set[str] = set()
    for body in bodies:
        known |= {card for _, part in sealable_parts(body) for card in values_of(part)}
        known |= {getattr(body, name, "") for name in ("card", "tile", "turned")}
    return known | {name[::-1] for name in known if "-" in name}


def is_card(text: str) -> bool:
    """Whether this names a card or a tile."""
    return text in {"X1", "X2"} or (len(text) == 2 and text[1] in "SHDC") or (len(text) == 3 and text[1] == "-")


@EACH_GAME
@settings(max_examples=60)
@given(data=st.data())
def test_two_games_with_the_same_copy_look_the_same_after_every_event(rules: AnyRules, data: st.DataObject) -> None:
    bodies = taken_back(data, rules)
    random = Random(data.draw(st.integers(0, 2**32)))
    deals = [place for place, body in enumerate(bodies) if isinstance(body, DEALS)]
    for _ in range(TWINS_TRIED if deals else 0):
        twin = with_cards_exchanged(bodies, random.choice(deals), random)
        if (fold := fold_of_beginning(twin, at_least=len(bodies) - 1)) is not None:
            for viewer in viewers(fold):
                compare(bodies, twin, viewer)


def compare(bodies: Sequence[Body], twin: Sequence[Body], viewer: Viewer) -> int:
    """Where a viewer's copies are the same, so is all that it is shown; gives how many looks were compared.

    Scores, and how many cards each seat has, are everybody's, also where they were taken back: where they differ, two
    games look different.
    """
    events = events_of(bodies)
    others = [
        msgspec.structs.replace(event, body=with_seals_of(event.body, body))
        for event, body in zip(events, twin, strict=True)
    ]
    folds = [fold_all(bodies), fold_all(twin)]
    copies = [
        lines_of(redacted_for(record, fold, viewer, is_withheld=True))
        for record, fold in zip((events, others), folds, strict=True)
    ]
    if copies[0] != copies[1]:
        return 0
    compared = 0
    for sequence, (one, other) in enumerate(zip(looks_of(bodies, viewer), looks_of(twin, viewer), strict=True)):
        if numbers_at(folds[0], sequence) == numbers_at(folds[1], sequence):
            assert one == other, (viewer, sequence)
            compared += 1
    return compared


def numbers_at(fold: Fold, sequence: int) -> tuple[Standing, list[int]]:
    """How a game stood after an event, and how many cards each seat had."""
    view: Any = view_of(fold.rules, fold.states[sequence], ARBITER)
    return standing_of(sequence, fold.states[sequence]), [len(hand) for hand in view.hands]


@EACH_GAME
@settings(max_examples=40)
@given(data=st.data())
def test_what_stands_looks_as_the_rules_show_it(rules: AnyRules, data: st.DataObject) -> None:
    bodies = data.draw(games(rules, events_max=200)).bodies
    fold = fold_all(bodies)
    head = fold.sequence
    line = set(standing(bodies))
    for viewer in (*viewers(fold), ARBITER):
        known = known_after_each(fold, bodies, viewer)
        sights = Sights(fold, head, viewer, lambda: bodies)
        for sequence in range(head + 1):
            stands = set(standing(bodies[: sequence + 1])) <= line
            assert stands or fold.is_taken_back(sequence, head)
            if stands or viewer == ARBITER:
                shown = view_of(rules, fold.states[sequence], viewer)
                assert sights.at(sequence).view == shown
                withheld = known[sequence].unseen_by(known[head])
                # That nobody looks it up for what stands is no shortcut: nothing would be withheld that was shown.
                assert view_of(rules, fold.states[sequence], viewer, withheld) == shown


@EACH_GAME
def test_a_takeback_is_forgotten_with_what_did_not_happen(rules: AnyRules) -> None:
    bodies = [*play(rules, 2, events_max=12, with_rulings=False).bodies, MovesRetracted(3), MovesRetracted(11)]
    fold = fold_all(bodies)
    assert [fold.is_taken_back(n, 12) for n in (3, 4, 11, 12)] == [False, True, True, False]
    assert [fold.is_taken_back(n, 13) for n in (3, 4, 11, 12, 13)] == [False, False, False, True, False]
    assert not any(fold.until(12).is_taken_back(n, 11) for n in range(12))
    assert fold.until(12).takebacks == [(12, 3)]
    fold.truncate(12)
    assert fold.takebacks == [(12, 3)]
    fold.truncate(11)
    assert fold.takebacks == []


def round_that_ended(rules: AnyRules) -> tuple[list[Body], int, int]:
    """A game up to the end of its first round that left somebody with something, that end, and its deal."""
    for seed in range(50):
        game = play(rules, seed, with_rulings=False, seat_count=4)
        for place, outcomes in enumerate(game.outcomes):
            ended = any(isinstance(outcome, RoundEnded) for outcome in outcomes)
            if ended and not game.fold.states[place].over and any(shown_hands(rules, game, place)):
                deal = max(at for at in range(place) if isinstance(game.bodies[at], DEALS))
                return game.bodies[: place + 1], place, deal
    raise AssertionError("some round leaves something")


def shown_hands(rules: AnyRules, game: Game, place: int) -> list[Any]:
    view: Any = rules.view(inner(game.fold.states[place]), ARBITER)
    return list(view.hands)


def test_hands_that_were_shown_at_an_end_that_was_taken_back_are_hidden_again() -> None:
    for key in ("seven_rocks", "seven_bridge"):
        rules = REGISTRY[key, 1]
        bodies, end, _ = round_that_ended(rules)
        arbiter: Any = rules.view(fold_all(bodies).state, ARBITER)
        hands = [set(hand) for hand in arbiter.hands]
        before = list(looks_of(bodies, PUBLIC))[end]
        assert set().union(*hands) <= set(cards_in(before.view))
        bodies.append(MovesRetracted(end - 1))
        for viewer in viewers(fold_all(bodies)):
            after = list(looks_of(bodies, viewer))[end]
            for seat, hand in enumerate(hands):
                is_own = viewer == Viewer(seat)
                assert hand <= set(cards_in(after.view)) if is_own else hand.isdisjoint(cards_in(after.view))
                told = " ".join([*after.table, *after.phrases]).split()
                assert is_own or hand.isdisjoint(told), (viewer, seat)
        # A takeback of the takeback has shown them after all.
        bodies.append(MovesRetracted(end))
        assert list(looks_of(bodies, PUBLIC))[end] == before


def test_a_ghost_that_was_taken_back_has_shown_nothing() -> None:
    bodies, shown = with_a_ghost()
    place = len(bodies) - 1
    bodies.append(MovesRetracted(place - 1))
    ghost = next(seat for seat, cards in enumerate(shown) if cards)
    first = next(looks for looks in looks_of(bodies[:-1], PUBLIC) if looks.view["table"]["seats"][ghost]["isGhost"])
    exposed = first.view["table"]["seats"][ghost]["shown"]
    assert first.view["table"]["exposed"] == exposed
    looks = list(looks_of(bodies, PUBLIC))[place]
    told = looks.view["table"]
    assert (told["seats"][ghost]["isGhost"], told["seats"][ghost]["shown"], told["exposed"]) == (True, (), ())
    assert not any(name == "GhostMade" for name, _ in looks.outcomes)
    assert any(line.endswith("; ghost") for line in looks.table)
    assert not any(line.endswith("; ghost") for line in first.table)
    own = list(looks_of(bodies, Viewer(ghost)))[place]
    assert own.view["table"]["exposed"] == exposed


@EACH_GAME
def test_of_a_deal_that_was_taken_back_not_even_its_owner_has_a_card_or_a_move(rules: AnyRules) -> None:
    game = play(rules, 5, events_max=30, with_rulings=False)
    deal = next(place for place, body in enumerate(game.bodies) if isinstance(body, DEALS))
    acting = next(place for place in range(deal, 30) if game.fold.states[place].to_act)
    bodies = [*game.bodies[: acting + 1], MovesRetracted(deal - 1)]
    (seat,) = game.fold.states[acting].to_act
    before, after = (list(looks_of(some, Viewer(seat)))[acting] for some in (bodies[:-1], bodies))
    assert before.view["hand"]
    assert before.moves
    assert (after.view["hand"], after.moves) == (None, [])
    assert after.view["table"] == before.view["table"]
    assert list(looks_of(bodies, ARBITER))[acting].moves


@EACH_GAME
def test_only_the_arbiter_sees_everybodys_moves(rules: AnyRules) -> None:
    game = play(rules, 2, events_max=60, with_rulings=False)
    for sequence, state in enumerate(game.fold.states):
        every = list(islice(rules.legal(state), MOVES_LOOKED_AT))
        moves = {
            viewer: list(islice(Sights(game.fold, 59, viewer, list).at(sequence).legal(), MOVES_LOOKED_AT))
            for viewer in (*viewers(game.fold), ARBITER)
        }
        assert moves[ARBITER] == every
        assert moves[PUBLIC] == []
        if len(every) < MOVES_LOOKED_AT:
            for seat in range(len(game.fold.started.players)):
                assert moves[Viewer(seat)] == [move for move in every if getattr(move, "seat", None) == seat]


def test_every_outcome_that_names_what_was_hidden_says_so() -> None:
    named: dict[str, bool] = {}
    for rules in GAMES:
        for seed in range(12):
            game = play(rules, seed, with_rulings=False)
            public: set[str] = set()
            for body, outcomes in zip(game.bodies, game.outcomes, strict=True):
                public |= cards_known([with_nothing_hidden(body)])
                for outcome in outcomes:
                    cards = {text for text in cards_in(msgspec.to_builtins(outcome)) if is_card(text)}
                    kind = type(outcome)
                    named[kind.__name__] = named.get(kind.__name__, False) or not cards <= public
                    assert kind.shows_hand_of or cards <= public, kind
    assert {name for name, is_shown in named.items() if is_shown} == {"GhostMade", "PenaltyBooked", "HandSettled"}


def with_nothing_hidden(body: Any) -> Body:
    """What everybody has of a body."""
    (event,) = events_of([body])
    return map_parts(event.body, redact_part) if event.body.sealed else body


def test_a_look_needs_the_bodies_only_for_what_was_taken_back() -> None:
    def asked() -> list[Body]:
        raise AssertionError("nobody has to read a game again to look at its head")

    for rules in GAMES:
        game = play(rules, 2, events_max=30, with_rulings=False)
        for viewer in viewers(game.fold):
            for sequence in range(30):
                assert Sights(game.fold, 29, viewer, asked).at(sequence).view == view_of(
                    rules, game.fold.states[sequence], viewer
                )
        try:
            _ = Sights(game.fold, 29, Viewer(99), asked).at(29).view
        except Refused:
            continue
        raise AssertionError("a stranger sees nothing")
