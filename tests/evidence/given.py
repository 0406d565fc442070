"""What tests of evidence start with: keys that are always the same, and logs that grow."""

from collections.abc import Callable
from hashlib import sha256
from typing import Final

import pytest

from heptalog.replay.errors import Code, HeptalogError, Malformed
from heptalog.service.evidence.keys import SigningKey

SECONDS: Final = 1_790_000_000


def key_of(name: str, *, number: int = 0, is_witness: bool = False) -> SigningKey:
    """The key of a name; the same in every run, so never one to trust."""
    return SigningKey(name, sha256(f"{name} {number}".encode()).digest(), is_witness=is_witness)


LOG: Final = key_of("example.org/season")
NEXT: Final = key_of("example.org/season", number=1)
OTHER: Final = key_of("example.org/other")
WITNESS: Final = key_of("witness.example/one", is_witness=True)


def refusal(work: Callable[..., object], *given: object) -> Malformed:
    """The fault of form that this meets."""
    with pytest.raises(Malformed) as caught:
        work(*given)
    return caught.value


def code_of(work: Callable[..., object], *given: object) -> Code | None:
    """The code of the failure that this meets, if it does."""
    try:
        work(*given)
    except HeptalogError as error:
        return error.code
    return None
