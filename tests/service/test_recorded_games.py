"""Whole games over the wire: those that come with the contract of the game file, and games that nobody has seen."""

from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import grpc
import msgspec
import pytest
from google.protobuf import json_format

from heptalog.replay import codec
from heptalog.replay.errors import Malformed, Refused
from heptalog.replay.events import Body, Event
from heptalog.replay.evidence.seals import unsealed
from heptalog.replay.fold import Standing, fold_all, scan
from heptalog.replay.gamefile import read_events
from heptalog.replay.registry import GAMES
from heptalog.replay.rules import AnyRules
from heptalog.service.appends import Append
from heptalog.service.client import AsyncClient, Client
from heptalog.service.store import NO_GAME
from heptalog.service.store.duck import DuckStore
from heptalog.v1 import event_pb2, log_pb2
from tests.service.asking import Failure, append_message, check_record, try_append
from tests.support.fouls import foul
from tests.support.play import play
from tests.support.serving import Service

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "games"
FILES = sorted(path for path in FOLDER.rglob("*.jsonl") if not path.name.endswith(".expected.jsonl"))
ACCEPTED = [path for path in FILES if path.parent.name != "refused"]


def last_event(path: Path) -> event_pb2.Event | None:
    """The last event of a file, if it is one that protobuf can say at all."""
    try:
        return json_format.Parse(path.read_bytes().splitlines()[-1].decode(), event_pb2.Event())
    except (json_format.ParseError, UnicodeDecodeError):
        return None


REFUSED = [path for path in FILES if path.parent.name == "refused" and last_event(path) is not None]

