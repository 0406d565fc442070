"""The rows that only one game has, read off its states: the oracle of the projections (see `rows_common`)."""

from collections.abc import Callable, Iterator
from typing import Any

from heptalog.replay.cards import JOKERS, SUITS, names_in
from heptalog.replay.events import CardPlayed, CardsDealt, TurnPassed
from heptalog.replay.outcomes import RoundEnded
from heptalog.replay.seven_bridge import tables as bridge
from heptalog.replay.seven_bridge.scoring import penalty_of
from heptalog.replay.seven_rocks import tables as rocks
from heptalog.replay.seven_rocks.events import TilePlayed
from heptalog.replay.seven_rocks.scoring import counted_ends
from heptalog.replay.seven_rocks.state import Phase as RocksPhase
from heptalog.replay.seven_rocks.state import arms_for, hand_of
from heptalog.replay.seven_up import outcomes as up_outcomes
from heptalog.replay.seven_up import tables as up
from heptalog.replay.seven_up.events import CardsRun, Decision, TrumpDecided
from heptalog.replay.seven_up.scoring import winning_card
from tests.analytics.rows_common import COMMON, Row, Step, Told, labelled


def placements(game: Told) -> Iterator[Row]:
    """Tiles laid, from the ends before and after."""
    for step in _plays(game, TilePlayed):
        body, before, after = step.body, step.before, step.after
        high, low = sorted(map(int, body.tile.split("-")), reverse=True)
        tile = rocks.TILES[body.tile]
        arms = [rocks.ARMS[arm] for arm in arms_for(before, tile)]
        ends = counted_ends(after.ends)
        points = sum(ends) if sum(ends) % 5 == 0 else 0
        yield {
            "sequence": step.event.sequence,
            "round": before.round,
            "seat": body.seat,
            "tile": f"{high}-{low}",
            "arm": None if before.phase is RocksPhase.OPEN else str(body.arm or arms[0]),
            "ends": ends,
            "ends_sum": sum(ends),
            "points": points,
            "score": before.scores[body.seat % 2] + points,
            "is_spinner": (before.spinner, high) == (-1, low),
        }


