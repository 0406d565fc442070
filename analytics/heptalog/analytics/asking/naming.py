"""Functions that are told in text what to call, or to which types to cast: the text is held to the same lists."""

import json
import re
from collections.abc import Sequence
from typing import Any, Final

from heptalog.analytics.asking.functions import Place, is_allowed

# The second argument names an aggregate.
_CALLING: Final = frozenset({"aggregate", "array_aggr", "array_aggregate", "list_aggr", "list_aggregate"})
# The second argument is JSON whose texts name types.
_CASTING: Final = frozenset({"from_json", "from_json_strict", "json_transform", "json_transform_strict"})
SECOND_NAMES: Final = _CALLING | _CASTING
# A type by its name, with what the engine may want to know of it, and as lists: DECIMAL(18, 3)[].
_PLAIN_TYPE: Final = re.compile(r"([A-Za-z]\w*(?: \w+)*)(?:\(\d+(?:, ?\d+)?\))?(?:\[\d*\])*", re.ASCII)


def problem_of_names(function: str, arguments: Sequence[Any]) -> str | None:
    """Why a call may not be made because of a name in its text; None where it has no such name, or a good one."""
    name = function.lower()
    if name not in SECOND_NAMES:
        return None
    text = _second(arguments)
    if text is None:
        what = "the name of an aggregate" if name in _CALLING else "a structure"
        return f"the second argument of {name} must be {what}, written as text"
    return _problem_of_aggregate(text) if name in _CALLING else _problem_of_structure(text)


def _second(arguments: Sequence[Any]) -> str | None:
    """The second argument where it is text and surely the second: arguments with names, or several in one, are not."""
    if len(arguments) < 2 or any("name" in argument for argument in arguments):
        return None
    first, second = (argument["expression"] for argument in arguments[:2])
    if first.get("type") == "OPERATOR_UNPACK" or second.get("class") != "CONSTANT":
        return None
    literal = second.get("literal", {})
    return str(literal.get("text", "")) if literal.get("kind") == "STRING" else None


def _problem_of_aggregate(text: str) -> str | None:
    return None if is_allowed(text) else f"the function {text} cannot be called here"


def _problem_of_structure(text: str) -> str | None:
    try:
        # Of two members with one name both are looked at.
        waiting = [json.loads(text, object_pairs_hook=lambda pairs: [value for _, value in pairs])]
    except ValueError:
        return "the structure is not JSON"
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting += one
        elif not isinstance(one, str):
            return "the structure has something that is no type"
        elif (plain := _PLAIN_TYPE.fullmatch(one)) is None:
            return f"the structure has the type {one}: this, and more, can be written as a cast, value::JSON::TYPE"
        elif not is_allowed(plain[1], Place.TYPE):
            return f"nothing can be cast to {one}"
    return None
