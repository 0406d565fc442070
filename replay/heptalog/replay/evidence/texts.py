"""What the text formats of the evidence are made of: base64 and decimals, each with exactly one spelling."""

import re
from base64 import b64decode, b64encode
from typing import Final

NUMBER_MAX: Final = (1 << 63) - 1  # of a size, an index or a time
_DECIMAL: Final = re.compile("0|[1-9][0-9]{0,18}")


def to_base64(data: bytes) -> str:
    """These bytes as RFC 4648 section 4 writes them, padded."""
    return b64encode(data).decode()


def from_base64(text: str) -> bytes | None:
    """The bytes in a text; None where it is not the one way to write them."""
    try:
        data = b64decode(text, validate=True)
    except ValueError:
        return None
    # Padding and its unused bits have more than one spelling; a second one would be a second text with one meaning.
    return data if to_base64(data) == text else None


def from_decimal(text: str) -> int | None:
    """The number in a text; None where it is not one without leading zeros, or is larger than any may be."""
    if not _DECIMAL.fullmatch(text):
        return None
    number = int(text)
    return number if number <= NUMBER_MAX else None