def settlements(game: Told) -> Iterator[Row]:
    """Hands left, at every end of a round that is not the end of the match in the middle of it."""
    for step in game.standing:
        if not any(isinstance(outcome, RoundEnded) for outcome in step.outcomes):
            continue
        scores = list(step.after.scores)
        hands = [hand_of(step.after, seat) for seat in range(4)]
        pips = [sum(int(half) for tile in hand for half in tile.split("-")) for hand in hands]
        costs = [(count + 2) // 5 * 5 for count in pips]
        for seat in range(4):
            later = sum(costs[other] for other in range(seat + 1, 4) if other % 2 == seat % 2)
            yield {
                "sequence": step.event.sequence,
                "round": step.before.round,
                "seat": seat,
                "tiles": hands[seat],
                "pips": pips[seat],
                "deduction": costs[seat],
                "score": scores[seat % 2] + later,
            }


def deals(game: Told) -> Iterator[Row]:
    """How trump was fixed in each deal, from the bodies of the deal and its states."""
    for number in range(1, game.state.round + 1):
        steps = [step for step in game.standing if step.after.round == number]
        inner = [step.after for step in steps if not hasattr(step.after, "closing")]
        bodies = [step.body for step in steps]
        followed = [outcome for step in steps for outcome in step.outcomes]
        trump = next((state.trump for state in inner if state.trump), 0)
        turned = tuple(body.turned for body in bodies if isinstance(body, CardsDealt | CardsRun))
        words = [str(body.decision) for body in bodies if isinstance(body, TrumpDecided)]
        counted = [one.pips for one in followed if isinstance(one, up_outcomes.GameCounted)]
        yield {
            "sequence": steps[0].event.sequence,
            "round": number,
            "dealer": inner[0].dealer,
            "elder": (inner[0].dealer + 1) % inner[0].seat_count,
            "turned": turned,
            "decision": words[-1] if words else None,
            "runs": sum(isinstance(body, CardsRun) for body in bodies),
            "trump": turned[-1][1] if trump else None,
            "trump_card": turned[-1] if trump else None,
            "void_reason": _void_reason(steps),
            "pips": counted[0] if counted else None,
        }


def _void_reason(steps: list[Step]) -> str | None:
    """A deal is void where it ends without a trump: each run rejects a suit, until none is left or too few cards."""
    ends = [step for step in steps if any(isinstance(outcome, RoundEnded) for outcome in step.outcomes)]
    if not ends or ends[0].after.over or ends[0].before.trump:
        return None
    runs = [step.body for step in steps if isinstance(step.body, TrumpDecided) and step.body.decision is Decision.RUN]
    return "SUITS_REJECTED" if len(runs) == len(SUITS) else "STOCK_SHORT"


def tricks(game: Told) -> Iterator[Row]:
    """Tricks, from the cards that lay before the last one came."""
    for step in _plays(game, CardPlayed):
        before = step.before
        cards = (*before.trick, up.BITS[step.body.card])
        if len(cards) < before.seat_count:
            continue
        best = winning_card(cards, before.trump)
        yield {
            "sequence": step.event.sequence,
            "round": before.round,
            "trick": before.trick_number,
            "leader": before.leader,
            "seat": (before.leader + cards.index(best)) % before.seat_count,
            "cards": tuple(up.NAME_OF[card] for card in cards),
            "trump": up.SUIT_LETTER[before.trump],
            "is_trumped": bool(best & before.trump) and not cards[0] & before.trump,
        }


def points(game: Told) -> Iterator[Row]:
    """Points, from the words of the outcomes; each is checked against the score that the states have."""
    kinds = {"JackTurned": "TURNED_JACK", "GiftScored": "GIFT", "HighScored": "HIGH", "LowScored": "LOW"}
    kinds |= {"JackScored": "JACK", "GameCounted": "GAME", "InfractionCharged": "INFRACTION"}
    for step in game.standing:
        scores = list(step.before.scores)
        for outcome in step.outcomes:
            kind = kinds.get(type(outcome).__name__)
            one: Any = outcome
            if kind is None or one.side < 0:
                continue
            added = -1 if kind == "INFRACTION" and len(scores) == 3 else 1
            scores[one.side] += added
            yield {
                "sequence": step.event.sequence,
                "round": step.after.round,
                "kind": kind,
                "seat": getattr(one, "seat", None),
                "side": one.side,
                "card": getattr(one, "card", None),
                "points": added,
                "score": scores[one.side],
            }
        assert tuple(scores) == step.after.scores


def plays(game: Told) -> Iterator[Row]:
    """Cards laid, from the places that were filled."""
    for step in _plays(game, CardPlayed):
        body, before, after = step.body, step.before, step.after
        card = bridge.BITS[body.card]
        filled = after.filled & ~before.filled
        owners = [seat for seat, cards in enumerate(before.shown) if cards & card]
        columns = [column for column in bridge.COLUMNS.values() if filled & column]
        yield {
            "sequence": step.event.sequence,
            "round": before.round,
            "seat": body.seat,
            "card": body.card,
            "stands_for": body.stands_for if body.card in JOKERS else None,
            "opens_column": filled & bridge.SEVENS != 0,
            "completes_column": any(column & after.filled == column for column in columns),
            "covers_joker": not filled,
            "ghost": None if before.hands[body.seat] & card else owners[0],
        }


def passes(game: Told) -> Iterator[Row]:
    """Passes, from the tokens before."""
    for step in _plays(game, TurnPassed):
        has_token = step.before.tokens[step.body.seat] > 0
        yield {
            "sequence": step.event.sequence,
            "round": step.before.round,
            "seat": step.body.seat,
            "kind": "TOKEN" if has_token else "GHOST" if step.before.terms.ghosts else "WAIT",
            "tokens_left": step.after.tokens[step.body.seat],
        }


def ghosts(game: Told) -> Iterator[Row]:
    """Ghosts, from what is shown after a pass and was not before."""
    for step in _plays(game, TurnPassed):
        seat = step.body.seat
        cards = step.after.shown[seat]
        if cards and not step.before.shown[seat]:
            yield {
                "sequence": step.event.sequence,
                "round": step.before.round,
                "seat": seat,
                "cards": names_in(cards, bridge.DECK),
                "penalty": penalty_of(cards, step.before.terms),
            }


def penalties(game: Told) -> Iterator[Row]:
    """What was left, at every end of a round that is booked."""
    for step in game.standing:
        before, after = step.before, step.after
        if not any(isinstance(outcome, RoundEnded) for outcome in step.outcomes) or before.is_deciding:
            continue
        for seat, total in enumerate(after.scores):
            left = after.hands[seat] | after.shown[seat]
            penalty = penalty_of(left, before.terms)
            yield {
                "sequence": step.event.sequence,
                "round": before.round,
                "seat": seat,
                "cards": names_in(left, bridge.DECK),
                "penalty": penalty,
                "was_ghost": after.shown[seat] != 0,
                "columns": after.columns[seat] if before.terms.kings_race else 0,
                "bonus": before.scores[seat] + penalty - total,
                "total": total,
            }


def _plays(game: Told, kind: type[Any]) -> Iterator[Step]:
    """The steps that stand and are of one kind."""
    return (step for step in game.standing if isinstance(step.body, kind))


ORACLES: dict[str, dict[str, Callable[[Told], Iterator[Row]]]] = {
    "seven_rocks": {"placements": placements, "settlements": settlements},
    "seven_up": {"deals": deals, "tricks": tricks, "points": points},
    "seven_bridge": {"plays": plays, "passes": passes, "ghosts": ghosts, "penalties": penalties},
}


def rows_of(game: Told) -> dict[str, list[Row]]:
    """The rows of a game by table."""
    oracles = COMMON | ORACLES.get(game.fold.rules.key, {})
    return {table: labelled(game, table, oracle(game)) for table, oracle in oracles.items()}
