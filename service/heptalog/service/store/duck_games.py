"""How games are asked for in one moment of the database: what each is, how it stands, and where its head is.

A question that would look through all games or all endings is asked only where a filter wants that; beside it only what
belongs to the games of the answer is read, which the zone maps find.
"""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from heptalog.replay.codec import decode, hash_in
from heptalog.replay.errors import Code, Corrupt, HeptalogError
from heptalog.replay.events import GameStarted, Options, Player, Tag
from heptalog.service.store import GameFilter, Head, NumberedGame, Status

Row: TypeAlias = tuple[Any, ...]
# The answer to a question, whole.
Ask: TypeAlias = Callable[[str, object], list[Row]]

# Of a smaller limit the engine makes a plan that takes twice the time: it looks up each row by itself.
SMALLEST_LIMIT: Final = 64

# The engine finds so many names by the key; from fifty on it reads all of them. That a game is new costs a question.
NAMES_AT_ONCE: Final = 48

NAMES: Final = "SELECT game_number, game_id FROM log.games WHERE game_number IN (SELECT unnest(?::BIGINT[]))"
_NUMBER: Final = "SELECT game_number FROM log.games WHERE game_id = ?"
_NUMBERS: Final = "SELECT game_id, game_number FROM log.games WHERE game_id IN (SELECT unnest(?::VARCHAR[]))"
_HEAD: Final = """
    SELECT sequence, position, event FROM log.events WHERE game_number = ? ORDER BY sequence DESC LIMIT ?
"""
_POSITIONS: Final = """
    SELECT game_number, max(position) FROM log.events
    WHERE game_number IN (SELECT unnest(?::BIGINT[])) GROUP BY game_number
"""
_AT: Final = """
    SELECT game_number, sequence, position, event FROM log.events
    WHERE position IN (SELECT unnest(?::BIGINT[]))
"""
_GAMES: Final = """
    SELECT game_number, game_id, ruleset, rules_version, started, coalesce(tournament, ''), coalesce(table_name, ''),
        players, tags, coalesce(epoch_us(created_at), 0), created_at_nanoseconds
    FROM log.games
    WHERE game_number IN (SELECT unnest(?::BIGINT[]))
    ORDER BY game_number
"""
_ONE: Final = """
    SELECT game_number, game_id, ruleset, rules_version, started, coalesce(tournament, ''), coalesce(table_name, ''),
        players, tags, coalesce(epoch_us(created_at), 0), created_at_nanoseconds
    FROM log.games
    WHERE game_id = ?
"""
_FITTING: Final = """
    SELECT game_number FROM log.games
    WHERE game_number > $after
        AND ($ruleset = '' OR ruleset = $ruleset)
        AND ($player_id = '' OR list_contains([player.id FOR player IN players], $player_id))
        AND ($player = '' OR list_contains([player.id FOR player IN players], $player)
            OR list_contains([player.name FOR player IN players], $player))
        AND ($tournament = '' OR coalesce(tournament, '') = $tournament)
        AND ($created_from = 0
            OR coalesce(epoch_us(created_at), 0)::HUGEINT * 1000 + created_at_nanoseconds >= $created_from::HUGEINT)
        AND ($created_before = 0
            OR coalesce(epoch_us(created_at), 0)::HUGEINT * 1000 + created_at_nanoseconds < $created_before::HUGEINT)
"""
_ANY_STATUS: Final = f"{_FITTING} ORDER BY game_number LIMIT $limit"
_WITH_STATUS: Final = f"""
    SELECT game_number FROM ({_FITTING}) LEFT JOIN (
        SELECT game_number, arg_max(status, sequence) AS status FROM log.endings
        WHERE game_number > $after GROUP BY game_number
    ) USING (game_number)
    WHERE coalesce(status, 'RUNNING') = $status
    ORDER BY game_number LIMIT $limit
"""  # noqa: S608  # made of constants
_STATUSES: Final = """
    SELECT game_number, arg_max(status, sequence) FROM log.endings
    WHERE game_number BETWEEN ? AND ? GROUP BY game_number
"""


