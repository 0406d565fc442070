-- One row a seat of a kind of game and number of players: how often it wins.
SELECT
    ruleset,
    player_count,
    seat,
    CAST(sum(games) AS BIGINT) AS games,
    CAST(sum(won) AS BIGINT) AS won,
    any_value(fair_rate) AS fair_rate
FROM seat_advantage
WHERE :tournament IS NULL OR tournament = :tournament
GROUP BY ruleset, player_count, seat
ORDER BY ruleset, player_count, seat
