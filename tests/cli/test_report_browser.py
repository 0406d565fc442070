"""The report in a real browser: it asks for nothing, fits a phone and a sheet of paper, and can be heard."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.cli.reported import HOSTILE_NAMES, HOSTILE_TOURNAMENT

CHROMIUM: Final = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS: Final = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
PHONE: Final = 390
DESK: Final = 1200
TEXT_LEAST: Final = 11  # pixels
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here")

# The charts that are shown: each with its place, and its texts with theirs and the size of their letters.
CHARTS: Final = """() => [...document.querySelectorAll('svg')].filter(svg => svg.checkVisibility()).map(svg => {
    const place = svg.getBoundingClientRect(), scale = place.width / svg.viewBox.baseVal.width
    const texts = [...svg.querySelectorAll('text')].filter(text => text.textContent).map(text => {
        const box = text.getBoundingClientRect()
        return {text: text.textContent, size: parseFloat(getComputedStyle(text).fontSize) * scale,
            left: box.left - place.left, right: place.right - box.right,
            top: box.top - place.top, bottom: place.bottom - box.bottom}
    })
    return {width: place.width, height: place.height, left: place.left, right: place.right, texts,
        marks: svg.querySelectorAll('path, line').length, title: svg.querySelector('title').textContent}
})"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The browser, without a network of its own accord."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


class Seen:
    """A page that is open, and what the browser had to say about it."""

    def __init__(self, context: BrowserContext, path: Path) -> None:
        self.requests: list[str] = []
        self.said: list[str] = []
        self.page: Page = context.new_page()
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: self.said.append(dialog.message))
        self.url = path.as_uri()
        self.page.goto(self.url)

    def asked(self, script: str) -> Any:
        """What a script says about the page."""
        return self.page.evaluate(script)


@pytest.fixture
def context(browser: Browser, request: pytest.FixtureRequest) -> Iterator[BrowserContext]:
    """A window of the width that the test asks for, offline."""
    width = getattr(request, "param", DESK)
    context = browser.new_context(viewport={"width": width, "height": 844}, offline=True)
    yield context
    context.close()


EACH_PAGE = pytest.mark.parametrize("name", ["all", "one", "hostile"])
EACH_WIDTH = pytest.mark.parametrize("context", [320, PHONE, 720, DESK], indirect=True)


@EACH_PAGE
@EACH_WIDTH
def test_it_opens_offline_and_asks_for_nothing(context: BrowserContext, pages: Path, name: str) -> None:
    seen = Seen(context, pages / f"{name}.html")
    assert seen.requests == [seen.url]
    assert seen.said == []


