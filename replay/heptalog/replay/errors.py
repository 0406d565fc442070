"""What can go wrong, as one tree; every failure carries a stable code, a rule and facts, never finished prose.

    HeptalogError
    ├── Refused        a player's or arbiter's mistake: the rules say no, nothing changes
    ├── Malformed      a fault of form: what was given is not an event, a game file or a request
    ├── Redacted       a copy without its sealed values: it can be checked so far and no further
    ├── Corrupt        the record itself is wrong: a broken chain, a broken seal, damaged bytes
    ├── Conflict       a store's no: another head, a reused id, a game that exists
    ├── NotFound       no such game, or nothing at that place yet
    └── Unavailable    what was asked for cannot be opened or reached now

Sentences are made at the edges, by `heptalog.replay.sentences`. Anything else that is raised is our own bug.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Self


class Code(StrEnum):
    """The stable codes: printed by verify, sent by the service as reasons, carried by the client's exceptions."""

    # The rules.
    NOT_YOUR_TURN = "NOT_YOUR_TURN"
    WRONG_PHASE = "WRONG_PHASE"
    GAME_OVER = "GAME_OVER"
    ILLEGAL_MOVE = "ILLEGAL_MOVE"
    NOT_HELD = "NOT_HELD"
    MUST_PLAY = "MUST_PLAY"
    MUST_FOLLOW = "MUST_FOLLOW"
    ARM_AMBIGUOUS = "ARM_AMBIGUOUS"
    DEAL_INVALID = "DEAL_INVALID"
    DRAW_INVALID = "DRAW_INVALID"
    DISCARD_INVALID = "DISCARD_INVALID"
    CARD_UNKNOWN = "CARD_UNKNOWN"
    TILE_UNKNOWN = "TILE_UNKNOWN"
    SEAT_UNKNOWN = "SEAT_UNKNOWN"
    PLAYERS_INVALID = "PLAYERS_INVALID"
    OPTION_OUT_OF_RANGE = "OPTION_OUT_OF_RANGE"
    RULESET_UNKNOWN = "RULESET_UNKNOWN"
    EVENT_FOREIGN = "EVENT_FOREIGN"
    NOT_STARTED = "NOT_STARTED"
    ALREADY_STARTED = "ALREADY_STARTED"
    RETRACTION_INVALID = "RETRACTION_INVALID"
    CLOSING_INVALID = "CLOSING_INVALID"
    GAME_TOO_LONG = "GAME_TOO_LONG"
    SEAL_MISSING = "SEAL_MISSING"
    # The form.
    NOT_JSON = "NOT_JSON"
    NOT_UTF8 = "NOT_UTF8"
    NOT_PROTOBUF = "NOT_PROTOBUF"
    FIELD_INVALID = "FIELD_INVALID"
    FIELD_UNKNOWN = "FIELD_UNKNOWN"
    FIELD_REPEATED = "FIELD_REPEATED"
    BODY_MISSING = "BODY_MISSING"
    BODY_REPEATED = "BODY_REPEATED"
    SEQUENCE_GAP = "SEQUENCE_GAP"
    GAME_ID_MIXED = "GAME_ID_MIXED"
    EVENT_ID_REPEATED = "EVENT_ID_REPEATED"
    LINE_BLANK = "LINE_BLANK"
    LINE_TOO_LONG = "LINE_TOO_LONG"
    BYTE_ORDER_MARK = "BYTE_ORDER_MARK"
    GAME_EMPTY = "GAME_EMPTY"
    EVENT_TOO_LARGE = "EVENT_TOO_LARGE"
    NOTE_INVALID = "NOTE_INVALID"
    BUNDLE_INVALID = "BUNDLE_INVALID"
    KEY_INVALID = "KEY_INVALID"
    QUERY_INVALID = "QUERY_INVALID"
    # The evidence.
    VALUE_SEALED = "VALUE_SEALED"
    SEAL_BROKEN = "SEAL_BROKEN"
    CHAIN_BROKEN = "CHAIN_BROKEN"
    RECORD_DAMAGED = "RECORD_DAMAGED"
    POSITION_DAMAGED = "POSITION_DAMAGED"
    COLUMNS_DIFFER = "COLUMNS_DIFFER"
    ENDINGS_DIFFER = "ENDINGS_DIFFER"
    TREE_DIFFERS = "TREE_DIFFERS"
    CHECKPOINT_DIFFERS = "CHECKPOINT_DIFFERS"
    PROOF_BROKEN = "PROOF_BROKEN"
    SIGNATURE_BROKEN = "SIGNATURE_BROKEN"
    SIGNATURE_MISSING = "SIGNATURE_MISSING"
    EVENTS_LOST = "EVENTS_LOST"
    HEAD_DIFFERS = "HEAD_DIFFERS"
    HEAD_MISSING = "HEAD_MISSING"
    BACKUP_DIFFERS = "BACKUP_DIFFERS"
    BACKUP_DAMAGED = "BACKUP_DAMAGED"
    TABLES_DIFFER = "TABLES_DIFFER"
    EXPORT_DAMAGED = "EXPORT_DAMAGED"
    # The log.
    SEQUENCE_MISMATCH = "SEQUENCE_MISMATCH"
    EVENT_ID_REUSED = "EVENT_ID_REUSED"
    BATCH_PARTLY_KNOWN = "BATCH_PARTLY_KNOWN"
    GAME_EXISTS = "GAME_EXISTS"
    GAME_NOT_FOUND = "GAME_NOT_FOUND"
    CHECKPOINT_NOT_FOUND = "CHECKPOINT_NOT_FOUND"
    POSITION_AFTER_HEAD = "POSITION_AFTER_HEAD"
    VIEW_UNKNOWN = "VIEW_UNKNOWN"
    TOURNAMENT_UNKNOWN = "TOURNAMENT_UNKNOWN"
    # The surroundings.
    SOURCE_NOT_FOUND = "SOURCE_NOT_FOUND"
    SOURCE_UNREADABLE = "SOURCE_UNREADABLE"
    DATABASE_LOCKED = "DATABASE_LOCKED"
    DATABASE_FOREIGN = "DATABASE_FOREIGN"
    DATABASE_NEWER = "DATABASE_NEWER"
    EXPORT_FOREIGN = "EXPORT_FOREIGN"
    RECORD_NEWER = "RECORD_NEWER"
    KEY_MISSING = "KEY_MISSING"
    PORT_IN_USE = "PORT_IN_USE"
    HOST_REFUSED = "HOST_REFUSED"
    SERVER_UNREACHABLE = "SERVER_UNREACHABLE"
    DEADLINE_PASSED = "DEADLINE_PASSED"
    DRAINING = "DRAINING"
    OVERLOADED = "OVERLOADED"
    DISK_RESERVE = "DISK_RESERVE"
    TABLES_BEHIND = "TABLES_BEHIND"
    QUERY_TOO_LONG = "QUERY_TOO_LONG"
    QUERY_TOO_LARGE = "QUERY_TOO_LARGE"
    RESULT_TOO_LARGE = "RESULT_TOO_LARGE"
    QUERY_FAILED = "QUERY_FAILED"
    WRITE_FAILED = "WRITE_FAILED"


