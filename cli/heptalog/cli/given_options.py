"""Options of a game as they are given on the command line: what is wrong with one is told with what it may be.

Which options there are, and what they may be, is what the game of the registry says: a new one needs nothing here.
"""

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final, NoReturn

from msgspec import inspect
from msgspec.structs import replace

from heptalog.cli.exits import WrongUse
from heptalog.replay.errors import Code, Malformed, Refused
from heptalog.replay.events import GameStarted, Options
from heptalog.replay.gamefile import changed_options
from heptalog.replay.registry import rules_of
from heptalog.replay.sentences import sentence

# A name that people have for one option of Seven Bridge; nothing records it (game file, "Options").
_FAN_TAN: Final = "fanTan"
_GHOSTS: Final = "ghosts"
_TRUTH: Final = "true or false"
# Values that no game takes, so that its rules say what they take.
_NO_NUMBER: Final = 2**32 - 1
_NO_TEXT: Final = "?"


def options_under(started: GameStarted, texts: Sequence[str]) -> Options:
    """The options of a game with some of them given anew, as `passTokens=5,ghosts=false`. Raises WrongUse."""
    changes: dict[str, Any] = {}
    for part in (part for text in texts for part in text.split(",")):
        name, value = _option(part, started)
        if name in changes:
            raise WrongUse(f"--options {part}: {name} is given twice")
        changes[name] = value
    options = changed_options(started.rules, changes)
    try:
        rules_of(started).initial(replace(started, rules=options))
    except Refused as error:
        name = str(error.facts.get("option", ""))
        if name in changes:
            _refuse(f"{name}={_text(changes[name])}", name, started)
        raise WrongUse(f"--options: {sentence(error)}") from error
    return options


def _option(part: str, started: GameStarted) -> tuple[str, Any]:
    """One option by its name and its value. Raises WrongUse."""
    fields = _fields(started.rules)
    name, has_value, text = map(str.strip, part.partition("="))
    if name == _FAN_TAN and _GHOSTS in fields:
        is_wanted = _value(text) if has_value else True
        if not isinstance(is_wanted, bool):
            raise WrongUse(f"--options {part}: {name} is {_TRUTH}")
        return _GHOSTS, not is_wanted
    if not name or (name in fields and not has_value):
        form = f"; {name} is {_may_be(name, started)}" if name else ""
        raise WrongUse(f"--options {part}: an option is given as NAME=VALUE{form}")
    if name not in fields:
        near = get_close_matches(name.lower(), by_lower := {each.lower(): each for each in fields}, 1)
        hint = f"; did you mean {by_lower[near[0]]}?" if near else ""
        raise WrongUse(f"--options {part}: the options of this game are {', '.join(fields)}{hint}")
    value = _value(text)
    match _type_in(fields[name]):
        case inspect.EnumType(cls=values) if text.upper() in [str(each.value) for each in values]:
            value = text.upper()
        case inspect.StrType():
            value = text if not isinstance(value, str) else value
    try:
        changed_options(started.rules, {name: value})
    except Malformed:
        _refuse(part, name, started)
    return name, value


def _refuse(part: str, name: str, started: GameStarted) -> NoReturn:
    raise WrongUse(f"--options {part}: {name} is {_may_be(name, started)}")


def _may_be(name: str, started: GameStarted) -> str:
    """What an option may be, in words: by its type, and by what the rules say of a value that it cannot have."""
    field = _fields(started.rules)[name]
    match _type_in(field):
        case inspect.BoolType():
            return _TRUTH
        case inspect.EnumType(cls=values):
            return " or ".join(str(each.value) for each in values)
        case inspect.IntType():
            told = "a whole number"
        case _:
            told = "text"
    wrong = _NO_TEXT if told == "text" else _NO_NUMBER
    try:
        rules_of(started).initial(replace(started, rules=replace(started.rules, **{field.name: wrong})))
    except Refused as error:
        facts = error.facts
        if error.code is Code.OPTION_OUT_OF_RANGE and facts.get("option") == name:
            return str(facts["choices"]) if "choices" in facts else f"{told} from {facts['low']} to {facts['high']}"
    return told


def _fields(options: Options) -> Mapping[str, inspect.Field]:
    described = inspect.type_info(type(options))
    assert isinstance(described, inspect.StructType), "options are a struct"
    return {field.encode_name: field for field in described.fields}


def _type_in(field: inspect.Field) -> inspect.Type:
    """The type of what is given: that it may be absent is no choice."""
    if isinstance(field.type, inspect.UnionType):
        return field.type.types[0]
    return field.type


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        # A bare word is a string: openingSeven=7H.
        return text


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
