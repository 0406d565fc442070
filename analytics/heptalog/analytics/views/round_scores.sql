CREATE OR REPLACE VIEW round_scores AS
WITH sides AS (
    SELECT
        game_number,
        game_id,
        round,
        ended_by,
        ended_at,
        unnest(range(len(scores))) AS side,
        unnest(score_changes) AS change,
        unnest(scores) AS score,
        ruleset,
        month
    FROM rounds
    WHERE ended_by IS NOT NULL
)

SELECT
    sides.game_number,
    sides.game_id,
    games.tournament,
    games.player_count,
    sides.round,
    CAST(sides.side AS INTEGER) AS side,
    sides.change,
    sides.score,
    sides.ended_by,
    sides.ended_at,
    sides.ruleset,
    sides.month
FROM sides
INNER JOIN games ON sides.game_number = games.game_number;

COMMENT ON VIEW round_scores IS 'One row a side of an ended round: how the scores of a game went.';
COMMENT ON COLUMN round_scores.game_number IS 'The game: the position of its first event. It grows with time, and joins faster than game_id.';
COMMENT ON COLUMN round_scores.game_id IS 'The game, by its name for ever.';
COMMENT ON COLUMN round_scores.tournament IS 'NULL where it belongs to none.';
COMMENT ON COLUMN round_scores.player_count IS 'How many play.';
COMMENT ON COLUMN round_scores.round IS 'Which round of the game, from 1.';
COMMENT ON COLUMN round_scores.side IS 'The side: partners have one, seats 0 and 2 are side 0.';
COMMENT ON COLUMN round_scores.change IS 'What the round added to its score.';
COMMENT ON COLUMN round_scores.score IS 'Its score after the round; :penalties.';
COMMENT ON COLUMN round_scores.ended_by IS 'EMPTY_HAND, BLOCKED, EXHAUSTED, TRICKS_PLAYED, VOID, or MATCH_WON where the match was won in the middle of it.';
COMMENT ON COLUMN round_scores.ended_at IS 'When the end of the round was accepted; NULL where the record does not say.';
COMMENT ON COLUMN round_scores.ruleset IS 'The key of the rules: :rulesets.';
COMMENT ON COLUMN round_scores.month IS 'The month in which the game began, UTC, as 2026-11. A question that names it reads less.';
