"""Which games have tables of their own, and who makes their rows. A further game needs its module and a line here."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Final, Protocol

from heptalog.analytics.projecting.lineage import Standing
from heptalog.analytics.projecting.rounds import Opening
from heptalog.analytics.projecting.rows import Labels, Row
from heptalog.analytics.projecting.seven_bridge import SevenBridgeRows
from heptalog.analytics.projecting.seven_rocks import SevenRocksRows
from heptalog.analytics.projecting.seven_up import SevenUpRows
from heptalog.replay.events import Body
from heptalog.replay.fold import Outcomes


class GameRows(Protocol):
    """The rows of one game in the tables that only its kind has."""

    tables: ClassVar[tuple[str, ...]]

    def __init__(self, labels: Labels) -> None: ...

    def opening(self, state: Any) -> Opening:
        """Who deals and who plays first in a round; `state` is the one after its deal."""
        ...

    def follow(self, sequence: int, body: Any, before: Any, after: Any, outcomes: Outcomes) -> None:
        """Take what an event did; one that is no ruling of every game's."""
        ...

    def rows(self, standing: Standing) -> dict[str, list[Row]]:
        """Its rows by table, of the events that stand."""
        ...


class NoRows:
    """A game that has no tables of its own."""

    tables: ClassVar[tuple[str, ...]] = ()

    def __init__(self, labels: Labels) -> None:
        del labels

    def opening(self, state: Any) -> Opening:
        """Nothing is known of who deals."""
        del state
        return Opening()

    def follow(self, sequence: int, body: Body, before: Any, after: Any, outcomes: Outcomes) -> None:
        """Nothing is kept."""

    def rows(self, standing: Standing) -> dict[str, list[Row]]:
        """No rows."""
        del standing
        return {}


# By the key of the rules.
GAME_ROWS: Final[Mapping[str, type[GameRows]]] = MappingProxyType(
    {"seven_rocks": SevenRocksRows, "seven_up": SevenUpRows, "seven_bridge": SevenBridgeRows}
)
