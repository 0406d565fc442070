"""`heptalog report`: one page that says what the questions say, and needs nothing but itself."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

import pytest

from tests.cli.given import copied
from tests.cli.reported import HOSTILE_NAMES, HOSTILE_TOURNAMENT, TOURNAMENT, reported
from tests.cli.running import run, serving

pytestmark = pytest.mark.usefixtures("lent_workers")


class Page(HTMLParser):
    """The tags and the text of a page. An element that is not ended as it should be is an error."""

    VOID: Final = ("meta", "path", "line")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def page_of(source: object, folder: Path, *tournament: str) -> str:
    """The text of a report."""
    path = folder / "page.html"
    ended = reported(source, path, *tournament)
    assert ended.code == 0, ended.err
    return path.read_text("utf-8")


@pytest.fixture
def everything(pages: Path) -> str:
    """The page about all of them."""
    return (pages / "all.html").read_text("utf-8")


@pytest.fixture
def one_tournament(pages: Path) -> str:
    """The page about one tournament."""
    return (pages / "one.html").read_text("utf-8")


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Charts with nothing in them: to draw them is most of what a report costs."""
    monkeypatch.setattr("vl_convert.vegalite_to_svg", lambda _: '<svg viewBox="0 0 1 1"></svg>')


def test_a_page_needs_nothing_from_anywhere(everything: str) -> None:
    page = Page(everything)
    assert "http" not in everything.replace("http-equiv", "")
    assert "@import" not in everything
    assert "url(" not in everything
    allowed = {"html", "head", "meta", "title", "style", "body", "header", "main", "nav", "footer", "section", "figure"}
    allowed |= {"h1", "h2", "h3", "p", "a", "ul", "li", "dl", "dt", "dd", "div", "figcaption", "details", "summary"}
    allowed |= {"table", "caption", "thead", "tbody", "tr", "th", "td", "svg", "desc", "g", "path", "line", "text"}
    assert {tag for tag, _ in page.tags} <= allowed
    for tag, attributes in page.tags:
        assert not {"src", "srcset", "style", "xlink:href", "action"} & attributes.keys(), tag
        assert not [name for name in attributes if name.startswith("on")], tag
        assert attributes.get("href", "#").startswith("#"), tag  # type: ignore[union-attr]  # it has a value
    policies = [attributes["content"] for tag, attributes in page.tags if "http-equiv" in attributes]
    assert policies[0] is not None
    assert policies[0].startswith("default-src 'none'; style-src 'sha256-")


def test_every_chart_has_its_words_and_its_numbers(everything: str) -> None:
    page = Page(everything)
    charts = [attributes for tag, attributes in page.tags if tag == "svg"]
    figures = [attributes for tag, attributes in page.tags if tag == "figure"]
    identities = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(figures) > 20
    assert len(charts) == 2 * len(figures)
    assert len(set(identities)) == len(identities)
    for attributes in (*charts, *figures):
        names = (attributes["aria-labelledby"] or "").split()
        assert names
        assert set(names) <= set(identities)
    assert everything.count("<details><summary>Numbers: ") == len(figures)
    assert all(attributes.get("scope") in ("col", "row") for tag, attributes in page.tags if tag == "th")
    assert not re.search(r"\b(nan|None|inf)\b", "".join(page.text))


def test_the_page_says_what_the_questions_say(simulated: Path, one_tournament: str) -> None:
    page = Page(one_tournament)
    where = f"tournament = '{TOURNAMENT}'"
    games = run("sql", simulated, f"SELECT count(*) AS n FROM games WHERE {where}", "-f", "jsonl").lines[0]["n"]
    assert page.text[page.text.index("Games") + 1] == str(games)
    assert TOURNAMENT in page.text
    question = f"SELECT player_name, won, games FROM standings WHERE {where} AND ruleset = ? ORDER BY rank LIMIT 1"
    row = re.compile(r'<td>1</td><th scope="row" class="name">([^<]*)</th><td>([\d,]+)</td><td>([\d,]+)</td>')
    for ruleset in ("seven_rocks", "seven_up", "seven_bridge"):
        best = run("sql", simulated, question.replace("?", f"'{ruleset}'"), "-f", "jsonl").lines[0]
        found = row.search(one_tournament, one_tournament.index(f'<section id="game-{ruleset}"'))
        assert found is not None
        assert found.groups() == (best["player_name"], str(best["games"]), str(best["won"]))


