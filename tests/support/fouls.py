"""Events that must be refused where a game stands, each made so that this is known without asking `check`.

A move is foul because `legal` does not list it; a deal, a draw or a ruling because it was right and is then broken.
"""

from collections.abc import Callable
from random import Random
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from heptalog.replay.codec import BODIES
from heptalog.replay.events import (
    RULINGS,
    Body,
    CardHand,
    CardsDealt,
    DealerDrawn,
    Draw,
    GameClosed,
    GameStarted,
    Lot,
    MovesRetracted,
    OpenerDrawn,
)
from heptalog.replay.fold import Closed, Fold
from heptalog.replay.rules import ARBITER
from heptalog.replay.seven_up.events import CardsRun, InfractionCalled
from tests.support.moves import SEAT_HIGHEST, Legal, look_alikes, move_types

Maker: TypeAlias = Callable[[Fold, Random], Body | None]


class Foul(NamedTuple):
    """An event that must be refused, and what is wrong with it."""

    kind: str
    body: Body


def foul(fold: Fold, random: Random) -> Foul:
    """An event that may not come next, whatever state the game is in."""
    for name in random.sample(sorted(MAKERS), len(MAKERS)):
        body = MAKERS[name](fold, random)
        if body is not None:
            return Foul(name, body)
    raise AssertionError("a second start is refused in every state")


def _wrong_seat(fold: Fold, random: Random) -> Body | None:
    if not fold.state.to_act:
        return None
    move = next(iter(fold.rules.legal(fold.state)))
    seats = [*range(len(fold.started.players) + 2), SEAT_HIGHEST]
    return replace(move, seat=random.choice([seat for seat in seats if seat not in fold.state.to_act]))


def _no_move(fold: Fold, random: Random) -> Body | None:
    if not fold.state.to_act:
        return None
    legal = Legal(fold.rules, fold.state)
    seat_count = len(fold.started.players)
    wrong = [body for body in look_alikes(fold.rules, seat_count) if body not in legal]
    if not wrong:
        return None
    on_turn = [body for body in wrong if getattr(body, "seat", None) in fold.state.to_act]
    return random.choice(on_turn if random.random() < 0.8 else wrong)


def _move_out_of_time(fold: Fold, random: Random) -> Body | None:
    if fold.state.to_act:
        return None
    moves = [*look_alikes(fold.rules, len(fold.started.players)), *(kind() for kind in move_types(fold.rules))]
    return random.choice(moves) if moves else None


def _table_out_of_time(fold: Fold, random: Random) -> Body | None:
    waiting = [state for state in fold.states if not (state.to_act or state.over)]
    body = fold.rules.deal(random.choice(waiting), random.randrange)
    if fold.state.to_act or fold.state.over:
        return body
    return None if type(body) is type(fold.rules.deal(fold.state, random.randrange)) else body


def _deal(fold: Fold, random: Random) -> Body | None:
    return None if fold.state.to_act or fold.state.over else fold.rules.deal(fold.state, random.randrange)


def _wrong_hands(fold: Fold, random: Random) -> Body | None:
    """A hand too many or too few, or not of its size."""
    body: Any = _deal(fold, random)
    if not hasattr(body, "hands"):
        return None
    hands: tuple[Any, ...] = body.hands
    field: str = hands[0].value_field
    full = [seat for seat, hand in enumerate(hands) if getattr(hand, field)]
    seat = random.choice(full)
    less = replace(hands[seat], **{field: getattr(hands[seat], field)[1:]})
    more = replace(hands[seat], **{field: (*getattr(hands[seat], field), getattr(hands[full[0]], field)[0])})
    wrong: Body = random.choice(
        (
            replace(body, hands=()),
            replace(body, hands=hands[1:]),
            replace(body, hands=(*hands, type(hands[0])())),
            replace(body, hands=_with(hands, seat, less)),
            replace(body, hands=_with(hands, seat, more)),
            replace(body, hands=_with(hands, seat, type(hands[0])())),
        )
    )
    return wrong


def _wrong_card(fold: Fold, random: Random) -> Body | None:
    """A card or tile twice, or one that does not exist."""
    body: Any = _deal(fold, random)
    if not hasattr(body, "hands"):
        return None
    hands: tuple[Any, ...] = body.hands
    field: str = hands[0].value_field
    one, other = random.sample([seat for seat, hand in enumerate(hands) if getattr(hand, field)], 2)
    values = getattr(hands[one], field)
    place = random.randrange(len(values))
    wrong = random.choice((*getattr(hands[other], field), values[place - 1], "", "7", "X9", "7-7", "🂱"))
    hand = replace(hands[one], **{field: _with(values, place, wrong)})
    dealt: Body = replace(body, hands=_with(hands, one, hand))
    return dealt


