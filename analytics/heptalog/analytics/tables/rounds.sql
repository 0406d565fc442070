CREATE TABLE rounds (
    game_number BIGINT NOT NULL,
    game_id VARCHAR NOT NULL,
    round INTEGER NOT NULL,
    first_sequence INTEGER NOT NULL,
    last_sequence INTEGER,
    dealer INTEGER,
    opener INTEGER,
    ended_by round_ending,
    ended_seat INTEGER,
    is_deciding BOOLEAN NOT NULL,
    turns INTEGER NOT NULL,
    score_changes INTEGER[] NOT NULL,
    scores INTEGER[] NOT NULL,
    started_at TIMESTAMPTZ,
    ended_at TIMESTAMPTZ,
    ruleset VARCHAR NOT NULL,
    month VARCHAR NOT NULL
);
COMMENT ON TABLE rounds IS 'One row a round of a game: who dealt and opened, how it ended, and what it changed.';
COMMENT ON COLUMN rounds.game_number IS 'The game: the position of its first event. It grows with time, and joins faster than game_id.';
COMMENT ON COLUMN rounds.game_id IS 'The game, by its name for ever.';
COMMENT ON COLUMN rounds.round IS 'Which round of the game, from 1.';
COMMENT ON COLUMN rounds.first_sequence IS 'The event that began it: the deal.';
COMMENT ON COLUMN rounds.last_sequence IS 'The event that ended it; NULL while it is played, or where the arbiter closed the game in it.';
COMMENT ON COLUMN rounds.dealer IS 'The seat that dealt; NULL in Seven Rocks, which has no dealer.';
COMMENT ON COLUMN rounds.opener IS 'The seat that plays first; NULL while that is open.';
COMMENT ON COLUMN rounds.ended_by IS 'EMPTY_HAND, BLOCKED, EXHAUSTED, TRICKS_PLAYED, VOID, or MATCH_WON where the match was won in the middle of it; NULL while it is played.';
COMMENT ON COLUMN rounds.ended_seat IS 'Who ended it by an empty hand; NULL where nobody did.';
COMMENT ON COLUMN rounds.is_deciding IS 'Whether it is a deciding round (SB-R21).';
COMMENT ON COLUMN rounds.turns IS 'How many turns it had, without those that were taken back.';
COMMENT ON COLUMN rounds.score_changes IS 'What it added to each side''s score, so far.';
COMMENT ON COLUMN rounds.scores IS 'Each side''s score at its end, or as it stands.';
COMMENT ON COLUMN rounds.started_at IS 'When its deal was accepted; NULL where the record does not say.';
COMMENT ON COLUMN rounds.ended_at IS 'When its end was accepted; NULL while it is played, or where the record does not say.';
COMMENT ON COLUMN rounds.ruleset IS 'The key of its rules: :rulesets.';
COMMENT ON COLUMN rounds.month IS 'The month in which the game began, UTC, as 2026-11. A question that names it reads less.';
