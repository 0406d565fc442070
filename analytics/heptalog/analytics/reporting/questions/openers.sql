-- One row a role of a kind of game and number of players: how often a round brings its side more than any other.
SELECT
    ruleset,
    player_count,
    role,
    CAST(sum(rounds) AS BIGINT) AS rounds,
    CAST(sum(ahead) AS BIGINT) AS ahead,
    sum(mean_gain * rounds) / sum(rounds) AS mean_gain,
    sum(mean_gain_of_others * rounds) / sum(rounds) AS mean_gain_of_others
FROM opener_advantage
WHERE :tournament IS NULL OR tournament = :tournament
GROUP BY ruleset, player_count, role
ORDER BY ruleset, player_count, role DESC