def _wrong_turned(fold: Fold, random: Random) -> Body | None:
    """A turned card that lies in a hand, or is none; in Seven Bridge any at all."""
    body = _deal(fold, random)
    if isinstance(body, CardsDealt):
        if not body.turned:
            return replace(body, turned=random.choice(("7D", "X1", "7")))
        return replace(body, turned=random.choice((*body.hands[0].cards, "", "X1", "7")))
    if isinstance(body, CardsRun):
        return replace(body, turned=random.choice((*body.elder.cards, *body.dealer.cards, "", "X1")))
    return None


def _wrong_run(fold: Fold, random: Random) -> Body | None:
    """Cards run that somebody holds already, or too many or too few."""
    body = _deal(fold, random)
    if not isinstance(body, CardsRun):
        return None
    held: str = random.choice(random.choice(fold.rules.view(fold.state, ARBITER).hands))  # type: ignore[attr-defined]
    cards = body.elder.cards
    wrong = random.choice(((held, *cards[1:]), cards[1:], (*cards, held), (cards[0], *cards[:2]), ()))
    return replace(body, elder=CardHand(wrong))


def _wrong_draw(fold: Fold, random: Random) -> Body | None:
    """A draw that does not lead to its seat, or not by the rule of ties (C-4)."""
    body = _deal(fold, random)
    if not isinstance(body, DealerDrawn | OpenerDrawn):
        return None
    seat_count = len(fold.started.players)
    lots = body.lots
    first, last = lots[0].draws, lots[-1].draws
    loser = next(seat for seat in range(seat_count) if seat != body.seat)
    tie = tuple(replace(draw, value=99) for draw in first)
    return random.choice(
        (
            replace(body, seat=loser),
            replace(body, seat=seat_count, lots=()),
            replace(body, seat=SEAT_HIGHEST),
            replace(body, lots=(*lots, Lot((Draw(body.seat, 1),)))),
            replace(body, lots=(*lots, lots[-1])),
            replace(body, lots=(*lots, Lot())),
            replace(body, lots=(Lot(first[1:]), *lots[1:])),
            replace(body, lots=(Lot((*first, first[0])), *lots[1:])),
            replace(body, lots=(Lot((*first[1:], Draw(seat_count, -5))), *lots[1:])),
            replace(body, lots=(Lot(tie),)),
            replace(body, lots=(Lot(tie), Lot(last[:-1]))),
        )
    )


def _wrong_retraction(fold: Fold, random: Random) -> Body | None:
    """To itself, which is not earlier, or to what never was."""
    return MovesRetracted(random.choice((fold.sequence + 1, fold.sequence + 2, SEAT_HIGHEST, -1)))


def _wrong_closing(fold: Fold, random: Random) -> Body | None:
    seat_count = len(fold.started.players)
    wrong = [(seat_count,), (SEAT_HIGHEST,), (0, 0), (1, 0), (0, seat_count), (-1,), tuple(range(seat_count))[::-1]]
    if len(fold.state.scores) < seat_count:
        wrong += [(0,), (1, 2), (0, 1, 2), (3,)]
    if fold.state.over:
        wrong += [(), tuple(range(seat_count))]
    return GameClosed("", random.choice(wrong))


def _second_start(fold: Fold, random: Random) -> Body:
    del random
    return fold.started


def _foreign(fold: Fold, random: Random) -> Body | None:
    known = {GameStarted, *RULINGS, *fold.rules.bodies}
    foreign = [body for body in BODIES if body not in known]
    return random.choice(foreign)() if foreign else None


def _wrong_infraction(fold: Fold, random: Random) -> Body | None:
    """Of a seat that is not there at any time; of one that is, outside play (SU-D27)."""
    if InfractionCalled not in fold.rules.bodies:
        return None
    seat_count = len(fold.started.players)
    state: Any = fold.state.state if isinstance(fold.state, Closed) else fold.state
    seats = [seat_count, SEAT_HIGHEST]
    if fold.state.over or str(state.phase) != "PLAY":
        seats += range(seat_count)
    return InfractionCalled(random.choice(seats))


def _with(values: tuple[Any, ...], place: int, value: Any) -> tuple[Any, ...]:
    return (*values[:place], value, *values[place + 1 :])


MAKERS: Final[dict[str, Maker]] = {
    "wrong seat": _wrong_seat,
    "no move": _no_move,
    "move out of time": _move_out_of_time,
    "table out of time": _table_out_of_time,
    "wrong hands": _wrong_hands,
    "wrong card": _wrong_card,
    "wrong turned card": _wrong_turned,
    "wrong run": _wrong_run,
    "wrong draw": _wrong_draw,
    "wrong retraction": _wrong_retraction,
    "wrong closing": _wrong_closing,
    "second start": _second_start,
    "foreign body": _foreign,
    "wrong infraction": _wrong_infraction,
}
