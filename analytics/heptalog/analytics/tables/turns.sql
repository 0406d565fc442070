CREATE TABLE turns (
    game_number BIGINT NOT NULL,
    game_id VARCHAR NOT NULL,
    position BIGINT NOT NULL,
    sequence INTEGER NOT NULL,
    round INTEGER NOT NULL,
    seat INTEGER NOT NULL,
    player_id VARCHAR NOT NULL,
    side INTEGER NOT NULL,
    kind turn_kind NOT NULL,
    piece VARCHAR,
    detail VARCHAR,
    think_seconds DOUBLE,
    occurred_at TIMESTAMPTZ,
    recorded_at TIMESTAMPTZ,
    is_retracted BOOLEAN NOT NULL,
    ruleset VARCHAR NOT NULL,
    month VARCHAR NOT NULL
);
COMMENT ON TABLE turns IS 'One row a recorded turn: what a seat did when it was its turn. What was taken back is here too, and marked.';
COMMENT ON COLUMN turns.game_number IS 'The game: the position of its first event. It grows with time, and joins faster than game_id.';
COMMENT ON COLUMN turns.game_id IS 'The game, by its name for ever.';
COMMENT ON COLUMN turns.position IS 'Its event''s place in the log.';
COMMENT ON COLUMN turns.sequence IS 'The event of the game that did it.';
COMMENT ON COLUMN turns.round IS 'The round of the game, from 1.';
COMMENT ON COLUMN turns.seat IS 'Whose it was, from 0, clockwise.';
COMMENT ON COLUMN turns.player_id IS 'Who sits there.';
COMMENT ON COLUMN turns.side IS 'The side they score for: partners have one, seats 0 and 2 are side 0.';
COMMENT ON COLUMN turns.kind IS 'TILE_PLAYED, CARD_PLAYED, TURN_PASSED, TRUMP_DECIDED or CARDS_DISCARDED.';
COMMENT ON COLUMN turns.piece IS 'The tile or card that was played, as it was recorded; NULL where none was, or where it is hidden.';
COMMENT ON COLUMN turns.detail IS 'The arm of a tile where it was named, the decision on trump, what a joker stands for; NULL where there is no such thing.';
COMMENT ON COLUMN turns.think_seconds IS 'From the event before it in the game, by the clock of the table; NULL where one of the two times is unknown or they run backwards.';
COMMENT ON COLUMN turns.occurred_at IS 'When it happened at the table; NULL where the record does not say.';
COMMENT ON COLUMN turns.recorded_at IS 'When it was accepted; NULL where the record does not say.';
COMMENT ON COLUMN turns.is_retracted IS 'Whether the arbiter has taken it back.';
COMMENT ON COLUMN turns.ruleset IS 'The key of its rules: :rulesets.';
COMMENT ON COLUMN turns.month IS 'The month in which the game began, UTC, as 2026-11. A question that names it reads less.';
