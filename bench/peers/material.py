"""What every store is given: the events of the same games, a few of them long enough for big batches."""

import base64
import json
from pathlib import Path
from typing import Final

from bench.games import TABLES, Recorded, recorded_at, recorded_games
from heptalog.replay import codec, gamefile
from heptalog.replay.seven_bridge.events import SevenBridge
from heptalog.replay.seven_rocks.events import SevenRocks

_GAMES_EACH: Final = 24
_LONG_EACH: Final = 4
# Games of more than a thousand events.
_LONG: Final = ((SevenRocks(target=1500), 4), (SevenBridge(limit=500), 4))


def recorded() -> list[Recorded]:
    """The games, by kind, the long ones last."""
    games = [recorded_games(name, count=_GAMES_EACH) for name in TABLES]
    return [*games, recorded_at(_LONG, name="long", count=_LONG_EACH)]


def write_facts(folder: Path) -> str:
    """Kind, bytes and JSON of every event, for those who do not know our games; and what is to be said of them."""
    games = []
    for kind in recorded():
        for records in kind.records:
            facts = []
            for record in records:
                event = codec.decode(record)[0]
                data = base64.b64encode(record[codec.CONTENT_START :]).decode()
                facts.append((type(event.body).__name__, data, gamefile.encode_line(event).decode()))
            games.append(facts)
    (folder / "facts.json").write_text(json.dumps(games))
    sizes = [len(base64.b64decode(data)) for game in games for _, data, _ in game]
    return (
        f"{len(games)} games, {len(sizes):,} events, {sum(sizes) / len(sizes):.0f} bytes an event without its chain; "
        f"a game has {len(sizes) / len(games):.0f} on average, the longest {max(map(len, games)):,}."
    )
