"""Examining one game event by event: its form, its chain, its seals and the rules.

A game without a chain is a valid game; one that carries a chain carries it on every event. In a redacted copy the rules
stop at the first event without its value, and the chain is checked to its end.
"""

from heptalog.replay.codec import public_form
from heptalog.replay.errors import Code, Corrupt, Malformed, Redacted
from heptalog.replay.events import Event
from heptalog.replay.evidence.chain import GENESIS, NOT_ITS_HASH, NOT_THE_NEXT, link
from heptalog.replay.evidence.seals import check_seals, check_whole
from heptalog.replay.fold import Fold, Outcomes


class Examiner:
    """Examines one game event by event. After a failure it is of no further use."""

    def __init__(self) -> None:
        self.fold: Fold | None = None
        self.accepted = 0
        self.redacted: Redacted | None = None
        self.redacted_at = -1
        self._expected = 0
        self._game_id = ""
        self._event_ids: set[str] = set()
        self._head = GENESIS
        self._is_chained = False

    def advance(self, event: Event, public: bytes | None = None) -> Outcomes:
        """Take the next event and give what follows from it. `public` is its public form, where it is at hand.

        Raises Malformed, Corrupt or Refused. From the first redacted event on the rules are not asked.
        """
        sequence = event.sequence
        if sequence != self._expected:
            raise Malformed(Code.SEQUENCE_GAP, rule="game-file", expected=self._expected, actual=sequence)
        self._expected = sequence + 1
        if event.game_id != self._game_id:
            self._check_game_id(event.game_id)
        if event_id := event.event_id:
            if event_id in self._event_ids:
                raise Malformed(Code.EVENT_ID_REPEATED, rule="game-file", event_id=event_id)
            self._event_ids.add(event_id)
        if self._is_chained or event.hash or event.previous_hash:
            self._check_chain(event, public)
        body = event.body
        if body.sealed:
            check_seals(body)
            self._look_for_redaction(event)
        if self.redacted is not None:
            return ()
        if self.fold is None:
            self.fold = Fold(body)
            outcomes: Outcomes = ()
        else:
            outcomes = self.fold.advance(body)
        self.accepted += 1
        return outcomes

    def _check_game_id(self, game_id: str) -> None:
        if self._game_id and game_id:
            raise Malformed(Code.GAME_ID_MIXED, rule="game-file", expected=self._game_id, actual=game_id)
        self._game_id = self._game_id or game_id

    def _check_chain(self, event: Event, public: bytes | None) -> None:
        if event.sequence == 0:
            self._is_chained = True
        elif not self._is_chained:
            raise Corrupt(Code.CHAIN_BROKEN, rule="evidence", problem="the chain has no beginning")
        if event.previous_hash != self._head and event.previous_hash:
            raise Corrupt(Code.CHAIN_BROKEN, rule="evidence", problem=NOT_THE_NEXT)
        if not event.hash:
            raise Corrupt(Code.CHAIN_BROKEN, rule="evidence", problem="its hash is missing")
        self._head = link(self._head, public_form(event) if public is None else public)
        if event.hash != self._head:
            raise Corrupt(Code.CHAIN_BROKEN, rule="evidence", problem=NOT_ITS_HASH)

    def _look_for_redaction(self, event: Event) -> None:
        if self.redacted is None:
            try:
                check_whole(event.body)
            except Redacted as error:
                self.redacted, self.redacted_at = error, event.sequence
