CREATE TABLE games (
    game_number BIGINT NOT NULL,
    game_id VARCHAR NOT NULL,
    last_position BIGINT NOT NULL,
    rules_version INTEGER NOT NULL,
    tournament VARCHAR,
    table_name VARCHAR,
    tags STRUCT(name VARCHAR, value VARCHAR)[] NOT NULL,
    options VARCHAR NOT NULL,
    player_count INTEGER NOT NULL,
    side_count INTEGER NOT NULL,
    status game_status NOT NULL,
    scores INTEGER[] NOT NULL,
    winners INTEGER[] NOT NULL,
    winner_ids VARCHAR[] NOT NULL,
    rounds INTEGER NOT NULL,
    turns INTEGER NOT NULL,
    events INTEGER NOT NULL,
    takebacks INTEGER NOT NULL,
    started_at TIMESTAMPTZ,
    last_recorded_at TIMESTAMPTZ,
    ended_at TIMESTAMPTZ,
    ended_position BIGINT,
    ruleset VARCHAR NOT NULL,
    month VARCHAR NOT NULL
);
COMMENT ON TABLE games IS 'One row a game: what it is, how far it has come, and how it stands.';
COMMENT ON COLUMN games.game_number IS 'The game: the position of its first event. It grows with time, and joins faster than game_id.';
COMMENT ON COLUMN games.game_id IS 'The game, by its name for ever.';
COMMENT ON COLUMN games.last_position IS 'The position of its last event in the log.';
COMMENT ON COLUMN games.rules_version IS 'The version of its rules.';
COMMENT ON COLUMN games.tournament IS 'NULL where it belongs to none.';
COMMENT ON COLUMN games.table_name IS 'NULL where no table was named.';
COMMENT ON COLUMN games.tags IS 'Free labels.';
COMMENT ON COLUMN games.options IS 'The options that were given, as a JSON object.';
COMMENT ON COLUMN games.player_count IS 'How many play.';
COMMENT ON COLUMN games.side_count IS 'How many score: two pairs, or as many as players.';
COMMENT ON COLUMN games.status IS 'RUNNING, WON by the rules, or CLOSED by the arbiter.';
COMMENT ON COLUMN games.scores IS 'As it stands, one a side; :penalties.';
COMMENT ON COLUMN games.winners IS 'The seats that won, ascending; empty while it is running.';
COMMENT ON COLUMN games.winner_ids IS 'The same as players'' ids.';
COMMENT ON COLUMN games.rounds IS 'How many rounds have begun.';
COMMENT ON COLUMN games.turns IS 'How many turns were taken, without those that were taken back.';
COMMENT ON COLUMN games.events IS 'How many events it has, takebacks and what they took included.';
COMMENT ON COLUMN games.takebacks IS 'How often the arbiter took back.';
COMMENT ON COLUMN games.started_at IS 'When its first event was accepted; NULL where the record does not say.';
COMMENT ON COLUMN games.last_recorded_at IS 'When its last event was accepted; NULL where the record does not say.';
COMMENT ON COLUMN games.ended_at IS 'When the event that ended it was accepted; NULL while it is running, or where the record does not say.';
COMMENT ON COLUMN games.ended_position IS 'The position of that event; NULL while it is running.';
COMMENT ON COLUMN games.ruleset IS 'The key of its rules: :rulesets.';
COMMENT ON COLUMN games.month IS 'The month in which the game began, UTC, as 2026-11. A question that names it reads less.';
