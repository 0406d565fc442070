"""A whole game file: what holds from line to line, and where a fault is said to be."""

import base64
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import pytest

from heptalog.replay.errors import Code, Corrupt, HeptalogError, Malformed, Redacted, Refused
from heptalog.replay.gamefile import read_events
from heptalog.replay.seven_up import SEVEN_UP
from heptalog.replay.verify import Examiner, Report, verify
from tests.support.evidence import lines_of, recorded, redacted
from tests.support.play import play

LENGTH = 12


def file_of(*, is_sealed: bool = True) -> list[bytes]:
    """The beginning of a game of Seven Up, as exported."""
    bodies = play(SEVEN_UP, 11, events_max=LENGTH, with_rulings=False).bodies
    return lines_of(event for event, _ in recorded(bodies, is_sealed=is_sealed))


def bare_file() -> list[bytes]:
    """The same with nothing but the sequence and the body in a line."""
    trees = [msgspec.json.decode(line) for line in file_of(is_sealed=False)]
    envelope = ("gameId", "eventId", "occurredAt", "recordedAt", "recordedBy", "previousHash", "hash")
    return [msgspec.json.encode({name: tree[name] for name in tree if name not in envelope}) for tree in trees]


def examined(lines: Iterable[bytes]) -> Report:
    """What verify says of a file."""
    return verify((event, None) for event in read_events(lines))


def changed(lines: list[bytes], index: int, change: Callable[[dict[str, Any]], object]) -> list[bytes]:
    """The file with one line changed."""
    tree = msgspec.json.decode(lines[index])
    change(tree)
    return [*lines[:index], msgspec.json.encode(tree), *lines[index + 1 :]]


def fault(lines: Iterable[bytes]) -> tuple[type[HeptalogError], Code, int]:
    """What is wrong, and at which sequence."""
    report = examined(lines)
    assert report.error is not None, "this is fine"
    assert report.error.rule
    return type(report.error), report.error.code, report.sequence


def test_what_is_exported_is_fine() -> None:
    assert examined(file_of()) == Report(LENGTH)
    assert examined(file_of(is_sealed=False)) == Report(LENGTH)
    assert examined(bare_file()) == Report(LENGTH)


def test_line_ends_are_taken_as_they_come() -> None:
    lines = file_of()
    for end in (b"", b"\n", b"\r\n", b" \r\n", b"\t\n"):
        assert examined(line + end for line in lines) == Report(LENGTH)
    for tail in ([b"\n"], [b"\r\n", b" \n"], [b""]):
        assert examined([*lines, *tail]) == Report(LENGTH)


@pytest.mark.parametrize("blank", [b"", b"\n", b"\r\n", b"  \t\n"])
def test_a_blank_line_inside_is_refused(blank: bytes) -> None:
    lines = file_of()
    for index in (0, 1, 5, LENGTH - 1):
        with pytest.raises(Malformed) as refused:
            list(read_events([*lines[:index], blank, *lines[index:]]))
        assert refused.value.code is Code.LINE_BLANK
        assert (refused.value.facts["line"], refused.value.facts["sequence"]) == (index + 1, index)


@pytest.mark.parametrize("lines", [[], [b""], [b"\n", b"\r\n"]], ids=["nothing", "an empty line", "blank lines"])
def test_a_file_without_an_event_is_refused(lines: list[bytes]) -> None:
    assert fault(lines) == (Malformed, Code.GAME_EMPTY, 0)


@pytest.mark.parametrize("sequence", [0, 3, 5, 6, 4294967295])
def test_a_gap_is_found(sequence: int) -> None:
    for lines in (file_of(), bare_file()):
        wrong = changed(lines, 4, lambda tree: tree.update(sequence=sequence))
        assert fault(wrong) == (Malformed, Code.SEQUENCE_GAP, sequence)


def test_a_left_out_sequence_is_0() -> None:
    lines = bare_file()
    assert examined(changed(lines, 0, lambda tree: tree.pop("sequence"))) == Report(LENGTH)
    assert fault(changed(lines, 4, lambda tree: tree.pop("sequence"))) == (Malformed, Code.SEQUENCE_GAP, 0)