def test_names_are_text_whatever_is_in_them(pages: Path) -> None:
    page = Page((pages / "hostile.html").read_text("utf-8"))
    tags = {tag for tag, _ in page.tags}
    assert not {"script", "img"} & tags
    assert HOSTILE_TOURNAMENT in page.text
    for name in HOSTILE_NAMES:
        assert name in page.text


@pytest.mark.usefixtures("undrawn")
def test_a_kind_of_game_that_nobody_played_is_left_out(tmp_path: Path) -> None:
    database = tmp_path / "games.duckdb"
    assert run("simulate", database, "--games", 12, "--jobs", 1, "--ruleset", "seven_up").code == 0
    page = Page(page_of(database, tmp_path))
    assert "Seven Up" in page.text
    assert not {"Seven Rocks", "Seven Bridge", "Ghosts"} & set(page.text)


def test_a_tournament_without_games_writes_nothing(simulated: Path, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    ended = reported(simulated, path, "Nowhere Open")
    assert ended.code == 3
    assert "TOURNAMENT_UNKNOWN" in ended.err
    assert "Nowhere Open" in ended.err
    assert not path.exists()


@pytest.mark.parametrize("name", ["riga open 1", "Open 1", "Riga Opn 1"])
def test_a_tournament_that_is_none_is_told_with_the_nearest(simulated: Path, tmp_path: Path, name: str) -> None:
    ended = reported(simulated, tmp_path / "page.html", name)
    assert ended.code == 3
    assert f"nearest {TOURNAMENT}" in ended.err or f", {TOURNAMENT}" in ended.err


@pytest.mark.usefixtures("undrawn")
def test_a_tournament_may_be_called_all(tmp_path: Path) -> None:
    database = tmp_path / "games.duckdb"
    for name, seed in (("all", 1), ("Cup", 2)):
        arguments = ("--games", 6, "--jobs", 1, "--tournament", name, "--seed", seed)
        assert run("simulate", database, *arguments).code == 0
    whole, named = Page(page_of(database, tmp_path)), Page(page_of(database, tmp_path, "all"))
    assert whole.text[whole.text.index("Games") + 1] == "12"
    assert named.text[named.text.index("Games") + 1] == "6"


def test_the_same_moment_gives_the_same_bytes_on_stdout_too(simulated: Path, everything: str) -> None:
    assert run("report", simulated, "all", "--html", "-") == (0, everything, "")
    assert not Path("-").exists()
    ended = run("report", simulated, "--html", "")
    assert ended.code == 2
    assert "it is empty" in ended.err


def test_a_log_without_games_is_told_as_that(tmp_path: Path) -> None:
    database = tmp_path / "games.duckdb"
    assert run("import", tmp_path, "--into", database).code != 0
    with serving(database) as server:
        assert server.stopped() == 0
    page = Page(page_of(database, tmp_path))
    assert "No games have been recorded yet." in page.text


def test_a_server_gives_the_same_page(simulated: Path, everything: str, tmp_path: Path) -> None:
    with serving(copied(simulated, tmp_path / "games.duckdb")) as server:
        assert page_of(server.url, tmp_path) == everything


def test_what_cannot_be_read_writes_nothing(tmp_path: Path) -> None:
    ended = reported(tmp_path / "nowhere.duckdb", tmp_path / "page.html")
    assert ended.code == 3
    assert not (tmp_path / "page.html").exists()
