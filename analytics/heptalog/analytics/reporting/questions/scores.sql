-- One row a final score of a kind of game: how many sides ended with it, and how many of those have won.
SELECT ruleset, score, CAST(sum(sides) AS BIGINT) AS sides, CAST(sum(won) AS BIGINT) AS won
FROM score_distribution
WHERE status = 'WON' AND (:tournament IS NULL OR tournament = :tournament)
GROUP BY ruleset, score
ORDER BY ruleset, score
