"""When and where each game is played: seasons, each with twice the games of the one before, as a federation grows.

A season has evenly spaced weekends. On each weekend of the first season there is one tournament, of the second two
at the same time, of the third four: so a tournament has about as many games however many are simulated, years have
months enough for charts, and game number n has the same date whatever the total is.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec import Struct

from heptalog.cli.simulating.plans import Plan
from heptalog.replay.times import SECOND

# A Friday; the first weekend begins then.
_BEGINNING: Final = datetime(2018, 1, 5, 10, tzinfo=UTC)
_FIRST_SEASON: Final = 480  # games
_DAYS_PER_MONTH: Final = 30
_WEEK: Final = 7  # days
_WEEKEND: Final = 3  # days, from Friday
_DAY_SECONDS: Final = 10 * 3600  # in which games begin, from ten in the morning on
_CITIES: Final = (
    *("Riga", "Porto", "Graz", "Lund", "Kyoto", "Quito", "Cork", "Bergen", "Split", "Leuven"),
    *("Oulu", "Girona", "Parma", "Bath", "Gdańsk", "Basel", "Osaka", "Cusco", "Tartu", "Brno"),
    *("Aarhus", "Lyon", "Sligo", "Malmö", "Pécs", "Zadar", "Vigo", "Bari", "Trento", "Kazan"),
    *("Hobart", "Accra", "Nara", "Salta", "Davos", "Turku", "Ghent", "Ålesund", "Nantes", "Köln"),
)
_KINDS: Final = ("Open", "Cup", "Masters", "Trophy", "Classic", "Grand Prix", "Festival", "Memorial")


class Fixture(Struct, frozen=True):
    """Where one game has its place. `event` tells tournaments apart, named or not; `turn` is its place in there."""

    event: int
    turn: int
    started_at: int  # nanoseconds since 1970 UTC
    tournament: str


def fixture(plan: Plan, number: int) -> Fixture:
    """The place of a game in the years."""
    season = (number // _FIRST_SEASON + 1).bit_length() - 1
    venues = 1 << season
    games = _FIRST_SEASON * venues
    place = number - _FIRST_SEASON * (venues - 1)
    weekend = place * plan.tournaments // games
    first = -(-weekend * games // plan.tournaments)
    after = -(-(weekend + 1) * games // plan.tournaments)
    turn, venue = divmod(place - first, venues)
    begins = _weekend(plan, season, weekend)
    seconds = (place - first) * _WEEKEND * _DAY_SECONDS // (after - first)
    day, second = divmod(seconds, _DAY_SECONDS)
    started = begins + timedelta(days=day, seconds=second)
    event = ((venues - 1) * plan.tournaments) + weekend * venues + venue
    return Fixture(event, turn, int(started.timestamp()) * SECOND, plan.tournament or _name(event))


def _weekend(plan: Plan, season: int, weekend: int) -> datetime:
    days = plan.months * _DAYS_PER_MONTH
    day = season * days + weekend * days // plan.tournaments
    return _BEGINNING + timedelta(days=day // _WEEK * _WEEK)


def _name(event: int) -> str:
    """A name that no other tournament has: all cities, each with every kind, before anything is held again."""
    city = event % len(_CITIES)
    kind = (event // len(_CITIES) + event) % len(_KINDS)
    edition = event // (len(_CITIES) * len(_KINDS)) + 1
    return f"{_CITIES[city]} {_KINDS[kind]} {edition}"
