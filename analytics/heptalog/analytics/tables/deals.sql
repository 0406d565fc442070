CREATE TABLE deals (
    game_number BIGINT NOT NULL,
    game_id VARCHAR NOT NULL,
    sequence INTEGER NOT NULL,
    round INTEGER NOT NULL,
    dealer INTEGER NOT NULL,
    elder INTEGER NOT NULL,
    turned VARCHAR[] NOT NULL,
    decision trump_decision,
    runs INTEGER NOT NULL,
    trump suit,
    trump_card VARCHAR,
    void_reason void_reason,
    pips INTEGER[],
    ruleset VARCHAR NOT NULL,
    month VARCHAR NOT NULL
);
COMMENT ON TABLE deals IS 'Seven Up: one row a deal: how trump was fixed, and what the tricks counted (SU-R5 to SU-R11, SU-R25).';
COMMENT ON COLUMN deals.game_number IS 'The game: the position of its first event. It grows with time, and joins faster than game_id.';
COMMENT ON COLUMN deals.game_id IS 'The game, by its name for ever.';
COMMENT ON COLUMN deals.sequence IS 'The event of the deal.';
COMMENT ON COLUMN deals.round IS 'Which round of the game, from 1.';
COMMENT ON COLUMN deals.dealer IS 'The seat that dealt.';
COMMENT ON COLUMN deals.elder IS 'Elder hand: the seat on the dealer''s left.';
COMMENT ON COLUMN deals.turned IS 'Every card that was turned, in order.';
COMMENT ON COLUMN deals.decision IS 'The last word on the turned suit: STAND, BEG, GIVE or RUN; NULL where none was said.';
COMMENT ON COLUMN deals.runs IS 'How often cards were run.';
COMMENT ON COLUMN deals.trump IS 'S, H, D or C; NULL while it is not fixed.';
COMMENT ON COLUMN deals.trump_card IS 'The card that fixed it; NULL while it is not fixed.';
COMMENT ON COLUMN deals.void_reason IS 'STOCK_SHORT or SUITS_REJECTED where the deal was void; otherwise NULL.';
COMMENT ON COLUMN deals.pips IS 'What each side took for Game; NULL where that was not counted.';
COMMENT ON COLUMN deals.ruleset IS 'The key of its rules: :rulesets.';
COMMENT ON COLUMN deals.month IS 'The month in which the game began, UTC, as 2026-11. A question that names it reads less.';
