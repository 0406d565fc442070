"""What the views of Seven Up must say, and those of Seven Bridge."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from heptalog.replay.events import UNSET, CardPlayed
from heptalog.replay.seven_bridge.outcomes import BonusBooked, ColumnCompleted, ExposedCardPlayed, PenaltyBooked
from heptalog.replay.seven_up.events import TrumpDecided
from heptalog.replay.seven_up.outcomes import (
    DealVoided,
    GameCounted,
    GiftScored,
    HighScored,
    InfractionCharged,
    JackScored,
    JackTurned,
    LowScored,
    TrickWon,
    TrumpFixed,
)
from tests.analytics.histories import History, Round, grouped, mean, rate
from tests.analytics.oracles import Row, oracle
from tests.analytics.oracles_rounds import named, table_of

POINTS: dict[type[Any], str] = {
    HighScored: "HIGH",
    LowScored: "LOW",
    JackScored: "JACK",
    GameCounted: "GAME",
    JackTurned: "TURNED_JACK",
    GiftScored: "GIFT",
    InfractionCharged: "INFRACTION",
}


def of_ruleset(games: Sequence[History], ruleset: str) -> list[tuple[History, Round]]:
    """Every round of the games of one kind, ended or not."""
    return [(game, each) for game in games if game.ruleset == ruleset for each in game.rounds]


def scored(each: Round) -> list[Any]:
    """Every point of a round; Game may be nobody's."""
    return [point for kind in POINTS for point in each.of(kind) if point.side >= 0]


@oracle
def first_tricks(games: Sequence[History]) -> Iterator[Row]:
    firsts = [
        (game, each, step.of(TrickWon)[0], step.before.trump)
        for game, each in of_ruleset(games, "seven_up")
        for step in each.steps
        if step.of(TrickWon) and step.of(TrickWon)[0].number == 1
    ]
    for key, all_ in grouped(firsts, lambda each: table_of(each[0])).items():
        for place, own in grouped(all_, lambda each: (each[2].seat - each[2].leader) % len(each[0].players)).items():
            games_won = [[point.side for point in each.of(GameCounted) if point.side >= 0] for _, each, _, _ in own]
            trumps = [(_trump(each), won.cards[0], won.cards[place]) for _, each, won, _ in own]
            took = sum([won.side] == sides for (_, _, won, _), sides in zip(own, games_won, strict=True))
            yield {
                **named(key, "player_count"),
                "place": place,
                "tricks": len(own),
                "share": len(own) / len(all_),
                "trumped": sum(winning[-1] == trump != led[-1] for trump, led, winning in trumps),
                "trump_led": sum(led[-1] == trump for trump, led, _ in trumps),
                "counted": sum(bool(sides) for sides in games_won),
                "took_game": took,
                "took_game_rate": rate(took, sum(bool(sides) for sides in games_won)),
            }


def _trump(each: Round) -> str | None:
    fixed = each.of(TrumpFixed)
    return fixed[0].suit if fixed else None


def _decision(each: Round) -> str | None:
    words = [step.body.decision.value for step in each.steps if isinstance(step.body, TrumpDecided)]
    return words[-1] if words else None


def _runs(each: Round) -> int:
    return sum(type(step.body).__name__ == "CardsRun" for step in each.steps)


def _means(own: list[tuple[History, Round]]) -> Row:
    """What a deal brings the two sides that decide on trump."""
    elders = [each.changes[game.side_of(each.opener or 0)] for game, each in own]
    dealers = [each.changes[game.side_of(each.dealer or 0)] for game, each in own]
    return {"elder_mean_points": mean(elders), "dealer_mean_points": mean(dealers)}


@oracle
def trumps(games: Sequence[History]) -> Iterator[Row]:
    fixed = [(game, each) for game, each in of_ruleset(games, "seven_up") if each.ending and _trump(each)]
    for key, all_ in grouped(fixed, lambda each: table_of(each[0])).items():
        for trump, own in grouped(all_, lambda each: _trump(each[1])).items():
            yield {
                **named(key, "player_count"),
                "trump": trump,
                "deals": len(own),
                "share": len(own) / len(all_),
                "stood": sum(_decision(each) == "STAND" for _, each in own),
                "given": sum(_decision(each) == "GIVE" for _, each in own),
                "mean_runs": mean(_runs(each) for _, each in own),
                "jack_turned": sum(each.of(TrumpFixed)[0].card[0] == "J" for _, each in own),
                **_means(own),
            }


