"""A chart as the page shows it."""

from msgspec import Struct

from heptalog.analytics.reporting.drawing import Draw


class Table(Struct, frozen=True):
    """Numbers as text. The column with the number `names` says what each row is about."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    names: int = 0


class Figure(Struct, frozen=True):
    """One chart: what it is called, what is seen in it, how it is drawn for a phone or a desk, and its numbers."""

    title: str
    caption: str
    draw: Draw
    table: Table
