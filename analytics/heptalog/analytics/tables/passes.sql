CREATE TABLE passes (
    game_number BIGINT NOT NULL,
    game_id VARCHAR NOT NULL,
    sequence INTEGER NOT NULL,
    round INTEGER NOT NULL,
    seat INTEGER NOT NULL,
    player_id VARCHAR NOT NULL,
    side INTEGER NOT NULL,
    kind pass_kind NOT NULL,
    tokens_left INTEGER NOT NULL,
    ruleset VARCHAR NOT NULL,
    month VARCHAR NOT NULL
);
COMMENT ON TABLE passes IS 'Seven Bridge: one row a pass (SB-R12, SB-R13, SB-R23).';
COMMENT ON COLUMN passes.game_number IS 'The game: the position of its first event. It grows with time, and joins faster than game_id.';
COMMENT ON COLUMN passes.game_id IS 'The game, by its name for ever.';
COMMENT ON COLUMN passes.sequence IS 'The event of the game that did it.';
COMMENT ON COLUMN passes.round IS 'The round of the game, from 1.';
COMMENT ON COLUMN passes.seat IS 'Whose it was, from 0, clockwise.';
COMMENT ON COLUMN passes.player_id IS 'Who sits there.';
COMMENT ON COLUMN passes.side IS 'The side they score for: partners have one, seats 0 and 2 are side 0.';
COMMENT ON COLUMN passes.kind IS 'TOKEN where it cost one, GHOST where none was left, WAIT where it costs nothing.';
COMMENT ON COLUMN passes.tokens_left IS 'How many tokens are left after it.';
COMMENT ON COLUMN passes.ruleset IS 'The key of its rules: :rulesets.';
COMMENT ON COLUMN passes.month IS 'The month in which the game began, UTC, as 2026-11. A question that names it reads less.';
