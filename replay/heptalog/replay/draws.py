"""Chance that games share: the neutral draw (C-4), where exactly the tied highest draw again, and the shuffle."""

from collections.abc import Sequence

from heptalog.replay.errors import Code, Refused
from heptalog.replay.events import DealerDrawn, Draw, Lot, OpenerDrawn
from heptalog.replay.rules import Choose


def check_draw(drawn: DealerDrawn | OpenerDrawn, *, seat_count: int, rule: str) -> None:
    """Raise Refused unless the lots lead to the named seat; no lots at all is a bare outcome, and fine."""
    if not 0 <= drawn.seat < seat_count:
        raise Refused(Code.SEAT_UNKNOWN, rule=rule, seat=drawn.seat, seats=seat_count)
    if not drawn.lots:
        return
    candidates = list(range(seat_count))
    for number, lot in enumerate(drawn.lots):
        if len(candidates) == 1:
            raise Refused(Code.DRAW_INVALID, rule="C-4", lot=number, problem="a lot after the decision")
        if sorted([draw.seat for draw in lot.draws]) != candidates:
            raise Refused(
                Code.DRAW_INVALID, rule="C-4", lot=number, problem=f"seats {_listed(candidates)} draw, each once"
            )
        highest = max([draw.value for draw in lot.draws])
        candidates = sorted([draw.seat for draw in lot.draws if draw.value == highest])
    if candidates != [drawn.seat]:
        raise Refused(
            Code.DRAW_INVALID, rule="C-4", lot=len(drawn.lots) - 1, problem=f"seat {drawn.seat} did not win the draw"
        )


def draw_lots(seat_count: int, choose: Choose, *, values: int = 13) -> tuple[int, tuple[Lot, ...]]:
    """Draw until somebody wins, with chance from outside; the seat and the lots that led to it."""
    candidates = list(range(seat_count))
    lots: list[Lot] = []
    while len(candidates) > 1:
        draws = tuple(Draw(seat, 1 + choose(values)) for seat in candidates)
        highest = max(draw.value for draw in draws)
        candidates = [draw.seat for draw in draws if draw.value == highest]
        lots.append(Lot(draws))
    return candidates[0], tuple(lots)


def shuffled(names: Sequence[str], choose: Choose) -> list[str]:
    """Cards or tiles in every order with the same chance, which comes from outside (Fisher and Yates)."""
    order = list(names)
    for last in range(len(order) - 1, 0, -1):
        other = choose(last + 1)
        order[last], order[other] = order[other], order[last]
    return order


def _listed(seats: list[int]) -> str:
    return ", ".join(map(str, seats))
