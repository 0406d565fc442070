"""Ids that are derived from a file say nothing of what is hidden in it: they are public."""

from msgspec.structs import replace

from heptalog.replay.events import CardHand, Event
from heptalog.replay.evidence.seals import unsealed
from heptalog.replay.identity import identified
from heptalog.replay.seven_up.events import CardsRun


def run_of(*cards: str) -> list[Event]:
    """An event of which the cards are hidden, as somebody writes it down."""
    return [Event(7, CardsRun(elder=CardHand(cards), turned="6H"), occurred_at=1)]


def test_other_hidden_cards_have_the_same_ids() -> None:
    one, other = identified(run_of("2S", "7D", "9S")), identified(run_of("QD", "JS", "JC"))
    assert [(event.game_id, event.event_id) for event in one] == [(event.game_id, event.event_id) for event in other]


def test_what_everybody_sees_makes_a_difference() -> None:
    one, other = run_of("2S", "7D", "9S"), run_of("2S", "7D")
    seen = [replace(event, body=replace(event.body, turned="6S")) for event in one]
    assert len({identified(events)[0].event_id for events in (one, other, seen)}) == 3


def test_nothing_else_is_changed() -> None:
    (event,) = identified(run_of("2S", "7D", "9S"))
    assert event.body == unsealed(event.body) == run_of("2S", "7D", "9S")[0].body
