"""The queue of the writer: who is patient leaves room for who would be refused, and hears of all room that is made."""

from collections.abc import Callable

import pytest

from heptalog.replay.errors import Code, Unavailable
from heptalog.service.appending.jobs import Job
from heptalog.service.appending.waiting import Waiting
from heptalog.service.appends import Append
from tests.service.asking import remark

QUEUE_MAX = 6


def job(when_room: Callable[[], None] | None = None) -> Job:
    """One of a single event that nobody hears of."""
    made = Job(Append("game", 0, (remark("a"),)), lambda _: None)
    made.when_room = when_room
    return made


def refusal(waiting: Waiting, asked: Job) -> Code:
    """Why this one is not let in."""
    with pytest.raises(Unavailable) as refused:
        waiting.put(asked)
    return refused.value.code


class Patient:
    """Somebody who has queued all that may be, and counts how often there was room."""

    def __init__(self, waiting: Waiting) -> None:
        self.told = 0
        self.waiting = waiting
        self.jobs = []
        while waiting.count < QUEUE_MAX // 2:
            waiting.put(made := job(self.hear))
            self.jobs.append(made)
        assert refusal(waiting, job(self.hear)) is Code.OVERLOADED

    def hear(self) -> None:
        self.told += 1


def test_the_patient_have_half_of_it_together() -> None:
    waiting = Waiting(QUEUE_MAX, 1.0)
    first, second = Patient(waiting), Patient(waiting)
    assert (len(first.jobs), second.jobs) == (QUEUE_MAX // 2, [])
    for _ in range(QUEUE_MAX // 2):
        waiting.put(job())
    assert refusal(waiting, job()) is Code.OVERLOADED
    assert (first.told, second.told) == (0, 0)


def test_the_patient_find_room_again_as_theirs_go_and_not_as_others_go() -> None:
    waiting = Waiting(QUEUE_MAX, 1.0)
    patient = Patient(waiting)
    waiting.put(job())
    waiting.hand_over([job()])
    assert patient.told == 1
    assert refusal(waiting, job(patient.hear)) is Code.OVERLOADED
    waiting.hand_over(patient.jobs[:2])
    assert patient.told == 2
    for _ in range(2):
        waiting.put(job(patient.hear))
    assert refusal(waiting, job(patient.hear)) is Code.OVERLOADED


def test_who_fills_it_alone_leaves_room_to_the_patient_once_they_go() -> None:
    waiting = Waiting(QUEUE_MAX, 1.0)
    others = [job() for _ in range(QUEUE_MAX)]
    for other in others:
        waiting.put(other)
    told: list[str] = []
    assert refusal(waiting, job(lambda: told.append("room"))) is Code.OVERLOADED
    waiting.let_go(others[0])
    assert told == ["room"]
    waiting.put(job(lambda: None))


def test_the_patient_hear_once_however_often_they_asked() -> None:
    waiting = Waiting(QUEUE_MAX, 1.0)
    patient = Patient(waiting)
    assert refusal(waiting, job(patient.hear)) is Code.OVERLOADED
    waiting.let_go(patient.jobs[0])
    waiting.let_go(patient.jobs[1])
    assert patient.told == 1


@pytest.mark.parametrize(("end", "code"), [(Waiting.drain, Code.DRAINING), (Waiting.break_off, Code.WRITE_FAILED)])
def test_the_patient_hear_that_nobody_takes_them_any_more(end: Callable[[Waiting], object], code: Code) -> None:
    waiting = Waiting(QUEUE_MAX, 1.0)
    patient = Patient(waiting)
    end(waiting)
    assert patient.told == 1
    assert refusal(waiting, job(patient.hear)) is code
