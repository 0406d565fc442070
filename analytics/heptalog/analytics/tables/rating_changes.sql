CREATE TABLE rating_changes (
    game_number BIGINT NOT NULL,
    game_id VARCHAR NOT NULL,
    ruleset VARCHAR NOT NULL,
    ended_position BIGINT NOT NULL,
    player_id VARCHAR NOT NULL,
    rank INTEGER NOT NULL,
    games INTEGER NOT NULL,
    mu_before DOUBLE NOT NULL,
    sigma_before DOUBLE NOT NULL,
    mu DOUBLE NOT NULL,
    sigma DOUBLE NOT NULL
);
COMMENT ON TABLE rating_changes IS 'One row a player of a rated game: what it did to their rating. Games are rated in the order in which they ended.';
COMMENT ON COLUMN rating_changes.game_number IS 'The game: the position of its first event. It grows with time, and joins faster than game_id.';
COMMENT ON COLUMN rating_changes.game_id IS 'The game, by its name for ever.';
COMMENT ON COLUMN rating_changes.ruleset IS 'The key of its rules; each has ratings of its own.';
COMMENT ON COLUMN rating_changes.ended_position IS 'The position of the event that ended it, which is the order.';
COMMENT ON COLUMN rating_changes.player_id IS 'The player.';
COMMENT ON COLUMN rating_changes.rank IS 'The place of their side in this game, 1 the best; equals share one.';
COMMENT ON COLUMN rating_changes.games IS 'How many rated games they have played, this one included.';
COMMENT ON COLUMN rating_changes.mu_before IS 'The mean before it.';
COMMENT ON COLUMN rating_changes.sigma_before IS 'The uncertainty before it.';
COMMENT ON COLUMN rating_changes.mu IS 'The mean after it.';
COMMENT ON COLUMN rating_changes.sigma IS 'The uncertainty after it.';
