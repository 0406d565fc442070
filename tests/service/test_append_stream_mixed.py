"""Streams against single calls: any mixture of appends comes to the same."""

from typing import Final

from hypothesis import given, settings
from hypothesis import strategies as st

from heptalog.replay.errors import HeptalogError
from heptalog.replay.events import Event
from heptalog.service.appends import Append
from heptalog.service.store import NO_GAME
from heptalog.service.store.memory import MemoryStore
from heptalog.v1 import log_pb2
from tests.service.asking import FOREIGN, ROCKS, Failure, append_message, remark, try_append
from tests.service.wires import Wire, told
from tests.support.serving import Service

_APPENDS: Final = st.lists(
    st.builds(
        lambda game, expected, notes, is_foul: Append(
            game,
            expected,
            tuple(remark(f"e{note}") for note in notes) + ((Event(0, FOREIGN),) if is_foul else ()),
        ),
        st.sampled_from(["game", "other", "none"]),
        st.integers(-1, 6),
        st.lists(st.integers(0, 8), max_size=3),
        st.booleans(),
    )
    | st.sampled_from([Append(game, NO_GAME, (Event(0, ROCKS, event_id="start"),)) for game in ("game", "other")]),
    max_size=25,
)


@given(_APPENDS, st.integers(1, 6))
@settings(deadline=None, max_examples=40)
def test_a_stream_comes_to_what_single_calls_come_to(appends: list[Append], size: int) -> None:
    with Service(MemoryStore()) as one, Service(MemoryStore()) as other:
        expected = [_outcome(try_append(one, append_message(append))) for append in appends]
        wire = Wire(other)
        numbered = list(enumerate(appends, 1))
        for start in range(0, len(appends), size):
            wire.send(*numbered[start : start + size])
        wire.end()
        answers = wire.answers(len(appends))
        assert wire.ends() is None
        assert [_outcome(told(answers[number])) for number, _ in numbered] == expected
        games = [{game_id: head.sequence for game_id, head in service.store.heads()} for service in (one, other)]
        assert games[0] == games[1]


def _outcome(answer: object) -> object:
    match answer:
        case log_pb2.AppendEventsResponse():
            return answer.head.sequence, tuple(answer.sequences), answer.deduplicated, answer.head.position
        case Failure():
            return answer.reason
        case HeptalogError():
            return answer.code
    raise AssertionError(answer)