@oracle
def trump_decisions(games: Sequence[History]) -> Iterator[Row]:
    ended = [(game, each) for game, each in of_ruleset(games, "seven_up") if each.ending]
    for key, all_ in grouped(ended, lambda each: table_of(each[0])).items():
        for way, own in grouped(
            all_,
            lambda each: (_decision(each[1]), _runs(each[1]), *[void.reason.value for void in each[1].of(DealVoided)]),
        ).items():
            yield {
                **named(key, "player_count"),
                "decision": way[0],
                "runs": way[1],
                "void_reason": way[2] if len(way) > 2 else None,
                "deals": len(own),
                "share": len(own) / len(all_),
                **_means(own),
            }


@oracle
def point_kinds(games: Sequence[History]) -> Iterator[Row]:
    ended = [(game, each) for game, each in of_ruleset(games, "seven_up") if each.ending]
    for key, all_ in grouped(ended, lambda each: table_of(each[0])).items():
        all_points = [(game, each, point) for game, each in all_ for point in scored(each)]
        for kind, own in grouped(all_points, lambda each: POINTS[type(each[2])]).items():
            places = Counter(
                game.side_of((point.side - (each.dealer or 0)) % len(game.players)) for game, each, point in own
            )
            yield {
                **named(key, "player_count"),
                "kind": kind,
                "rounds": len(all_),
                "scored": len(own),
                "per_round": len(own) / len(all_),
                "points": sum(getattr(point, "points", 1) for _, _, point in own),
                "for_dealer": places[0],
                "for_elder": places[1],
                "for_others": places[2],
            }


@oracle
def seven_up_players(games: Sequence[History]) -> Iterator[Row]:
    seated = [(game, seat) for game in games if game.ruleset == "seven_up" for seat in range(len(game.players))]
    for key, own in grouped(
        seated, lambda each: (each[0].tournament, each[0].ruleset, each[0].players[each[1]])
    ).items():
        counts: Counter[str] = Counter()
        for game, seat in own:
            counts["rounds"] += len(game.ended_rounds)
            for each in game.rounds:
                counts.update(POINTS[type(point)] for point in scored(each) if _is_for(game, seat, point))
                counts["tricks"] += sum(won.seat == seat for won in each.of(TrickWon))
                said = [step.body for step in each.steps if isinstance(step.body, TrumpDecided)]
                counts.update(body.decision.value for body in said if body.seat == seat)
        if not counts.total():
            continue
        names = {"turned_jacks": "TURNED_JACK", "gifts": "GIFT", "infractions": "INFRACTION"}
        names |= {"stood": "STAND", "begged": "BEG", "gave": "GIVE", "ran": "RUN"}
        names |= {kind.lower(): kind for kind in ("HIGH", "LOW", "JACK", "GAME")}
        yield {
            **named(key, "player_id"),
            "rounds": counts["rounds"],
            "tricks": counts["tricks"],
            **{name: counts[kind] for name, kind in names.items()},
            "begged_rate": rate(counts["BEG"], counts["STAND"] + counts["BEG"]),
            "gave_rate": rate(counts["GIVE"], counts["GIVE"] + counts["RUN"]),
        }


def _is_for(game: History, seat: int, point: Any) -> bool:
    if isinstance(point, GameCounted):
        return bool(point.side == game.side_of(seat))
    return bool(point.seat == seat)


