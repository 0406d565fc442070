-- One row a round of a kind of game: the mean score of those who win the game in the end, and of all others.
SELECT
    scores.ruleset,
    scores.round,
    count(*) FILTER (list_contains(games.winners, scores.side)) AS games,
    avg(scores.score) FILTER (list_contains(games.winners, scores.side)) AS winners,
    avg(scores.score) FILTER (NOT list_contains(games.winners, scores.side)) AS others
FROM round_scores AS scores
INNER JOIN games ON scores.game_number = games.game_number
WHERE games.status = 'WON' AND (:tournament IS NULL OR games.tournament = :tournament)
GROUP BY scores.ruleset, scores.round
ORDER BY scores.ruleset, scores.round
