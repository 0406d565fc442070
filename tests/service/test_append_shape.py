"""Requests whose form is wrong: told with the path of the field, and nothing recorded, not even as a refusal."""

from collections.abc import Callable
from typing import Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from msgspec.structs import replace

from bench.games import TABLES, recorded_games
from heptalog.replay import codec
from heptalog.replay.errors import Code, Malformed
from heptalog.replay.events import CardPlayed, CardsDealt, DealerDrawn, Event, NoteAdded
from heptalog.replay.evidence.seals import sealed
from heptalog.replay.seven_rocks.events import Arm, TilePlayed
from heptalog.service.appending import shape
from heptalog.service.appending.shape import check_shape
from heptalog.service.appends import Append
from heptalog.service.config import EVENT_SIZE_MAX
from heptalog.service.store import NO_GAME
from heptalog.v1 import event_pb2, log_pb2, seven_up_pb2
from tests.service.asking import (
    BRIDGE,
    REMARKS,
    ROCKS,
    append_message,
    bodies_in,
    bridge_deal,
    check_record,
    new_game,
    refused_append,
    remark,
)
from tests.support.evidence import recorded, redact
from tests.support.serving import STARTED_AT, Service


@pytest.fixture
def table(service: Service) -> Service:
    """A service with a game of Seven Bridge before its first deal."""
    client = service.client()
    new_game(client, started=BRIDGE)
    client.append(Append("game", 0, (Event(0, DealerDrawn(0), event_id="dealer"),)))
    return service


def check_malformed(service: Service, request: Any, code: Code, field: str) -> None:
    """A request is INVALID_ARGUMENT with this field, and leaves no trace."""
    before = service.store.position(), len(service.store.commits)
    failure = refused_append(service, request)
    assert failure.code is grpc.StatusCode.INVALID_ARGUMENT
    assert (failure.reason, failure.field) == (code, field)
    assert (service.store.position(), len(service.store.commits)) == before


def batch_with(event: event_pb2.Event) -> log_pb2.AppendEventsRequest:
    """A batch of two remarks and this."""
    return log_pb2.AppendEventsRequest(
        game_id="game",
        expected_sequence=1,
        events=[codec.message_of(remark("a")), codec.message_of(remark("b")), event],
    )


def test_a_batch_has_1_to_512_events(each_service: Service) -> None:
    client = each_service.client()
    new_game(client)
    events = tuple(Event(0, body) for body in REMARKS)
    for size in (0, 513, 600):
        check_malformed(each_service, append_message(Append("game", 0, events[:size])), Code.FIELD_INVALID, "events")
    assert client.append(Append("game", 0, events[:512])).head.sequence == 512
    check_record(client, "game", 513)


def test_half_a_million_tiny_events_are_counted_and_not_read(table: Service) -> None:
    request = log_pb2.AppendEventsRequest(game_id="game", expected_sequence=1)
    request.events.extend([event_pb2.Event()] * 500_000)
    check_malformed(table, request, Code.FIELD_INVALID, "events")


def test_an_event_too_large_is_told_by_its_place(table: Service) -> None:
    large = event_pb2.Event(event_id="c", note_added=event_pb2.NoteAdded(text="x" * EVENT_SIZE_MAX))
    check_malformed(table, batch_with(large), Code.EVENT_TOO_LARGE, "events[2]")
    # So large that only the chain makes it too large; found after two others have been prepared.
    edge = event_pb2.Event(event_id="c", note_added=event_pb2.NoteAdded(text="x" * (EVENT_SIZE_MAX - 40)))
    check_malformed(table, batch_with(edge), Code.EVENT_TOO_LARGE, "events[2]")
    fits = event_pb2.Event(event_id="c", note_added=event_pb2.NoteAdded(text="x" * (EVENT_SIZE_MAX - 200)))
    assert table.client().append(Append("game", 1, (codec.event_of(fits),))).head.sequence == 2


