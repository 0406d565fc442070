"""Bundles: one file that proves one game to somebody who has nothing but a public key.

    {"heptalogBundle":1,"gameId":…,"events":…,"viewer":{"role":…},"proof":…}
    the game file, with its chain

The first line says what the file is, and holds a C2SP tlog-proof as text. Its leaf is the game's last event, whose hash
covers all the events before it. Everything after the first line is a game file, in which parts that are hidden from the
viewer are left out. There is one way to write a first line: what is not needed to prove anything could be changed.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from msgspec import UNSET, DecodeError, Struct, UnsetType, ValidationError, field
from msgspec.json import Decoder, Encoder

from heptalog.replay.errors import Code, Corrupt, Malformed, Redacted, Unavailable
from heptalog.replay.events import Event, Uint32
from heptalog.replay.evidence.checkpoints import CheckpointBody, checkpoint_in
from heptalog.replay.evidence.merkle import check_inclusion, leaf_hash
from heptalog.replay.evidence.notes import Signed, VerifierKey, Verify
from heptalog.replay.evidence.proofs import LogProof, check_proof, format_proof, parse_proof
from heptalog.replay.gamefile import LINE_SIZE_MAX, encode_line, read_events
from heptalog.replay.redaction import hidden_count
from heptalog.replay.rules import ARBITER, Role, Viewer
from heptalog.replay.verify import Examiner, Report, verify

FORMAT_VERSION: Final = 1
_RULE: Final = "evidence"
_MARK: Final = "heptalogBundle"
_BREAKS: Final = b"\r\n"
_VERSION_MAX: Final = 1_000_000  # a larger number is none that a version will have


class _Viewer(Struct, frozen=True, forbid_unknown_fields=True):
    role: Role
    seat: Uint32 | UnsetType = UNSET


class _Header(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    format_version: int = field(name=_MARK)
    game_id: str
    events: Uint32
    viewer: _Viewer
    proof: str


class Bundle(Struct, frozen=True):
    """What the first line says. Only the proof proves anything; that the rest is true is for `examine` to see."""

    game_id: str
    events: int
    viewer: Viewer
    proof: LogProof


class Examined(Struct, frozen=True):
    """What came of an examination. `log` is the log that the game is in, by its own word where nobody `signed`.

    In `report` a game that is redacted is not bad: the rules were asked as far as its events are whole.
    """

    report: Report
    bundle: Bundle
    log: CheckpointBody
    signed: tuple[Signed, ...] = ()
    hidden: int = 0  # parts that are left out
    over: bool | None = None  # whether the game is over; not known where a part is left out

    @property
    def position(self) -> int:
        """The place of the game's last event among all events of the log, from 1."""
        return self.bundle.proof.index + 1


_decoder: Final = Decoder(_Header)
_untyped: Final = Decoder()
_encoder: Final = Encoder()


def bundle_lines(bundle: Bundle, events: Iterable[Event]) -> Iterator[bytes]:
    """The lines of the file, each with its line break."""
    viewer = _Viewer(bundle.viewer.role, bundle.viewer.seat if bundle.viewer.role is Role.SEAT else UNSET)
    header = _Header(FORMAT_VERSION, bundle.game_id, bundle.events, viewer, format_proof(bundle.proof))
    yield _encoder.encode(header) + b"\n"
    for event in events:
        yield encode_line(event) + b"\n"


def is_bundle(line: bytes) -> bool:
    """Whether a file with this first line is to be read as a bundle, be it a good one or not."""
    # Where the mark does not come first it is none, and a game file has no such field.
    return line.startswith(f'{{"{_MARK}":'.encode())


