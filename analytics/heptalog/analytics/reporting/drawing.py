"""A chart as SVG: drawn twice, for a phone and for a desk, in colours that the page says."""

import re
from collections.abc import Callable, Mapping
from html import escape
from types import MappingProxyType
from typing import Final, TypeAlias

from heptalog.analytics.reporting.specs import GRID, INK, MUTED, SERIES, Spec, sized

# The chart for a phone, or for a desk.
Draw: TypeAlias = Callable[[bool], Spec]

WIDTH_NARROW: Final = 344  # pixels: a phone of 390 without the margins of the page
WIDTH_WIDE: Final = 704
_COLOURS: Final[Mapping[str, str]] = MappingProxyType(
    {INK: "var(--ink)", MUTED: "var(--muted)", GRID: "var(--grid)"}
    | {colour: f"var(--series-{index})" for index, colour in enumerate(SERIES)}
)
_HEAD: Final = re.compile(r"<svg[^>]*viewBox=\"([^\"]+)\"[^>]*>")
# Text in an image has no angle brackets of its own: whatever is between two of them is a tag.
_TAG: Final = re.compile(r"<[^<>]*>")
_COLOUR: Final = re.compile(r"\"(#00000[1-7])\"")
# What a library says of its marks to readers of screens; we say what is seen instead.
_TOLD: Final = re.compile(r" (?:role|aria-[a-z]+|class|pointer-events|stroke-miterlimit)=\"[^\"]*\"")
_LONG: Final = re.compile(r"(\d\.\d\d)\d+")
# Backgrounds and foregrounds in which there is nothing to see.
_NOTHING: Final = re.compile(
    r"<path(?: (?!d=|fill=|stroke=)[a-z-]+=\"[^\"]*\")* d=\"[^\"]*\"(?: (?!fill=|stroke=)[a-z-]+=\"[^\"]*\")*/>"
)


def drawn(name: str, draw: Draw, *, title: str, text: str) -> str:
    """Both forms of a chart, of which the page shows one. `text` says what is seen to who does not see it."""
    return _drawn(name, draw(True), "narrow", title, text) + _drawn(name, draw(False), "wide", title, text)


def _drawn(name: str, spec: Spec, form: str, title: str, text: str) -> str:
    import vl_convert

    svg = vl_convert.vegalite_to_svg(sized(spec, WIDTH_NARROW if form == "narrow" else WIDTH_WIDE))
    head = _HEAD.match(svg)
    assert head is not None, "an image begins with its head"
    identity = f"{name}-{form}"
    own = (
        f'<svg class="{form}" viewBox="{head[1]}" role="img" aria-labelledby="{identity}-title {identity}-text">'
        f'<title id="{identity}-title">{escape(title)}</title><desc id="{identity}-text">{escape(text)}</desc>'
    )
    return own + _NOTHING.sub("", _TAG.sub(_cleaned, svg[head.end() :]))


def _cleaned(tag: re.Match[str]) -> str:
    """A tag with the page's colours, no more decimals than can be seen, and nothing that is said elsewhere."""
    return _COLOUR.sub(lambda found: f'"{_COLOURS[found[1]]}"', _LONG.sub(r"\1", _TOLD.sub("", tag[0])))
