"""Where two games of a log part, and one game under other options. Knows no gRPC.

What is begun here is gone on with piece by piece: each step gives None, and the last what was found.
"""

from collections.abc import Generator, Mapping
from contextlib import closing
from typing import Any, TypeAlias

from heptalog.replay import alternative as alternatives
from heptalog.replay.diff import diff
from heptalog.replay.errors import Code, Corrupt, Malformed, Redacted
from heptalog.replay.events import GameStarted, Options
from heptalog.replay.gamefile import changed_options, options_given
from heptalog.replay.sentences import sentence
from heptalog.replay.verify import Report
from heptalog.service.examining.records import WholeGame, decoded
from heptalog.service.examining.told import Alternative, Compared, Consequence, Difference, Finding, OutcomeParting
from heptalog.service.examining.verifying import check_known, events_of, finding_of, pieces_of
from heptalog.service.followed import followed_by
from heptalog.service.forms import unfit
from heptalog.service.store import LogStore

Comparing: TypeAlias = Generator[Difference | Alternative | None, None, None]


def difference(store: LogStore, game_id: str, other_id: str, *, with_envelope: bool) -> Comparing:
    """Compare two games, also where one is bad or redacted, as far as they go.

    Raises as `examination` does.
    """
    for each in (game_id, other_id):
        # Before either is read.
        events_of(store, each)
    left = yield from _read(store, game_id)
    right = yield from _read(store, other_id)
    found = diff(left.events, right.events, with_envelope=with_envelope)
    yield Difference(
        _compared(game_id, left), _compared(other_id, right), found.is_same, found.event, found.state, found.result
    )


def alternative(store: LogStore, game_id: str, changes: dict[str, Any]) -> Comparing:
    """Compare a game with its own events under other options, of which those that are not named stay.

    Raises as `examination` does, and Corrupt also where the game is bad; Malformed for options that its game does not
    have, Refused for those by which its players cannot play.
    """
    events_of(store, game_id)
    game = yield from _read(store, game_id)
    _check_good(game.report, game_id)
    started = game.events[0].body
    assert isinstance(started, GameStarted), "a good game begins with its start"
    options = _options(started.rules, changes)
    found = alternatives.under([event.body for event in game.events], options)
    illegal, parting = found.error, found.parting
    yield Alternative(
        _compared(game_id, game),
        options_given(started.rules),
        options_given(options),
        found.is_same,
        found.left,
        found.right,
        None if parting is None else OutcomeParting(parting.sequence, _told(parting.left), _told(parting.right)),
        None if illegal is None else Finding(illegal.code, illegal.rule, sentence(illegal), found.error_sequence),
    )


def _options(options: Options, changes: Mapping[str, Any]) -> Options:
    """The options with some given anew. Raises Malformed with the place of what is wrong in the request."""
    for name in changes:
        if name not in options.__struct_encode_fields__:
            problem = f"the game has no option {name}"
            raise Malformed(Code.FIELD_INVALID, rule="api", field="options", problem=problem)
    for name, value in changes.items():
        try:
            options = changed_options(options, {name: value})
        except Malformed:
            raise unfit(f"options.{name}") from None
    return options


def _read(store: LogStore, game_id: str) -> Generator[None, None, WholeGame]:
    """A game as far as it can be read."""
    game = WholeGame()
    with closing(pieces_of(store, game_id)) as pieces:
        for piece in pieces:
            is_read = game.take(decoded(stored, game_id) for stored in piece)
            yield None
            if not is_read:
                break
    check_known(game.report, game_id)
    return game


def _compared(game_id: str, game: WholeGame) -> Compared:
    report = game.report
    over = game.fold.state.over if report.ok and game.fold is not None else None
    return Compared(game_id, report.events, over, finding_of(report))


def _check_good(report: Report, game_id: str) -> None:
    """Raise Corrupt, with game and sequence, where a game is bad, and Redacted where a part of it is left out."""
    error = report.error
    if error is None:
        return
    facts = {name: value for name, value in error.facts.items() if name != "sequence"}
    facts |= {"game_id": game_id, "at_sequence": report.sequence}
    if isinstance(error, Corrupt | Redacted):
        raise type(error)(error.code, rule=error.rule, **facts)
    raise Corrupt(Code.RECORD_DAMAGED, rule=error.rule, game_id=game_id, at_sequence=report.sequence)


def _told(consequence: alternatives.Consequence) -> Consequence:
    return Consequence(followed_by(consequence.outcomes), consequence.standing)
