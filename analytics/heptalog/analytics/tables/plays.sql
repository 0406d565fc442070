CREATE TABLE plays (
    game_number BIGINT NOT NULL,
    game_id VARCHAR NOT NULL,
    sequence INTEGER NOT NULL,
    round INTEGER NOT NULL,
    seat INTEGER NOT NULL,
    player_id VARCHAR NOT NULL,
    side INTEGER NOT NULL,
    card VARCHAR NOT NULL,
    stands_for VARCHAR,
    opens_column BOOLEAN NOT NULL,
    completes_column BOOLEAN NOT NULL,
    covers_joker BOOLEAN NOT NULL,
    ghost INTEGER,
    ruleset VARCHAR NOT NULL,
    month VARCHAR NOT NULL
);
COMMENT ON TABLE plays IS 'Seven Bridge: one row a card laid (SB-R9).';
COMMENT ON COLUMN plays.game_number IS 'The game: the position of its first event. It grows with time, and joins faster than game_id.';
COMMENT ON COLUMN plays.game_id IS 'The game, by its name for ever.';
COMMENT ON COLUMN plays.sequence IS 'The event of the game that did it.';
COMMENT ON COLUMN plays.round IS 'The round of the game, from 1.';
COMMENT ON COLUMN plays.seat IS 'Whose it was, from 0, clockwise.';
COMMENT ON COLUMN plays.player_id IS 'Who sits there.';
COMMENT ON COLUMN plays.side IS 'The side they score for: partners have one, seats 0 and 2 are side 0.';
COMMENT ON COLUMN plays.card IS 'The card, or the joker.';
COMMENT ON COLUMN plays.stands_for IS 'What a joker stands for; NULL for any other card.';
COMMENT ON COLUMN plays.opens_column IS 'Whether it fills the place of a seven (SB-R10a).';
COMMENT ON COLUMN plays.completes_column IS 'Whether it fills the last place of a column (SB-D15).';
COMMENT ON COLUMN plays.covers_joker IS 'Whether it lies on a joker that stood for it (SB-D20c).';
COMMENT ON COLUMN plays.ghost IS 'The ghost''s seat whose exposed card it is; NULL where it came from the hand (SB-D9).';
COMMENT ON COLUMN plays.ruleset IS 'The key of its rules: :rulesets.';
COMMENT ON COLUMN plays.month IS 'The month in which the game began, UTC, as 2026-11. A question that names it reads less.';