@EACH_PAGE
@EACH_WIDTH
def test_nothing_is_wider_than_the_window(context: BrowserContext, pages: Path, name: str) -> None:
    seen = Seen(context, pages / f"{name}.html")
    assert seen.asked("document.documentElement.scrollWidth - innerWidth") == 0
    # Nor does a table have to be moved to be read, opened or not.
    seen.asked("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert seen.asked("document.documentElement.scrollWidth - innerWidth") == 0


@EACH_PAGE
@pytest.mark.parametrize("context", [PHONE, DESK], indirect=True)
def test_every_chart_can_be_read(context: BrowserContext, pages: Path, name: str) -> None:
    seen = Seen(context, pages / f"{name}.html")
    charts = seen.asked(CHARTS)
    assert len(charts) == seen.asked("document.querySelectorAll('figure').length") > 10
    for chart in charts:
        assert chart["height"] > 60, chart["title"]
        assert chart["marks"] > 2, chart["title"]
        assert chart["left"] >= 0, chart["title"]
        for text in chart["texts"]:
            assert text["size"] >= TEXT_LEAST, (chart["title"], text)
            cut = min(text[side] for side in ("left", "right", "top", "bottom"))
            assert cut > -1, (chart["title"], text)


@EACH_PAGE
def test_it_prints_whole(context: BrowserContext, pages: Path, name: str) -> None:
    # As on a sheet of A4 with the margins of the page: 180 by 265 mm.
    width, height = 673, 1001
    seen = Seen(context, pages / f"{name}.html")
    seen.page.set_viewport_size({"width": width, "height": height})
    seen.page.emulate_media(media="print")
    charts = seen.asked(CHARTS)
    assert charts
    assert all(chart["width"] <= width and chart["height"] < height for chart in charts)
    assert all(text["size"] >= TEXT_LEAST for chart in charts for text in chart["texts"])
    broken = "[...document.querySelectorAll('figure')].filter(one => getComputedStyle(one).breakInside !== 'avoid')"
    assert seen.asked(f"{broken}.length") == 0
    tallest = "Math.max(...[...document.querySelectorAll('figure')].map(one => one.getBoundingClientRect().height))"
    assert seen.asked(tallest) < height
    sheets = seen.page.pdf(format="A4", prefer_css_page_size=True).count(b"/Type /Page\n")
    assert 3 <= sheets <= 40


@EACH_PAGE
@pytest.mark.parametrize("context", [PHONE, DESK], indirect=True)
def test_it_can_be_heard(context: BrowserContext, pages: Path, name: str) -> None:
    seen = Seen(context, pages / f"{name}.html")
    tree = context.new_cdp_session(seen.page).send("Accessibility.getFullAXTree")["nodes"]
    told = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in tree if not node["ignored"]]
    images = [label for role, label in told if role in ("image", "img")]
    titles = seen.asked("[...document.querySelectorAll('figure h3')].map(one => one.textContent)")
    captions = seen.asked("[...document.querySelectorAll('figcaption p')].map(one => one.textContent)")
    spoken = [f"{title} {caption}" for title, caption in zip(titles, captions, strict=True)]
    assert [" ".join(label.split()) for label in images] == [" ".join(text.split()) for text in spoken]
    assert [label for role, label in told if role == "figure" and not label] == []
    assert len([role for role, _ in told if role == "columnheader"]) > 10
    assert len([role for role, _ in told if role == "rowheader"]) > 10
    assert [label for role, label in told if role == "region" and not label] == []


def test_names_do_nothing(context: BrowserContext, pages: Path) -> None:
    seen = Seen(context, pages / "hostile.html")
    assert seen.page.title() == HOSTILE_TOURNAMENT
    assert seen.page.locator("h1").text_content() == HOSTILE_TOURNAMENT
    rows = seen.asked("[...document.querySelectorAll('th[scope=row]')].map(one => one.textContent)")
    assert set(HOSTILE_NAMES) <= set(rows)
    labels = seen.asked("[...document.querySelectorAll('svg text')].map(one => one.textContent)")
    assert any(HOSTILE_NAMES[0] in label for label in labels)
    assert seen.asked("document.scripts.length + document.images.length") == 0


def test_the_dark_page_can_be_read_too(browser: Browser, pages: Path) -> None:
    context = browser.new_context(color_scheme="dark", offline=True)
    seen = Seen(context, pages / "one.html")
    colours = seen.asked("""() => {
        const colour = (one, name) => getComputedStyle(one)[name].match(/[\\d.]+/g).slice(0, 3).map(Number)
        const paper = colour(document.body, 'backgroundColor')
        return [...document.querySelectorAll('p, td, th, dt, dd, a, summary, caption, svg text')]
            .filter(one => one.checkVisibility())
            .map(one => [colour(one, one.closest('svg') ? 'fill' : 'color'), paper])
    }""")
    context.close()
    assert colours
    assert min(contrast(ink, paper) for ink, paper in colours) >= 4.5


def contrast(one: list[float], other: list[float]) -> float:
    """How well one colour is seen on another (WCAG 2)."""
    lights = sorted((luminance(one), luminance(other)))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def luminance(colour: list[float]) -> float:
    """How light a colour is."""
    parts = [value / 255 for value in colour]
    red, green, blue = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
