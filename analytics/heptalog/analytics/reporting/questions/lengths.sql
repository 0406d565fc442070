-- One row a length of a kind of game: how many of the games won by the rules had so many turns.
SELECT ruleset, turns, count(*) AS games, CAST(sum(epoch_us(ended_at) - epoch_us(started_at)) AS BIGINT) AS microseconds
FROM games
WHERE status = 'WON' AND (:tournament IS NULL OR tournament = :tournament)
GROUP BY ruleset, turns
ORDER BY ruleset, turns
