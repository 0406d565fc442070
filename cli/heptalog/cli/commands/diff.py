"""`heptalog diff`: where two games part, or one game under other options."""

from typing import TYPE_CHECKING, Annotated

import typer

from heptalog.cli.exits import Exit, WrongUse, complain
from heptalog.cli.guard import guarded
from heptalog.cli.options import NAMING, Format, FormatOption

if TYPE_CHECKING:
    from heptalog.cli.connections import Connections
    from heptalog.cli.sources import Game
    from heptalog.cli.verdicts import Verdict

LeftArgument = Annotated[str, typer.Argument(metavar="A", help=NAMING, show_default=False)]
RightArgument = Annotated[
    str | None, typer.Argument(metavar="B", help="The other game, named in any of these ways.", show_default=False)
]
OptionsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--options",
        metavar="NAME=VALUE,...",
        help="Instead of B: A under these options, as passTokens=5; what is not named stays. fanTan is ghosts=false.",
        show_default=False,
    ),
]
EnvelopeOption = Annotated[bool, typer.Option("--envelope", help="Compare ids, recording times and hashes too.")]


@guarded
def diff(
    a: LeftArgument,
    b: RightArgument = None,
    options: OptionsOption = None,
    envelope: EnvelopeOption = False,
    format_: FormatOption = Format.TEXT,
) -> Exit:
    """Compare two games, or one under other options.

    Tells the first event that differs and how, the first state that differs, and the difference in the result. With
    --options: the first event from which something else follows, and the first that would not be legal. What is left
    out of a redacted copy is compared by the hashes. Exit code 1 where they differ, or where one of them is bad.
    """
    from heptalog.cli.connections import Connections
    from heptalog.cli.sources import one_game

    if (b is None) == (options is None):
        raise WrongUse("name two games, or one and --options")
    with Connections() as connections:
        if b is None:
            return _under_options(one_game(a), options or [], connections, format_)
        return _compared(one_game(a), one_game(b), connections, format_, with_envelope=envelope)


def _compared(left: "Game", right: "Game", connections: "Connections", format_: Format, *, with_envelope: bool) -> Exit:
    from heptalog.cli.comparing import difference_json, difference_text
    from heptalog.cli.examine import loaded
    from heptalog.cli.output import write_document, write_lines
    from heptalog.replay.diff import diff as compare

    left_events, left_verdict = loaded(left, connections)
    right_events, right_verdict = loaded(right, connections)
    verdicts = (left_verdict, right_verdict)
    # That a copy is redacted is nothing wrong with it: it is compared as far as it goes, and by its hashes.
    if _told(tuple(verdict for verdict in verdicts if not verdict.is_redacted)) is Exit.UNREACHABLE:
        return Exit.UNREACHABLE
    difference = compare(left_events, right_events, with_envelope=with_envelope)
    if format_ is Format.TEXT:
        write_lines(difference_text(difference, verdicts, (left_events, right_events)))
    else:
        write_document(difference_json(difference, verdicts), format_)
    is_same = difference.is_same and all(verdict.ok or verdict.is_redacted for verdict in verdicts)
    return Exit.FINE if is_same else Exit.FINDING


def _under_options(game: "Game", texts: list[str], connections: "Connections", format_: Format) -> Exit:
    from heptalog.cli.comparing import alternative_json, alternative_text
    from heptalog.cli.examine import loaded
    from heptalog.cli.given_options import options_under
    from heptalog.cli.output import write_document, write_lines
    from heptalog.replay.alternative import under
    from heptalog.replay.events import GameStarted

    events, verdict = loaded(game, connections)
    if code := _told((verdict,)):
        return code
    started = events[0].body
    assert isinstance(started, GameStarted), "a good game begins with its start"
    options = options_under(started, texts)
    alternative = under([event.body for event in events], options)
    if format_ is Format.TEXT:
        write_lines(alternative_text(alternative, started, options, verdict, events))
    else:
        write_document(alternative_json(alternative, started, options, verdict), format_)
    return Exit.FINE if alternative.is_same else Exit.FINDING


def _told(verdicts: tuple["Verdict", ...]) -> Exit:
    """Say what is wrong with the games themselves; the worst of it."""
    from heptalog.cli.render import finding_text

    for verdict in verdicts:
        if not verdict.ok:
            complain(finding_text(verdict))
    return max((verdict.exit for verdict in verdicts), default=Exit.FINE)
