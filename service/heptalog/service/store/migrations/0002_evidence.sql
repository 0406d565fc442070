-- The evidence over all games: the Merkle tree, its signed checkpoints, and what was accepted after a loss.

CREATE TABLE log.tree (
    level BIGINT NOT NULL,
    index BIGINT NOT NULL,
    hash BLOB NOT NULL
);
COMMENT ON TABLE log.tree IS 'Complete subtrees of the Merkle tree over all events, once each, written some time after their last event. All of it can be derived from the events.';
COMMENT ON COLUMN log.tree.level IS 'Its height in tiles, from 1: it is over 256 to the power of level events.';
COMMENT ON COLUMN log.tree.index IS 'Its place among those of its level, from 0.';
COMMENT ON COLUMN log.tree.hash IS 'Its hash, as RFC 9162 makes it of the chain hashes of its events.';

CREATE TABLE log.checkpoints (
    checkpoint_number BIGINT NOT NULL,
    size BIGINT NOT NULL,
    note VARCHAR NOT NULL,
    kept_at TIMESTAMPTZ NOT NULL
);
COMMENT ON TABLE log.checkpoints IS 'Signed checkpoints of the Merkle tree. Of those of one size the last holds.';
COMMENT ON COLUMN log.checkpoints.checkpoint_number IS 'Its place in the order of keeping, from 1.';
COMMENT ON COLUMN log.checkpoints.size IS 'How many events it is over, which is the position of the last of them.';
COMMENT ON COLUMN log.checkpoints.note IS 'The whole text, signatures included.';
COMMENT ON COLUMN log.checkpoints.kept_at IS 'When it was kept, to the microsecond.';

CREATE TABLE log.incidents (
    accepted_at TIMESTAMPTZ NOT NULL,
    finding VARCHAR NOT NULL,
    head_size BIGINT,
    head_root BLOB,
    size BIGINT NOT NULL,
    root BLOB NOT NULL,
    checkpoints_kept BIGINT NOT NULL,
    void_after BIGINT,
    void_names VARCHAR[] NOT NULL
);
COMMENT ON TABLE log.incidents IS 'Each time somebody let a log go on although it was not what its head record, or its last checkpoint, says.';
COMMENT ON COLUMN log.incidents.accepted_at IS 'When, to the microsecond.';
COMMENT ON COLUMN log.incidents.finding IS 'What was wrong, by its codes.';
COMMENT ON COLUMN log.incidents.head_size IS 'How many events the head record says there were; NULL where it could not be read.';
COMMENT ON COLUMN log.incidents.head_root IS 'The root that it says; NULL where it could not be read.';
COMMENT ON COLUMN log.incidents.size IS 'How many events there were then.';
COMMENT ON COLUMN log.incidents.root IS 'The root of the Merkle tree over those.';
COMMENT ON COLUMN log.incidents.checkpoints_kept IS 'How many checkpoints had been kept by then.';
COMMENT ON COLUMN log.incidents.void_after IS 'Those of them that are over more events than this hold no longer, and readers are not given them; NULL where all of them hold.';
COMMENT ON COLUMN log.incidents.void_names IS 'The names under which those were signed. The log is signed further under another: one name never signs two logs.';
