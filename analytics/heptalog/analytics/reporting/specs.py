"""The few forms that charts have, as Vega-Lite. Colours are names here, and become variables of the page."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeVar

T = TypeVar("T")

Spec: TypeAlias = dict[str, Any]
Values: TypeAlias = Sequence[Mapping[str, object]]

# What stands for a colour until the page says which it is; a reader with any eyes can tell the first from the second.
INK: Final = "#000001"
MUTED: Final = "#000002"
GRID: Final = "#000003"
SERIES: Final = ("#000004", "#000005", "#000006", "#000007")
_FONT_SIZE: Final = 13  # pixels of the page, for the phone and the desk
_ROW: Final = 26  # pixels of a row
_LEGEND_MAX: Final = 32  # letters
_DASHES: Final = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2])
_SHAPES: Final = ("circle", "square", "triangle-up", "diamond")


def histogram(values: Values, *, x: str, y: str, is_narrow: bool, series: Sequence[str] = ()) -> Spec:
    """Bars from `start` to `end`, all of one width, as high as `count`, one on the other by `series`."""
    starts = [int(str(row["start"])) for row in values]
    step = int(str(values[0]["end"])) - starts[0]
    # A bar that stands for one number has it in the middle.
    half = 0.5 if step == 1 else 0
    edges = sorted({*starts, max(starts) + step} if not half else {*starts})
    encoding: Spec = {
        "x": {
            "field": "start",
            "bin": {"binned": True, "step": step},
            "title": x,
            "axis": {"grid": False, "values": _some(edges, 6 if is_narrow else 12), "format": ",d", "offset": 3},
        },
        "x2": {"field": "end"},
        "y": _heights(),
        "color": {"value": SERIES[0]},
    }
    if series:
        encoding |= {"color": _colour(series, is_narrow=is_narrow), "order": {"field": "order"}}
    if half:
        shifts = [{"calculate": f"datum.{edge} - {half}", "as": edge} for edge in ("start", "end")]
        marks: Spec = {"transform": shifts}
    else:
        marks = {}
    return _chart(values, {**marks, "mark": {"type": "bar", "binSpacing": 1}, "encoding": encoding}, y=y, height=220)


def columns(values: Values, *, y: str, series: Sequence[str], is_narrow: bool, labels: Sequence[str]) -> Spec:
    """One column a `label`, as high as `count`, one on the other by `series`; only some labels are written."""
    shown = _some(labels, 4 if is_narrow else 9)
    encoding = {
        "x": {
            "field": "label",
            "type": "ordinal",
            "sort": None,
            "title": None,
            "axis": {"values": shown, "labelAngle": 0, "ticks": False, "offset": 3},
        },
        "y": _heights(),
        "color": _colour(series, is_narrow=is_narrow),
        "order": {"field": "order"},
    }
    return _chart(values, {"mark": "bar", "encoding": encoding}, y=y, height=200)


def rows(values: Values, *, x: str, is_narrow: bool, series: Sequence[str] = (), has_text: bool = False) -> Spec:
    """One bar a `label`, as long as `value`, in parts by `series`; a whole one may end with its `text`."""
    y = _labels()
    length: Spec = {"field": "value", "type": "quantitative", "title": x, "stack": "zero", "axis": {"tickCount": 4}}
    encoding: Spec = {"y": y, "x": length, "color": {"value": SERIES[0]}}
    if series:
        encoding |= {"color": _colour(series, is_narrow=is_narrow), "order": {"field": "order"}}
    layers: list[Spec] = [{"mark": {"type": "bar", "height": 16}, "encoding": encoding}]
    if has_text:
        longest = max(float(str(row["value"])) for row in values)
        length["scale"] = {"domain": [0, longest * (1.3 if is_narrow else 1.12)], "nice": False}
        mark = {"type": "text", "align": "left", "baseline": "middle", "dx": 5}
        end = {"field": "value", "type": "quantitative"}
        layers.append({"mark": mark, "encoding": {"y": y, "x": end, "text": {"field": "text"}}})
    return _chart(values, {"layer": layers}, height={"step": _ROW})


def ranges(values: Values, *, x: str, is_narrow: bool, zero: float | None = None, has_inner: bool = False) -> Spec:
    """One row a `label`: a point at `value` between `low` and `high`, and a thicker part between two inner ones."""
    y = _labels()
    axis = {"tickCount": _ticks(is_narrow)}
    low = {"field": "low", "type": "quantitative", "title": x, "scale": {"zero": has_inner}, "axis": axis}
    layers: list[Spec] = []
    if zero is not None:
        rule = {"type": "rule", "color": MUTED, "strokeDash": [4, 3]}
        layers.append({"mark": rule, "encoding": {"x": {"datum": zero, "type": "quantitative"}}})
    line = {"type": "rule", "color": SERIES[0], "strokeWidth": 2}
    layers.append({"mark": line, "encoding": {"y": y, "x": low, "x2": {"field": "high"}}})
    if has_inner:
        mark = {"type": "bar", "height": 8, "color": SERIES[0]}
        inner = {"field": "inner_low", "type": "quantitative", "title": x}
        layers.append({"mark": mark, "encoding": {"y": y, "x": inner, "x2": {"field": "inner_high"}}})
    point = {"type": "point", "filled": True, "size": 70, "color": SERIES[has_inner], "opacity": 1}
    layers.append({"mark": point, "encoding": {"y": y, "x": {"field": "value", "type": "quantitative", "title": x}}})
    return _chart(values, {"layer": layers}, height={"step": _ROW})


def lines(values: Values, *, x: str, y: str, series: Sequence[str], is_narrow: bool) -> Spec:
    """One line a series through `value` at each whole `x`."""
    places = sorted({int(str(row["x"])) for row in values})
    shown = _some(places, _ticks(is_narrow))
    domain = list(series)
    encoding: Spec = {
        "x": {
            "field": "x",
            "type": "quantitative",
            "title": x,
            "scale": {"zero": False, "nice": False},
            "axis": {"grid": False, "values": shown, "format": "d", "offset": 6},
        },
        "y": {"field": "value", "type": "quantitative", "title": None, "axis": {"tickCount": 5}},
        "color": _colour(series, is_narrow=is_narrow),
    }
    dash = {"field": "series", "type": "nominal", "scale": {"domain": domain, "range": list(_DASHES[: len(domain)])}}
    shape = {"field": "series", "type": "nominal", "scale": {"domain": domain, "range": list(_SHAPES[: len(domain)])}}
    line = {"type": "line", "strokeWidth": 2.5}
    point = {"type": "point", "filled": True, "size": 50, "opacity": 1}
    layers = [
        {"mark": line, "encoding": {**encoding, "strokeDash": {**dash, "legend": None}}},
        {"mark": point, "encoding": {**encoding, "shape": {**shape, "title": None}}},
    ]
    return _chart(values, {"layer": layers}, y=y, height=240)


def points(values: Values, *, x: str, y: str, is_narrow: bool) -> Spec:
    """One point for each pair of `x` and `value`, both of them parts of a whole."""
    axis = {"format": "%", "tickCount": _ticks(is_narrow)}
    encoding = {
        "x": {"field": "x", "type": "quantitative", "title": x, "scale": {"zero": False}, "axis": axis},
        "y": {"field": "value", "type": "quantitative", "title": None, "axis": {"format": "%", "tickCount": 5}},
    }
    mark = {"type": "point", "filled": True, "size": 45, "color": SERIES[0], "opacity": 0.65}
    return _chart(values, {"mark": mark, "encoding": encoding}, y=y, height=260)


def sized(spec: Spec, width: int) -> Spec:
    """The chart so wide, labels included."""
    label_width = width * 2 // 5
    axis = {
        "labelFontSize": _FONT_SIZE,
        "titleFontSize": _FONT_SIZE,
        "titleFontWeight": "normal",
        "labelColor": INK,
        "titleColor": MUTED,
        "gridColor": GRID,
        "domainColor": MUTED,
        "tickColor": MUTED,
        "labelLimit": label_width,
        "labelOverlap": "greedy",
    }
    legend = {"orient": "top", "labelFontSize": _FONT_SIZE, "labelColor": INK, "title": None, "symbolOpacity": 1}
    legend |= {"labelLimit": width}
    title = {"anchor": "start", "frame": "bounds", "fontSize": _FONT_SIZE, "fontWeight": "normal", "color": MUTED}
    return {
        **spec,
        "width": width,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "padding": {"left": 2, "top": 2, "bottom": 2, "right": 14},
        "config": {
            "aria": False,
            "background": None,
            "font": "Liberation Sans, Arial, Helvetica, sans-serif",
            "view": {"stroke": None},
            "axis": axis,
            "axisY": {"domain": False, "ticks": False, "labelPadding": 6},
            "legend": legend,
            "title": title,
            "text": {"fontSize": _FONT_SIZE, "color": INK},
        },
    }


def _chart(values: Values, marks: Spec, *, height: int | Spec, y: str = "") -> Spec:
    chart: Spec = {"data": {"values": list(values)}, "height": height, **marks}
    if y:
        # Above the axis and not beside it: a phone has no room for a text that stands on its side.
        chart["title"] = {"text": y, "offset": 6}
    return chart


def _labels() -> Spec:
    return {"field": "label", "type": "nominal", "sort": None, "title": None, "axis": {"grid": False}}


def _heights() -> Spec:
    axis = {"tickCount": 5, "tickMinStep": 1}
    return {"field": "count", "type": "quantitative", "title": None, "stack": "zero", "axis": axis}


def _colour(series: Sequence[str], *, is_narrow: bool) -> Spec:
    scale = {"domain": list(series), "range": list(SERIES[: len(series)])}
    # A line each, where one line has not room for all.
    legend = {"columns": 1 if is_narrow and sum(map(len, series)) > _LEGEND_MAX else len(series)}
    return {"field": "series", "type": "nominal", "title": None, "scale": scale, "legend": legend}


def _some(things: Sequence[T], count: int) -> list[T]:
    """The first of these and others at even distances, at most so many."""
    return list(things[:: max(1, -(-len(things) // count))])


def _ticks(is_narrow: bool) -> int:
    return 5 if is_narrow else 10
