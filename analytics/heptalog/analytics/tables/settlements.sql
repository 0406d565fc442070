CREATE TABLE settlements (
    game_number BIGINT NOT NULL,
    game_id VARCHAR NOT NULL,
    sequence INTEGER NOT NULL,
    round INTEGER NOT NULL,
    seat INTEGER NOT NULL,
    player_id VARCHAR NOT NULL,
    side INTEGER NOT NULL,
    tiles VARCHAR[] NOT NULL,
    pips INTEGER NOT NULL,
    deduction INTEGER NOT NULL,
    score INTEGER NOT NULL,
    ruleset VARCHAR NOT NULL,
    month VARCHAR NOT NULL
);
COMMENT ON TABLE settlements IS 'Seven Rocks: one row a seat of a settled round: what it was left with, and what that cost (SR-R25).';
COMMENT ON COLUMN settlements.game_number IS 'The game: the position of its first event. It grows with time, and joins faster than game_id.';
COMMENT ON COLUMN settlements.game_id IS 'The game, by its name for ever.';
COMMENT ON COLUMN settlements.sequence IS 'The event of the game that did it.';
COMMENT ON COLUMN settlements.round IS 'The round of the game, from 1.';
COMMENT ON COLUMN settlements.seat IS 'Whose it was, from 0, clockwise.';
COMMENT ON COLUMN settlements.player_id IS 'Who sits there.';
COMMENT ON COLUMN settlements.side IS 'The side they score for: partners have one, seats 0 and 2 are side 0.';
COMMENT ON COLUMN settlements.tiles IS 'What was left in the hand.';
COMMENT ON COLUMN settlements.pips IS 'Their pips.';
COMMENT ON COLUMN settlements.deduction IS 'What was taken off the side''s score.';
COMMENT ON COLUMN settlements.score IS 'The side''s score after it.';
COMMENT ON COLUMN settlements.ruleset IS 'The key of its rules: :rulesets.';
COMMENT ON COLUMN settlements.month IS 'The month in which the game began, UTC, as 2026-11. A question that names it reads less.';
