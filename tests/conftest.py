"""What all tests share: two switches, and how long Hypothesis looks."""

import gc
import os
import signal
import sys
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, settings

# By default every run is the same run; `--hypothesis-profile=search` looks for something new.
settings.register_profile(
    "ci", deadline=None, derandomize=True, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("search", parent=settings.get_profile("ci"), derandomize=False, max_examples=1_000)
settings.load_profile("ci")

_WITHOUT_PANDAS: Final = str(Path(__file__).parent / "support" / "without_pandas")


def pytest_configure() -> None:
    """Hear Ctrl-C, and let the processes that tests start hear it, also where the tests run in the background."""
    # A shell that starts something behind itself has it ignored, and whoever is to be interrupted then works for ever.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Spare the collector what stays to the end, and the processes that tests start a library that they do not need."""
    # It would look through all modules and tests again and again.
    gc.collect()
    gc.freeze()
    # Who needs pandas has it by now. A process gets its path from the environment, or from the process that started it.
    sys.path.insert(0, _WITHOUT_PANDAS)
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = _WITHOUT_PANDAS if before is None else f"{_WITHOUT_PANDAS}{os.pathsep}{before}"


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--bless` writes the text of golden games anew; read the difference before it is committed."""
    parser.addoption("--bless", action="store_true", help="write the .txt of tests/golden anew")
    parser.addoption("--compiled", action="store_true", help="what is tested is the compiled form (make compiled)")


@pytest.fixture
def is_blessing(request: pytest.FixtureRequest) -> bool:
    """Whether golden text is to be written and not compared."""
    return bool(request.config.getoption("--bless"))
