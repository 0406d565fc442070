CREATE OR REPLACE VIEW longest_games AS
SELECT
    rank() OVER (PARTITION BY ruleset ORDER BY turns DESC) AS rank,
    rank() OVER (PARTITION BY tournament, ruleset ORDER BY turns DESC) AS rank_in_tournament,
    game_number,
    game_id,
    tournament,
    table_name,
    player_count,
    status,
    turns,
    rounds,
    events,
    takebacks,
    (epoch_us(ended_at) - epoch_us(started_at)) // 1000000 AS seconds,
    started_at,
    ended_at,
    ruleset,
    month
FROM games
WHERE status <> 'RUNNING';

COMMENT ON VIEW longest_games IS 'One row an ended game: which place it has by its number of turns. The ten longest are those with a rank up to 10.';
COMMENT ON COLUMN longest_games.rank IS 'Its place among all games of its rules, 1 the longest; equals share one.';
COMMENT ON COLUMN longest_games.rank_in_tournament IS 'Its place among those of its tournament, or of none.';
COMMENT ON COLUMN longest_games.game_number IS 'The game: the position of its first event. It grows with time, and joins faster than game_id.';
COMMENT ON COLUMN longest_games.game_id IS 'The game, by its name for ever.';
COMMENT ON COLUMN longest_games.tournament IS 'NULL where it belongs to none.';
COMMENT ON COLUMN longest_games.table_name IS 'NULL where no table was named.';
COMMENT ON COLUMN longest_games.player_count IS 'How many played.';
COMMENT ON COLUMN longest_games.status IS 'WON by the rules, or CLOSED by the arbiter.';
COMMENT ON COLUMN longest_games.turns IS 'How many turns were taken, without those that were taken back.';
COMMENT ON COLUMN longest_games.rounds IS 'How many rounds have begun.';
COMMENT ON COLUMN longest_games.events IS 'How many events it has, takebacks and what they took included.';
COMMENT ON COLUMN longest_games.takebacks IS 'How often the arbiter took back.';
COMMENT ON COLUMN longest_games.seconds IS 'From its first event to the one that ended it; NULL where the record does not say.';
COMMENT ON COLUMN longest_games.started_at IS 'When its first event was accepted; NULL where the record does not say.';
COMMENT ON COLUMN longest_games.ended_at IS 'When the event that ended it was accepted; NULL where the record does not say.';
COMMENT ON COLUMN longest_games.ruleset IS 'The key of its rules: :rulesets.';
COMMENT ON COLUMN longest_games.month IS 'The month in which the game began, UTC, as 2026-11. A question that names it reads less.';
