"""A recorded game told to people: each game's own words, and those for what every game has."""

from heptalog.replay.events import Body, GameClosed, GameStarted, MovesRetracted, NoteAdded, Options
from heptalog.replay.fold import Closed, Fold
from heptalog.replay.gamefile import options_given
from heptalog.replay.outcomes import GameEndedByArbiter, MovesTakenBack, Outcome
from heptalog.replay.phrases import Names, in_a_row, listed
from heptalog.replay.rules import ARBITER, NOTHING_WITHHELD, AnyRules, State, Viewer, Withheld


def names_of(started: GameStarted) -> tuple[str, ...]:
    """What to call the players, by seat: their names, and their ids where a name is missing or not their own."""
    names = [player.name for player in started.players]
    return tuple(
        printable(player.name if player.name and names.count(player.name) == 1 else player.id)
        for player in started.players
    )


def title_of(ruleset: str) -> str:
    """A game's name as people write it: `seven_up` is Seven Up."""
    return ruleset.replace("_", " ").title()


def tell_event(rules: AnyRules, body: Body, names: Names) -> str:
    """One readable line for what happened."""
    match body:
        case GameStarted():
            options = tell_options(body.rules)
            return f"{in_a_row(names)} begin {title_of(rules.key)}" + (f" ({options})" if options else "")
        case MovesRetracted(to_sequence=to_sequence, reason=reason):
            return f"The arbiter takes back what came after {to_sequence}" + _because(reason)
        case GameClosed(reason=reason):
            return "The arbiter ends the game" + _because(reason)
        case NoteAdded(text=text):
            return f"Remark: {printable(text)}"
        case _:
            return rules.words.event(body, names)


def tell_outcome(rules: AnyRules, outcome: Outcome, names: Names) -> str:
    """One readable phrase for what followed from it."""
    match outcome:
        case MovesTakenBack(to_sequence=to_sequence):
            return f"it stands again as after {to_sequence}"
        case GameEndedByArbiter(winners=winners):
            return _won(winners, names)
        case _:
            return rules.words.outcome(outcome, names)


def tell_table(
    fold: Fold, state: State, names: Names, viewer: Viewer = ARBITER, withheld: Withheld = NOTHING_WITHHELD
) -> list[str]:
    """The table as a viewer sees it, as a few lines of text; hidden hands are numbers in it."""
    if isinstance(state, Closed):
        ruling = f"The arbiter has ended the game: {_won(state.winners, names)}"
        return [*fold.rules.words.table(state.state, names, viewer, withheld, is_closed=True), ruling]
    return fold.rules.words.table(state, names, viewer, withheld)


def tell_options(options: Options) -> str:
    """The options that were given, in one line."""
    return printable(", ".join(f"{name} {_plain(value)}" for name, value in options_given(options).items()))


def printable(text: str) -> str:
    """Text from outside without what could do anything to a terminal but stand there."""
    return "".join(character if character.isprintable() else _escaped(character) for character in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


def _because(reason: str) -> str:
    return f": {printable(reason)}" if reason else ""


def _won(winners: tuple[int, ...], names: Names) -> str:
    if not winners:
        return "nobody wins"
    return f"{listed(winners, names)} {'wins' if len(winners) == 1 else 'win'}"


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
