"""How numbers and names are told to people."""

from typing import Final

_NAMES: Final = {
    "TILE_PLAYED": "a tile played",
    "CARD_PLAYED": "a card played",
    "TURN_PASSED": "a pass",
    "TRUMP_DECIDED": "a word on trump",
    "CARDS_DISCARDED": "a discard",
    "EMPTY_HAND": "an empty hand",
    "BLOCKED": "a block",
    "EXHAUSTED": "no card left to lay",
    "TRICKS_PLAYED": "six tricks played",
    "VOID": "a void deal",
    "MATCH_WON": "the match won in it",
    "TURNED_JACK": "Turned jack",
    "S": "spades",
    "H": "hearts",
    "D": "diamonds",
    "C": "clubs",
}
_COUNTS: Final = (
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)


def name_of(key: str) -> str:
    """A value of an enum, or the key of a game, as people say it."""
    return _NAMES.get(key) or key.replace("_", " ").capitalize()


def share(part: float, whole: float) -> str:
    """`12.5 %`, which stays together; of nothing it is a dash."""
    return f"{100 * part / whole:.1f}\N{NO-BREAK SPACE}%" if whole else "-"


def number(value: float | None, places: int = 1) -> str:
    """A number with thousands, to some places; a dash where there is none."""
    if value is None:
        return "-"
    # A minus is wider than a hyphen, and nothing is not less than nothing.
    text = f"{round(value, places) + 0.0:,.{places}f}"
    return text.replace("-", "\N{MINUS SIGN}")


def counted(count: int, noun: str, plural: str = "") -> str:
    """`1 game`, `2,000 games`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def spelled(count: int) -> str:
    """`four` for 4; large ones in figures."""
    return _COUNTS[count] if 0 <= count < len(_COUNTS) else f"{count:,}"


def sentence(text: str) -> str:
    """The text with a capital letter."""
    return text[:1].upper() + text[1:]


def seconds(value: float) -> str:
    """`7.5 s`, `2 min 10 s`, `1 h 5 min`."""
    whole = round(value)
    if round(value, 1) < 60:
        return f"{value:.1f} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
