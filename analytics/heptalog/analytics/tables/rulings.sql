CREATE TABLE rulings (
    game_number BIGINT NOT NULL,
    game_id VARCHAR NOT NULL,
    position BIGINT NOT NULL,
    sequence INTEGER NOT NULL,
    round INTEGER NOT NULL,
    kind ruling_kind NOT NULL,
    seat INTEGER,
    player_id VARCHAR,
    to_sequence INTEGER,
    winners INTEGER[],
    text VARCHAR,
    recorded_at TIMESTAMPTZ,
    recorded_by VARCHAR,
    is_retracted BOOLEAN NOT NULL,
    ruleset VARCHAR NOT NULL,
    month VARCHAR NOT NULL
);
COMMENT ON TABLE rulings IS 'One row a call of the arbiter: takebacks, closings, remarks, infractions. What was taken back is here too, and marked.';
COMMENT ON COLUMN rulings.game_number IS 'The game: the position of its first event. It grows with time, and joins faster than game_id.';
COMMENT ON COLUMN rulings.game_id IS 'The game, by its name for ever.';
COMMENT ON COLUMN rulings.position IS 'Its event''s place in the log.';
COMMENT ON COLUMN rulings.sequence IS 'Its event''s place in the game.';
COMMENT ON COLUMN rulings.round IS 'The round of the game it fell into; 0 before the first.';
COMMENT ON COLUMN rulings.kind IS 'MOVES_RETRACTED, GAME_CLOSED, NOTE_ADDED or INFRACTION_CALLED.';
COMMENT ON COLUMN rulings.seat IS 'The offender''s; NULL where there is none.';
COMMENT ON COLUMN rulings.player_id IS 'Who sits there; NULL where there is none.';
COMMENT ON COLUMN rulings.to_sequence IS 'What a takeback went back to; otherwise NULL.';
COMMENT ON COLUMN rulings.winners IS 'The seats that a closing made winners; otherwise NULL.';
COMMENT ON COLUMN rulings.text IS 'The reason or the remark; NULL where none was given.';
COMMENT ON COLUMN rulings.recorded_at IS 'When it was accepted; NULL where the record does not say.';
COMMENT ON COLUMN rulings.recorded_by IS 'Who recorded it; NULL where the record does not say.';
COMMENT ON COLUMN rulings.is_retracted IS 'Whether a later takeback has taken it back.';
COMMENT ON COLUMN rulings.ruleset IS 'The key of its rules: :rulesets.';
COMMENT ON COLUMN rulings.month IS 'The month in which the game began, UTC, as 2026-11. A question that names it reads less.';