@oracle
def seven_up_cards(games: Sequence[History]) -> Iterator[Row]:
    played = [
        (game, card, card[-1] == _trump(each), place, (won.seat - won.leader) % len(won.cards))
        for game, each in of_ruleset(games, "seven_up")
        for won in each.of(TrickWon)
        for place, card in enumerate(won.cards)
    ]
    for key, own in grouped(played, lambda each: (each[0].tournament, each[0].ruleset, each[1], each[2])).items():
        led = [winning == 0 for *_, place, winning in own if place == 0]
        won_count = sum(place == winning for *_, place, winning in own)
        yield {
            **named(key, "card", "is_trump"),
            "played": len(own),
            "led": len(led),
            "won": won_count,
            "won_rate": won_count / len(own),
            "led_won_rate": mean(led),
        }


@oracle
def ghost_rates(games: Sequence[History]) -> Iterator[Row]:
    haunted = [game for game in games if getattr(game.started.rules, "ghosts", UNSET) is not False]
    booked = [
        (game, penalty) for game, each in of_ruleset(haunted, "seven_bridge") for penalty in each.of(PenaltyBooked)
    ]
    for key, own in grouped(booked, lambda each: (*table_of(each[0]), each[0].players[each[1].seat])).items():
        ghosts = [penalty.penalty for _, penalty in own if penalty.was_ghost]
        yield {
            **named(key, "player_count", "player_id"),
            "rounds": len(own),
            "ghosts": len(ghosts),
            "ghost_rate": len(ghosts) / len(own),
            "mean_penalty_ghost": mean(ghosts),
            "mean_penalty_other": mean(penalty.penalty for _, penalty in own if not penalty.was_ghost),
        }


@oracle
def seven_bridge_players(games: Sequence[History]) -> Iterator[Row]:
    seated = [(game, seat) for game in games if game.ruleset == "seven_bridge" for seat in range(len(game.players))]
    for key, own in grouped(
        seated, lambda each: (each[0].tournament, each[0].ruleset, each[0].players[each[1]])
    ).items():
        plays = [
            (game, step)
            for game, seat in own
            for step in game.standing
            if isinstance(step.body, CardPlayed) and step.body.seat == seat
        ]
        rounds = [(game, each, seat) for game, seat in own for each in game.rounds]
        booked = [(game, each) for game, round_, seat in rounds for each in _of(round_, PenaltyBooked, seat)]
        if not plays and not booked:
            continue
        went_out = sum(each.ended_seat == seat and not each.is_deciding for _, each, seat in rounds)
        penalty = sum(each.penalty for _, each in booked)
        yield {
            **named(key, "player_id"),
            "games": len({game.number for game, _ in [*plays, *booked]}),
            "played": len(plays),
            "played_for_ghosts": sum(bool(step.of(ExposedCardPlayed)) for _, step in plays),
            "jokers": sum(bool(step.body.stands_for) for _, step in plays),
            "columns": sum(len(step.of(ColumnCompleted)) for _, step in plays),
            "booked": len(booked),
            "went_out": went_out,
            "went_out_rate": rate(went_out, len(booked)),
            "penalty": penalty,
            "mean_penalty": rate(penalty, len(booked)),
            "bonus": sum(each.bonus for _, round_, seat in rounds for each in _of(round_, BonusBooked, seat)),
        }


def _of(each: Round, kind: type[Any], seat: int) -> list[Any]:
    return [outcome for outcome in each.of(kind) if outcome.seat == seat]


@oracle
def seven_bridge_cards(games: Sequence[History]) -> Iterator[Row]:
    uses: Counter[tuple[str | None, str, str, str]] = Counter()
    for game, each in of_ruleset(games, "seven_bridge"):
        if not each.of(PenaltyBooked):
            continue
        for step in each.steps:
            if isinstance(step.body, CardPlayed):
                use = "played_for_ghosts" if step.of(ExposedCardPlayed) else "played"
                uses[game.tournament, game.ruleset, step.body.card, use] += 1
        for penalty in each.of(PenaltyBooked):
            uses.update((game.tournament, game.ruleset, card, "counted") for card in penalty.cards)
    for key in {key[:3] for key in uses}:
        played, for_ghosts, counted = (uses[*key, use] for use in ("played", "played_for_ghosts", "counted"))
        yield {
            **named(key, "card"),
            "played": played,
            "played_for_ghosts": for_ghosts,
            "counted": counted,
            "counted_rate": rate(counted, played + counted),
        }
