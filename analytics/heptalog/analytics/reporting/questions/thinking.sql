-- One row a time that turns took, to the half second and up to ten minutes: how many of each kind took it.
SELECT
    turns.ruleset,
    turns.kind,
    CAST(least(turns.think_seconds * 2, 1200) AS INTEGER) AS half_seconds,
    count(*) AS turns
FROM turns
INNER JOIN games ON turns.game_number = games.game_number
WHERE
    turns.think_seconds IS NOT NULL AND NOT turns.is_retracted
    AND (:tournament IS NULL OR games.tournament = :tournament)
GROUP BY turns.ruleset, turns.kind, half_seconds
ORDER BY turns.ruleset, turns.kind, half_seconds
