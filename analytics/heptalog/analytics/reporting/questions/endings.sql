-- One row a way in which rounds end.
SELECT ruleset, ended_by, CAST(sum(rounds) AS BIGINT) AS rounds, sum(mean_turns * rounds) / sum(rounds) AS mean_turns
FROM round_endings
WHERE :tournament IS NULL OR tournament = :tournament
GROUP BY ruleset, ended_by
ORDER BY ruleset, rounds DESC, ended_by