def test_a_message_over_4_mib_is_too_large_for_the_client_and_the_server(table: Service) -> None:
    client = table.client()
    notes = tuple(Event(0, NoteAdded("x" * 200_000), event_id=f"n{number}") for number in range(22))
    with pytest.raises(Malformed) as malformed:
        client.append(Append("game", 1, notes))
    assert malformed.value.code is Code.EVENT_TOO_LARGE
    data = append_message(Append("game", 1, notes)).SerializeToString()
    check_malformed(table, data, Code.EVENT_TOO_LARGE, "")
    # Far beyond that gRPC itself says no, without reading it.
    method: Any = table.channel().unary_unary("/heptalog.v1.LogService/AppendEvents")
    with pytest.raises(grpc.RpcError) as refused:
        method(bytes(17 << 20), timeout=30)
    call: Any = refused.value
    assert call.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert client.game("game").head.sequence == 1
    assert client.append(Append("game", 1, notes[:19])).head.sequence == 20


def test_an_expected_hash_has_the_size_of_one(table: Service) -> None:
    request = log_pb2.AppendEventsRequest(
        game_id="game", expected_sequence=1, expected_hash=b"x", events=[codec.message_of(remark("a"))]
    )
    check_malformed(table, request, Code.FIELD_INVALID, "expected_hash")


def test_bytes_that_are_no_message_are_malformed(table: Service) -> None:
    for data in (b"\xff", b"\x0a\x05gam", b"\x0a\x02\xff\xfe"):
        check_malformed(table, data, Code.NOT_PROTOBUF, "")
    method: Any = table.channel().unary_stream("/heptalog.v1.LogService/ReadEvents")
    with pytest.raises(grpc.RpcError) as refused:
        list(method(b"\xff", timeout=30))
    call: Any = refused.value
    assert call.code() is grpc.StatusCode.INVALID_ARGUMENT


UNKNOWN = b"\xf8\x3f\x01"  # field 1023, a varint


def with_unknown(message: Any) -> Any:
    """The message with a field that nobody here knows."""
    message.MergeFromString(UNKNOWN)
    return message


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (with_unknown, ""),
        (lambda request: with_unknown(request.events[2]), "events[2]"),
        (lambda request: with_unknown(request.events[2].card_played), "events[2].card_played"),
        (lambda request: with_unknown(request.events[0].occurred_at), "events[0].occurred_at"),
        (lambda request: with_unknown(request.events[1].cards_dealt.hands.add()), "events[1].cards_dealt.hands[0]"),
        (
            lambda request: with_unknown(request.events[1].cards_dealt.hands.add().seal),
            "events[1].cards_dealt.hands[0].seal",
        ),
    ],
)
def test_a_field_unknown_here_is_refused_at_any_depth(table: Service, change: Callable[[Any], Any], field: str) -> None:
    request = batch_with(codec.message_of(Event(0, CardPlayed(0, "7D"))))
    request.events[0].occurred_at.CopyFrom(Timestamp(seconds=1))
    change(request)
    check_malformed(table, request, Code.FIELD_UNKNOWN, field)


def test_unknown_fields_are_refused_in_every_call(service: Service) -> None:
    for name in ("GetGame", "CreateGame", "ListGames", "GetState", "ListLegalMoves"):
        method: Any = service.channel().unary_unary(f"/heptalog.v1.GamesService/{name}")
        with pytest.raises(grpc.RpcError) as refused:
            method(UNKNOWN, timeout=30)
        call: Any = refused.value
        assert call.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_an_enum_number_without_meaning_is_refused(table: Service) -> None:
    tile = codec.message_of(Event(0, TilePlayed(0, "6-4", Arm.LEFT)))
    tile.tile_played.arm = 9  # type: ignore[assignment]  # a number that the enum does not have
    check_malformed(table, batch_with(tile), Code.FIELD_INVALID, "events[2].tile_played.arm")
    word = event_pb2.Event(trump_decided=seven_up_pb2.TrumpDecided(seat=1))
    word.trump_decided.decision = 5  # type: ignore[assignment]  # as above
    check_malformed(table, batch_with(word), Code.FIELD_INVALID, "events[2].trump_decided.decision")


