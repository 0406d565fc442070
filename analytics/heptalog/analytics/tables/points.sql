CREATE TABLE points (
    game_number BIGINT NOT NULL,
    game_id VARCHAR NOT NULL,
    sequence INTEGER NOT NULL,
    round INTEGER NOT NULL,
    kind point_kind NOT NULL,
    seat INTEGER,
    player_id VARCHAR,
    side INTEGER NOT NULL,
    card VARCHAR,
    points INTEGER NOT NULL,
    score INTEGER NOT NULL,
    ruleset VARCHAR NOT NULL,
    month VARCHAR NOT NULL
);
COMMENT ON TABLE points IS 'Seven Up: one row a point scored or lost: High, Low, Jack, Game, turned jacks, gifts and infractions (SU-R6 to SU-R25).';
COMMENT ON COLUMN points.game_number IS 'The game: the position of its first event. It grows with time, and joins faster than game_id.';
COMMENT ON COLUMN points.game_id IS 'The game, by its name for ever.';
COMMENT ON COLUMN points.sequence IS 'The event of the game that did it.';
COMMENT ON COLUMN points.round IS 'The round of the game, from 1.';
COMMENT ON COLUMN points.kind IS 'HIGH, LOW, JACK, GAME, TURNED_JACK, GIFT or INFRACTION.';
COMMENT ON COLUMN points.seat IS 'Who earned it, or broke the rule; NULL for Game, which a side earns.';
COMMENT ON COLUMN points.player_id IS 'Who sits there; NULL for Game.';
COMMENT ON COLUMN points.side IS 'The side whose score it changed.';
COMMENT ON COLUMN points.card IS 'The card that earned it; NULL where none did.';
COMMENT ON COLUMN points.points IS 'What it added: 1, or -1 for an infraction among three.';
COMMENT ON COLUMN points.score IS 'The side''s score after it.';
COMMENT ON COLUMN points.ruleset IS 'The key of its rules: :rulesets.';
COMMENT ON COLUMN points.month IS 'The month in which the game began, UTC, as 2026-11. A question that names it reads less.';
