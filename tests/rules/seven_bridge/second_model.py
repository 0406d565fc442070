"""Seven Bridge told once more, from the rule book and with lists of card names: a second opinion on every position."""

from heptalog.replay.events import UNSET, Body, CardPlayed, CardsDealt, DealerDrawn, GameStarted, TurnPassed, UnsetType
from heptalog.replay.seven_bridge.events import Scoring, SevenBridge

RANKS = "A23456789TJQK"
SUITS = "CDHS"
PLACES = [rank + suit for suit in SUITS for rank in RANKS]
Move = tuple[object, ...]


def given(option: object, default: object) -> object:
    return default if isinstance(option, UnsetType) else option


class SevenBridgeTable:
    """A table at which everything is done by hand. It takes what the rules allow, and refuses nothing."""

    def __init__(self, started: GameStarted) -> None:
        options = started.rules
        assert isinstance(options, SevenBridge)
        self.options = options
        self.ghosts_walk = options.ghosts is UNSET or options.ghosts
        self.opening = options.opening_seven or "7D"
        self.seat_count = len(started.players)
        self.scores = [0] * self.seat_count
        self.round = 0
        self.winners: list[int] = []
        self.waits_for = "draw"
        self.seats = list(range(self.seat_count))
        self.is_deciding = False
        self.dealer = -1

    def to_act(self) -> list[int]:
        return [self.turn] if self.waits_for == "play" else []

    def moves(self) -> set[Move]:
        if self.waits_for != "play":
            return set()
        at_hand = self.hands[self.turn] + self.exposed
        plays: set[Move] = {(self.turn, card, "") for card in at_hand if card in PLACES and self.fits(card)}
        for joker in at_hand:
            if joker not in PLACES and self.laid:
                plays |= {(self.turn, joker, place) for place in PLACES if place not in self.laid and self.fits(place)}
        if self.laid and (not plays or self.tokens[self.turn]):
            return plays | {(self.turn, "pass")}
        return plays

    def fits(self, card: str) -> bool:
        """Whether this card can be laid: at the edge of its column, or onto the joker that stands for it."""
        if card in self.laid:
            return self.laid[card] in ("X1", "X2")
        if card[0] == "7":
            return bool(self.laid) or card == self.opening
        inner = RANKS.index(card[0]) + (1 if RANKS.index(card[0]) < RANKS.index("7") else -1)
        return RANKS[inner] + card[1] in self.laid

    def take(self, body: Body) -> None:
        match body:
            case DealerDrawn():
                self.dealer, self.waits_for = body.seat, "deal"
            case CardsDealt():
                self.deal([list(hand.cards) for hand in body.hands])
            case CardPlayed():
                self.play(body.seat, body.card, body.stands_for or body.card)
            case TurnPassed():
                self.pass_by(body.seat)

    def deal(self, hands: list[list[str]]) -> None:
        self.round += 1
        self.hands = hands
        tokens = given(self.options.pass_tokens, 3)
        assert isinstance(tokens, int)
        self.tokens = [tokens] * self.seat_count
        self.ghosts: dict[int, list[str]] = {}
        self.exposed: list[str] = []
        self.laid: dict[str, str] = {}
        self.columns = [0] * self.seat_count
        self.waits_for = "play"
        self.turn = next(seat for seat, hand in enumerate(hands) if self.opening in hand)

    def play(self, seat: int, card: str, place: str) -> None:
        (self.hands[seat] if card in self.hands[seat] else self.exposed).remove(card)
        was_full = self.is_full(place[1])
        self.laid[place] = card
        if self.is_full(place[1]) and not was_full:
            self.columns[seat] += 1
        if not self.hands[seat]:
            self.end_round(seat)
        elif all(self.laid.get(place) == place for place in PLACES):
            self.end_round(None)
        else:
            self.next_turn(seat)

    def is_full(self, suit: str) -> bool:
        return all(rank + suit in self.laid for rank in RANKS)

    def pass_by(self, seat: int) -> None:
        if self.tokens[seat]:
            self.tokens[seat] -= 1
        elif self.ghosts_walk:
            self.ghosts[seat] = self.hands[seat]
            self.exposed += self.hands[seat]
            self.hands[seat] = []
        self.next_turn(seat)

    def next_turn(self, seat: int) -> None:
        around = [(seat + step) % self.seat_count for step in range(1, self.seat_count + 1)]
        self.turn = next(other for other in around if other in self.seats and other not in self.ghosts)

    def end_round(self, winner: int | None) -> None:
        self.waits_for = "deal"
        if self.is_deciding:
            if winner is not None:
                self.winners, self.waits_for = [winner], "nothing"
            else:
                self.pass_the_deal()
            return
        for seat in range(self.seat_count):
            left = self.hands[seat] + self.ghosts.get(seat, [])
            self.scores[seat] += sum(map(self.cost, left)) - self.options.kings_race * self.columns[seat]
        if self.is_last_round():
            lowest = [seat for seat, score in enumerate(self.scores) if score == min(self.scores)]
            if len(lowest) == 1:
                self.winners, self.waits_for = lowest, "nothing"
                return
            self.seats, self.is_deciding = lowest, True
        self.pass_the_deal()

    def is_last_round(self) -> bool:
        if self.options.limit:
            return any(score > self.options.limit for score in self.scores)
        return self.round == given(self.options.rounds, 5)

    def pass_the_deal(self) -> None:
        around = [(self.dealer + step) % self.seat_count for step in range(1, self.seat_count + 1)]
        self.dealer = next(seat for seat in around if seat in self.seats)

    def cost(self, card: str) -> int:
        if self.options.scoring == Scoring.COUNT:
            return 1
        if card not in PLACES:
            penalty = given(self.options.joker_penalty, 14)
            assert isinstance(penalty, int)
            return penalty
        return RANKS.index(card[0]) + 1