def test_a_missing_body_or_missing_rules_are_refused(table: Service) -> None:
    check_malformed(table, batch_with(event_pb2.Event(event_id="c")), Code.BODY_MISSING, "events[2]")
    started = event_pb2.Event(game_started=event_pb2.GameStarted())
    check_malformed(table, batch_with(started), Code.FIELD_INVALID, "events[2].game_started")


@pytest.mark.parametrize("seconds", [0, -1, 253_402_300_800, 2**62])
def test_a_time_is_one_that_a_game_file_can_say(table: Service, seconds: int) -> None:
    event = codec.message_of(remark("c"))
    event.occurred_at.CopyFrom(Timestamp(seconds=seconds))
    check_malformed(table, batch_with(event), Code.FIELD_INVALID, "events[2].occurred_at")


@pytest.mark.parametrize("event_id", ["a b", " ", "a\n", "a\u2003b", "a\0b", "\x7f", "x" * 129])
def test_an_id_has_no_spaces_and_at_most_128_characters(table: Service, event_id: str) -> None:
    check_malformed(
        table, batch_with(codec.message_of(remark(event_id, "text"))), Code.FIELD_INVALID, "events[2].event_id"
    )
    request = append_message(Append(event_id, NO_GAME, (Event(0, ROCKS),)))
    check_malformed(table, request, Code.FIELD_INVALID, "game_id")


def test_an_empty_game_id_is_refused_and_a_long_id_is_not(table: Service) -> None:
    request = append_message(Append("", NO_GAME, (Event(0, ROCKS),)))
    check_malformed(table, request, Code.FIELD_INVALID, "game_id")
    name = "七" * 128
    assert table.client().append(Append(name, NO_GAME, (Event(0, ROCKS, event_id=name),))).game_id == name


def test_who_recorded_it_is_short(table: Service) -> None:
    event = codec.message_of(remark("c", recorded_by="x" * 129))
    check_malformed(table, batch_with(event), Code.FIELD_INVALID, "events[2].recorded_by")


@pytest.mark.parametrize(
    ("field", "value"),
    [("recorded_at", STARTED_AT), ("hash", bytes(32)), ("previous_hash", bytes(32)), ("hash", b"short")],
)
def test_what_the_server_fills_in_is_not_the_clients_to_set(table: Service, field: str, value: object) -> None:
    event: Event = replace(remark("c"), **{field: value})
    check_malformed(table, batch_with(codec.message_of(event)), Code.FIELD_INVALID, f"events[2].{field}")


def test_what_is_given_must_agree(table: Service) -> None:
    for field, given in (("sequence", 3), ("sequence", 5), ("game_id", "other")):
        event: Event = replace(remark("c"), **{field: given})
        check_malformed(table, batch_with(codec.message_of(event)), Code.FIELD_INVALID, f"events[2].{field}")
    agrees = replace(remark("c"), sequence=4, game_id="game")
    assert table.client().append(Append("game", 1, (remark("a"), remark("b"), agrees))).head.sequence == 4


