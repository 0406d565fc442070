"""Games compared by a server: what its clients are told is what `heptalog diff` finds out by itself, field by field."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any, Final

import grpc
import pytest
from google.protobuf.struct_pb2 import Struct
from msgspec import to_builtins
from msgspec.structs import replace

from heptalog.replay.codec import encode
from heptalog.replay.errors import Code, Corrupt, HeptalogError, Malformed, NotFound, Redacted, Refused, Unavailable
from heptalog.replay.events import Event, NoteAdded
from heptalog.replay.registry import GAMES
from heptalog.service.client import Alternative, AsyncClient, Compared, Consequence, Difference, Finding, GameReport
from heptalog.service.examining import verifying
from heptalog.service.store import Entry, Stored
from heptalog.service.store.memory import MemoryStore
from heptalog.v1 import audit_pb2, audit_pb2_grpc
from tests.cli.running import run
from tests.service.asking import failure_of
from tests.support.evidence import recorded, redacted
from tests.support.newer import NEWER, record_newer
from tests.support.recording import batch_of, batches_of, entries_of, recorded_game
from tests.support.serving import WAIT_SECONDS, Service
from tests.support.stores import STORES

PLAYED: Final = [recorded_game(rules, seed, ruling_rate=0.02) for rules in GAMES for seed in range(2)]
NAMES: Final = [entries[0].event.game_id for entries in PLAYED]
# The moves of the first under another name, with other ids and salts and without times, and a copy that anybody may
# have.
AGAIN, COPY = "again", "copy"
# A game whose options change what follows, and those.
OPTIONS: Final[dict[str, list[dict[str, Any]]]] = {
    "seven_up": [{}, {"target": 3}],
    "seven_rocks": [{}, {"target": 20}],
    "seven_bridge": [{}, {"rounds": 1}, {"ghosts": False}, {"passTokens": 1}],
}


def copy_of(entries: list[Entry]) -> list[Entry]:
    """A redacted copy, as it would lie in a log."""
    return [Entry(encode(event), event) for event in redacted(entry.event for entry in entries)]


@pytest.fixture(scope="module", params=sorted(STORES))
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A server over either store with these games."""
    store = STORES[request.param](tmp_path_factory.mktemp("log"))
    for entries in PLAYED:
        store.append(batches_of(entries))
    bodies = [entry.event.body for entry in PLAYED[0]]
    again = recorded(bodies, game_id=AGAIN, with_times=False)
    store.append([batch_of([Entry(each.record, each.event) for each in again])])
    store.append([batch_of(copy_of(entries_of(bodies[:30], COPY, Random(8))))])
    with Service(store) as service:
        yield service


def told_of(game: Compared, server: str) -> dict[str, Any]:
    """A side, as the command tells it."""
    finding = game.finding
    nothing = {"sequence": None, "rule": None, "code": None, "message": None}
    return {
        "source": f"grpc://{server}#{game.game_id}",
        "ok": finding is None,
        "events": game.events,
        "over": game.over,
        **(nothing if finding is None else found(finding)),
    }


def found(finding: Finding) -> dict[str, Any]:
    """A finding, as the command tells it."""
    return {
        "sequence": finding.sequence,
        "rule": finding.rule or None,
        "code": finding.code,
        "message": finding.message,
    }


def plain(value: Any) -> Any:
    """A struct as JSON has it."""
    tree = to_builtins(value)
    return _listed(tree)


