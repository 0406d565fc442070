-- One row a player of a kind of game, the first hundred of each: by games won, then by margin.
WITH totals AS (
    SELECT
        ruleset,
        player_id,
        arg_max(player_name, games) AS player_name,
        CAST(sum(games) AS BIGINT) AS games,
        CAST(sum(won) AS BIGINT) AS won,
        CAST(sum(lost) AS BIGINT) AS lost,
        CAST(sum(undecided) AS BIGINT) AS undecided,
        CAST(sum(points_for) AS BIGINT) AS points_for,
        -- Decimals add up to the same in any order, so that equals stay equal.
        CAST(sum(CAST(margin AS DECIMAL(18, 6))) AS DOUBLE) AS margin
    FROM standings
    WHERE :tournament IS NULL OR tournament = :tournament
    GROUP BY ruleset, player_id
    HAVING sum(games) > 0
)

SELECT
    ruleset,
    rank() OVER (PARTITION BY ruleset ORDER BY won DESC, margin DESC) AS rank,
    player_id,
    player_name,
    games,
    won,
    lost,
    undecided,
    won / nullif(won + lost, 0) AS win_rate,
    points_for,
    margin,
    count(*) OVER (PARTITION BY ruleset) AS players
FROM totals
QUALIFY row_number() OVER (PARTITION BY ruleset ORDER BY won DESC, margin DESC, player_id) <= 100
ORDER BY ruleset, rank, player_id
