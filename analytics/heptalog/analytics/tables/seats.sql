CREATE TABLE seats (
    game_number BIGINT NOT NULL,
    game_id VARCHAR NOT NULL,
    seat INTEGER NOT NULL,
    player_id VARCHAR NOT NULL,
    side INTEGER NOT NULL,
    player_name VARCHAR NOT NULL,
    score INTEGER NOT NULL,
    has_won BOOLEAN,
    turns INTEGER NOT NULL,
    ruleset VARCHAR NOT NULL,
    month VARCHAR NOT NULL
);
COMMENT ON TABLE seats IS 'One row a seat of a game: who sits there, and what has become of it.';
COMMENT ON COLUMN seats.game_number IS 'The game: the position of its first event. It grows with time, and joins faster than game_id.';
COMMENT ON COLUMN seats.game_id IS 'The game, by its name for ever.';
COMMENT ON COLUMN seats.seat IS 'Whose it was, from 0, clockwise.';
COMMENT ON COLUMN seats.player_id IS 'Who sits there.';
COMMENT ON COLUMN seats.side IS 'The side they score for: partners have one, seats 0 and 2 are side 0.';
COMMENT ON COLUMN seats.player_name IS 'Their name; empty where none was given.';
COMMENT ON COLUMN seats.score IS 'Their side''s, as it stands; :penalties.';
COMMENT ON COLUMN seats.has_won IS 'Whether they are among the winners; NULL while it is running.';
COMMENT ON COLUMN seats.turns IS 'How many turns they took, without those that were taken back.';
COMMENT ON COLUMN seats.ruleset IS 'The key of its rules: :rulesets.';
COMMENT ON COLUMN seats.month IS 'The month in which the game began, UTC, as 2026-11. A question that names it reads less.';
