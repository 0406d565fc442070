"""The page itself: HTML that needs nothing from anywhere, and lets nothing be fetched."""

from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from html import escape
from importlib import resources
from typing import Final, NamedTuple

from heptalog.analytics.reporting.drawing import drawn
from heptalog.analytics.reporting.figures.figure import Figure, Table

# Nothing but the one style sheet that stands in the page.
_POLICY: Final = "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'"


class Section(NamedTuple):
    """One part of the page, under a heading of its own; `body` is HTML."""

    name: str
    title: str
    body: str


class Ranking(NamedTuple):
    """A table with more columns than a phone has room for: those in `spare` are for the desk and the paper."""

    caption: str
    table: Table
    spare: Sequence[str] = ()


def page(
    *, title: str, about: str, numbers: Iterable[tuple[str, str]], sections: Sequence[Section], footer: str
) -> str:
    """The whole of it. What is given is text, but for the bodies of the sections."""
    style = (resources.files("heptalog.analytics") / "reporting" / "page.css").read_text("utf-8")
    policy = _POLICY.format(b64encode(sha256(style.encode()).digest()).decode())
    links = "".join(f'<li><a href="#{section.name}">{escape(section.title)}</a></li>' for section in sections)
    cells = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in numbers)
    return "\n".join(
        (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>",
            f'<header>\n<h1>{escape(title)}</h1>\n<p class="about">{escape(about)}</p>',
            f'<dl class="numbers">{cells}</dl>\n</header>',
            f'<nav aria-label="Contents"><ul>{links}</ul></nav>\n<main>',
            *(_section(section) for section in sections),
            f"</main>\n<footer><p>{escape(footer)}</p></footer>\n</body>\n</html>\n",
        )
    )


def shown(figure: Figure, name: str) -> str:
    """A chart with its caption, and its numbers for who does not see it."""
    return (
        f'<figure id="{name}" aria-labelledby="{name}-caption">\n'
        f'<figcaption id="{name}-caption"><h3>{escape(figure.title)}</h3><p>{escape(figure.caption)}</p></figcaption>\n'
        f"{drawn(name, figure.draw, title=figure.title, text=figure.caption)}\n"
        f"<details><summary>Numbers: {escape(figure.title)}</summary>{_table(figure.table)}</details>\n</figure>"
    )


def ranked(ranking: Ranking) -> str:
    """A table that is a result of its own."""
    return _table(ranking.table, caption=ranking.caption, spare=ranking.spare)


def hidden(summary: str, body: str) -> str:
    """Something to be opened by who wants it."""
    return f"<details><summary>{escape(summary)}</summary>{body}</details>"


def paragraph(text: str) -> str:
    """A paragraph."""
    return f"<p>{escape(text)}</p>"


def _section(section: Section) -> str:
    return (
        f'<section id="{section.name}" aria-labelledby="{section.name}-heading">\n'
        f'<h2 id="{section.name}-heading">{escape(section.title)}</h2>\n{section.body}\n</section>'
    )


def _table(table: Table, *, caption: str = "", spare: Sequence[str] = ()) -> str:
    told = f"<caption>{escape(caption)}</caption>" if caption else ""
    kinds = [
        ' class="name"' if place == table.names else ' class="spare"' if column in spare else ""
        for place, column in enumerate(table.columns)
    ]
    head = "".join(
        f'<th scope="col"{kind}>{escape(column)}</th>' for column, kind in zip(table.columns, kinds, strict=True)
    )
    rows = "".join(f"<tr>{''.join(_cells(table, row, kinds))}</tr>\n" for row in table.rows)
    return f'<div class="scroll"><table>{told}\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>'


def _cells(table: Table, row: Sequence[str], kinds: Sequence[str]) -> Iterator[str]:
    for place, (cell, kind) in enumerate(zip(row, kinds, strict=True)):
        if place == table.names:
            yield f'<th scope="row"{kind}>{escape(cell)}</th>'
        else:
            yield f"<td{kind}>{escape(cell)}</td>"
