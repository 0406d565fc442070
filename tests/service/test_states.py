"""States and legal moves over the wire: at any sequence, as a viewer may see them, pinned to their head."""

import json
from random import Random
from typing import Any

import grpc
import msgspec
import pytest

from heptalog.replay.errors import Code, NotFound, Refused
from heptalog.replay.events import Body, CardsDealt, GameClosed, GameStarted, MovesRetracted
from heptalog.replay.fold import Fold, Status, fold_all, legal_of, status_of, view_of
from heptalog.replay.registry import GAMES
from heptalog.replay.rules import ARBITER, PUBLIC, AnyRules, Viewer
from heptalog.replay.seven_up.events import CardsDiscarded, TrumpDecided
from heptalog.replay.sights import Sights
from heptalog.service.client import AsyncClient, Client, FeedFilter
from heptalog.v1 import games_pb2, games_pb2_grpc
from tests.laws.test_sights import round_that_ended
from tests.service.asking import failure_of, games_of_all_kinds, new_game, remark
from tests.service.following import events_in, until_caught_up
from tests.support.play import play
from tests.support.serving import Service

EACH_GAME = pytest.mark.parametrize("rules", GAMES, ids=lambda rules: str(rules.key))


def recorded(client: Client, bodies: list[Body], game_id: str = "game") -> Fold:
    """A game on the server, and the same game folded here."""
    started = bodies[0]
    assert isinstance(started, GameStarted)
    recorder = client.create_game(started, game_id=game_id)
    if bodies[1:]:
        recorder.append(*bodies[1:])
    return fold_all(bodies)


def text_of(view: object) -> str:
    """A view as JSON has it, in one order; 1.0 is not 1 here."""
    return json.dumps(msgspec.json.decode(msgspec.json.encode(view)), sort_keys=True)


