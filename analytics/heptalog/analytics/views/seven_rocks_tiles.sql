CREATE OR REPLACE VIEW seven_rocks_tiles AS
WITH uses AS (
    SELECT
        game_number,
        tile,
        points,
        arm IS NULL AS is_opening,
        is_spinner,
        0 AS is_left
    FROM placements
    UNION ALL
    SELECT
        game_number,
        unnest(tiles),
        NULL,
        false,
        false,
        1
    FROM settlements
)

SELECT
    games.tournament,
    games.ruleset,
    uses.tile,
    count(*) FILTER (is_left = 0) AS laid,
    count(*) FILTER (is_opening) AS opened,
    count(*) FILTER (is_spinner) AS spinner,
    count(*) FILTER (points > 0) AS scored,
    scored / nullif(laid, 0) AS scored_rate,
    CAST(coalesce(sum(points), 0) AS BIGINT) AS points,
    avg(points) AS mean_points,
    count(*) FILTER (is_left = 1) AS left_over
FROM uses
INNER JOIN games ON uses.game_number = games.game_number
GROUP BY games.tournament, games.ruleset, uses.tile;

COMMENT ON VIEW seven_rocks_tiles IS 'Seven Rocks: one row a tile by tournament: how often it was laid, what it scored, how often it was left.';
COMMENT ON COLUMN seven_rocks_tiles.tournament IS 'NULL for games that belong to none.';
COMMENT ON COLUMN seven_rocks_tiles.ruleset IS 'The key of the rules: seven_rocks.';
COMMENT ON COLUMN seven_rocks_tiles.tile IS 'The tile, its higher half first.';
COMMENT ON COLUMN seven_rocks_tiles.laid IS 'How often it was laid.';
COMMENT ON COLUMN seven_rocks_tiles.opened IS 'How often a round was opened with it.';
COMMENT ON COLUMN seven_rocks_tiles.spinner IS 'How often it was the spinner.';
COMMENT ON COLUMN seven_rocks_tiles.scored IS 'How often it scored when it was laid.';
COMMENT ON COLUMN seven_rocks_tiles.scored_rate IS 'Scored of laid; NULL where it never was.';
COMMENT ON COLUMN seven_rocks_tiles.points IS 'What it scored in all.';
COMMENT ON COLUMN seven_rocks_tiles.mean_points IS 'What it scored each time it was laid; NULL where it never was.';
COMMENT ON COLUMN seven_rocks_tiles.left_over IS 'How often it was left in a hand at a settlement.';
