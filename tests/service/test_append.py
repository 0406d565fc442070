"""Appending: what must be expected, what a retry is, and that a batch is recorded whole or not at all."""

import pytest
from msgspec.structs import replace

from heptalog.replay import codec
from heptalog.replay.errors import Code, Conflict, NotFound, Refused
from heptalog.replay.events import UNSET, CardHand, CardsDealt, DealerDrawn, Event, TurnPassed
from heptalog.replay.evidence.seals import sealed, unsealed
from heptalog.service.appends import Append
from heptalog.service.client import Client
from heptalog.service.store import NO_GAME
from heptalog.v1 import log_pb2
from tests.service.asking import (
    BRIDGE,
    FOREIGN,
    ROCKS,
    append_message,
    bodies_in,
    bridge_deal,
    check_record,
    new_game,
    refused_append,
    remark,
)
from tests.support.serving import STARTED_AT, Service


def head_of(client: Client, game_id: str = "game") -> int:
    """The sequence of a game's last event."""
    return client.game(game_id).head.sequence


def test_an_append_without_an_expectation_is_refused(service: Service) -> None:
    new_game(service.client())
    events = [codec.message_of(remark("a"))]
    for request in (
        log_pb2.AppendEventsRequest(game_id="game", events=events),
        log_pb2.AppendEventsRequest(game_id="game", events=events, expected_no_game=False),
    ):
        failure = refused_append(service, request)
        assert (failure.code.name, failure.reason, failure.field) == ("INVALID_ARGUMENT", "FIELD_INVALID", "expected")
    assert head_of(service.client()) == 0


def test_zero_is_an_expectation(service: Service) -> None:
    client = service.client()
    new_game(client)
    assert client.append(Append("game", 0, (remark("a"),))).sequences == (1,)
    # And the same zero is wrong from then on.
    with pytest.raises(Conflict) as conflict:
        client.append(Append("game", 0, (remark("b"),)))
    assert conflict.value.facts["actual"] == 1


@pytest.mark.parametrize("expected", [0, 1, 3, 2**32 - 1])
def test_a_wrong_expectation_is_aborted_with_the_head(each_service: Service, expected: int) -> None:
    client = each_service.client()
    new_game(client, remark_count=2)
    head = client.game("game").head
    failure = refused_append(each_service, append_message(Append("game", expected, (remark("late"),))))
    assert (failure.code.name, failure.reason) == ("ABORTED", "SEQUENCE_MISMATCH")
    assert failure.facts["expected"] == str(expected)
    assert failure.facts["actual"] == "2"
    assert failure.facts["head_hash"] == head.hash.hex()
    assert client.game("game").head == head


def test_no_game_is_not_found_and_a_game_exists_once(service: Service) -> None:
    client = service.client()
    with pytest.raises(NotFound) as missing:
        client.append(Append("game", 0, (remark("a"),)))
    assert missing.value.code is Code.GAME_NOT_FOUND
    new_game(client)
    with pytest.raises(Conflict) as exists:
        client.append(Append("game", NO_GAME, (Event(0, ROCKS, event_id="other"),)))
    assert exists.value.code is Code.GAME_EXISTS
    assert head_of(client) == 0


def test_the_expected_hash_must_be_that_of_the_head(service: Service) -> None:
    client = service.client()
    new_game(client)
    head = client.game("game").head
    with pytest.raises(Conflict) as conflict:
        client.append(Append("game", 0, (remark("a"),), expected_hash=bytes(32)))
    assert conflict.value.code is Code.SEQUENCE_MISMATCH
    assert conflict.value.facts["head_hash"] == head.hash.hex()
    assert client.append(Append("game", 0, (remark("a"),), expected_hash=head.hash)).head.sequence == 1


def test_a_receipt_has_the_head_and_the_position(each_service: Service) -> None:
    client = each_service.client()
    new_game(client, "other")
    new_game(client)
    receipt = client.append(Append("game", 0, (remark("a"), remark("b"))))
    assert (receipt.head.sequence, receipt.head.position, receipt.sequences) == (2, 4, (1, 2))
    assert not receipt.is_deduplicated
    assert receipt.head == client.game("game").head
    (last,) = client.read("game", start=2)
    assert codec.hash_in(last.record) == receipt.head.hash
    assert last.position == receipt.head.position


