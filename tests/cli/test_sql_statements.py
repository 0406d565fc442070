"""Where a statement ends, for whoever types one."""

import pytest

from heptalog.cli.prompting import is_ready
from heptalog.cli.statements import Inside, statements

SPLIT = [
    ("", (), ""),
    (" ; ;", (), ""),
    ("SELECT 1", (), "SELECT 1"),
    ("SELECT 1;", ("SELECT 1",), ""),
    ("SELECT 1; SELECT 2;\n", ("SELECT 1", " SELECT 2"), "\n"),
    ("SELECT ';' AS \";\"; -- ;", ("SELECT ';' AS \";\"",), " -- ;"),
    ("SELECT 'it''s;'; x", ("SELECT 'it''s;'",), " x"),
    ("SELECT E'\\';';", ("SELECT E'\\';'",), ""),
    ("SELECT namE';';", ("SELECT namE';'",), ""),
    ("SELECT $$;$$, $a$ $$ ; $a$;", ("SELECT $$;$$, $a$ $$ ; $a$",), ""),
    ("/* ; /* ; */ ; */ SELECT 1 -- ;\n;", ("/* ; /* ; */ ; */ SELECT 1 -- ;\n",), ""),
    ("-- nothing;\n; /* */;", (), ""),
]


@pytest.mark.parametrize(("text", "ended", "rest"), SPLIT)
def test_a_semicolon_ends_a_statement_where_it_is_one(text: str, ended: tuple[str, ...], rest: str) -> None:
    parts = statements(text)
    assert (parts.ended, parts.rest) == (ended, rest)


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("SELECT 1", Inside.STATEMENT),
        ("SELECT 'a;", Inside.TEXT),
        ("SELECT 'a''", Inside.TEXT),
        ("SELECT E'a\\'", Inside.TEXT),
        ("SELECT $x$ $$ ;", Inside.TEXT),
        ('SELECT "a', Inside.NAME),
        ("SELECT 1 -- a", Inside.COMMENT),
        ("SELECT 1 /* /* */", Inside.COMMENT),
        ("SELECT 1 -- a\n", Inside.STATEMENT),
    ],
)
def test_what_is_open_at_the_end_is_known(text: str, inside: Inside) -> None:
    assert statements(text).inside is inside


@pytest.mark.parametrize(
    ("text", "is_whole"),
    [
        ("", True),
        (";", True),
        ("SELECT 1", False),
        ("SELECT 1;", True),
        ("SELECT 1; -- so", True),
        ("SELECT 1; SELECT", False),
        ("SELECT ';", False),
        ("SELECT 1 -- ;", False),
        ("-- first a remark", False),
        (".tables", True),
        ("quit", True),
        ("EXIT;", True),
        ("help me", False),
    ],
)
def test_the_prompt_knows_when_to_ask(text: str, is_whole: bool) -> None:
    assert is_ready(text) is is_whole


def test_long_nonsense_is_split_in_no_time() -> None:
    for piece in ("'", '"', "/*", "--", "$$", "''", "E'\\", "a$", ";", "/**/"):
        nonsense = piece * 20_000
        found = statements(nonsense)
        assert (found.ended, found.rest) == ((), "" if piece == ";" else nonsense)
