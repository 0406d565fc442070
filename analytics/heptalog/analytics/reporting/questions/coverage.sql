-- One row a kind of game.
WITH entrants AS (
    SELECT seats.ruleset, count(DISTINCT seats.player_id) AS players
    FROM seats
    INNER JOIN games ON seats.game_number = games.game_number
    WHERE :tournament IS NULL OR games.tournament = :tournament
    GROUP BY seats.ruleset
)

SELECT
    games.ruleset,
    count(*) AS games,
    count(*) FILTER (games.status = 'WON') AS won,
    count(*) FILTER (games.status = 'CLOSED') AS closed,
    count(*) FILTER (games.status = 'RUNNING') AS running,
    CAST(sum(games.rounds) AS BIGINT) AS rounds,
    CAST(sum(games.turns) AS BIGINT) AS turns,
    any_value(entrants.players) AS players
FROM games
INNER JOIN entrants ON games.ruleset = entrants.ruleset
WHERE :tournament IS NULL OR games.tournament = :tournament
GROUP BY games.ruleset
ORDER BY games.ruleset
