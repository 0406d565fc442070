"""Chance that games share, which comes from outside."""

from itertools import permutations, product

from heptalog.replay.draws import shuffled


def test_every_order_has_the_same_chance() -> None:
    orders = []
    for numbers in product(range(4), range(3), range(2)):
        chosen: dict[int, int] = dict(zip((4, 3, 2), numbers, strict=True))
        orders.append(tuple(shuffled("ABCD", chosen.__getitem__)))
    assert sorted(orders) == sorted(permutations("ABCD"))
