-- One row a player of a kind of game: how often they pass, and how often they win; those with most turns.
WITH passing AS (
    SELECT ruleset, player_id, CAST(sum(turns) AS BIGINT) AS turns, CAST(sum(passes) AS BIGINT) AS passes
    FROM pass_rates
    WHERE :tournament IS NULL OR tournament = :tournament
    GROUP BY ruleset, player_id
),

winning AS (
    SELECT
        ruleset,
        player_id,
        arg_max(player_name, games) AS player_name,
        CAST(sum(won) AS BIGINT) AS won,
        CAST(sum(won + lost) AS BIGINT) AS games
    FROM standings
    WHERE :tournament IS NULL OR tournament = :tournament
    GROUP BY ruleset, player_id
)

SELECT passing.ruleset, passing.player_id, winning.player_name, passing.turns, passing.passes, winning.games, winning.won
FROM passing
INNER JOIN winning ON passing.ruleset = winning.ruleset AND passing.player_id = winning.player_id
WHERE winning.games > 0 AND passing.turns > 0
QUALIFY row_number() OVER (PARTITION BY passing.ruleset ORDER BY passing.turns DESC, passing.player_id) <= 200
ORDER BY passing.ruleset, passing.turns DESC, passing.player_id
