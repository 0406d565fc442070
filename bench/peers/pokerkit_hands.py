"""PokerKit: poker in Python, every action verified by its state."""

import random
from importlib import metadata
from typing import Any, ClassVar, Final, TypeAlias

from pokerkit import (  # pyright: ignore[reportMissingImports] - in the environment of the peers
    Automation,
    NoLimitTexasHoldem,
)

from bench.peers.peer import answer
from bench.peers.replays import Replay, ReplayPeer

_HANDS: Final = 30
_PLAYERS: Final = 6
_STACK: Final = 200
# What no player decides is done by itself, as little as can be beside the cards.
_AUTOMATIONS: Final = (
    Automation.ANTE_POSTING,
    Automation.BET_COLLECTION,
    Automation.BLIND_OR_STRADDLE_POSTING,
    Automation.CARD_BURNING,
    Automation.HOLE_CARDS_SHOWING_OR_MUCKING,
    Automation.HAND_KILLING,
    Automation.CHIPS_PUSHING,
    Automation.CHIPS_PULLING,
)
# Its operations by name, with what each is given.
_Action: TypeAlias = tuple[str, tuple[object, ...]]


def shuffled(number: int) -> Any:
    """A table before its first card; the deck is what its shuffling makes of this number."""
    random.seed(number)
    return NoLimitTexasHoldem.create_state(_AUTOMATIONS, True, 0, (1, 2), 2, _STACK, _PLAYERS)


def played(number: int) -> list[_Action]:
    """One hand by seeded chance."""
    chance = random.Random(number)
    state = shuffled(number)
    actions: list[_Action] = []
    while state.status:
        if state.can_deal_hole():
            action: _Action = ("deal_hole", ())
        elif state.can_deal_board():
            action = ("deal_board", ())
        elif chance.random() < 0.2 and state.can_complete_bet_or_raise_to():
            action = ("complete_bet_or_raise_to", (state.min_completion_betting_or_raising_to_amount,))
        elif chance.random() < 0.15 and state.can_fold():
            action = ("fold", ())
        else:
            action = ("check_or_call", ())
        getattr(state, action[0])(*action[1])
        actions.append(action)
    return actions


def recorded() -> Replay:
    """Hands played by seeded chance, and played again."""
    hands = [played(number) for number in range(_HANDS)]

    def run() -> None:
        for number, hand in enumerate(hands):
            state = shuffled(number)
            for name, given in hand:
                getattr(state, name)(*given)
            assert not state.status

    actions = sum(map(len, hands))
    dealt = sum(name.startswith("deal") for hand in hands for name, _ in hand)
    return Replay(actions - dealt, actions, run)


class PokerKit(ReplayPeer):
    """Each operation verifies itself before it changes the state."""

    name = "PokerKit"
    note = "every operation verifies itself; no notation is parsed, which would take longer; nothing is hashed"
    version = metadata.version("pokerkit")
    games: ClassVar = {"no-limit hold'em": recorded}


if __name__ == "__main__":
    answer(PokerKit)
