"""What all tests share: two switches, and how long Hypothesis looks."""

import gc

import pytest
from hypothesis import HealthCheck, settings

# By default every run is the same run; `--hypothesis-profile=search` looks for something new.
settings.register_profile(
    "ci", deadline=None, derandomize=True, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("search", parent=settings.get_profile("ci"), derandomize=False, max_examples=1_000)
settings.load_profile("ci")


def pytest_collection_finish() -> None:
    """Spare the collector what stays to the end: it would look through all modules and tests again and again."""
    gc.collect()
    gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--bless` writes the text of golden games anew; read the difference before it is committed."""
    parser.addoption("--bless", action="store_true", help="write the .txt of tests/golden anew")
    parser.addoption("--compiled", action="store_true", help="what is tested is the compiled form (make compiled)")


@pytest.fixture
def is_blessing(request: pytest.FixtureRequest) -> bool:
    """Whether golden text is to be written and not compared."""
    return bool(request.config.getoption("--bless"))