def numbers(ask: Ask, game_ids: list[str]) -> dict[str, int]:
    """The numbers of those of these games that are there."""
    if len(game_ids) == 1:
        return dict(zip(game_ids, (number for (number,) in ask(_NUMBER, game_ids)), strict=False))
    found: dict[str, int] = {}
    for at in range(0, len(game_ids), NAMES_AT_ONCE):
        found.update(ask(_NUMBERS, [game_ids[at : at + NAMES_AT_ONCE]]))
    return found


def game(ask: Ask, game_id: str) -> NumberedGame | None:
    """One game as a list shows it."""
    entries = _entries(ask, ask(_ONE, [game_id]))
    return entries[0] if entries else None


def games(ask: Ask, wanted: GameFilter, *, after: int, limit: int) -> list[NumberedGame]:
    """The games that fit, in the order of creation."""
    found = _fitting(ask, wanted, after=after, limit=limit)
    return _entries(ask, ask(_GAMES, [found])) if found else []


def game_names(ask: Ask, wanted: GameFilter, *, after: int, limit: int) -> list[tuple[int, str]]:
    """The numbers and ids of the games that fit, in the order of creation; none of their events is looked at."""
    found = _fitting(ask, wanted, after=after, limit=limit)
    return [(number, game_id) for number, game_id in sorted(ask(NAMES, [found]))] if found else []


def _fitting(ask: Ask, wanted: GameFilter, *, after: int, limit: int) -> list[int]:
    parameters: dict[str, object] = {
        "after": after,
        "ruleset": wanted.ruleset,
        "player_id": wanted.player_id,
        "player": wanted.player,
        "tournament": wanted.tournament,
        "created_from": wanted.created_from,
        "created_before": wanted.created_before,
        "limit": limit or None,
    }
    if wanted.status is None:
        found = ask(_ANY_STATUS, parameters)
    else:
        found = ask(_WITH_STATUS, parameters | {"status": wanted.status.value})
    return [number for (number,) in found]


def heads_of(ask: Ask, game_numbers: list[int]) -> dict[int, Head]:
    """The heads of these games, which are there."""
    if not game_numbers:
        return {}
    if len(game_numbers) == 1:
        (number,) = game_numbers
        rows = [(number, *row) for row in ask(_HEAD, [number, SMALLEST_LIMIT])[:1]]
    else:
        rows = ask(_AT, [[position for _, position in ask(_POSITIONS, [game_numbers])]])
    heads = {number: Head(sequence, hash_in(record), position) for number, sequence, position, record in rows}
    if len(heads) != len(set(game_numbers)):
        raise Corrupt(Code.RECORD_DAMAGED, rule="evidence", problem="a game without its events")
    return heads


def status_of(text: str) -> Status:
    """A status by its name. Raises Corrupt for one that there is not."""
    try:
        return Status(text)
    except ValueError:
        raise Corrupt(Code.RECORD_DAMAGED, rule="evidence", problem="a status that there is not") from None


def _entries(ask: Ask, rows: list[Row]) -> list[NumberedGame]:
    if not rows:
        return []
    numbers = [row[0] for row in rows]
    statuses: dict[int, str] = dict(ask(_STATUSES, [min(numbers), max(numbers)]))
    heads = heads_of(ask, numbers)
    return [_entry(row, statuses.get(row[0], Status.RUNNING.value), heads[row[0]]) for row in rows]


def _entry(row: Row, status: str, head: Head) -> NumberedGame:
    number, game_id, ruleset, rules_version, record, *columns, microseconds, nanoseconds = row
    created_at = microseconds * 1000 + nanoseconds
    started = _started(record) or _started_by(rules_version, *columns)
    return NumberedGame(game_id, ruleset, rules_version, started, created_at, status_of(status), head, number)


def _started(record: bytes) -> GameStarted | None:
    """What a record says; None where it cannot be read here: one such game must not hide the others of a list."""
    try:
        event, _ = decode(record)
    except HeptalogError:
        return None
    return event.body if isinstance(event.body, GameStarted) else None


def _started_by(rules_version: int, tournament: str, table: str, players: list[Any], tags: list[Any]) -> GameStarted:
    """The same from the columns beside the record, which have all but the options."""
    return GameStarted(
        tuple(Player(player["id"], player["name"]) for player in players),
        Options(),
        rules_version,
        tournament,
        table,
        tuple(Tag(tag["name"], tag["value"]) for tag in tags),
    )
