"""Seals: commitments to what is hidden at the table, made when it is recorded and checkable by who sees it later.

    commitment = SHA-256( "heptalog.seal.v1" 00 | length of salt, 8 bytes big-endian | salt
                          | length of value, 8 bytes big-endian | value )

The value is the cards or tiles as recorded, in their order, with a space between, in UTF-8: `7D TS X1`. A card has
few possible values, so a commitment without a salt would hide nothing: a salt has at least 16 random bytes, and no two
seals share one.
"""

from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any, Final, TypeAlias

from msgspec import UNSET, Struct
from msgspec.structs import replace

from heptalog.replay.errors import Code, Corrupt, Malformed, Redacted
from heptalog.replay.events import Body, Seal
from heptalog.replay.evidence.chain import HASH_SIZE

SALT_SIZE: Final = 16
_TAG: Final = b"heptalog.seal.v1\0"
# What stands before a salt of the usual size.
_TAG_AND_SIZE: Final = _TAG + SALT_SIZE.to_bytes(8, "big")

# A part of an event that can be sealed: it has a `seal` and, under the name in `value_field`, its hidden values.
Sealable: TypeAlias = Any


def commitment(salt: bytes, values: tuple[str, ...]) -> bytes:
    """The commitment to these cards or tiles under this salt."""
    value = " ".join(values).encode()
    start = _TAG_AND_SIZE if len(salt) == SALT_SIZE else _TAG + len(salt).to_bytes(8, "big")
    return sha256(start + salt + len(value).to_bytes(8, "big") + value).digest()


def sealable_parts(body: Body) -> Iterator[tuple[str, Sealable]]:
    """The parts of a body that are hidden at the table, each with its path: `hands[2]`, `elder`, or nothing at all."""
    for name in body.sealed:
        if not name:
            yield "", body
            continue
        part = getattr(body, name)
        if isinstance(part, Struct):
            yield name, part
        else:
            for index, item in enumerate(part):
                yield f"{name}[{index}]", item


def check_seals(body: Body) -> None:
    """Raise Malformed where a seal has not its form, Corrupt where it does not fit its value.

    A part without its value passes: that it is missing is for `check_whole` to say, so that a chain can be checked
    to its end in a redacted copy.
    """
    for path, part in sealable_parts(body):
        seal = part.seal
        if seal is UNSET:
            continue
        values = values_of(part)
        if len(seal.commitment) != HASH_SIZE:
            raise _misshapen(path, f"a commitment has {HASH_SIZE} bytes")
        if not values:
            # A redacted copy, or an empty hand, which has nothing to hide.
            if seal.salt and seal.count:
                raise _misshapen(path, "a salt without its value")
        elif len(seal.salt) < SALT_SIZE:
            raise _misshapen(path, f"a salt has at least {SALT_SIZE} bytes")
        is_broken = seal.count != len(values) or seal.commitment != commitment(seal.salt, values)
        if (values or seal.salt) and is_broken:
            raise Corrupt(Code.SEAL_BROKEN, rule="evidence", field=path or "seal")


def check_whole(body: Body) -> None:
    """Raise Redacted where a sealed value is missing, so that the rules cannot be asked."""
    for path, part in sealable_parts(body):
        if is_redacted(part):
            raise Redacted(Code.VALUE_SEALED, rule="evidence", field=path)


def is_redacted(part: Sealable) -> bool:
    """Whether this part is a redacted copy's: sealed, and without the value."""
    return part.seal is not UNSET and part.seal.count > 0 and not values_of(part)


def values_of(part: Sealable) -> tuple[str, ...]:
    """The cards or tiles of a sealable part."""
    values: tuple[str, ...] = getattr(part, part.value_field)
    return values


def _misshapen(path: str, problem: str) -> Malformed:
    return Malformed(Code.FIELD_INVALID, rule="game-file", field=f"{path}.seal" if path else "seal", problem=problem)


def redact_part(part: Sealable) -> Sealable:
    """A part without value and salt, where it has a seal to stand for them."""
    if part.seal is UNSET:
        return part
    return replace(part, **{part.value_field: ()}, seal=replace(part.seal, salt=b""))


def sealed(body: Body, salts: Callable[[], bytes]) -> Body:
    """The body with a seal on every hidden part that has a value and no seal yet; `salts` gives fresh random bytes."""

    def seal(part: Sealable) -> Sealable:
        values = values_of(part)
        if part.seal is not UNSET or not values:
            return part
        salt = salts()
        return replace(part, seal=Seal(salt, commitment(salt, values), len(values)))

    return map_parts(body, seal) if body.sealed else body


def unsealed(body: Body) -> Body:
    """The body without any seal, its values kept: what was said before anybody sealed it."""
    return map_parts(body, lambda part: replace(part, seal=UNSET)) if body.sealed else body


def map_parts(body: Body, change: Callable[[Sealable], Sealable]) -> Body:
    """The body with every sealable part changed."""
    if body.sealed == ("",):
        mapped: Body = change(body)
        return mapped
    fields: dict[str, object] = {}
    for name in body.sealed:
        part = getattr(body, name)
        fields[name] = change(part) if isinstance(part, Struct) else tuple(change(item) for item in part)
    return replace(body, **fields)