@EACH_GAME
def test_every_viewer_sees_what_the_rules_show(service: Service, rules: AnyRules) -> None:
    client = service.client()
    bodies = play(rules, 3, events_max=60, with_rulings=False).bodies
    fold = recorded(client, bodies)
    viewers = [PUBLIC, ARBITER, *(Viewer(seat) for seat in range(len(fold.started.players)))]
    for sequence in (0, 1, 2, len(bodies) // 2, len(bodies) - 1):
        for viewer in viewers:
            seen = client.state("game", sequence=sequence, viewer=viewer)
            assert text_of(seen.view) == text_of(rules.view(fold.states[sequence], viewer))
            assert seen.standing.sequence == sequence
            assert seen.standing.scores == fold.states[sequence].scores
    assert client.state("game") == client.state("game", sequence=len(bodies) - 1, viewer=ARBITER)


@EACH_GAME
@pytest.mark.parametrize("winners", [(), (0, 2)])
def test_the_view_of_a_closed_game_shows_its_end(service: Service, rules: AnyRules, winners: tuple[int, ...]) -> None:
    client = service.client()
    bodies = play(rules, 3, events_max=40, with_rulings=False, seat_count=4).bodies
    stops = [at for at in range(1, len(bodies)) if not fold_all(bodies[:at]).state.over][::7]
    for at in stops:
        fold = recorded(client, [*bodies[:at], GameClosed(winners=winners)], f"game-{at}")
        for viewer in (PUBLIC, ARBITER, Viewer(1)):
            closed = client.state(f"game-{at}", viewer=viewer)
            assert closed.standing == fold.standing()
            table = closed.view["table"]
            assert (table["phase"], table["toAct"], table["winners"]) == ("OVER", [], list(closed.standing.winners))
            # All else lies there as it was left.
            before = client.state(f"game-{at}", sequence=at - 1, viewer=viewer).view
            told = {name: table[name] for name in ("phase", "toAct", "winners")}
            assert closed.view == {**before, "table": {**before["table"], **told}}
        assert text_of(view_of(rules, fold.state, PUBLIC)) == text_of(client.state(f"game-{at}", viewer=PUBLIC).view)
        assert list(legal_of(rules, fold.state)) == list(client.legal(f"game-{at}")) == []
        assert client.game(f"game-{at}").status is status_of(fold.state) is Status.CLOSED


@EACH_GAME
def test_no_view_but_the_arbiters_has_a_hidden_card(service: Service, rules: AnyRules) -> None:
    client = service.client()
    bodies = next(game for game in games_of_all_kinds(4, events_max=12) if fold_all(game[:1]).rules is rules)
    fold = recorded(client, bodies)
    assert fold.state.round == 1
    deal: Any = next(body for body in bodies if hasattr(body, "hands"))
    # The sevens of Seven Bridge lie on the table from the first.
    hands = [[card for card in getattr(hand, hand.value_field) if card[0] != "7"] for hand in deal.hands]
    at_deal = bodies.index(deal)
    public = repr(client.state("game", sequence=at_deal, viewer=PUBLIC).view)
    arbiter = repr(client.state("game", sequence=at_deal, viewer=ARBITER).view)
    for hand in hands:
        assert all(f"'{card}'" in arbiter or f"'{card[::-1]}'" in arbiter for card in hand)
        assert not any(f"'{card}'" in public or f"'{card[::-1]}'" in public for card in hand)


def test_before_trump_is_fixed_only_elder_hand_and_dealer_look(service: Service) -> None:
    """SU-R12 over the wire."""
    client = service.client()
    rules = next(rules for rules in GAMES if rules.key == "seven_up")
    game = play(rules, 5, events_max=200, with_rulings=False, seat_count=4).bodies
    deal = next(index for index, body in enumerate(game) if isinstance(body, CardsDealt))
    bodies = game[: deal + 1]
    fold = recorded(client, bodies)
    first = next(iter(rules.legal(fold.state)))
    assert isinstance(first, TrumpDecided)
    hands = [client.state("game", viewer=Viewer(seat)).view["hand"] for seat in range(4)]
    seeing = [seat for seat, hand in enumerate(hands) if hand is not None]
    assert len(seeing) == 2
    assert first.seat in seeing
    assert all(len(hands[seat]) == 6 for seat in seeing)


def test_a_sequence_beyond_the_head_is_out_of_range(each_service: Service) -> None:
    client = each_service.client()
    new_game(client, remark_count=2)
    for sequence in (3, 2**32 - 1):
        with pytest.raises(NotFound) as beyond:
            client.state("game", sequence=sequence)
        assert beyond.value.code is Code.POSITION_AFTER_HEAD
        assert beyond.value.facts["head"] == 2
    # What is not at hand in memory is read from the log, and is the same.
    each_service.app.positions._live.forget("game")
    with pytest.raises(NotFound):
        client.state("game", sequence=3)
    assert [client.state("game", sequence=at).standing.sequence for at in range(3)] == [0, 1, 2]


def test_a_seat_that_is_not_there_sees_nothing(service: Service) -> None:
    client = service.client()
    new_game(client)
    for seat in (4, 2**32 - 1):
        with pytest.raises(Refused) as unknown:
            client.state("game", viewer=Viewer(seat))
        assert unknown.value.code is Code.SEAT_UNKNOWN
        with pytest.raises(Refused) as unknown:
            list(client.legal("game", seat=seat))
        assert unknown.value.facts["seats"] == 4


@pytest.mark.parametrize("role", [0, 9])
def test_who_looks_must_be_said(service: Service, role: int) -> None:
    new_game(service.client())
    viewer = games_pb2.Viewer(role=role)  # type: ignore[arg-type]  # a number that the enum need not have
    with pytest.raises(grpc.RpcError) as refused:
        games_pb2_grpc.GamesServiceStub(service.channel()).GetState(
            games_pb2.GetStateRequest(game_id="game", viewer=viewer)
        )
    assert failure_of(refused.value).field == "viewer.role"


@EACH_GAME
def test_legal_moves_are_those_that_the_rules_accept(service: Service, rules: AnyRules) -> None:
    client = service.client()
    bodies = play(rules, 8, events_max=90, with_rulings=False).bodies
    stops = [at for at in range(1, len(bodies)) if fold_all(bodies[:at]).state.to_act][::9]
    assert stops
    for at in stops:
        game_id = f"game-{at}"
        fold = recorded(client, bodies[:at], game_id)
        moves = [move for _, move in zip(range(300), client.legal(game_id, page_size=77), strict=False)]
        assert moves == [move for _, move in zip(range(300), rules.legal(fold.state), strict=False)]
        for move in moves:
            fold.check(move)
        for seat in range(len(fold.started.players)):
            if not isinstance(moves[0], CardsDiscarded):
                own = [move for move in moves if getattr(move, "seat", None) == seat]
                assert list(client.legal(game_id, seat=seat)) == own
        # Any of them may be sent as it came.
        assert client.resume(game_id).append(Random(at).choice(moves)).head.sequence == at


def test_no_move_is_legal_where_the_table_deals_and_after_the_end(service: Service) -> None:
    client = service.client()
    for number, bodies in enumerate(games_of_all_kinds(6, events_max=30)):
        recorder = client.create_game(bodies[0], game_id=f"g{number}")  # type: ignore[arg-type]  # a game starts first
        assert list(client.legal(recorder.game_id)) == []
        recorder.append(*bodies[1:], GameClosed())
        assert list(client.legal(recorder.game_id)) == []
        stub = games_pb2_grpc.GamesServiceStub(service.channel())
        answer = stub.ListLegalMoves(games_pb2.ListLegalMovesRequest(game_id=recorder.game_id))
        assert (answer.head.sequence, answer.next_page_token) == (recorder.head.sequence, "")


def test_pages_of_moves_stay_with_the_head_they_began_at(each_service: Service) -> None:
    client = each_service.client()
    rules = next(rules for rules in GAMES if rules.key == "seven_up")
    games = (play(rules, seed, events_max=40, with_rulings=False).bodies for seed in range(99))
    bodies, at = next(
        (bodies, at) for bodies in games for at, body in enumerate(bodies) if isinstance(body, CardsDiscarded)
    )
    fold = recorded(client, bodies[:at])
    stub = games_pb2_grpc.GamesServiceStub(each_service.channel())
    request = games_pb2.ListLegalMovesRequest(game_id="game", page_size=50)
    first = stub.ListLegalMoves(request)
    assert first.head.sequence == at - 1
    client.resume("game").append(bodies[at])
    request.page_token = first.next_page_token
    second = stub.ListLegalMoves(request)
    assert second.head == first.head
    expected = [move for _, move in zip(range(100), rules.legal(fold.state), strict=False)]
    moves = [*first.moves, *second.moves]
    assert [tuple(move.cards_discarded.cards) for move in moves] == [
        move.cards for move in expected if isinstance(move, CardsDiscarded)
    ]


def test_both_clients_see_alike(service: Service) -> None:
    client = service.client()
    recorded(client, games_of_all_kinds(7, events_max=9)[0])

    async def see(asynchronous: AsyncClient) -> tuple[Any, list[Body]]:
        recorder = await asynchronous.resume("game")
        await recorder.append(remark("a").body)
        moves = [move async for move in asynchronous.legal("game", page_size=1)]
        assert (await recorder.standing()).sequence == recorder.head.sequence
        return await asynchronous.state("game", viewer=PUBLIC), moves

    assert service.asynchronous(see) == (client.state("game", viewer=PUBLIC), list(client.legal("game")))


@EACH_GAME
@pytest.mark.parametrize("is_at_hand", [True, False])
def test_what_was_taken_back_is_told_at_no_sequence(service: Service, rules: AnyRules, is_at_hand: bool) -> None:
    client = service.client()
    for seed in range(3):
        bodies = play(rules, seed, events_max=90, with_rulings=False, seat_count=4).bodies
        middle = len(bodies) // 2
        back = middle // 2
        bodies = [*bodies[:middle], MovesRetracted(middle // 3), MovesRetracted(back), *bodies[back + 1 :]]
        fold = recorded(client, bodies, f"game-{seed}")
        if not is_at_hand:
            service.app.positions._live.forget(f"game-{seed}")
        for viewer in (PUBLIC, ARBITER, *(Viewer(seat) for seat in range(4))):
            sights = Sights(fold, fold.sequence, viewer, lambda bodies=bodies: bodies)  # type: ignore[misc]
            for sequence in range(0, fold.sequence + 1, 3):
                seen = client.state(f"game-{seed}", sequence=sequence, viewer=viewer)
                assert text_of(seen.view) == text_of(sights.at(sequence).view)


def test_a_state_is_told_as_long_as_it_stands(service: Service) -> None:
    client = service.client()
    bodies, end, _ = round_that_ended(next(rules for rules in GAMES if rules.key == "seven_rocks"))
    recorded(client, bodies)
    game = client.resume("game")
    shown = client.state("game", sequence=end, viewer=PUBLIC).view["table"]["handsLeft"]
    assert any(shown)
    game.append(MovesRetracted(end - 1))
    for looks in (client.state("game", sequence=end, viewer=PUBLIC), client.state("game", viewer=PUBLIC)):
        assert not any(looks.view["table"]["handsLeft"])
    assert client.state("game", sequence=end).view["table"]["handsLeft"] == shown
    game.append(MovesRetracted(end))
    assert client.state("game", sequence=end, viewer=PUBLIC).view["table"]["handsLeft"] == shown
    assert client.state("game", viewer=PUBLIC).view["table"]["handsLeft"] == shown


def test_a_feed_tells_of_no_hand_that_was_taken_back(service: Service) -> None:
    client = service.client()
    bodies, end, _ = round_that_ended(next(rules for rules in GAMES if rules.key == "seven_rocks"))
    recorded(client, bodies)

    def kinds(viewer: Viewer) -> list[str]:
        (told,) = (
            event
            for event in events_in(until_caught_up(client.subscribe(FeedFilter("game", viewer=viewer))))
            if event.sequence == end
        )
        return [followed.kind for followed in told.followed if followed.kind == "handSettled"]

    assert len(kinds(PUBLIC)) == len(kinds(ARBITER)) == 4
    client.resume("game").append(MovesRetracted(end - 1))
    assert (len(kinds(PUBLIC)), len(kinds(Viewer(0))), len(kinds(ARBITER))) == (0, 1, 4)