given_games = pytest.mark.skipif(not FOLDER.is_dir(), reason="the sample games are not here")
EACH_GAME = pytest.mark.parametrize("rules", GAMES, ids=lambda rules: str(rules.key))
NO_EVENTS = (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.FAILED_PRECONDITION)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service over one database for all games of this module."""
    with Service(DuckStore(tmp_path_factory.mktemp("library") / "log.duckdb")) as service:
        yield service


def events_in(path: Path) -> list[Event]:
    """The events of one file."""
    with path.open("rb") as lines:
        return list(read_events(lines))


def record(client: Client, game_id: str, events: Sequence[Event], random: Random, *, longest: int = 60) -> None:
    """Append a game in batches of any size, one event at a time among them."""
    at = 0
    while at < len(events):
        size = random.choice((1, 2, random.randint(3, longest)))
        batch = tuple(events[at : at + size])
        receipt = client.append(Append(game_id, at - 1 if at else NO_GAME, batch))
        at += len(batch)
        assert receipt.head.sequence == at - 1


def check_standings(client: Client, game_id: str, expected: list[Standing], random: Random) -> None:
    """Every standing is as expected: all of them by what is read, some of them by asking."""
    bodies = [codec.decode(stored.record)[0].body for stored in client.read(game_id)]
    assert [fold.standing() for fold, _ in scan(bodies)] == expected
    for sequence in {0, len(expected) - 1, *(random.randrange(len(expected)) for _ in range(4))}:
        assert client.state(game_id, sequence=sequence).standing == expected[sequence]
    assert client.standing(game_id) == expected[-1]


@given_games
@pytest.mark.parametrize("path", ACCEPTED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_sample_game_stands_as_its_file_says(library: Service, path: Path) -> None:
    client = library.client()
    random = Random(path.stem)
    events = events_in(path)
    game_id = f"{path.parent.name}-{path.stem}"
    record(client, game_id, events, random)
    lines = path.with_suffix(".expected.jsonl").read_bytes().splitlines()
    expected = [msgspec.json.decode(line, type=Standing) for line in lines]
    check_standings(client, game_id, expected, random)
    check_record(client, game_id, len(events))


@given_games
@pytest.mark.parametrize("path", REFUSED, ids=lambda path: path.stem)
def test_every_sample_fault_is_refused_at_its_last_event(library: Service, path: Path) -> None:
    lines = path.read_bytes().splitlines()
    message = last_event(path)
    assert message is not None
    client = library.client()
    game_id = f"refused-{path.stem}"
    before = list(read_events(lines[:-1])) if lines[1:] else []
    if before:
        record(client, game_id, before, Random(path.stem))
    position = library.store.position()
    request = log_pb2.AppendEventsRequest(game_id=game_id, events=[message])
    if before:
        request.expected_sequence = len(before) - 1
    else:
        request.expected_no_game = True
    failure = try_append(library, request)
    assert isinstance(failure, Failure)
    assert failure.code in NO_EVENTS or failure.reason == "RULESET_UNKNOWN"
    assert library.store.position() == position
    if before:
        assert client.standing(game_id) == fold_all(event.body for event in before).standing()


@given_games
def test_most_sample_faults_can_be_sent() -> None:
    assert len(ACCEPTED) >= 80
    assert len(REFUSED) >= 100


@EACH_GAME
def test_games_nobody_has_seen_stand_as_the_rules_say(each_service: Service, rules: AnyRules) -> None:
    client = each_service.client()
    for seed in range(100, 104):
        random = Random(seed)
        game = play(rules, seed, events_max=160)
        events = [Event(0, body, event_id=f"e{number}") for number, body in enumerate(game.bodies)]
        record(client, f"game-{seed}", events, random)
        expected = [fold.standing() for fold, _ in scan(game.bodies)]
        check_standings(client, f"game-{seed}", expected, random)
        recorded = [codec.decode(stored.record)[0].body for stored in client.read(f"game-{seed}")]
        assert [unsealed(body) for body in recorded] == game.bodies
        # Sent again in other pieces, all of it is known.
        receipt = client.append(Append(f"game-{seed}", NO_GAME, tuple(events)))
        assert (receipt.is_deduplicated, receipt.sequences) == (True, tuple(range(len(events))))


@EACH_GAME
def test_whatever_is_wrong_is_refused_and_changes_nothing(service: Service, rules: AnyRules) -> None:
    client = service.client()
    numbers = count()
    refusals: list[tuple[str, str]] = []
    for seed in range(200, 216):
        random = Random(seed)
        bodies = play(rules, seed, events_max=random.randrange(2, 120)).bodies
        game_id = f"game-{seed}"
        record(client, game_id, [Event(0, body) for body in bodies], random, longest=200)
        fold = fold_all(bodies)
        for _ in range(6):
            wrong = foul(fold, random).body
            outcome = _told(service, game_id, fold.sequence, wrong, f"foul-{next(numbers)}")
            if outcome is None:
                continue
            with pytest.raises(Refused) as refused:
                fold.check(wrong)
            assert outcome == (refused.value.code, refused.value.rule)
            refusals.append(outcome)
        assert client.standing(game_id) == fold.standing()
        assert client.game(game_id).head.sequence == fold.sequence
    assert len(refusals) > 80
    assert [(refusal.code, refusal.rule) for refusal in service.store.refusals()] == refusals


def _told(service: Service, game_id: str, head: int, wrong: Body, event_id: str) -> tuple[str, str] | None:
    """Code and rule of a refusal; None where the event has not even a form that can be sent."""
    try:
        request = append_message(Append(game_id, head, (Event(0, wrong, event_id=event_id),)))
    except Malformed:
        return None
    failure = try_append(service, request)
    assert isinstance(failure, Failure)
    if failure.code is grpc.StatusCode.INVALID_ARGUMENT:
        return None
    assert failure.code is grpc.StatusCode.FAILED_PRECONDITION
    return failure.reason, failure.facts["rule"]


def test_a_recorder_plays_as_a_table_does(service: Service) -> None:
    client = service.client()
    for rules in GAMES:
        started, *bodies = play(rules, 31, events_max=40, with_rulings=False).bodies
        recorder: Any = client.create_game(started)  # type: ignore[arg-type]  # a game starts first
        for body in bodies:
            with pytest.raises(Refused):
                recorder.append(body, started)
            recorder.append(body)
        assert recorder.standing() == fold_all([started, *bodies]).standing()


def test_both_clients_record_alike(service: Service) -> None:
    rules = GAMES[0]
    started, *bodies = play(rules, 33, events_max=30, with_rulings=False).bodies

    async def record_it(client: AsyncClient) -> str:
        recorder = await client.create_game(started, game_id="asynchronous")  # type: ignore[arg-type]  # a game starts first
        for body in bodies:
            await recorder.append(body, recorded_by="ana")
        return recorder.game_id

    game_id = service.asynchronous(record_it)
    service.client().create_game(started, game_id="other").append(*bodies, recorded_by="ana")  # type: ignore[arg-type]
    assert service.client().standing(game_id) == service.client().standing("other")
