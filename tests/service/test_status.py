"""Failures as statuses and back: one table, total over the codes, the same on both sides."""

import grpc
import pytest

from heptalog.replay.errors import KINDS, Code, Conflict, Corrupt, HeptalogError, Malformed, NotFound, Refused, error_of
from heptalog.service.status import DETAILS_KEY, error_from, status_code, trailers_of

EACH_CODE = pytest.mark.parametrize("code", Code)
# The table of the contract: what a code is to gRPC, where its kind does not say so.
EXCEPTIONS = {
    Code.RULESET_UNKNOWN: "UNIMPLEMENTED",
    Code.SEQUENCE_MISMATCH: "ABORTED",
    Code.BATCH_PARTLY_KNOWN: "FAILED_PRECONDITION",
    Code.POSITION_AFTER_HEAD: "OUT_OF_RANGE",
    Code.OVERLOADED: "RESOURCE_EXHAUSTED",
    Code.DISK_RESERVE: "RESOURCE_EXHAUSTED",
    Code.RECORD_NEWER: "UNIMPLEMENTED",
    Code.KEY_MISSING: "FAILED_PRECONDITION",
    Code.DEADLINE_PASSED: "DEADLINE_EXCEEDED",
    Code.QUERY_TOO_LONG: "DEADLINE_EXCEEDED",
    Code.QUERY_TOO_LARGE: "RESOURCE_EXHAUSTED",
    Code.RESULT_TOO_LARGE: "RESOURCE_EXHAUSTED",
    Code.QUERY_FAILED: "INTERNAL",
}
KIND_NAMES = {
    "Refused": "FAILED_PRECONDITION",
    "Malformed": "INVALID_ARGUMENT",
    "Redacted": "INVALID_ARGUMENT",
    "Corrupt": "DATA_LOSS",
    "Conflict": "ALREADY_EXISTS",
    "NotFound": "NOT_FOUND",
    "Unavailable": "UNAVAILABLE",
}


def test_every_code_is_of_one_kind() -> None:
    assert sorted(code for codes in KINDS.values() for code in codes) == sorted(Code)


@EACH_CODE
def test_every_code_has_its_status(code: Code) -> None:
    error = error_of(code)
    assert status_code(error).name == EXCEPTIONS.get(code, KIND_NAMES[type(error).__name__])


@EACH_CODE
def test_every_error_comes_back_as_itself(code: Code) -> None:
    error = error_of(
        code, rule="SU-R12", seat=3, game_id="007", event_id="12", field="events[3].card_played.card", expected=-1
    )
    again = error_from(status_code(error), "some text", trailers_of(error))
    assert type(again) is type(error)
    assert (again.code, again.rule, again.facts) == (error.code, error.rule, error.facts)


def test_evidence_that_a_caller_brought_is_a_fault_of_form() -> None:
    error = Malformed(Code.SEAL_BROKEN, rule="evidence", field="events[0].cards_dealt.hands[1]")
    assert status_code(error) is grpc.StatusCode.INVALID_ARGUMENT
    assert status_code(Corrupt(Code.SEAL_BROKEN)) is grpc.StatusCode.DATA_LOSS


@pytest.mark.parametrize("code", [Code.SEAL_BROKEN, Code.CHAIN_BROKEN, Code.VALUE_SEALED, Code.FIELD_INVALID])
def test_a_fault_of_form_comes_back_as_one(code: Code) -> None:
    error = Malformed(code, rule="evidence", field="events[0].hash", index=0)
    again = error_from(status_code(error), "some text", trailers_of(error))
    assert type(again) is Malformed
    assert (again.code, again.rule, again.facts) == (error.code, error.rule, error.facts)


def test_a_number_is_a_number_and_digits_are_text() -> None:
    facts: dict[str, object] = {"seat": 3, "expected": "3", "limit": -1, "card": "7", "winners": "0 2", "size": 0}
    error = Refused(Code.ILLEGAL_MOVE, rule="7", **facts)
    again = error_from(status_code(error), "", trailers_of(error))
    assert (again.rule, again.facts) == ("7", facts)
    assert {name: type(value) for name, value in again.facts.items()} == {
        name: type(value) for name, value in facts.items()
    }


@pytest.mark.parametrize(
    "error",
    [
        NotFound(Code.GAME_NOT_FOUND, game_id="七" * 100_000),
        Refused(Code.CARD_UNKNOWN, rule="SU-R1", card="x" * 100_000, seat=1),
        Malformed(Code.FIELD_INVALID, field="y" * 100_000, problem="z" * 100_000),
        Conflict(Code.BATCH_PARTLY_KNOWN, known_events="1 " * 256, new_events="2 " * 256, game_id="g" * 128),
    ],
    ids=lambda error: str(error.code),
)
def test_trailers_fit_where_clients_take_8_kb(error: HeptalogError) -> None:
    ((key, value),) = trailers_of(error)
    assert key == DETAILS_KEY
    # Four thirds, for binary trailers travel as text.
    assert len(value) * 4 / 3 < 7_000
    assert error_from(status_code(error), "", [(key, value)]).code is error.code


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (grpc.StatusCode.UNAVAILABLE, Code.SERVER_UNREACHABLE),
        (grpc.StatusCode.CANCELLED, Code.SERVER_UNREACHABLE),
        (grpc.StatusCode.DEADLINE_EXCEEDED, Code.DEADLINE_PASSED),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, Code.OVERLOADED),
        (grpc.StatusCode.INVALID_ARGUMENT, Code.FIELD_INVALID),
        (grpc.StatusCode.INTERNAL, Code.SERVER_UNREACHABLE),
    ],
)
def test_a_status_without_our_details_is_still_an_error_of_ours(status: grpc.StatusCode, code: Code) -> None:
    for metadata in ([], [(DETAILS_KEY, b"\xff\xff")], [(DETAILS_KEY, b"")], [("other", "text")]):
        error = error_from(status, "what gRPC said", metadata)
        assert error.code is code
        assert error.facts == {"status": status.name, "problem": "what gRPC said"}


def test_a_reason_that_this_client_does_not_know_is_no_crash() -> None:
    ((key, value),) = trailers_of(NotFound(Code.GAME_NOT_FOUND))
    assert isinstance(value, bytes)
    newer = value.replace(b"GAME_NOT_FOUND", b"GAME_IS_HIDDEN")
    assert error_from(grpc.StatusCode.NOT_FOUND, "hidden", [(key, newer)]).code is Code.SERVER_UNREACHABLE
