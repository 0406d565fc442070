-- One row a month and kind of game: how many began then.
SELECT month, ruleset, count(*) AS games
FROM games
WHERE (:tournament IS NULL OR tournament = :tournament) AND month <> '0000-00'
GROUP BY month, ruleset
ORDER BY month, ruleset
