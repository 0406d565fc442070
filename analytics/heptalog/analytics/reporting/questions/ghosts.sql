-- One row a number of players: how often a round makes a ghost, and what a round then costs.
SELECT
    ruleset,
    player_count,
    CAST(sum(rounds) AS BIGINT) AS rounds,
    CAST(sum(ghosts) AS BIGINT) AS ghosts,
    sum(mean_penalty_ghost * ghosts) / nullif(sum(ghosts), 0) AS penalty_ghost,
    sum(mean_penalty_other * (rounds - ghosts)) / nullif(sum(rounds - ghosts), 0) AS penalty_other
FROM ghost_rates
WHERE :tournament IS NULL OR tournament = :tournament
GROUP BY ruleset, player_count
ORDER BY ruleset, player_count
