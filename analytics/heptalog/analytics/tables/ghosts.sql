CREATE TABLE ghosts (
    game_number BIGINT NOT NULL,
    game_id VARCHAR NOT NULL,
    sequence INTEGER NOT NULL,
    round INTEGER NOT NULL,
    seat INTEGER NOT NULL,
    player_id VARCHAR NOT NULL,
    side INTEGER NOT NULL,
    cards VARCHAR[] NOT NULL,
    penalty INTEGER NOT NULL,
    ruleset VARCHAR NOT NULL,
    month VARCHAR NOT NULL
);
COMMENT ON TABLE ghosts IS 'Seven Bridge: one row a ghost made (SB-R13, SB-D11).';
COMMENT ON COLUMN ghosts.game_number IS 'The game: the position of its first event. It grows with time, and joins faster than game_id.';
COMMENT ON COLUMN ghosts.game_id IS 'The game, by its name for ever.';
COMMENT ON COLUMN ghosts.sequence IS 'The event of the game that did it.';
COMMENT ON COLUMN ghosts.round IS 'The round of the game, from 1.';
COMMENT ON COLUMN ghosts.seat IS 'Whose it was, from 0, clockwise.';
COMMENT ON COLUMN ghosts.player_id IS 'Who sits there.';
COMMENT ON COLUMN ghosts.side IS 'The side they score for: partners have one, seats 0 and 2 are side 0.';
COMMENT ON COLUMN ghosts.cards IS 'The hand as it was exposed.';
COMMENT ON COLUMN ghosts.penalty IS 'What it costs, frozen then.';
COMMENT ON COLUMN ghosts.ruleset IS 'The key of its rules: :rulesets.';
COMMENT ON COLUMN ghosts.month IS 'The month in which the game began, UTC, as 2026-11. A question that names it reads less.';
