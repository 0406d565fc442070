-- One row a player of a kind of game: the best twenty of those who play here, by what all of history says.
WITH entrants AS (
    SELECT seats.ruleset, seats.player_id, arg_max(seats.player_name, seats.game_number) AS player_name
    FROM seats
    INNER JOIN games ON seats.game_number = games.game_number
    WHERE :tournament IS NULL OR games.tournament = :tournament
    GROUP BY seats.ruleset, seats.player_id
)

SELECT
    ratings.ruleset,
    ratings.rank,
    ratings.player_id,
    entrants.player_name,
    ratings.games,
    ratings.mu,
    ratings.sigma,
    ratings.ordinal,
    count(*) OVER (PARTITION BY ratings.ruleset) AS players
FROM ratings
INNER JOIN entrants ON ratings.ruleset = entrants.ruleset AND ratings.player_id = entrants.player_id
QUALIFY row_number() OVER (PARTITION BY ratings.ruleset ORDER BY ratings.rank, ratings.player_id) <= 20
ORDER BY ratings.ruleset, ratings.rank, ratings.player_id
