"""Where two recorded games part: the first event, the first state, and the result."""

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any, Final, TypeAlias

from msgspec import UNSET, Struct, to_builtins
from msgspec.structs import replace

from heptalog.replay.errors import HeptalogError, Redacted
from heptalog.replay.events import Body, Event, camel_name
from heptalog.replay.evidence.seals import check_whole, map_parts, sealable_parts, values_of
from heptalog.replay.fold import Fold, view_of
from heptalog.replay.rules import ARBITER, State
from heptalog.replay.times import rfc3339

Value: TypeAlias = Any

# What an envelope says beside the event itself, by its names in the game file.
_ENVELOPE: Final = {
    "gameId": "game_id",
    "eventId": "event_id",
    "recordedAt": "recorded_at",
    "recordedBy": "recorded_by",
    "previousHash": "previous_hash",
    "hash": "hash",
}
_HASH: Final = "hash"


class FieldDifference(Struct, frozen=True):
    """One field that differs, named and written as in a game file; `None` stands for what one side does not have.

    A hash is written in hexadecimal. The field `event` has the kinds of two events.
    """

    field: str
    left: Value
    right: Value


class Parting(Struct, frozen=True):
    """The sequence where something first differs, and how."""

    sequence: int
    fields: tuple[FieldDifference, ...]


class Side(Struct, frozen=True):
    """One of the two games, folded as far as its rules allow."""

    events: int
    error: HeptalogError | None = None
    error_sequence: int = -1

    @property
    def is_redacted(self) -> bool:
        """Whether it was a part that is left out that ended it."""
        return isinstance(self.error, Redacted)


class Difference(Struct, frozen=True):
    """How two games differ; nothing set where they do not."""

    left: Side
    right: Side
    event: Parting | None = None
    state: Parting | None = None
    result: tuple[FieldDifference, ...] = ()

    @property
    def is_same(self) -> bool:
        """Whether they do not."""
        return self.event is None and self.state is None and not self.result


def diff(left: Sequence[Event], right: Sequence[Event], *, with_envelope: bool = False) -> Difference:
    """Compare two games: what happened, how it stood after each event, and how it ended.

    Seals that only one side has make no difference, and neither do ids, recording times and hashes unless
    `with_envelope`; times of the moves count where both sides have them. Of a redacted copy hashes count too, which
    cover what is left out of it, and its result is not known.
    """
    left_fold, left_side = _folded(left)
    right_fold, right_side = _folded(right)
    is_redacted = left_side.is_redacted or right_side.is_redacted
    names = tuple(_ENVELOPE) if with_envelope else (_HASH,) if is_redacted else ()
    return Difference(
        left=left_side,
        right=right_side,
        event=_first_event(left, right, names),
        state=_first_state(left_fold, right_fold),
        result=() if is_redacted else _result(left_fold, right_fold),
    )


def flatten(value: Value, path: str = "") -> dict[str, Value]:
    """The leaves of a tree of builtins by their paths: `hands[0].cards`, whole lists of plain values as one leaf."""
    if isinstance(value, dict):
        leaves: dict[str, Value] = {}
        for name, item in value.items():
            leaves.update(flatten(item, f"{path}.{name}" if path else name))
        return leaves
    if isinstance(value, list | tuple) and any(isinstance(item, dict | list | tuple) for item in value):
        leaves = {}
        for index, item in enumerate(value):
            leaves.update(flatten(item, f"{path}[{index}]"))
        return leaves
    return {path: value}


def _folded(events: Iterable[Event]) -> tuple[Fold | None, Side]:
    fold: Fold | None = None
    count = 0
    for event in events:
        try:
            check_whole(event.body)
            if fold is None:
                fold = Fold(event.body)
            else:
                fold.advance(event.body)
        except HeptalogError as error:
            return fold, Side(count, error, event.sequence)
        count += 1
    return fold, Side(count)


def _first_event(left: Sequence[Event], right: Sequence[Event], names: Sequence[str]) -> Parting | None:
    for index, (one, other) in enumerate(zip_longest(left, right)):
        if one is None or other is None:
            kinds = [None if event is None else camel_name(type(event.body)) for event in (one, other)]
            return Parting(index, (FieldDifference("event", *kinds),))
        if fields := _event_fields(one, other, names):
            return Parting(one.sequence, fields)
    return None


def _event_fields(one: Event, other: Event, names: Sequence[str]) -> tuple[FieldDifference, ...]:
    if type(one.body) is not type(other.body):
        return (FieldDifference("event", camel_name(type(one.body)), camel_name(type(other.body))),)
    found = []
    if one.occurred_at and other.occurred_at and one.occurred_at != other.occurred_at:
        found.append(FieldDifference("occurredAt", rfc3339(one.occurred_at), rfc3339(other.occurred_at)))
    for name in names:
        values = [_written(getattr(event, _ENVELOPE[name])) for event in (one, other)]
        if values[0] != values[1]:
            found.append(FieldDifference(name, *values))
    if one.body != other.body:
        left_body, right_body = _comparable(one.body, other.body)
        found += _leaves_that_differ(to_builtins(left_body), to_builtins(right_body))
    return tuple(found)


def _comparable(one: Body, other: Body) -> tuple[Body, Body]:
    """Both bodies without what says nothing about the game: seals, save where only they can be compared."""
    if not one.sealed:
        return one, other
    pairs = zip_longest(sealable_parts(one), sealable_parts(other))
    same_secrets = all(
        left is not None and right is not None and _has_one_secret(left[1], right[1]) for left, right in pairs
    )
    return _without_secrets(one, keep_values=not same_secrets), _without_secrets(other, keep_values=not same_secrets)


def _has_one_secret(left: Any, right: Any) -> bool:
    if values_of(left) and values_of(right):
        return values_of(left) == values_of(right)
    if left.seal is UNSET or right.seal is UNSET:
        return values_of(left) == values_of(right)
    return bool(left.seal.commitment == right.seal.commitment)


def _without_secrets(body: Body, *, keep_values: bool) -> Body:
    def strip(part: Any) -> Any:
        return replace(part, seal=UNSET, **({} if keep_values else {part.value_field: ()}))

    return map_parts(body, strip)


def _first_state(left: Fold | None, right: Fold | None) -> Parting | None:
    if left is None or right is None:
        return None
    for sequence, (one, other) in enumerate(zip(left.states, right.states, strict=False)):
        if one is other or one == other:
            continue
        if fields := tuple(_leaves_that_differ(_shown(left, one), _shown(right, other))):
            return Parting(sequence, fields)
    return None


def _shown(fold: Fold, state: State) -> dict[str, Value]:
    """A state as the arbiter sees it, and what every state can answer, whatever a game shows of it."""
    shown: dict[str, Value] = to_builtins(view_of(fold.rules, state, ARBITER))
    return {**shown, "over": state.over, "winners": state.winners, "toAct": state.to_act}


def _result(left: Fold | None, right: Fold | None) -> tuple[FieldDifference, ...]:
    results = [{} if fold is None else to_builtins(fold.standing()) for fold in (left, right)]
    return tuple(_leaves_that_differ(*results))


def _leaves_that_differ(one: Value, other: Value) -> list[FieldDifference]:
    left, right = flatten(one), flatten(other)
    return [
        FieldDifference(path, left.get(path), right.get(path))
        for path in dict.fromkeys([*left, *right])
        if left.get(path) != right.get(path)
    ]


def _written(value: str | int | bytes) -> str | None:
    """A value of an envelope as text: its only numbers are times, and 0 is an absent one."""
    if isinstance(value, int):
        return rfc3339(value) if value else None
    return value.hex() if isinstance(value, bytes) else value
