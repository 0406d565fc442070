"""What an older version recorded still folds to its old result, as the bodies that it means today."""

import re
import subprocess
import sys
from pathlib import Path
from types import MappingProxyType

from heptalog.replay.registry import GAMES

ROOT = Path(__file__).parent.parent.parent


def test_every_law_of_older_events_holds() -> None:
    command = [sys.executable, "-m", "tests.laws.upcasting"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    laws = re.findall(r"^def (law_\w+)", (ROOT / "tests/laws/upcasting.py").read_text(), re.MULTILINE)
    assert result.stdout.split() == laws


def test_upcasts_are_part_of_a_version_for_ever() -> None:
    assert all(isinstance(rules.upcasts, MappingProxyType) for rules in GAMES)
