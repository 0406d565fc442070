"""The pages on rules, options and the game file name what the code names, and nothing else."""

import re
from collections.abc import Iterator

import pytest
from msgspec import UNSET
from msgspec.structs import fields

from heptalog.replay.codec import BODIES
from heptalog.replay.errors import Code
from heptalog.replay.events import Body, Event, Options, camel_name
from heptalog.replay.gamefile import decode_line, encode_line, read_events
from heptalog.replay.registry import NEWEST, OPTIONS
from heptalog.replay.seven_bridge import tables as seven_bridge
from heptalog.replay.seven_bridge.events import Scoring
from heptalog.replay.seven_rocks import tables as seven_rocks
from heptalog.replay.seven_up import tables as seven_up
from heptalog.replay.verify import verify
from heptalog.replay.words import title_of
from tests.support.documents import ROOT

RULES = (ROOT / "docs/rules.md").read_text()
GAME_FILE = (ROOT / "docs/game-file.md").read_text()
NUMBER = re.compile(r"(?<![A-Za-z0-9])(S[RUB])[-_]([RD]\d+[a-z]?)(?![a-z0-9])")
NAMED = re.compile(r'rule="([^"]+)"|"(S[RUB]-[RD]\d+[a-z]?)"')
TOLD = re.compile(r"\*\*((?:S[RUB]-[RD]|C-)\d+[a-z]?)\*\*")
TABLES = {"seven_rocks": seven_rocks, "seven_up": seven_up, "seven_bridge": seven_bridge}


def numbers_in(*folders: str) -> set[str]:
    """Every number of a rule or a decision that the files of these folders name."""
    paths = [path for folder in folders for ending in ("py", "proto") for path in (ROOT / folder).rglob(f"*.{ending}")]
    return {"-".join(found) for path in paths for found in NUMBER.findall(path.read_text())}


def test_every_number_that_the_rules_name_is_told_once() -> None:
    told = TOLD.findall(RULES)
    assert len(told) == len(set(told))
    assert numbers_in("replay", "proto", "service", "analytics") <= set(told)


def test_every_number_that_is_told_has_a_test_of_its_game() -> None:
    told = {number for number in TOLD.findall(RULES) if not number.startswith("C-")}
    assert len(told) > 150
    for prefix, ruleset in (("SR", "seven_rocks"), ("SU", "seven_up"), ("SB", "seven_bridge")):
        assert {number for number in told if number.startswith(prefix)} <= numbers_in(f"tests/rules/{ruleset}")


def test_whatever_a_refusal_gives_as_its_rule_is_explained() -> None:
    sources = [path.read_text() for path in (ROOT / "replay/heptalog").rglob("*.py")]
    named = {one or other for source in sources for one, other in NAMED.findall(source)}
    assert {"game-file", "evidence", "C-4", "C-5", "SU-R17"} <= named
    assert {rule for rule in named if f"**{rule}**" not in RULES and f"`{rule}`" not in RULES} == set()


def options_told(title: str) -> dict[str, tuple[str, str, str]]:
    """The table of options under the title of a game: name in Python, values and default, by the name in a file."""
    (section,) = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", RULES, re.MULTILINE | re.DOTALL)
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| (.+?) \| (.+?) \| .+ \|$", section, re.MULTILINE)
    return {name: (python, values, default) for name, python, values, default in rows}


def default_of(ruleset: str, options: type[Options], name: str) -> object:
    """What an option is where it is left out: the table's, where zero would be something else."""
    given = getattr(options(), name)
    return given if given is not UNSET else getattr(TABLES[ruleset], f"{name.upper()}_DEFAULT")


@pytest.mark.parametrize("ruleset", NEWEST)
def test_every_option_is_told_with_its_range_and_its_default(ruleset: str) -> None:
    options = NEWEST[ruleset].options
    told = options_told(title_of(ruleset))
    assert list(told) == [info.encode_name for info in fields(options)]
    for info in fields(options):
        python, values, default = told[info.encode_name]
        assert python == info.name
        expected = default_of(ruleset, options, info.name)
        assert default.strip("`") == (str(expected).lower() if isinstance(expected, bool) else str(expected))
        if (bounds := TABLES[ruleset].RANGES.get(info.encode_name)) is not None:
            assert values == f"{bounds[0]:,} to {bounds[1]:,}"


def test_choices_of_options_are_the_tables_own() -> None:
    told = options_told("Seven Bridge")
    assert told["openingSeven"][1] == " or ".join(f"`{card}`" for card in seven_bridge.OPENING_SEVENS)
    assert told["jokers"][1] == " or ".join(map(str, seven_bridge.JOKER_COUNTS))
    assert told["scoring"][1] == " or ".join(f"`{scoring}`" for scoring in Scoring)


def test_every_kind_of_event_is_told_with_the_games_that_have_it() -> None:
    told = dict(re.findall(r"^\| (every one|Seven \w+) \| (`.+`) \|$", GAME_FILE, re.MULTILINE))
    shared = set(re.findall(r"`(\w+)`", told.pop("every one")))
    assert set(told) == {title_of(ruleset) for ruleset in NEWEST}
    for ruleset, rules in NEWEST.items():
        assert set(re.findall(r"`(\w+)`", told[title_of(ruleset)])) == set(map(camel_name, rules.bodies))
    assert shared == set(map(camel_name, BODIES)) - {camel_name(body) for body in _of_games()}
    assert all(f"`{camel_name(options)}`" in GAME_FILE for options in OPTIONS)


def _of_games() -> Iterator[type[Body]]:
    for rules in NEWEST.values():
        yield from rules.bodies


def test_every_field_of_a_line_is_told_in_the_order_written() -> None:
    (table,) = re.findall(r"^\| field \| \|\n\|---\|---\|\n(.*?)\n\n", GAME_FILE, re.MULTILINE | re.DOTALL)
    told = [name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])]
    full = Event(1, next(iter(_example())).body, "g", "e", 10**18, 10**18, "r", b"p" * 32, b"h" * 32)
    written = re.findall(r'"(\w+)":', encode_line(full).decode().split('"gameStarted"')[0])
    assert written == told


def test_every_code_that_is_told_is_one() -> None:
    told = set(re.findall(r"`([A-Z][A-Z0-9]+_[A-Z0-9_]+)`", GAME_FILE + RULES))
    assert len(told) > 15
    assert told <= {str(code) for code in Code}


def test_every_code_that_names_the_game_file_as_its_rule_is_told_there() -> None:
    sources = [path.read_text() for path in (ROOT / "replay/heptalog").rglob("*.py")]
    named = {code for source in sources for code in re.findall(r'Code\.(\w+),\s+rule="game-file"', source)}
    named |= set(re.findall(r"Code\.(\w+), rule=_RULE", (ROOT / "replay/heptalog/replay/gamefile.py").read_text()))
    assert len(named) > 20
    assert {code for code in named if f"`{code}`" not in GAME_FILE} == set()


def _example() -> list[Event]:
    (example,) = re.findall(r"```jsonl\n(.*?)```", GAME_FILE, re.DOTALL)
    return list(read_events(example.encode().splitlines()))


def test_the_example_is_a_good_game_and_comes_back_as_it_was() -> None:
    events = _example()
    report = verify((event, None) for event in events)
    assert (report.ok, report.events) == (True, 7)
    assert [decode_line(encode_line(event)) for event in events] == events
