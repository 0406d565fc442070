"""Seven Rocks told once more, with the tiles as they lie on the table: a second opinion on every position."""

from heptalog.replay.events import UNSET, Body, GameStarted, OpenerDrawn, TurnPassed
from heptalog.replay.seven_rocks.events import SevenRocks, TilePlayed, TilesDealt

Move = tuple[object, ...]
Tile = tuple[int, int]


def tile_of(name: str) -> Tile:
    first, second = name.split("-")
    return int(first), int(second)


class SevenRocksTable:
    """A table at which everything is done by hand. It takes what the rules allow, and refuses nothing."""

    def __init__(self, started: GameStarted) -> None:
        assert isinstance(started.rules, SevenRocks)
        self.target = 250 if started.rules.target is UNSET else started.rules.target
        self.scores = [0, 0]
        self.round = 0
        self.winners: list[int] = []
        self.waits_for = "deal"
        self.opener: int | None = None

    def to_act(self) -> list[int]:
        return [self.turn] if self.waits_for == "play" else []

    def moves(self) -> set[Move]:
        """A tile by its halves, the higher first; to open, either way round."""
        if self.waits_for != "play":
            return set()
        hand = self.hands[self.turn]
        if self.opening is None:
            return {(self.turn, *way) for tile in hand for way in (tile, tile[::-1])}
        open_values = self.open_values()
        lays: set[Move] = {
            (self.turn, max(tile), min(tile), arm)
            for tile in hand
            for arm, value in open_values.items()
            if value in tile
        }
        return lays or {(self.turn, "pass")}

    def take(self, body: Body) -> None:
        match body:
            case TilesDealt():
                self.round += 1
                self.hands = [[tile_of(name) for name in hand.tiles] for hand in body.hands]
                self.opening: Tile | None = None
                # What lies on each arm from the inside outwards, each tile with the half that touches first.
                self.arms: dict[str, list[Tile]] = {"LEFT": [], "RIGHT": [], "UP": [], "DOWN": []}
                self.spinner: Tile | None = None
                self.passes = 0
                self.waits_for = "draw" if self.opener is None else "play"
                self.turn = -1 if self.opener is None else self.opener
            case OpenerDrawn():
                self.turn, self.waits_for = body.seat, "play"
            case TilePlayed():
                self.lay(body.seat, tile_of(body.tile), "" if body.arm is UNSET else str(body.arm))
            case TurnPassed():
                self.passes += 1
                self.turn = (body.seat + 1) % 4
                if self.passes == 4:
                    self.settle(None)

    def lay(self, seat: int, tile: Tile, arm: str) -> None:
        self.hands[seat] = [held for held in self.hands[seat] if set(held) != set(tile)]
        if self.opening is None:
            self.opening = tile
        else:
            open_values = self.open_values()
            arm = arm or next(arm for arm, value in open_values.items() if value in tile)
            touching = open_values[arm]
            self.arms[arm].append((touching, sum(tile) - touching))
        if tile[0] == tile[1] and self.spinner is None:
            self.spinner = tile
        self.passes = 0
        self.turn = (seat + 1) % 4
        points = sum(self.counts().values())
        if points % 5 == 0:
            self.scores[seat % 2] += points
            if points and self.scores[seat % 2] >= self.target:
                self.winners, self.waits_for = [seat % 2, seat % 2 + 2], "nothing"
                return
        if not self.hands[seat]:
            self.settle(seat)

    def sides_taken(self) -> int:
        """How many in-line sides of the spinner have a neighbour."""
        if self.spinner is None:
            return 0
        if self.spinner == self.opening:
            return sum(bool(self.arms[arm]) for arm in ("LEFT", "RIGHT"))
        (arm,) = (arm for arm in ("LEFT", "RIGHT") if self.spinner in self.arms[arm])
        return 1 if self.arms[arm][-1] == self.spinner else 2

    def open_values(self) -> dict[str, int]:
        """The value at which each arm can go on."""
        assert self.opening is not None
        values = {"LEFT": self.opening[0], "RIGHT": self.opening[1]}
        if self.spinner is not None and self.sides_taken() == 2:
            values |= {"UP": self.spinner[0], "DOWN": self.spinner[0]}
        return values | {arm: tiles[-1][1] for arm, tiles in self.arms.items() if tiles}

    def counts(self) -> dict[str, int]:
        """What counts at each end (SR-R14, SR-R18); the spinner, where it lies alone or at one end, once."""
        assert self.opening is not None
        ends = {arm: self.worth(tiles[-1]) for arm, tiles in self.arms.items() if tiles}
        if self.spinner == self.opening:
            return ends | ({"spinner": sum(self.opening)} if self.sides_taken() < 2 else {})
        return {"LEFT": self.opening[0], "RIGHT": self.opening[1]} | ends

    def worth(self, tile: Tile) -> int:
        return sum(tile) if tile[0] == tile[1] else tile[1]

    def settle(self, out: int | None) -> None:
        """SR-R25: to the nearest five, each hand by itself."""
        for seat, hand in enumerate(self.hands):
            pips = sum(map(sum, hand))
            self.scores[seat % 2] -= min((five for five in range(0, 200, 5)), key=lambda five: abs(five - pips))
        self.opener, self.waits_for = out, "deal"
