CREATE TABLE penalties (
    game_number BIGINT NOT NULL,
    game_id VARCHAR NOT NULL,
    sequence INTEGER NOT NULL,
    round INTEGER NOT NULL,
    seat INTEGER NOT NULL,
    player_id VARCHAR NOT NULL,
    side INTEGER NOT NULL,
    cards VARCHAR[] NOT NULL,
    penalty INTEGER NOT NULL,
    was_ghost BOOLEAN NOT NULL,
    columns INTEGER NOT NULL,
    bonus INTEGER NOT NULL,
    total INTEGER NOT NULL,
    ruleset VARCHAR NOT NULL,
    month VARCHAR NOT NULL
);
COMMENT ON TABLE penalties IS 'Seven Bridge: one row a seat of an ended round: what it was left with, and what that cost (SB-R16, SB-R17, SB-R26).';
COMMENT ON COLUMN penalties.game_number IS 'The game: the position of its first event. It grows with time, and joins faster than game_id.';
COMMENT ON COLUMN penalties.game_id IS 'The game, by its name for ever.';
COMMENT ON COLUMN penalties.sequence IS 'The event of the game that did it.';
COMMENT ON COLUMN penalties.round IS 'The round of the game, from 1.';
COMMENT ON COLUMN penalties.seat IS 'Whose it was, from 0, clockwise.';
COMMENT ON COLUMN penalties.player_id IS 'Who sits there.';
COMMENT ON COLUMN penalties.side IS 'The side they score for: partners have one, seats 0 and 2 are side 0.';
COMMENT ON COLUMN penalties.cards IS 'What was left in the hand.';
COMMENT ON COLUMN penalties.penalty IS 'What that costs; the winner''s is 0.';
COMMENT ON COLUMN penalties.was_ghost IS 'Whether the seat had become a ghost.';
COMMENT ON COLUMN penalties.columns IS 'Columns completed in a Race to the Kings; otherwise 0.';
COMMENT ON COLUMN penalties.bonus IS 'What was taken off for them.';
COMMENT ON COLUMN penalties.total IS 'The seat''s total after the round.';
COMMENT ON COLUMN penalties.ruleset IS 'The key of its rules: :rulesets.';
COMMENT ON COLUMN penalties.month IS 'The month in which the game began, UTC, as 2026-11. A question that names it reads less.';
