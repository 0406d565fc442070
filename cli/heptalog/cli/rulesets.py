"""Rules as they are named on the command line: by the registry's key, in any case and however its words are joined."""

from heptalog.cli.exits import WrongUse
from heptalog.replay.registry import NEWEST


def ruleset_named(text: str) -> str:
    """The key of the rules that are meant: Seven Up, sevenUp and SEVEN-UP are seven_up. Raises WrongUse."""
    meant = _letters(text)
    for key in NEWEST:
        if _letters(key) == meant:
            return key
    raise WrongUse(f"--ruleset {text}: the games are {', '.join(NEWEST)}")


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).lower()
