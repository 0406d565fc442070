"""What failures say: typed details that fit, codes from the table, and never a card that is hidden."""

import re
from random import Random

import grpc
import pytest
from google.rpc import error_details_pb2 as details_pb
from msgspec.structs import replace

from heptalog.replay.codec import message_of
from heptalog.replay.errors import Code, HeptalogError, NotFound, Refused
from heptalog.replay.events import Body, CardPlayed, Event, TurnPassed
from heptalog.replay.fold import fold_all
from heptalog.replay.registry import GAMES
from heptalog.replay.rules import AnyRules
from heptalog.replay.sentences import sentence
from heptalog.service.appends import Append
from heptalog.service.store import NO_GAME
from heptalog.v1 import games_pb2, games_pb2_grpc, log_pb2
from tests.service.asking import (
    BRIDGE,
    ROCKS,
    append_message,
    dealt,
    failure_of,
    games_of_all_kinds,
    log_stub,
    new_game,
    refused_append,
)
from tests.support.fouls import foul
from tests.support.play import play
from tests.support.recording import batch_of, entries_of
from tests.support.serving import Service

_CARD = re.compile(r"\b(?:[2-9TJQKA][CDHS]|X[12]|[0-6]-[0-6])\b")


def test_a_refusal_names_rule_and_game(service: Service) -> None:
    client = service.client()
    new_game(client, "table-7", started=BRIDGE)
    failure = refused_append(service, append_message(Append("table-7", 0, (Event(0, TurnPassed(2)),))))
    assert failure.code is grpc.StatusCode.FAILED_PRECONDITION
    (precondition,) = failure.others
    (violation,) = precondition.violations
    assert (violation.type, violation.subject) == (failure.facts["rule"], "table-7")
    assert violation.description == failure.text


def test_what_is_not_there_is_named_as_a_resource(service: Service) -> None:
    stub = games_pb2_grpc.GamesServiceStub(service.channel())
    for call in (
        lambda: stub.GetGame(games_pb2.GetGameRequest(game_id="none")),
        lambda: stub.GetState(games_pb2.GetStateRequest(game_id="none")),
        lambda: stub.ListLegalMoves(games_pb2.ListLegalMovesRequest(game_id="none")),
        lambda: list(log_stub(service).ReadEvents(log_pb2.ReadEventsRequest(game_id="none"))),
    ):
        with pytest.raises(grpc.RpcError) as missing:
            call()
        failure = failure_of(missing.value)
        assert (failure.code.name, failure.reason) == ("NOT_FOUND", "GAME_NOT_FOUND")
        (resource,) = failure.others
        assert (resource.resource_type, resource.resource_name) == ("heptalog.v1.Game", "none")


def test_a_game_that_exists_is_named_as_a_resource(service: Service) -> None:
    new_game(service.client())
    failure = refused_append(service, append_message(Append("game", NO_GAME, (Event(0, ROCKS, event_id="b"),))))
    assert (failure.code.name, failure.reason) == ("ALREADY_EXISTS", "GAME_EXISTS")
    (resource,) = failure.others
    assert (resource.resource_type, resource.resource_name) == ("heptalog.v1.Game", "game")


def test_rules_that_are_not_known_here_are_unimplemented(service: Service) -> None:
    event = message_of(Event(0, ROCKS))
    event.game_started.rules_version = 99
    request = log_pb2.AppendEventsRequest(game_id="new", expected_no_game=True, events=[event])
    failure = refused_append(service, request)
    assert (failure.code.name, failure.reason) == ("UNIMPLEMENTED", "RULESET_UNKNOWN")
    assert (failure.facts["ruleset"], failure.facts["version"]) == ("seven_rocks", "99")


def test_a_game_recorded_by_a_newer_version_is_not_damaged(each_service: Service) -> None:
    client = each_service.client()
    started = replace(ROCKS, rules_version=99)
    (entry,) = entries_of([started], "newer", Random(1))
    each_service.store.inner.append([batch_of([entry])])
    for ask in (
        lambda: client.game("newer"),
        lambda: client.state("newer"),
        lambda: list(client.legal("newer")),
        lambda: client.append(Append("newer", 0, (Event(0, TurnPassed(0)),))),
        lambda: client.append(Append("newer", NO_GAME, (Event(0, ROCKS),))),
    ):
        with pytest.raises(Refused) as unknown:
            ask()
        assert unknown.value.code is Code.RULESET_UNKNOWN
        assert (unknown.value.facts["game_id"], unknown.value.facts["version"]) == ("newer", 99)
    # Nobody has made a move that the rules refuse; and what is recorded can be read and listed.
    assert list(each_service.store.refusals()) == []
    assert [entry.started for entry in client.games()] == [started]
    assert len(list(client.read("newer"))) == 1


def test_an_unavailable_service_says_when_to_try_again(service: Service) -> None:
    service.app.writer.drain()
    failure = refused_append(service, append_message(Append("new", NO_GAME, (Event(0, ROCKS),))))
    assert (failure.code.name, failure.reason) == ("UNAVAILABLE", "DRAINING")
    (retry,) = failure.others
    assert isinstance(retry, details_pb.RetryInfo)
    assert retry.retry_delay.seconds > 0


def test_what_a_caller_sent_is_told_back_cut(service: Service) -> None:
    client = service.client()
    with pytest.raises(NotFound) as missing:
        client.game("七" * 100_000)
    assert missing.value.code is Code.GAME_NOT_FOUND
    new_game(client, started=BRIDGE)
    client.append(Append("game", 0, tuple(Event(0, body) for body in dealt(games_of_all_kinds(1)[2])[1:])))
    head = client.game("game").head
    seat = client.standing("game").to_act[0]
    failure = refused_append(
        service, append_message(Append("game", head.sequence, (Event(0, CardPlayed(seat, "\n" * 100_000)),)))
    )
    assert failure.reason == "CARD_UNKNOWN"


def test_a_digit_is_a_number_and_an_id_stays_text(service: Service) -> None:
    with pytest.raises(NotFound) as missing:
        service.client().game("42")
    assert missing.value.facts == {"game_id": "42"}
    new_game(service.client(), "42")
    with pytest.raises(NotFound) as beyond:
        service.client().state("42", sequence=7)
    assert beyond.value.facts == {"game_id": "42", "asked": 7, "head": 0}


def _cards_in(text: str) -> set[str]:
    cards = set(_CARD.findall(text))
    return cards | {card[::-1] for card in cards if "-" in card}


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: str(rules.key))
def test_no_error_tells_a_card_that_its_caller_did_not_name(rules: AnyRules) -> None:
    seen = 0
    for seed in range(60):
        random = Random(seed)
        bodies = play(rules, seed, events_max=random.randrange(2, 80)).bodies
        fold = fold_all(bodies)
        for _ in range(4):
            body = foul(fold, random).body
            with pytest.raises(Refused) as refused:
                fold.check(body)
            seen += _check_tells_nothing(refused.value, body)
    assert seen == 240


def _check_tells_nothing(error: HeptalogError, body: Body) -> int:
    told = _cards_in(sentence(error)) | _cards_in(str(error))
    assert told <= _cards_in(repr(body)), f"{told} of {body} in {error}"
    return 1
