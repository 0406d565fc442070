"""Documents against the program: generated blocks are up to date, examples run, links lead somewhere."""

import re
from pathlib import Path

import pytest

from tests.support.documents import BLOCKS, ROOT, with_block

DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("proto/*.md"), *ROOT.glob("tests/*.md")])


@pytest.mark.parametrize("name", BLOCKS)
def test_generated_blocks_are_up_to_date(name: str, request: pytest.FixtureRequest) -> None:
    document, make = BLOCKS[name]
    path = ROOT / document
    expected = with_block(path.read_text(), name, make())
    if request.config.getoption("--bless"):
        path.write_text(expected)
    assert path.read_text() == expected, f"{document} is out of date: make bless"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text()):
        if "://" not in target:
            assert (path.parent / target).exists(), f"{path.name} links to {target}"
