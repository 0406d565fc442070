"""Who plays: a federation of named bots, each as strong and as quick as it is for ever."""

from functools import lru_cache
from math import gcd
from typing import Final

from msgspec import Struct

from heptalog.cli.simulating.chance import Chance
from heptalog.cli.simulating.plans import Bots, Plan
from heptalog.replay.events import Player

# So many of the federation come to one tournament, if there are so many.
FIELD: Final = 24
_GIVEN: Final = (
    *("Ana", "Bo", "Chie", "Dag", "Eun", "Fay", "Gil", "Hana", "Iván", "Jun"),
    *("Kaisa", "Léa", "Mads", "Nia", "Oto", "Pia", "Quim", "Rosa", "Sven", "Tove"),
    *("Ugo", "Vera", "Wen", "Xavi", "Yuki", "Zoë", "Amir", "Berta", "Chen", "Dora"),
    *("Emil", "Flora", "Goran", "Hilde", "Ines", "Jonas", "Klara", "Liam", "Mila", "Noor"),
)
_FAMILY: Final = (
    *("Abe", "Berg", "Costa", "Dahl", "Eriksen", "Fuchs", "García", "Holm", "Ito", "Jansen"),
    *("Kovač", "Lind", "Moreau", "Novák", "Olsen", "Petrov", "Quist", "Rossi", "Sato", "Tanaka"),
    *("Ueda", "Vidal", "Weber", "Xu", "Yilmaz", "Zhang", "Aalto", "Brandt", "Conti", "Duarte"),
    *("Esposito", "Ferrari", "Grgić", "Haas", "Ivanov", "Jönsson", "Keller", "Lopes", "Meyer", "Nagy"),
)


class Person(Struct, frozen=True):
    """One member: `skill` of a hundred moves are well considered, `pace` is a percentage of the usual thinking time."""

    player: Player
    skill: int
    pace: int


@lru_cache(10_000)
def person(plan: Plan, index: int) -> Person:
    """The member with this number."""
    chance = Chance(plan.key("person", index))
    skill = {Bots.RANDOM: 0, Bots.GREEDY: 100}.get(plan.bots, chance.choose(101))
    return Person(Player(f"p{index + 1:04}", _name(index)), skill, 50 + chance.choose(151))


def seated(plan: Plan, event: int, count: int, chance: Chance) -> list[int]:
    """So many different members of those that come to a tournament, in the order of their seats."""
    stride, offset = _field(plan, event)
    size = max(count, min(FIELD, plan.players))
    places: list[int] = []
    while len(places) < count:
        place = chance.choose(size)
        if place not in places:
            places.append(place)
    return [(offset + stride * place) % plan.players for place in places]


def _field(plan: Plan, event: int) -> tuple[int, int]:
    """Every stride without a common divisor leads to different members, in another order for each tournament."""
    chance = Chance(plan.key("field", event))
    stride = 1 + chance.choose(plan.players)
    while gcd(stride, plan.players) > 1:
        stride += 1
    return stride, chance.choose(plan.players)


def _name(index: int) -> str:
    """A name that nobody else has: all pairs first, then with numbers."""
    pairs = len(_GIVEN) * len(_FAMILY)
    generation, pair = divmod(index, pairs)
    # A given name and a family name that go on at different speeds meet each other once.
    given, family = pair % len(_GIVEN), (pair // len(_GIVEN) + pair * 7) % len(_FAMILY)
    return f"{_GIVEN[given]} {_FAMILY[family]}{f' {generation + 1}' if generation else ''}"