def parse_header(line: bytes) -> Bundle:
    """What the first line says. Raises Malformed, and Unavailable for one that a newer version wrote."""
    line = line.rstrip(_BREAKS)
    if len(line) > LINE_SIZE_MAX:
        raise Malformed(Code.LINE_TOO_LONG, rule=_RULE, limit=LINE_SIZE_MAX, line=1)
    try:
        tree: Any = _untyped.decode(line)
        version = tree.get(_MARK) if isinstance(tree, dict) else None
        if type(version) is int and FORMAT_VERSION < version <= _VERSION_MAX:
            raise Unavailable(Code.RECORD_NEWER, rule=_RULE, version=version)
        header = _decoder.decode(line)
    except (DecodeError, ValidationError, RecursionError) as error:
        raise _invalid(str(error), line=1) from None
    if _encoder.encode(header) != line:
        raise _invalid("the first line has one way to be written, and this is another", line=1)
    if header.format_version != FORMAT_VERSION:
        raise _invalid("there is no such version", line=1)
    if (header.viewer.role is Role.SEAT) != (header.viewer.seat is not UNSET):
        raise _invalid("a seat is named where a seat looks", line=1)
    seat = -1 if header.viewer.seat is UNSET else header.viewer.seat
    proof = parse_proof(header.proof)
    if proof.extra:
        raise _invalid("nothing vouches for what is extra in its proof", line=1)
    return Bundle(header.game_id, header.events, Viewer(seat, header.viewer.role), proof)


def events_in(lines: Iterable[bytes]) -> Iterator[Event]:
    """The events of a bundle, given as the lines after its first. Raises Malformed with the number of the line."""
    try:
        yield from read_events(lines)
    except Malformed as error:
        if isinstance(number := error.facts.get("line"), int):
            error.facts["line"] = number + 1
        raise


def examine(
    bundle: Bundle,
    events: Iterable[Event],
    keys: Iterable[VerifierKey],
    verify_signature: Verify,
    examiner: Examiner | None = None,
) -> Examined:
    """Examine a bundle: form, chain, seals, the rules as far as they can be asked, the proof and who signed it.

    Without keys the signatures are not looked at: then it shows only that its parts fit together. Raises Malformed or
    Corrupt where the game as a whole is not what the bundle says, or is not proved.
    """
    log = checkpoint_in(bundle.proof.checkpoint)
    seen = _Seen()
    examiner = examiner or Examiner()
    report = verify(((event, None) for event in seen.passing(events)), examiner)
    signed: tuple[Signed, ...] = ()
    if report.error is None or isinstance(report.error, Redacted):
        assert seen.head is not None, "a game without any event is not good"
        _check_whole(bundle, seen, seen.head)
        leaf = leaf_hash(seen.head.hash)
        keys = tuple(keys)
        if keys:
            log, signed = check_proof(bundle.proof, leaf, keys, verify_signature)
        else:
            check_inclusion(leaf, bundle.proof.index, log.size, bundle.proof.hashes, log.root)
        report = Report(report.events)
    over = None if examiner.redacted is not None or examiner.fold is None else examiner.fold.state.over
    return Examined(report, bundle, log, signed, seen.hidden, over)


class _Seen:
    """What passed by: how many events, the last of them, and how many parts are left out."""

    def __init__(self) -> None:
        self.events = 0
        self.hidden = 0
        self.head: Event | None = None

    def passing(self, events: Iterable[Event]) -> Iterator[Event]:
        for event in events:
            self.events += 1
            self.head = event
            if event.body.sealed:
                self.hidden += hidden_count(event.body)
            yield event


def _check_whole(bundle: Bundle, seen: _Seen, head: Event) -> None:
    """Raise unless these are all the events of the game that the bundle names, for who is to read them."""
    if head.game_id != bundle.game_id:
        raise _invalid("it is of another game", expected=bundle.game_id, actual=head.game_id)
    if seen.events != bundle.events:
        raise _invalid("it has not as many events as it says", expected=bundle.events, actual=seen.events)
    if not head.hash:
        raise Corrupt(Code.CHAIN_BROKEN, rule=_RULE, problem="a bundle carries its chain", sequence=head.sequence)
    if bundle.viewer == ARBITER and seen.hidden:
        raise _invalid("it is for who sees all, and parts are left out", hidden=seen.hidden)


def _invalid(problem: str, **facts: object) -> Malformed:
    return Malformed(Code.BUNDLE_INVALID, rule=_RULE, problem=problem, **facts)
