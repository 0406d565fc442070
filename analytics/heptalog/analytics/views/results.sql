CREATE OR REPLACE TEMP VIEW results AS
WITH last_ending AS (
    SELECT
        game_number,
        max(sequence) AS sequence
    FROM log.endings
    GROUP BY game_number
),

-- A takeback may have reopened a game: then its last change is to RUNNING, and it has no result.
ended AS (
    SELECT endings.*
    FROM log.endings
    INNER JOIN last_ending
        ON endings.game_number = last_ending.game_number AND endings.sequence = last_ending.sequence
    WHERE endings.status <> 'RUNNING'
),

seats AS (
    SELECT
        games.game_number,
        games.game_id,
        games.ruleset,
        games.tournament,
        games.table_name,
        unnest(games.players) AS player,
        unnest(range(len(games.players))) AS seat
    FROM log.games
)

SELECT
    seats.game_id,
    seats.ruleset,
    seats.tournament,
    seats.table_name,
    seats.seat,
    seats.player.id AS player_id,
    seats.player.name AS player_name,
    seats.seat % len(ended.scores) AS side,
    ended.scores[seats.seat % len(ended.scores) + 1] AS score,
    list_contains(ended.winners, seats.seat) AS has_won,
    ended.status,
    ended.recorded_at AS ended_at
FROM ended
INNER JOIN seats ON ended.game_number = seats.game_number;

COMMENT ON VIEW results IS 'One row a player of an ended game: what they have scored and whether they have won.';
COMMENT ON COLUMN results.game_id IS 'The game.';
COMMENT ON COLUMN results.ruleset IS 'The key of its rules: seven_rocks, seven_up, seven_bridge.';
COMMENT ON COLUMN results.tournament IS 'NULL where it belongs to none.';
COMMENT ON COLUMN results.table_name IS 'NULL where no table was named.';
COMMENT ON COLUMN results.seat IS 'From 0, clockwise.';
COMMENT ON COLUMN results.player_id IS 'Who sat there.';
COMMENT ON COLUMN results.player_name IS 'Their name; empty where none was given.';
COMMENT ON COLUMN results.side IS 'Partners have one: seats 0 and 2 are side 0.';
COMMENT ON COLUMN results.score IS 'The side''s; penalties in Seven Bridge.';
COMMENT ON COLUMN results.has_won IS 'Whether the seat is among the winners.';
COMMENT ON COLUMN results.status IS 'WON by the rules, or CLOSED by the arbiter.';
COMMENT ON COLUMN results.ended_at IS 'When the event that ended it was accepted.';
