CREATE TABLE placements (
    game_number BIGINT NOT NULL,
    game_id VARCHAR NOT NULL,
    sequence INTEGER NOT NULL,
    round INTEGER NOT NULL,
    seat INTEGER NOT NULL,
    player_id VARCHAR NOT NULL,
    side INTEGER NOT NULL,
    tile VARCHAR NOT NULL,
    arm arm,
    ends INTEGER[] NOT NULL,
    ends_sum INTEGER NOT NULL,
    points INTEGER NOT NULL,
    score INTEGER NOT NULL,
    is_spinner BOOLEAN NOT NULL,
    ruleset VARCHAR NOT NULL,
    month VARCHAR NOT NULL
);
COMMENT ON TABLE placements IS 'Seven Rocks: one row a tile laid, with or without points (SR-R11, SR-R20).';
COMMENT ON COLUMN placements.game_number IS 'The game: the position of its first event. It grows with time, and joins faster than game_id.';
COMMENT ON COLUMN placements.game_id IS 'The game, by its name for ever.';
COMMENT ON COLUMN placements.sequence IS 'The event of the game that did it.';
COMMENT ON COLUMN placements.round IS 'The round of the game, from 1.';
COMMENT ON COLUMN placements.seat IS 'Whose it was, from 0, clockwise.';
COMMENT ON COLUMN placements.player_id IS 'Who sits there.';
COMMENT ON COLUMN placements.side IS 'The side they score for: partners have one, seats 0 and 2 are side 0.';
COMMENT ON COLUMN placements.tile IS 'The tile, its higher half first.';
COMMENT ON COLUMN placements.arm IS 'LEFT, RIGHT, UP or DOWN; NULL for the opening tile.';
COMMENT ON COLUMN placements.ends IS 'What each end that counts adds, in the order of the arms.';
COMMENT ON COLUMN placements.ends_sum IS 'Their sum.';
COMMENT ON COLUMN placements.points IS 'What it scored: the sum where that is a positive multiple of five, otherwise 0.';
COMMENT ON COLUMN placements.score IS 'The side''s score after it.';
COMMENT ON COLUMN placements.is_spinner IS 'Whether it is the first double of the round.';
COMMENT ON COLUMN placements.ruleset IS 'The key of its rules: :rulesets.';
COMMENT ON COLUMN placements.month IS 'The month in which the game began, UTC, as 2026-11. A question that names it reads less.';
