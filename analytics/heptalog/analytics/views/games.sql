CREATE OR REPLACE TEMP VIEW games AS
WITH progress AS (
    SELECT
        game_number,
        count(*) AS events,
        max(recorded_at) AS last_recorded_at
    FROM log.events
    GROUP BY game_number
),

-- The last change of status holds; a game without any is running.
standing AS (
    SELECT
        game_number,
        arg_max(status, sequence) AS status,
        arg_max(winners, sequence) AS winners
    FROM log.endings
    GROUP BY game_number
)

SELECT
    games.game_id,
    games.ruleset,
    games.rules_version,
    games.tournament,
    games.table_name,
    games.players,
    len(games.players) AS player_count,
    games.options,
    games.created_at,
    progress.last_recorded_at,
    progress.events,
    coalesce(standing.status, 'RUNNING') AS status,
    coalesce(standing.winners, []) AS winners,
    [games.players[seat + 1].id FOR seat IN coalesce(standing.winners, [])] AS winner_ids
FROM log.games
INNER JOIN progress ON games.game_number = progress.game_number
LEFT JOIN standing ON games.game_number = standing.game_number;

COMMENT ON VIEW games IS 'One row a game: what it is, how far it has come, and how it stands.';
COMMENT ON COLUMN games.game_id IS 'Its name for ever.';
COMMENT ON COLUMN games.ruleset IS 'The key of its rules: seven_rocks, seven_up, seven_bridge.';
COMMENT ON COLUMN games.rules_version IS 'The version of its rules.';
COMMENT ON COLUMN games.tournament IS 'NULL where it belongs to none.';
COMMENT ON COLUMN games.table_name IS 'NULL where no table was named.';
COMMENT ON COLUMN games.players IS 'Id and name, in the order of seats, the first in seat 0.';
COMMENT ON COLUMN games.player_count IS 'How many play.';
COMMENT ON COLUMN games.options IS 'The options that were given, as a JSON object.';
COMMENT ON COLUMN games.created_at IS 'When its first event was accepted.';
COMMENT ON COLUMN games.last_recorded_at IS 'When its last event was accepted.';
COMMENT ON COLUMN games.events IS 'How many events it has, takebacks and what they took included.';
COMMENT ON COLUMN games.status IS 'RUNNING, WON by the rules, or CLOSED by the arbiter.';
COMMENT ON COLUMN games.winners IS 'The seats that won, ascending; empty while it is running.';
COMMENT ON COLUMN games.winner_ids IS 'The same as players'' ids.';