def test_imported_events_keep_their_chain(each_service: Service) -> None:
    client = each_service.client()
    records = recorded([BRIDGE, DealerDrawn(0), bridge_deal(), *REMARKS[:3]], game_id="old")
    events = tuple(event for event, _ in records)
    client.append(Append("old", NO_GAME, events[:2], is_imported=True))
    client.append(Append("old", 1, events[2:], is_imported=True))
    assert [stored.record for stored in client.read("old")] == [record for _, record in records]
    assert client.append(Append("old", NO_GAME, events, is_imported=True)).is_deduplicated
    # Without their times and hashes they are known again too: that was the server's to fill in.
    bare = tuple(replace(event, recorded_at=0, hash=b"", previous_hash=b"") for event in events)
    assert client.append(Append("old", NO_GAME, bare)).is_deduplicated
    assert client.game("old").created_at == events[0].recorded_at


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("field", ["hash", "previous_hash"])
def test_imported_events_with_another_chain_are_refused(service: Service, place: int, field: str) -> None:
    events = [event for event, _ in recorded([BRIDGE, DealerDrawn(0), bridge_deal(), *REMARKS[:1]], game_id="old")]
    events[place] = replace(events[place], **{field: bytes(31) + b"\1"})
    request = append_message(Append("old", NO_GAME, tuple(events), is_imported=True))
    check_malformed(service, request, Code.CHAIN_BROKEN, f"events[{place}].hash")
    assert list(service.client().games()) == []


def deal_request(deal: CardsDealt) -> log_pb2.AppendEventsRequest:
    """The request that records this deal."""
    return append_message(Append("game", 1, (Event(0, deal, event_id="deal"),)))


def test_a_redacted_event_is_refused(table: Service) -> None:
    deal = sealed(bridge_deal(), lambda: bytes(16))
    redacted = redact(deal)
    assert isinstance(redacted, CardsDealt)
    assert isinstance(deal, CardsDealt)
    check_malformed(table, deal_request(redacted), Code.VALUE_SEALED, "events[0].cards_dealt.hands[0]")
    partly = CardsDealt((*deal.hands[:2], *redacted.hands[2:]))
    check_malformed(table, deal_request(partly), Code.VALUE_SEALED, "events[0].cards_dealt.hands[2]")
    batch = append_message(Append("game", 1, (remark("a"), Event(0, partly, event_id="deal"))))
    check_malformed(table, batch, Code.VALUE_SEALED, "events[1].cards_dealt.hands[2]")


@pytest.mark.parametrize("name", TABLES)
def test_what_a_table_sends_is_not_looked_at_one_by_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shape, "_check_events", lambda _: pytest.fail("a plain batch went event by event"))
    for bodies in recorded_games(name, count=3).bodies:
        events = [Event(0, body, event_id=f"e{number}") for number, body in enumerate(bodies)]
        for first in range(0, len(events) - 1, 100):
            check_shape(Append("game", first - 1, tuple(events[first : first + 100])))


@pytest.mark.parametrize(
    ("change", "code", "place"),
    [
        ({"commitment": bytes(32)}, Code.SEAL_BROKEN, ""),
        ({"salt": bytes(16)}, Code.SEAL_BROKEN, ""),
        ({"count": 12}, Code.SEAL_BROKEN, ""),
        ({"salt": b""}, Code.FIELD_INVALID, ".seal"),
        ({"salt": bytes(15)}, Code.FIELD_INVALID, ".seal"),
        ({"commitment": b""}, Code.FIELD_INVALID, ".seal"),
        ({"commitment": bytes(33)}, Code.FIELD_INVALID, ".seal"),
    ],
)
def test_a_seal_that_does_not_hold_is_refused(table: Service, change: dict[str, Any], code: Code, place: str) -> None:
    deal = sealed(bridge_deal(), lambda: b"sixteen bytes ok")
    assert isinstance(deal, CardsDealt)
    seal: Any = deal.hands[1].seal
    hands = (deal.hands[0], replace(deal.hands[1], seal=replace(seal, **change)), *deal.hands[2:])
    check_malformed(table, deal_request(CardsDealt(hands)), code, f"events[0].cards_dealt.hands[1]{place}")
    batch = append_message(Append("game", 1, (remark("a"), Event(0, CardsDealt(hands), event_id="deal"))))
    check_malformed(table, batch, code, f"events[1].cards_dealt.hands[1]{place}")
    assert len(bodies_in(table.client(), "game")) == 2
