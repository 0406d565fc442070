"""What a database comes to, as JSON lines that a person can read: every event, and how its game stood after it.

    python -m tests.support.logs log.duckdb > log.jsonl

writes what a golden log is compared with for ever, so it is run with the code of the release that made the database.
"""

import json
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from heptalog.replay.codec import decode
from heptalog.replay.events import camel_name
from heptalog.replay.fold import view_of
from heptalog.replay.gamefile import encode_line
from heptalog.replay.outcomes import Outcome, RoundEnded
from heptalog.replay.rules import ARBITER
from heptalog.replay.verify import Examiner
from heptalog.service.store import GameFilter, LogStore, NumberedGame, Refusal
from heptalog.service.store.duck import DuckStore


def told(store: LogStore) -> Iterator[dict[str, Any]]:
    """The log as a whole, each game of the list, every event in the order of acceptance, every refusal."""
    games = store.games(GameFilter(), limit=0)
    refusals = list(store.refusals())
    yield {"log": {"events": store.position(), "games": len(games), "refusals": len(refusals)}}
    for entry in games:
        yield {"game": _game(entry), "endings": [to_builtins(ending) for ending in store.endings(entry.game_id)]}
    yield from _events(store)
    for refusal in refusals:
        yield {"refusal": _refusal(refusal)}


def _game(entry: NumberedGame) -> dict[str, Any]:
    head = entry.head
    return {
        "number": entry.number,
        "id": entry.game_id,
        "ruleset": entry.ruleset,
        "rules_version": entry.rules_version,
        "players": to_builtins(entry.started.players),
        "options": to_builtins(entry.started.rules),
        "tournament": entry.started.tournament,
        "table": entry.started.table,
        "tags": to_builtins(entry.started.tags),
        "created_at": entry.created_at,
        "status": entry.status,
        "head": {"sequence": head.sequence, "hash": head.hash.hex(), "position": head.position},
    }


def _events(store: LogStore) -> Iterator[dict[str, Any]]:
    """Each event as a game file has it, and what it came to; the whole table after each round and at the end."""
    examiners: dict[str, Examiner] = {}
    last = {game_id: head.sequence for game_id, head in store.heads()}
    for stored in store.read_all():
        examiner = examiners.setdefault(stored.game_id, Examiner())
        event, public = decode(stored.record)
        outcomes = examiner.advance(event, public)
        fold = examiner.fold
        assert fold is not None, "every game has its beginning"
        line = {
            "position": stored.position,
            "record": sha256(stored.record).hexdigest(),
            "event": json.loads(encode_line(event)),
            "outcomes": [_outcome(outcome) for outcome in outcomes],
            "standing": to_builtins(fold.standing()),
        }
        if event.sequence == last[stored.game_id] or any(isinstance(outcome, RoundEnded) for outcome in outcomes):
            line["view"] = to_builtins(view_of(fold.rules, fold.state, ARBITER))
        yield line


def _outcome(outcome: Outcome) -> dict[str, Any]:
    return {"outcome": camel_name(type(outcome)), **to_builtins(outcome)}


def _refusal(refusal: Refusal) -> dict[str, Any]:
    return {**to_builtins(refusal), "content": refusal.content.hex()}


def main() -> None:
    """Print what a database comes to."""
    store = DuckStore(Path(sys.argv[1]), is_read_only=True)
    for line in told(store):
        print(json.dumps(line, ensure_ascii=False, separators=(",", ":")))
    store.close()


if __name__ == "__main__":
    main()
