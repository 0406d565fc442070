"""What outside data may cost: a bound for a game's length and its players, and a refusal that costs its own size."""

import pytest

from heptalog.replay.errors import Code, Refused
from heptalog.replay.events import Event, GameStarted, Player, TurnPassed
from heptalog.replay.fold import PLAYERS_MAX
from heptalog.replay.seven_rocks.events import SevenRocks
from heptalog.service import handler
from heptalog.service.appends import Append
from heptalog.service.live import LiveGame
from heptalog.service.store import NO_GAME
from tests.service.asking import append_message, check_record, new_game, refused_append, remark
from tests.support.serving import Service


def test_a_game_has_no_more_events_than_it_may(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handler, "EVENTS_PER_GAME_MAX", 4)
    client = service.client()
    new_game(client, remark_count=2)
    for count in (2, 3):
        events = tuple(remark(f"x{number}") for number in range(count))
        failure = refused_append(service, append_message(Append("game", 2, events)))
        assert (failure.code.name, failure.reason) == ("FAILED_PRECONDITION", "GAME_TOO_LONG")
        assert (failure.facts["index"], failure.facts["limit"]) == ("1", "4")
    assert client.append(Append("game", 2, (remark("last"),))).head.sequence == 3
    with pytest.raises(Refused) as refused:
        client.append(Append("game", 3, (remark("more"),)))
    assert refused.value.code is Code.GAME_TOO_LONG
    # What is there is known all the same.
    assert client.append(Append("game", 2, (remark("last"),))).is_deduplicated
    check_record(client, "game", 4)


@pytest.mark.parametrize("name", ["p", ""], ids=["each their own id", "one id for all"])
def test_a_crowd_cannot_play(service: Service, name: str) -> None:
    players = tuple(Player(f"{name}{number}" if name else "p") for number in range(20_000))
    with pytest.raises(Refused) as refused:
        service.client().create_game(GameStarted(players, SevenRocks()))
    assert (refused.value.code, refused.value.facts["players"]) == (Code.PLAYERS_INVALID, 20_000)
    assert len(players) > PLAYERS_MAX


def test_a_refused_move_takes_back_what_came_before_it_and_no_more(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = service.client()
    new_game(client, remark_count=3)
    taken_back = []
    truncate = LiveGame.truncate
    monkeypatch.setattr(LiveGame, "truncate", lambda game, at: taken_back.append(at) or truncate(game, at))  # type: ignore[func-returns-value]  # append gives nothing, so both are done
    game = service.app.positions._live.find("game")
    assert game is not None
    ids = game.event_ids
    refused = Event(0, TurnPassed(0), event_id="knock")
    with pytest.raises(Refused):
        client.append(Append("game", 3, (refused, remark("a"))))
    assert taken_back == []
    with pytest.raises(Refused):
        client.append(Append("game", 3, (remark("a"), remark("b"), refused)))
    assert taken_back == [3]
    # The very same table of ids, however many there are: only those two have gone.
    assert game.event_ids is ids
    assert ids == {"start": 0, "r1": 1, "r2": 2, "r3": 3}
    assert client.append(Append("game", 3, (remark("b"),))).head.sequence == 4
    with pytest.raises(Refused):
        client.append(Append("new", NO_GAME, (refused,)))
