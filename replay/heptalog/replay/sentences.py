"""Codes into sentences: the one place where a failure becomes prose, for the command line and the service alike."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from heptalog.replay.errors import Code, HeptalogError

SENTENCES: Final[Mapping[Code, str]] = MappingProxyType(
    {
        Code.NOT_YOUR_TURN: "it is not this seat's turn",
        Code.WRONG_PHASE: "this cannot happen at this point of the game",
        Code.GAME_OVER: "the game is over",
        Code.ILLEGAL_MOVE: "the rules do not allow this move",
        Code.NOT_HELD: "this seat does not hold it",
        Code.MUST_PLAY: "this seat may not pass now",
        Code.MUST_FOLLOW: "this seat must follow",
        Code.ARM_AMBIGUOUS: "more than one arm fits, so it must be named",
        Code.DEAL_INVALID: "the deal is not one that the rules know",
        Code.DRAW_INVALID: "the draw does not lead to its outcome",
        Code.DISCARD_INVALID: "these cards cannot be discarded",
        Code.CARD_UNKNOWN: "there is no such card in this game",
        Code.TILE_UNKNOWN: "there is no such tile in this game",
        Code.SEAT_UNKNOWN: "there is no such seat at this table",
        Code.PLAYERS_INVALID: "these players cannot play this game",
        Code.OPTION_OUT_OF_RANGE: "an option is out of its range",
        Code.RULESET_UNKNOWN: "these rules, or this version of them, are not known here",
        Code.EVENT_FOREIGN: "this game has no such event",
        Code.NOT_STARTED: "a game begins with gameStarted",
        Code.ALREADY_STARTED: "a game starts only once",
        Code.RETRACTION_INVALID: "only an earlier sequence can be gone back to",
        Code.CLOSING_INVALID: "these cannot be the winners",
        Code.GAME_TOO_LONG: "the game has as many events as one may have",
        Code.SEAL_MISSING: "a hidden part was recorded without a seal, so it cannot be left out",
        Code.NOT_JSON: "this is not JSON",
        Code.NOT_UTF8: "this is not UTF-8",
        Code.NOT_PROTOBUF: "these bytes are not the protobuf message that they should be",
        Code.FIELD_INVALID: "a field has not the form it must have",
        Code.FIELD_UNKNOWN: "there is a field that the contract does not name",
        Code.FIELD_REPEATED: "a name stands twice in one object",
        Code.BODY_MISSING: "an event has exactly one body, and this has none",
        Code.BODY_REPEATED: "an event has exactly one body, and this has more",
        Code.SEQUENCE_GAP: "the sequence does not follow the one before it",
        Code.GAME_ID_MIXED: "events of two games are mixed",
        Code.EVENT_ID_REPEATED: "two events have one id",
        Code.LINE_BLANK: "a line between events is blank",
        Code.LINE_TOO_LONG: "a line is too long",
        Code.BYTE_ORDER_MARK: "the file begins with a byte-order mark",
        Code.GAME_EMPTY: "there is no event at all",
        Code.EVENT_TOO_LARGE: "an event or a request is too large",
        Code.NOTE_INVALID: "this is not a signed note of the form that it should have",
        Code.BUNDLE_INVALID: "this is not a bundle",
        Code.KEY_INVALID: "this is not a key of the kind that is needed here",
        Code.QUERY_INVALID: "this question cannot be asked",
        Code.VALUE_SEALED: "this copy is redacted here, so the rules cannot be checked further",
        Code.SEAL_BROKEN: "a sealed value is not the one that was committed to",
        Code.CHAIN_BROKEN: "the chain of hashes is broken",
        Code.RECORD_DAMAGED: "the recorded bytes are damaged",
        Code.POSITION_DAMAGED: "positions are missing, repeated or out of order",
        Code.COLUMNS_DIFFER: "what is kept beside the record is not what the record says",
        Code.ENDINGS_DIFFER: "the list of endings is not what the rules say",
        Code.TREE_DIFFERS: "the stored Merkle tree is not that of the events",
        Code.CHECKPOINT_DIFFERS: "this is not the log that the checkpoint was signed over",
        Code.PROOF_BROKEN: "the proof does not lead to the signed root",
        Code.SIGNATURE_BROKEN: "a signature is not that of its key",
        Code.SIGNATURE_MISSING: "none of the given keys has signed this",
        Code.EVENTS_LOST: "the log is shorter than what was acknowledged",
        Code.HEAD_DIFFERS: "this is not the log that its head record was written for",
        Code.HEAD_MISSING: "the head record beside the database is missing or damaged",
        Code.BACKUP_DIFFERS: "this is not the log that the backup was made of",
        Code.BACKUP_DAMAGED: "the backup is damaged or incomplete",
        Code.TABLES_DIFFER: "the tables are not what follows from the events",
        Code.EXPORT_DAMAGED: "the export is damaged or incomplete",
        Code.SEQUENCE_MISMATCH: "the game has another head than was expected",
        Code.EVENT_ID_REUSED: "another event has this id already",
        Code.BATCH_PARTLY_KNOWN: "some of these events are recorded already and some are not",
        Code.GAME_EXISTS: "there is a game with this id already",
        Code.GAME_NOT_FOUND: "there is no such game",
        Code.CHECKPOINT_NOT_FOUND: "there is no such checkpoint",
        Code.POSITION_AFTER_HEAD: "this lies beyond the last event",
        Code.VIEW_UNKNOWN: "there is no such table or view",
        Code.TOURNAMENT_UNKNOWN: "there is no game of this tournament",
        Code.SOURCE_NOT_FOUND: "there is no such file",
        Code.SOURCE_UNREADABLE: "this cannot be opened",
        Code.DATABASE_LOCKED: "another process holds this database (a server is named as grpc://HOST:PORT)",
        Code.DATABASE_FOREIGN: "this is not a Heptalog database",
        Code.DATABASE_NEWER: "this database was made by a newer version",
        Code.EXPORT_FOREIGN: "this is not a folder that Heptalog has exported to",
        Code.RECORD_NEWER: "this was recorded by a newer version of Heptalog",
        Code.KEY_MISSING: "there is no key here to sign with",
        Code.PORT_IN_USE: "this port cannot be listened on",
        Code.HOST_REFUSED: "without credentials a server listens on the loopback interface only",
        Code.SERVER_UNREACHABLE: "the server cannot be reached",
        Code.DEADLINE_PASSED: "the answer did not come in time",
        Code.DRAINING: "the server is shutting down",
        Code.OVERLOADED: "the server has more to do than it can take",
        Code.DISK_RESERVE: "the disk is nearly full, so nothing more is recorded",
        Code.TABLES_BEHIND: "the tables have not caught up with the log in time",
        Code.QUERY_TOO_LONG: "the question takes longer than it may",
        Code.QUERY_TOO_LARGE: "the question takes more memory than it may",
        Code.RESULT_TOO_LARGE: "the answer is larger than it may be",
        Code.QUERY_FAILED: "the question ended without an answer",
        Code.WRITE_FAILED: "the log could not be written",
    }
)


_PIECES: Final = ("card", "tile", "turned")
_SIZES: Final = ("bytes", "KiB", "MiB", "GiB", "TiB")


def sentence(error: HeptalogError) -> str:
    """What went wrong, for a person: one sentence, with the facts and the rule behind it."""
    facts = dict(error.facts)
    # Where it happened is told beside the sentence, not in it.
    facts.pop("sequence", None)
    facts.pop("line", None)
    words = SENTENCES[error.code]
    if error.code is Code.WRITE_FAILED and "what" in facts:
        words = f"the {facts.pop('what')} could not be written"
    if error.code is Code.SOURCE_NOT_FOUND and "what" in facts:
        words = f"there is no {facts.pop('what')}"
    problem = str(facts.pop("problem", ""))
    parts = [problem] if problem else []
    if "first" in facts and "last" in facts:
        first, last = facts.pop("first"), facts.pop("last")
        low, high = (f"{place:,}" if isinstance(place, int) else str(place) for place in (first, last))
        parts.append(f"position {low}" if first == last else f"positions {low} to {high}")
    if error.code is Code.DISK_RESERVE:
        facts = {name: shown_size(value) if isinstance(value, int) else value for name, value in facts.items()}
    parts += [f"{name.replace('_', ' ')} {_plain(value)}" for name, value in facts.items() if value != ""]
    # A piece that was left out is an empty text, and is no piece of any game.
    parts += [f"no {name} is named" for name in _PIECES if facts.get(name) == ""]
    details = f": {', '.join(parts)}" if parts else ""
    rule = f" ({error.rule})" if error.rule else ""
    return f"{words}{details}{rule}"


def placed_sentence(error: HeptalogError) -> str:
    """The same behind its place, where it has one: for whoever is told nothing else."""
    places = [f"{name} {error.facts[name]}" for name in ("line", "sequence") if name in error.facts]
    return ": ".join([*places, sentence(error)])


def shown_size(size: int) -> str:
    """A size in bytes for eyes: 1.5 GiB."""
    power = min(max(size.bit_length() - 1, 0) // 10, len(_SIZES) - 1)
    return f"{size} bytes" if not power else f"{size / 1024**power:.1f} {_SIZES[power]}"


def _plain(value: object) -> str:
    if isinstance(value, tuple | list):
        return " ".join(map(str, value)) or "none"
    return str(value)