class HeptalogError(Exception):
    """Any failure that is not our own bug.

    `code` is stable; `rule` is the number of the rule or the name of the contract that says no ("SR-R12",
    "game-file"); `facts` are the variable parts, plain values that reveal nothing hidden.
    """

    def __init__(self, code: Code, *, rule: str = "", **facts: object) -> None:
        super().__init__(code, rule, facts)
        self.code = code
        self.rule = rule
        self.facts = facts

    def __str__(self) -> str:
        return f"{sentences.placed_sentence(self)} [{self.code}]"

    def again(self) -> Self:
        """The same for somebody else: whoever is given a failure may write into its facts."""
        return type(self)(self.code, rule=self.rule, **self.facts)

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword arguments do not survive the default pickling, and verify sends errors between processes.
        return _rebuild, (type(self), self.code, self.rule, self.facts)


class Refused(HeptalogError):
    """The rules do not allow this event now. Nothing changes and nobody loses a turn (C-3)."""


class Malformed(HeptalogError):
    """What was given has not the form of an event. `facts["field"]` is its path, where one is to blame."""


class Redacted(HeptalogError):
    """A sealed value is not in this copy, so a fold cannot go past it; the chain can still be checked."""


class Corrupt(HeptalogError):
    """The record contradicts itself: somebody or something changed it."""


class Conflict(HeptalogError):
    """The log has moved on, or holds this already in another form."""


class NotFound(HeptalogError):
    """There is no such game, or it does not reach so far."""


class Unavailable(HeptalogError):
    """What was asked for cannot be opened or reached at this time."""


def error_of(code: Code, *, rule: str = "", **facts: object) -> HeptalogError:
    """The failure with this code, as its own kind: what a client makes of an answer."""
    kind = next(kind for kind, codes in KINDS.items() if code in codes)
    return kind(code, rule=rule, **facts)


def problem_of(error: Exception) -> str:
    """What is wrong, in a word, where its text could quote a hidden card."""
    return str(error.code) if isinstance(error, HeptalogError) else type(error).__name__


def _between(first: Code, last: Code) -> frozenset[Code]:
    codes = list(Code)
    return frozenset(codes[codes.index(first) : codes.index(last) + 1])


# Which codes each kind has; the codes above stand in this order. Codes of evidence that a caller sent itself are
# Malformed, where they are met and as they come back from a server.
KINDS: Final[Mapping[type[HeptalogError], frozenset[Code]]] = MappingProxyType(
    {
        Refused: _between(Code.NOT_YOUR_TURN, Code.SEAL_MISSING),
        Malformed: _between(Code.NOT_JSON, Code.QUERY_INVALID),
        Redacted: frozenset({Code.VALUE_SEALED}),
        Corrupt: _between(Code.SEAL_BROKEN, Code.EXPORT_DAMAGED),
        Conflict: _between(Code.SEQUENCE_MISMATCH, Code.GAME_EXISTS),
        NotFound: _between(Code.GAME_NOT_FOUND, Code.TOURNAMENT_UNKNOWN),
        Unavailable: _between(Code.SOURCE_NOT_FOUND, Code.WRITE_FAILED),
    }
)


def _rebuild(kind: type[HeptalogError], code: Code, rule: str, facts: dict[str, object]) -> HeptalogError:
    return kind(code, rule=rule, **facts)


# Sentences are told of errors, so they come after them; and now, for a worker that is confined can load nothing more.
from heptalog.replay import sentences  # noqa: E402