def test_a_retry_comes_before_the_sequence_and_gets_the_same_receipt(each_service: Service) -> None:
    client = each_service.client()
    new_game(client)
    append = Append("game", 0, (remark("a"), remark("b")))
    receipt = client.append(append)
    again = client.append(append)
    assert again == replace(receipt, is_deduplicated=True)
    client.append(Append("game", 2, (remark("c"),)))
    # Stale by now, and with an expectation that was never true, it is known all the same.
    for expected in (0, 2, 3, 77):
        assert client.append(replace(append, expected=expected)) == replace(receipt, is_deduplicated=True)
    assert client.append(replace(append, expected_hash=bytes(32))).is_deduplicated
    check_record(client, "game", 4)


def test_a_retry_may_be_a_part_or_another_order_of_what_is_known(service: Service) -> None:
    client = service.client()
    new_game(client, remark_count=4)
    assert client.append(Append("game", 0, (remark("r2"),))).sequences == (2,)
    receipt = client.append(Append("game", 0, (remark("r4"), remark("r1"))))
    assert (receipt.sequences, receipt.head.sequence) == ((4, 1), 4)


def test_a_retry_is_known_after_the_server_has_forgotten_the_game(service: Service) -> None:
    client = service.client()
    new_game(client, remark_count=1)
    service.app.writer.submit(Append("game", 1, (remark("a"),))).result()
    service.app.positions._live.forget("game")
    assert client.append(Append("game", 1, (remark("a"),))).is_deduplicated


def test_an_id_is_unique_in_its_game_only(service: Service) -> None:
    client = service.client()
    for game_id in ("one", "two"):
        new_game(client, game_id, remark_count=1)
    assert client.append(Append("two", 1, (remark("a"),))).head.position == 5
    failure = refused_append(service, append_message(Append("one", 1, (remark("r1", "something else"),))))
    assert (failure.code.name, failure.reason) == ("ALREADY_EXISTS", "EVENT_ID_REUSED")
    (resource,) = failure.others
    assert (resource.resource_type, resource.resource_name) == ("heptalog.v1.Event", "r1")
    assert failure.facts["at_sequence"] == "1"


def test_a_partly_known_batch_names_both_sets(service: Service) -> None:
    client = service.client()
    new_game(client, remark_count=3)
    events = tuple(remark(name) for name in ("r1", "r2", "new", "r3", "other"))
    failure = refused_append(service, append_message(Append("game", 3, events)))
    assert (failure.code.name, failure.reason) == ("FAILED_PRECONDITION", "BATCH_PARTLY_KNOWN")
    assert (failure.facts["known_events"], failure.facts["new_events"]) == ("0-1 3", "2 4")
    (precondition,) = failure.others
    assert precondition.violations[0].subject == "game"
    assert head_of(client) == 3
    # A batch of the longest ids gets its answer too.
    long = tuple(remark(f"{number:0128}") for number in range(512))
    client.append(Append("game", 3, long[::2]))
    with pytest.raises(Conflict) as conflict:
        client.append(Append("game", 3, long[:100] + long[400:]))
    assert conflict.value.code is Code.BATCH_PARTLY_KNOWN


def test_the_same_id_twice_in_one_batch_is_malformed(service: Service) -> None:
    new_game(service.client())
    request = append_message(Append("game", 0, (remark("a"), remark("b"), remark("a"))))
    failure = refused_append(service, request)
    assert (failure.code.name, failure.reason) == ("INVALID_ARGUMENT", "EVENT_ID_REPEATED")
    assert failure.field == "events[2].event_id"


def test_events_without_an_id_are_given_one_and_are_never_the_same(service: Service) -> None:
    client = service.client()
    new_game(client)
    receipt = client.append(Append("game", 0, (remark("", "once"), remark("", "once"))))
    assert receipt.sequences == (1, 2)
    ids = [codec.decode(stored.record)[0].event_id for stored in client.read("game")]
    assert ids == ["start", "made-0", "made-1"]
    assert not client.append(Append("game", 2, (remark("", "once"),))).is_deduplicated


def test_the_same_is_what_the_client_sent(service: Service) -> None:
    client = service.client()
    new_game(client)
    event = remark("a", occurred_at=STARTED_AT, recorded_by="ana")
    client.append(Append("game", 0, (event,)))
    # Envelope fields that only agree are no other content.
    for same in (event, replace(event, game_id="game"), replace(event, sequence=1)):
        assert client.append(Append("game", 0, (same,))).is_deduplicated
    for other in (
        replace(event, occurred_at=STARTED_AT + 1),
        replace(event, occurred_at=0),
        replace(event, recorded_by="bo"),
        replace(event, recorded_by=""),
        remark("a", "another text", occurred_at=STARTED_AT, recorded_by="ana"),
        replace(event, body=TurnPassed(0)),
    ):
        with pytest.raises(Conflict) as conflict:
            client.append(Append("game", 0, (other,)))
        assert conflict.value.code is Code.EVENT_ID_REUSED


