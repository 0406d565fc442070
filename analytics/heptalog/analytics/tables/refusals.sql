CREATE TABLE refusals (
    refusal_number BIGINT NOT NULL,
    game_id VARCHAR NOT NULL,
    sequence BIGINT NOT NULL,
    refused_at TIMESTAMPTZ NOT NULL,
    recorded_by VARCHAR,
    kind VARCHAR NOT NULL,
    seat BIGINT,
    code VARCHAR NOT NULL,
    rule VARCHAR NOT NULL
);
COMMENT ON TABLE refusals IS 'One row an event that the rules did not allow. It changed nothing.';
COMMENT ON COLUMN refusals.refusal_number IS 'Its place in the order of refusals, from 1.';
COMMENT ON COLUMN refusals.game_id IS 'The game, which need not exist: its opening may be what was refused.';
COMMENT ON COLUMN refusals.sequence IS 'The sequence that it would have had.';
COMMENT ON COLUMN refusals.refused_at IS 'When it was refused.';
COMMENT ON COLUMN refusals.recorded_by IS 'Who asked for it; NULL where nobody was named.';
COMMENT ON COLUMN refusals.kind IS 'What was asked for, as a game file names it: cardPlayed.';
COMMENT ON COLUMN refusals.seat IS 'The seat that it was asked for; NULL where the event has none.';
COMMENT ON COLUMN refusals.code IS 'The stable code of the refusal.';
COMMENT ON COLUMN refusals.rule IS 'The number of the rule that says no.';
