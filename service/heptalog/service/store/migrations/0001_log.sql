-- The log of record. Events are only ever added: never changed, moved or removed.
-- No index and no key on log.events: position and game_number grow with time, so zone maps find both.
-- Records are hashes for the most part: to look for what could be compressed in them takes three quarters of a
-- checkpoint and makes a log an eighth smaller, so they lie as they are. In databases of before they go on as they were.

CREATE SCHEMA log;

CREATE TABLE log.migrations (
    number INTEGER NOT NULL,
    name VARCHAR NOT NULL,
    applied_at TIMESTAMPTZ NOT NULL
);
COMMENT ON TABLE log.migrations IS 'The steps that made this schema, each applied once.';
COMMENT ON COLUMN log.migrations.number IS 'Its place in the order of steps, from 1.';
COMMENT ON COLUMN log.migrations.name IS 'The name of its file.';
COMMENT ON COLUMN log.migrations.applied_at IS 'When it was applied.';

CREATE TABLE log.events (
    position BIGINT NOT NULL,
    game_number BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    kind VARCHAR NOT NULL,
    seat BIGINT,
    event_id VARCHAR,
    occurred_at TIMESTAMPTZ,
    recorded_at TIMESTAMPTZ,
    recorded_by VARCHAR,
    event BLOB NOT NULL USING COMPRESSION uncompressed
);
COMMENT ON TABLE log.events IS 'Every event of every game, once, in the order of acceptance. The columns before event repeat what it says.';
COMMENT ON COLUMN log.events.position IS 'Its place among all events of all games: 1, 2, 3 … without gaps.';
COMMENT ON COLUMN log.events.game_number IS 'The game, as in log.games.';
COMMENT ON COLUMN log.events.sequence IS 'Its place in its game: 0, 1, 2 … without gaps.';
COMMENT ON COLUMN log.events.kind IS 'What happened, as a game file names it: cardPlayed.';
COMMENT ON COLUMN log.events.seat IS 'The seat in the body; NULL where the body has none.';
COMMENT ON COLUMN log.events.event_id IS 'Given by the client, unique in its game; NULL where absent.';
COMMENT ON COLUMN log.events.occurred_at IS 'When it happened at the table, to the microsecond; NULL where absent.';
COMMENT ON COLUMN log.events.recorded_at IS 'When it was accepted, to the microsecond; NULL where absent.';
COMMENT ON COLUMN log.events.recorded_by IS 'Who recorded it; NULL where absent.';
COMMENT ON COLUMN log.events.event IS 'The record itself, byte for byte: canonical protobuf with its chain fields. It may hold hidden cards.';

CREATE TABLE log.games (
    game_number BIGINT NOT NULL,
    game_id VARCHAR PRIMARY KEY,
    ruleset VARCHAR NOT NULL,
    rules_version BIGINT NOT NULL,
    tournament VARCHAR,
    table_name VARCHAR,
    players STRUCT(id VARCHAR, name VARCHAR)[] NOT NULL,
    options VARCHAR NOT NULL,
    tags STRUCT(name VARCHAR, value VARCHAR)[] NOT NULL,
    created_at TIMESTAMPTZ,
    created_at_nanoseconds BIGINT NOT NULL,
    started BLOB NOT NULL
);
COMMENT ON TABLE log.games IS 'Every game, once: what its first event says.';
COMMENT ON COLUMN log.games.game_number IS 'Its place in the order of creation, from 1; grows with time.';
COMMENT ON COLUMN log.games.game_id IS 'Its name for ever.';
COMMENT ON COLUMN log.games.ruleset IS 'The key of its rules: seven_rocks, seven_up, seven_bridge.';
COMMENT ON COLUMN log.games.rules_version IS 'The version of its rules; 1 where the record does not say.';
COMMENT ON COLUMN log.games.tournament IS 'The tournament; NULL where absent.';
COMMENT ON COLUMN log.games.table_name IS 'The table; NULL where absent.';
COMMENT ON COLUMN log.games.players IS 'The players in the order of seats, the first in seat 0.';
COMMENT ON COLUMN log.games.options IS 'The options that were given, as a JSON object.';
COMMENT ON COLUMN log.games.tags IS 'Free labels.';
COMMENT ON COLUMN log.games.created_at IS 'When its first event was accepted, to the microsecond; NULL where absent.';
COMMENT ON COLUMN log.games.created_at_nanoseconds IS 'The nanoseconds beyond created_at, 0 to 999.';
COMMENT ON COLUMN log.games.started IS 'Its first record, byte for byte, so that a list of games need not look for it.';

CREATE TABLE log.endings (
    game_number BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    status VARCHAR NOT NULL,
    scores BIGINT[] NOT NULL,
    winners BIGINT[] NOT NULL,
    recorded_at TIMESTAMPTZ
);
COMMENT ON TABLE log.endings IS 'Every change of a game''s status. The last one of a game holds; a game without any is RUNNING.';
COMMENT ON COLUMN log.endings.game_number IS 'The game, as in log.games.';
COMMENT ON COLUMN log.endings.sequence IS 'The event that changed it.';
COMMENT ON COLUMN log.endings.status IS 'What it is from then on: RUNNING (a takeback reopened it), WON or CLOSED.';
COMMENT ON COLUMN log.endings.scores IS 'The scores then, one a side.';
COMMENT ON COLUMN log.endings.winners IS 'The seats that won, ascending.';
COMMENT ON COLUMN log.endings.recorded_at IS 'When that event was accepted, to the microsecond; NULL where absent.';

CREATE TABLE log.refusals (
    refusal_number BIGINT NOT NULL,
    game_id VARCHAR NOT NULL,
    sequence BIGINT NOT NULL,
    refused_at TIMESTAMPTZ NOT NULL,
    refused_at_nanoseconds BIGINT NOT NULL,
    recorded_by VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    code VARCHAR NOT NULL,
    rule VARCHAR NOT NULL,
    content BLOB NOT NULL
);
COMMENT ON TABLE log.refusals IS 'What the rules did not allow. It changed nothing; arbiters ask for it.';
COMMENT ON COLUMN log.refusals.refusal_number IS 'Its place in the order of refusals, from 1.';
COMMENT ON COLUMN log.refusals.game_id IS 'The game, which need not exist: its opening may be what was refused.';
COMMENT ON COLUMN log.refusals.sequence IS 'The sequence that it would have had.';
COMMENT ON COLUMN log.refusals.refused_at IS 'When it was refused, to the microsecond.';
COMMENT ON COLUMN log.refusals.refused_at_nanoseconds IS 'The nanoseconds beyond refused_at, 0 to 999.';
COMMENT ON COLUMN log.refusals.recorded_by IS 'Who asked for it.';
COMMENT ON COLUMN log.refusals.kind IS 'What was asked for, as a game file names it.';
COMMENT ON COLUMN log.refusals.code IS 'The stable code of the refusal.';
COMMENT ON COLUMN log.refusals.rule IS 'The number of the rule that says no.';
COMMENT ON COLUMN log.refusals.content IS 'The event as it was asked for, in canonical protobuf.';
