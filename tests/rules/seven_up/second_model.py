"""Seven Up told once more, from the rule book and with lists of card names: a second opinion on every position."""

from heptalog.replay.events import UNSET, Body, CardPlayed, CardsDealt, DealerDrawn, GameStarted
from heptalog.replay.seven_up.events import CardsDiscarded, CardsRun, InfractionCalled, SevenUp, TrumpDecided

RANKS = "23456789TJQKA"  # SU-D1
PIPS = {"A": 4, "K": 3, "Q": 2, "J": 1}  # SU-R25
Move = tuple[object, ...]


class SevenUpTable:
    """A table at which everything is done by hand. It takes what the rules allow, and refuses nothing."""

    def __init__(self, started: GameStarted) -> None:
        assert isinstance(started.rules, SevenUp)
        self.seat_count = len(started.players)
        self.target = 7 if started.rules.target is UNSET else started.rules.target
        self.scores = [0] * (2 if self.seat_count == 4 else self.seat_count)
        self.round = 0
        self.winners: list[int] = []
        self.waits_for = "draw"
        self.dealer = -1

    @property
    def elder(self) -> int:
        return (self.dealer + 1) % self.seat_count

    def to_act(self) -> list[int]:
        if self.winners:
            return []
        return {
            "stand or beg": [self.elder],
            "give or run": [self.dealer],
            "discards": sorted(self.owing) if self.waits_for == "discards" else [],
            "play": [self.turn] if self.waits_for == "play" else [],
        }.get(self.waits_for, [])

    def moves(self) -> set[Move]:
        """What may be done; of discards, whose they are."""
        match self.waits_for:
            case _ if self.winners:
                return set()
            case "stand or beg":
                return {(self.elder, "STAND"), (self.elder, "BEG")}
            case "give or run":
                return {(self.dealer, "GIVE"), (self.dealer, "RUN")}
            case "discards":
                return {(seat, "discards") for seat in self.owing}
            case "play":
                return {(self.turn, card, "") for card in self.hands[self.turn] if self.may_play(card)}
            case _:
                return set()

    def may_play(self, card: str) -> bool:
        """SU-R15 to SU-R17."""
        if not self.trick:
            return True
        led = self.trick[0][1][1]
        if card[1] == led or all(held[1] != led for held in self.hands[self.turn]):
            return True
        return card[1] == self.trump and self.number > 1

    def take(self, body: Body) -> None:
        match body:
            case DealerDrawn():
                self.dealer, self.waits_for = body.seat, "deal"
            case CardsDealt():
                self.round += 1
                self.hands = [list(hand.cards) for hand in body.hands]
                self.stock = 52 - 6 * self.seat_count - 1
                self.turned, self.rejected, self.trump = [body.turned], set[str](), ""
                self.offer()
            case TrumpDecided():
                self.decide(str(body.decision))
            case CardsRun():
                self.hands[self.elder] += body.elder.cards
                self.hands[self.dealer] += body.dealer.cards
                self.stock -= 7
                self.turned.append(body.turned)
                if body.turned[1] in self.rejected:
                    self.run_again()
                else:
                    self.offer()
            case CardsDiscarded():
                self.hands[body.seat] = [card for card in self.hands[body.seat] if card not in body.cards]
                self.owing.remove(body.seat)
                self.begin_tricks()
            case CardPlayed():
                self.play(body.seat, body.card)
            case InfractionCalled() if self.seat_count == 3:
                self.scores[body.seat] -= 1
            case InfractionCalled():
                self.score(body.seat + 1)

    def score(self, seat: int) -> None:
        """One point for the side of a seat, unless the match is won already (SU-R2, SU-D35)."""
        if self.winners:
            return
        side_count = len(self.scores)
        self.scores[seat % side_count] += 1
        if self.scores[seat % side_count] >= self.target:
            self.winners = [other for other in range(self.seat_count) if (other - seat) % side_count == 0]

    def offer(self) -> None:
        self.waits_for = "stand or beg"
        if self.turned[-1][0] == "J":
            self.score(self.dealer)

    def decide(self, word: str) -> None:
        if word == "BEG":
            self.waits_for = "give or run"
        elif word == "RUN":
            self.rejected.add(self.turned[-1][1])
            self.run_again()
        else:
            if word == "GIVE":
                self.score(self.elder)
            self.trump = self.turned[-1][1]
            self.owing = {self.dealer, self.elder} if len(self.turned) > 1 else set()
            self.waits_for = "discards"
            self.begin_tricks()

    def run_again(self) -> None:
        """Or the deal is void, and the same dealer deals (SU-D8, SU-D9, SU-D11)."""
        self.waits_for = "run" if self.stock >= 7 and len(self.rejected) < 4 else "deal"

    def begin_tricks(self) -> None:
        if not self.owing:
            self.waits_for, self.turn, self.number = "play", self.elder, 1
            self.trick: list[tuple[int, str]] = []
            self.kept = [list(hand) for hand in self.hands]
            self.won: list[list[str]] = [[] for _ in self.hands]

    def play(self, seat: int, card: str) -> None:
        self.hands[seat].remove(card)
        self.trick.append((seat, card))
        self.turn = (seat + 1) % self.seat_count
        if len(self.trick) < self.seat_count:
            return
        led = self.trick[0][1][1]
        wins = self.trump if any(laid[1] == self.trump for _, laid in self.trick) else led
        self.turn = max((RANKS.index(laid[0]), by) for by, laid in self.trick if laid[1] == wins)[1]
        self.won[self.turn] += [laid for _, laid in self.trick]
        self.trick = []
        self.number += 1
        if self.number > 6:
            self.count()

    def count(self) -> None:
        """SU-R21 to SU-R25, one by one."""
        trumps = [
            (RANKS.index(card[0]), seat) for seat, hand in enumerate(self.kept) for card in hand if self.is_trump(card)
        ]
        if trumps:
            self.score(max(trumps)[1])
            self.score(min(trumps)[1])
        for seat, cards in enumerate(self.won):
            if f"J{self.trump}" in cards:
                self.score(seat)
        pips = [0] * len(self.scores)
        for seat, cards in enumerate(self.won):
            pips[seat % len(pips)] += sum(PIPS.get(card[0], 0) for card in cards)
        best = [side for side, count in enumerate(pips) if count == max(pips)]
        others = [side for side in best if side != self.dealer % len(pips)]
        if len(best) == 1 or len(others) == 1:
            self.score((best if len(best) == 1 else others)[0])
        self.dealer, self.waits_for = self.elder, "deal"

    def is_trump(self, card: str) -> bool:
        return card[1] == self.trump
