"""Two games side by side, or one under other options, in words and as JSON."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias

from msgspec import to_builtins

from heptalog.cli.output import plain
from heptalog.cli.render import counted, outcome_json
from heptalog.cli.verdicts import Verdict
from heptalog.replay.alternative import Alternative, Consequence
from heptalog.replay.diff import Difference, FieldDifference
from heptalog.replay.events import Event, GameStarted, Options, camel_name
from heptalog.replay.gamefile import options_given
from heptalog.replay.registry import rules_of
from heptalog.replay.sentences import sentence
from heptalog.replay.words import names_of, printable, tell_event, tell_options, tell_outcome

Events: TypeAlias = Sequence[Event]

# Fields of one difference that are told to people; the other forms have all.
_FIELDS_MAX: Final = 12


def difference_text(
    difference: Difference, verdicts: tuple[Verdict, Verdict], events: tuple[Events, Events]
) -> Iterator[str]:
    """Where two games part, for people."""
    for title, verdict, side in zip(("A", "B"), verdicts, events, strict=True):
        yield printable(f"{title}  {verdict.source}  {_length_text(verdict, len(side))}")
    is_redacted = any(verdict.is_redacted for verdict in verdicts)
    yield ""
    if difference.is_same and not is_redacted:
        is_whole = all(verdict.ok for verdict in verdicts)
        yield "The games are the same." if is_whole else "The games are the same as far as they are good."
        return
    if difference.event is None:
        yield f"The events are the same{', by their hashes also what is left out' if is_redacted else ''}."
    else:
        place = difference.event.sequence
        kinds = {camel_name(type(side[place].body)) for side in events if place < len(side)}
        yield f"First event that differs: {place}" + (f" ({kinds.pop()})" if len(kinds) == 1 else "")
        yield from _fields_text(difference.event.fields)
    if difference.state is None:
        yield "The states are the same as far as both go."
    else:
        yield f"First state that differs: after event {difference.state.sequence}"
        yield from _fields_text(difference.state.fields)
    if is_redacted:
        yield "The results cannot be compared: what led to them is left out."
    elif difference.result:
        yield "Result:"
        yield from _fields_text(difference.result)
    else:
        yield "The results are the same."


def _length_text(verdict: Verdict, count: int) -> str:
    if verdict.ok:
        return counted(count, "event")
    if verdict.is_redacted:
        return f"{counted(count, 'event')}, redacted from event {verdict.sequence}"
    place = "" if verdict.sequence is None else f" at {verdict.sequence}"
    return f"{counted(verdict.events, 'good event')}, then bad{place}"


def difference_json(difference: Difference, verdicts: tuple[Verdict, Verdict]) -> dict[str, Any]:
    """Where two games part, for programs."""
    return {
        "left": verdicts[0],
        "right": verdicts[1],
        "same": difference.is_same,
        "event": difference.event,
        "state": difference.state,
        "result": difference.result,
    }


def alternative_text(
    alternative: Alternative, started: GameStarted, options: Options, verdict: Verdict, events: Events
) -> Iterator[str]:
    """One game under other options, for people."""
    rules = rules_of(started)
    names = names_of(started)
    yield printable(f"A  {verdict.source}  {counted(len(events), 'event')}")
    yield f"   as played:  {tell_options(started.rules) or 'the usual options'}"
    yield f"   instead:    {tell_options(options) or 'the usual options'}"
    yield ""
    if alternative.is_same:
        yield "Everything follows as it did."
        return
    if parting := alternative.parting:
        told = tell_event(rules, events[parting.sequence].body, names)
        yield f"The outcome parts at event {parting.sequence}: {told}"
        for title, side in (("as played", parting.left), ("instead", parting.right)):
            phrases = [tell_outcome(rules, outcome, names) for outcome in side.outcomes]
            yield f"  {title + ':':<11} {'; '.join(phrases) or 'nothing follows'}"
            yield f"  {'':<11} {_standing_text(side)}"
    if alternative.error is not None:
        told = tell_event(rules, events[alternative.error_sequence].body, names)
        yield f"Event {alternative.error_sequence} would not be legal: {told}"
        yield f"  {sentence(alternative.error)} [{alternative.error.code}]"
    yield "Where it ends:"
    for title, standing in (("as played", alternative.left), ("instead", alternative.right)):
        yield f"  {title + ':':<11} after event {standing.sequence}, {_standing_text(Consequence((), standing))}"


def alternative_json(
    alternative: Alternative, started: GameStarted, options: Options, verdict: Verdict
) -> dict[str, Any]:
    """One game under other options, for programs."""
    error = alternative.error
    parting = alternative.parting
    return {
        "game": verdict,
        "options": {"left": options_given(started.rules), "right": options_given(options)},
        "same": alternative.is_same,
        "outcome": parting
        and {
            "sequence": parting.sequence,
            "left": _consequence_json(parting.left),
            "right": _consequence_json(parting.right),
        },
        "illegal": error
        and {
            "sequence": alternative.error_sequence,
            "rule": error.rule or None,
            "code": error.code,
            "message": sentence(error),
        },
        "end": {"left": alternative.left, "right": alternative.right},
    }


def _fields_text(fields: Sequence[FieldDifference]) -> Iterator[str]:
    shown = fields[:_FIELDS_MAX]
    width = max(len(difference.field) for difference in shown)
    for difference in shown:
        yield printable(f"  {difference.field:<{width}}  {_told(difference.left)}  ->  {_told(difference.right)}")
    if len(fields) > _FIELDS_MAX:
        yield f"  and {len(fields) - _FIELDS_MAX} more"


def _told(value: Any) -> str:
    return "nothing" if value is None or value == "" else plain(value)


def _consequence_json(consequence: Consequence) -> dict[str, Any]:
    return {
        "standing": to_builtins(consequence.standing),
        "outcomes": [outcome_json(outcome) for outcome in consequence.outcomes],
    }


def _standing_text(consequence: Consequence) -> str:
    standing = consequence.standing
    over = f"over, winners {plain(standing.winners)}" if standing.over else f"to act {plain(standing.to_act)}"
    return f"round {standing.round}, scores {plain(standing.scores)}, {over}"