def test_seals_that_the_server_made_do_not_matter_to_a_retry(each_service: Service) -> None:
    client = each_service.client()
    new_game(client, started=BRIDGE)
    client.append(Append("game", 0, (Event(0, DealerDrawn(0), event_id="dealer"),)))
    deal = bridge_deal()
    own = sealed(deal, lambda: b"a salt of my own")
    assert isinstance(own, CardsDealt)
    # Some hands come with seals, some without.
    mixed = CardsDealt((own.hands[0], *deal.hands[1:3], *own.hands[3:]))
    append = Append("game", 1, (Event(0, mixed, event_id="deal"),))
    receipt = client.append(append)
    recorded = bodies_in(client, "game")[2]
    assert isinstance(recorded, CardsDealt)
    assert all(hand.seal is not UNSET for hand in recorded.hands)
    assert recorded.hands[0] == own.hands[0]
    assert unsealed(recorded) == deal
    assert client.append(append) == replace(receipt, is_deduplicated=True)
    for other in (
        CardsDealt((own.hands[1], *mixed.hands[1:])),
        CardsDealt(mixed.hands[::-1]),
        CardsDealt((CardHand(mixed.hands[0].cards[::-1]), *mixed.hands[1:])),
        CardsDealt(mixed.hands[:3]),
        sealed(deal, lambda: b"a salt of another"),
    ):
        with pytest.raises(Conflict) as conflict:
            client.append(Append("game", 1, (Event(0, other, event_id="deal"),)))
        assert conflict.value.code is Code.EVENT_ID_REUSED


def test_a_batch_with_one_illegal_event_changes_nothing(each_service: Service) -> None:
    client = each_service.client()
    new_game(client, remark_count=1)
    before = client.game("game"), client.standing("game")
    events = (remark("a"), remark("b"), Event(0, FOREIGN, event_id="c"), remark("d"))
    failure = refused_append(each_service, append_message(Append("game", 1, events)))
    assert (failure.code.name, failure.reason) == ("FAILED_PRECONDITION", "EVENT_FOREIGN")
    assert failure.facts["index"] == "2"
    assert (client.game("game"), client.standing("game")) == before
    with pytest.raises(NotFound):
        client.state("game", sequence=2)
    # Its ids are free, and the game goes on from where it stood.
    receipt = client.append(Append("game", 1, (remark("b"), remark("a"))))
    assert (receipt.sequences, receipt.is_deduplicated) == ((2, 3), False)
    check_record(client, "game", 4)


def test_a_first_batch_with_an_illegal_event_makes_no_game(each_service: Service) -> None:
    client = each_service.client()
    events = (Event(0, ROCKS, event_id="start"), remark("a"), Event(0, FOREIGN, event_id="b"))
    with pytest.raises(Refused):
        client.append(Append("game", NO_GAME, events))
    with pytest.raises(NotFound):
        client.game("game")
    assert list(client.games()) == []
    assert client.append(Append("game", NO_GAME, events[:2])).sequences == (0, 1)


def test_what_was_refused_is_kept(each_service: Service) -> None:
    client = each_service.client()
    new_game(client)
    asked = Event(0, TurnPassed(2), event_id="knock", recorded_by="ana", occurred_at=STARTED_AT)
    with pytest.raises(Refused) as refused:
        client.append(Append("game", 0, (remark("a"), asked)))
    with pytest.raises(Refused):
        client.append(Append("none", NO_GAME, (Event(0, TurnPassed(1)),)))
    first, second = each_service.store.refusals()
    assert (first.game_id, first.sequence, first.recorded_by, first.kind) == ("game", 2, "ana", "turnPassed")
    assert (first.code, first.rule) == (refused.value.code, refused.value.rule)
    assert first.refused_at > STARTED_AT
    asked_for = codec.event_of(codec.parse(first.content))
    assert (asked_for.body, asked_for.event_id, asked_for.occurred_at) == (asked.body, "knock", STARTED_AT)
    assert (second.game_id, second.code) == ("none", Code.NOT_STARTED)
    # Faults of form and conflicts are nobody's move.
    with pytest.raises(Conflict):
        client.append(Append("game", 5, (remark("a"),)))
    assert len(list(each_service.store.refusals())) == 2