def test_lines_dropped_swapped_or_doubled_are_found() -> None:
    for lines in (file_of(), bare_file()):
        for index in range(LENGTH - 1):
            assert fault([*lines[:index], *lines[index + 1 :]])[1] is Code.SEQUENCE_GAP
            assert fault([*lines[: index + 1], *lines[index:]])[1] is Code.SEQUENCE_GAP
            swapped = [*lines[:index], lines[index + 1], lines[index], *lines[index + 2 :]]
            assert fault(swapped)[1] is Code.SEQUENCE_GAP


def test_two_games_in_one_file_are_found() -> None:
    lines = changed(bare_file(), 2, lambda tree: tree.update(gameId="one"))
    assert examined(lines) == Report(LENGTH), "an importer fills in what is missing"
    assert examined(changed(lines, 7, lambda tree: tree.update(gameId="one"))) == Report(LENGTH)
    assert fault(changed(lines, 7, lambda tree: tree.update(gameId="two"))) == (Malformed, Code.GAME_ID_MIXED, 7)
    assert fault(changed(file_of(), 7, lambda tree: tree.update(gameId="two"))) == (Malformed, Code.GAME_ID_MIXED, 7)


def test_an_event_id_twice_is_found() -> None:
    lines = changed(bare_file(), 2, lambda tree: tree.update(eventId="one"))
    assert examined(lines) == Report(LENGTH)
    assert fault(changed(lines, 7, lambda tree: tree.update(eventId="one"))) == (Malformed, Code.EVENT_ID_REPEATED, 7)


@pytest.mark.parametrize("name", ["hash", "previousHash"])
@pytest.mark.parametrize("wrong", [bytes(31), bytes(32), bytes(33), bytes(range(32))])
def test_a_hash_is_checked_wherever_it_stands(name: str, wrong: bytes) -> None:
    for index in range(LENGTH):
        if (index, name, wrong) == (0, "previousHash", bytes(32)):
            continue
        lines = changed(file_of(), index, lambda tree: tree.update({name: base64.b64encode(wrong).decode()}))
        assert fault(lines) == (Corrupt, Code.CHAIN_BROKEN, index)


@pytest.mark.parametrize("name", ["recordedBy", "eventId", "gameId"])
def test_the_envelope_is_part_of_the_evidence(name: str) -> None:
    for index in range(LENGTH):
        wrong = changed(file_of(), index, lambda tree: tree.update({name: f"another {name}"}))
        error, _, sequence = fault(wrong)
        # The game's id of the first line is only found to be another at the second.
        assert error in (Corrupt, Malformed)
        assert sequence == index


def test_a_redacted_copy_stops_the_rules_and_not_the_chain() -> None:
    events = list(read_events(file_of()))
    copy = lines_of(redacted(events))
    first = next(event.sequence for event in events if event.body.sealed)
    assert fault(copy) == (Redacted, Code.VALUE_SEALED, first)
    assert fault(changed(copy, LENGTH - 1, lambda tree: tree.update(recordedBy="x")))[1] is Code.CHAIN_BROKEN


def test_a_file_that_begins_in_the_middle_is_refused() -> None:
    lines = bare_file()
    middle = changed(lines, 3, lambda tree: tree.update(sequence=0))[3:]
    assert fault(middle) == (Refused, Code.NOT_STARTED, 0)


def test_an_examination_ends_with_its_first_fault() -> None:
    examiner = Examiner()
    lines = changed(bare_file(), 4, lambda tree: tree.update(sequence=9))
    events = list(read_events(lines))
    for event in events[:4]:
        examiner.advance(event)
    with pytest.raises(Malformed):
        examiner.advance(events[4])
    assert examiner.accepted == 4


def test_every_change_of_one_letter_of_an_exported_file_is_found() -> None:
    lines = file_of()[:6]
    unnoticed = []
    for index, line in enumerate(lines):
        for place, letter in enumerate(line):
            for other in b'0A" ~':
                wrong = line[:place] + bytes([other]) + line[place + 1 :]
                if other == letter:
                    continue
                try:
                    is_fine = examined([*lines[:index], wrong, *lines[index + 1 :]]).ok
                except HeptalogError:
                    continue
                if is_fine:
                    unnoticed.append((index, place, wrong))
    assert not unnoticed