def _listed(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {name: _listed(each) for name, each in tree.items()}
    return [_listed(each) for each in tree] if isinstance(tree, list | tuple) else tree


def difference_told(difference: Difference, server: str) -> dict[str, Any]:
    """The document of `heptalog diff A B`."""
    return {
        "left": told_of(difference.left, server),
        "right": told_of(difference.right, server),
        "same": difference.is_same,
        "event": plain(difference.event),
        "state": plain(difference.state),
        "result": plain(difference.result),
    }


def alternative_told(alternative: Alternative, server: str) -> dict[str, Any]:
    """The document of `heptalog diff A --options`."""
    parting, illegal = alternative.parting, alternative.illegal
    return {
        "game": told_of(alternative.game, server),
        "options": {"left": alternative.left_options, "right": alternative.right_options},
        "same": alternative.is_same,
        "outcome": parting
        and {"sequence": parting.sequence, "left": _consequence(parting.left), "right": _consequence(parting.right)},
        "illegal": illegal and found(illegal),
        "end": {"left": plain(alternative.left), "right": plain(alternative.right)},
    }


def _consequence(consequence: Consequence) -> dict[str, Any]:
    outcomes = [{"outcome": each.kind, **each.fields} for each in consequence.followed]
    return {"standing": plain(consequence.standing), "outcomes": outcomes}


def by_the_command(service: Service, left: str, right: str, *options: str) -> Any:
    """What the command finds out, with its own eyes."""
    url = f"grpc://{service.target}"
    return run("diff", f"{url}#{left}", f"{url}#{right}", *options, "--format", "json").document


@pytest.mark.parametrize("with_envelope", [False, True])
@pytest.mark.parametrize(
    ("left", "right"),
    [
        (NAMES[0], NAMES[0]),
        (NAMES[0], NAMES[1]),
        (NAMES[2], NAMES[3]),
        (NAMES[4], NAMES[5]),
        (NAMES[0], NAMES[2]),
        (NAMES[0], AGAIN),
        (NAMES[0], COPY),
        (COPY, COPY),
        (COPY, NAMES[4]),
    ],
)
def test_two_games_are_told_as_the_command_tells_them(
    left: str, right: str, with_envelope: bool, served: Service
) -> None:
    difference = served.client().diff(left, right, with_envelope=with_envelope)
    options = ["--envelope"] if with_envelope else []
    assert difference_told(difference, served.target) == by_the_command(served, left, right, *options)
    if left == right:
        assert difference.is_same

    async def compared(client: AsyncClient) -> Difference:
        return await client.diff(left, right, with_envelope=with_envelope)

    assert served.asynchronous(compared) == difference


def test_what_is_the_same_and_what_is_left_out(served: Service) -> None:
    client = served.client()
    assert client.diff(NAMES[0], AGAIN).is_same
    enveloped = client.diff(NAMES[0], AGAIN, with_envelope=True)
    assert enveloped.event is not None
    assert {field.field for field in enveloped.event.fields} >= {"gameId", "eventId", "hash"}
    copy = client.diff(COPY, COPY)
    assert copy.left.finding is not None
    assert (copy.is_same, copy.left.finding.code, copy.result) == (True, Code.VALUE_SEALED, ())


@pytest.mark.parametrize("place", [0, 5, 29])
@pytest.mark.parametrize("is_small", [False, True])
def test_a_damaged_game_is_compared_as_far_as_it_goes(
    place: int, is_small: bool, served: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def damage(stored: Stored) -> Stored:
        if (stored.game_id, stored.sequence) != (NAMES[0], place):
            return stored
        return replace(stored, record=stored.record[:-1] + bytes([stored.record[-1] ^ 1]))

    monkeypatch.setattr(served.store, "damage", damage)
    if is_small:
        monkeypatch.setattr(verifying, "PIECE_EVENTS", 4)
    difference = served.client().diff(NAMES[0], AGAIN)
    assert difference.left.finding is not None
    assert (difference.left.finding.sequence, difference.left.events, difference.left.over) == (place, place, None)
    told, right = difference_told(difference, served.target), by_the_command(served, NAMES[0], AGAIN)
    if difference.left.finding.code is Code.RECORD_DAMAGED:
        # The command is told of it by who reads the record for it.
        assert told["left"].pop("message")[:31] == right["left"].pop("message")[:31]
    assert told == right
    with pytest.raises(Corrupt) as bad:
        served.client().diff_options(NAMES[0], {})
    assert (bad.value.facts["game_id"], bad.value.facts["at_sequence"]) == (NAMES[0], place)


@pytest.mark.parametrize("place", [2, 7])
def test_reports_are_what_the_command_finds_out_of_the_same_games(
    place: int, served: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = encode(Event(place, NoteAdded("changed"), NAMES[1]))

    def damage(stored: Stored) -> Stored:
        return replace(stored, record=note) if (stored.game_id, stored.sequence) == (NAMES[1], place) else stored

    monkeypatch.setattr(served.store, "damage", damage)
    verdicts = run("verify", f"grpc://{served.target}", "--format", "json").document
    assert [verdict["source"].rpartition("#")[2] for verdict in verdicts] == [*NAMES, AGAIN, COPY]
    # Of the one beside them the command cannot know that its endings are not kept.
    del verdicts[len(NAMES)]
    for verdict, name in zip(verdicts, [*NAMES, COPY], strict=True):
        (*_, report) = served.client().verify(name)
        assert isinstance(report, GameReport)
        over = None if report.finding or report.standing is None else report.standing.over
        told = Compared(name, report.events, over, report.finding)
        assert told_of(told, served.target) == verdict
        assert report.ok == (name not in (NAMES[1], COPY))
    (*_, beside) = served.client().verify(AGAIN)
    assert isinstance(beside, GameReport)
    assert beside.finding is not None
    assert beside.finding.code == Code.ENDINGS_DIFFER


def _changes() -> list[tuple[str, dict[str, Any]]]:
    return [(name, options) for name in NAMES for options in OPTIONS[name.rpartition("-")[0]]]


@pytest.mark.parametrize(("game_id", "options"), _changes())
def test_other_options_are_told_as_the_command_tells_them(
    game_id: str, options: dict[str, Any], served: Service
) -> None:
    alternative = served.client().diff_options(game_id, options)
    if not options:
        assert alternative.is_same
        assert (alternative.left_options, alternative.left) == (alternative.right_options, alternative.right)
        return
    given = ",".join(f"{name}={str(value).lower()}" for name, value in options.items())
    ended = run("diff", f"grpc://{served.target}#{game_id}", "--options", given, "--format", "json")
    assert alternative_told(alternative, served.target) == ended.document

    async def compared(client: AsyncClient) -> Alternative:
        return await client.diff_options(game_id, options)

    assert served.asynchronous(compared) == alternative


def test_each_way_in_which_options_change_a_game_is_among_them(served: Service) -> None:
    client = served.client()
    found = [client.diff_options(game_id, options) for game_id, options in _changes()]
    assert any(each.illegal for each in found)
    assert any(each.parting for each in found)
    assert any(each.parting and each.parting.right.followed for each in found)


ROCKS = next(name for name in NAMES if name.startswith("seven_rocks"))


@pytest.mark.parametrize(
    ("options", "kind", "code"),
    [
        ({"moon": 5}, Malformed, Code.FIELD_INVALID),
        ({"target": "much"}, Malformed, Code.FIELD_INVALID),
        ({"target": 5.5}, Malformed, Code.FIELD_INVALID),
        ({"target": -1}, Malformed, Code.FIELD_INVALID),
        ({"target": None}, Malformed, Code.FIELD_INVALID),
        ({"target": [1]}, Malformed, Code.FIELD_INVALID),
        ({"target": float("inf")}, Malformed, Code.FIELD_INVALID),
        ({"target": 4_000_000_000}, Refused, Code.OPTION_OUT_OF_RANGE),
    ],
)
def test_options_that_cannot_be_are_refused_by_name(
    options: dict[str, Any], kind: type[HeptalogError], code: Code, served: Service
) -> None:
    with pytest.raises(kind) as refused:
        served.client().diff_options(ROCKS, options)
    assert refused.value.code is code
    place = "options" if "moon" in options or options["target"] == float("inf") else "options.target"
    assert refused.value.facts["field" if kind is Malformed else "option"] == (place if kind is Malformed else "target")
    if place == "options.target" and kind is Malformed:
        assert refused.value.facts["problem"] == "a value that it cannot have"


def test_what_no_message_can_carry_is_refused_before_it_is_sent(served: Service) -> None:
    strange: Any = {"target": object()}
    nothing: Any = 5
    for options in (strange, nothing):
        with pytest.raises(Malformed) as unfit:
            served.client().diff_options(ROCKS, options)
        assert (unfit.value.code, unfit.value.facts["field"]) == (Code.FIELD_INVALID, "options")


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (audit_pb2.DiffGamesRequest(game_id=NAMES[0]), "against"),
        (audit_pb2.DiffGamesRequest(game_id=NAMES[0], options=Struct(), envelope=True), "envelope"),
    ],
)
def test_a_request_says_what_is_compared(request_: audit_pb2.DiffGamesRequest, field: str, served: Service) -> None:
    with pytest.raises(grpc.RpcError) as refused:
        audit_pb2_grpc.AuditServiceStub(served.channel()).DiffGames(request_)
    failure = failure_of(refused.value)
    assert (failure.code, failure.reason, failure.field) == (
        grpc.StatusCode.INVALID_ARGUMENT,
        "FIELD_INVALID",
        field,
    )


@pytest.mark.parametrize(
    ("left", "right", "missing"),
    [("nobody's", NAMES[0], "nobody's"), (NAMES[0], "nobody's", "nobody's"), (COPY, "", "")],
)
def test_a_game_that_is_not_there_is_named(left: str, right: str, missing: str, served: Service) -> None:
    with pytest.raises(NotFound) as unknown:
        served.client().diff(left, right)
    assert (unknown.value.code, unknown.value.facts["game_id"]) == (Code.GAME_NOT_FOUND, missing)
    with pytest.raises(NotFound) as unknown:
        served.client().diff_options("nobody's", {})
    assert (unknown.value.code, unknown.value.facts["game_id"]) == (Code.GAME_NOT_FOUND, "nobody's")


def test_other_options_are_not_known_of_a_redacted_copy(served: Service) -> None:
    with pytest.raises(Redacted) as sealed:
        served.client().diff_options(COPY, {})
    assert sealed.value.facts["game_id"] == COPY


@pytest.mark.parametrize("how", NEWER)
def test_of_a_newer_game_nothing_is_compared(how: str) -> None:
    store = MemoryStore()
    at = record_newer(store, how)
    with Service(store) as service:
        client = service.client(attempts=3)
        with pytest.raises(Unavailable) as newer:
            client.diff("first", "game")
        with pytest.raises(Unavailable) as under:
            client.diff_options("game", {})
    for error in (newer.value, under.value):
        assert (error.code, error.facts["game_id"], error.facts["at_sequence"]) == (Code.RECORD_NEWER, "game", at)


def test_who_goes_away_ends_it(served: Service) -> None:
    stub: Any = audit_pb2_grpc.AuditServiceStub(served.channel())
    with served.store.held_reading() as hold:
        call = stub.DiffGames.future(audit_pb2.DiffGamesRequest(game_id=NAMES[0], other_game_id=AGAIN))
        hold.wait_until_reached()
        call.cancel()
    assert served.store.all_closed.wait(WAIT_SECONDS)
    assert served.store.reader_count == 0


def test_many_ask_at_once_and_each_is_told_its_own(served: Service) -> None:
    client = served.client()
    pairs = [(left, right) for left in NAMES for right in NAMES]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda pair: client.diff(*pair), pairs))
    assert [(each.left.game_id, each.right.game_id) for each in found] == pairs
    assert [each.is_same for each in found] == [left == right for left, right in pairs]
