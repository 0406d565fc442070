CREATE OR REPLACE VIEW seven_rocks_players AS
WITH counts AS (
    SELECT
        game_number,
        player_id,
        count(*) AS laid,
        count(*) FILTER (points > 0) AS scored,
        sum(points) AS points,
        max(points) AS points_max,
        0 AS settled,
        0 AS went_out,
        0 AS pips,
        0 AS deduction
    FROM placements
    GROUP BY game_number, player_id
    UNION ALL
    SELECT
        game_number,
        player_id,
        0,
        0,
        0,
        NULL,
        count(*),
        count(*) FILTER (len(tiles) = 0),
        sum(pips),
        sum(deduction)
    FROM settlements
    GROUP BY game_number, player_id
)

SELECT
    games.tournament,
    games.ruleset,
    counts.player_id,
    count(DISTINCT counts.game_number) AS games,
    CAST(sum(counts.laid) AS BIGINT) AS laid,
    CAST(sum(counts.scored) AS BIGINT) AS scored,
    sum(counts.scored) / nullif(sum(counts.laid), 0) AS scored_rate,
    CAST(sum(counts.points) AS BIGINT) AS points,
    sum(counts.points) / nullif(sum(counts.laid), 0) AS mean_points,
    max(counts.points_max) AS points_max,
    CAST(sum(counts.settled) AS BIGINT) AS settled,
    CAST(sum(counts.went_out) AS BIGINT) AS went_out,
    sum(counts.went_out) / nullif(sum(counts.settled), 0) AS went_out_rate,
    sum(counts.pips) / nullif(sum(counts.settled), 0) AS mean_pips,
    CAST(sum(counts.deduction) AS BIGINT) AS deduction
FROM counts
INNER JOIN games ON counts.game_number = games.game_number
GROUP BY games.tournament, games.ruleset, counts.player_id;

COMMENT ON VIEW seven_rocks_players IS 'Seven Rocks: one row a player by tournament: what they laid, scored and were left with, running games included.';
COMMENT ON COLUMN seven_rocks_players.tournament IS 'NULL for games that belong to none.';
COMMENT ON COLUMN seven_rocks_players.ruleset IS 'The key of the rules: seven_rocks.';
COMMENT ON COLUMN seven_rocks_players.player_id IS 'The player.';
COMMENT ON COLUMN seven_rocks_players.games IS 'Games in which they have laid a tile or had a hand settled.';
COMMENT ON COLUMN seven_rocks_players.laid IS 'Tiles they laid.';
COMMENT ON COLUMN seven_rocks_players.scored IS 'Those that scored.';
COMMENT ON COLUMN seven_rocks_players.scored_rate IS 'Scored of laid; NULL before the first.';
COMMENT ON COLUMN seven_rocks_players.points IS 'What their own tiles scored; their partner''s are not in it.';
COMMENT ON COLUMN seven_rocks_players.mean_points IS 'Points a tile laid; NULL before the first.';
COMMENT ON COLUMN seven_rocks_players.points_max IS 'The best tile.';
COMMENT ON COLUMN seven_rocks_players.settled IS 'Rounds that were settled.';
COMMENT ON COLUMN seven_rocks_players.went_out IS 'Those that they ended by an empty hand.';
COMMENT ON COLUMN seven_rocks_players.went_out_rate IS 'Went out of settled; NULL before the first.';
COMMENT ON COLUMN seven_rocks_players.mean_pips IS 'Pips left in their hand at a settlement.';
COMMENT ON COLUMN seven_rocks_players.deduction IS 'What their own hands took off their sides'' scores.';
