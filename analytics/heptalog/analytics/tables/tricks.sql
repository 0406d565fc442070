CREATE TABLE tricks (
    game_number BIGINT NOT NULL,
    game_id VARCHAR NOT NULL,
    sequence INTEGER NOT NULL,
    round INTEGER NOT NULL,
    trick INTEGER NOT NULL,
    leader INTEGER NOT NULL,
    seat INTEGER NOT NULL,
    player_id VARCHAR NOT NULL,
    side INTEGER NOT NULL,
    cards VARCHAR[] NOT NULL,
    trump suit NOT NULL,
    is_trumped BOOLEAN NOT NULL,
    ruleset VARCHAR NOT NULL,
    month VARCHAR NOT NULL
);
COMMENT ON TABLE tricks IS 'Seven Up: one row a trick (SU-R14 to SU-R18).';
COMMENT ON COLUMN tricks.game_number IS 'The game: the position of its first event. It grows with time, and joins faster than game_id.';
COMMENT ON COLUMN tricks.game_id IS 'The game, by its name for ever.';
COMMENT ON COLUMN tricks.sequence IS 'The event of the game that did it.';
COMMENT ON COLUMN tricks.round IS 'The round of the game, from 1.';
COMMENT ON COLUMN tricks.trick IS 'Which trick of the round, 1 to 6.';
COMMENT ON COLUMN tricks.leader IS 'The seat that led.';
COMMENT ON COLUMN tricks.seat IS 'The seat that took it, from 0, clockwise.';
COMMENT ON COLUMN tricks.player_id IS 'Who sits there.';
COMMENT ON COLUMN tricks.side IS 'The side they score for: partners have one, seats 0 and 2 are side 0.';
COMMENT ON COLUMN tricks.cards IS 'The cards as played, from the leader on, clockwise.';
COMMENT ON COLUMN tricks.trump IS 'The trump suit.';
COMMENT ON COLUMN tricks.is_trumped IS 'Whether a trump won it that was not led.';
COMMENT ON COLUMN tricks.ruleset IS 'The key of its rules: :rulesets.';
COMMENT ON COLUMN tricks.month IS 'The month in which the game began, UTC, as 2026-11. A question that names it reads less.';
