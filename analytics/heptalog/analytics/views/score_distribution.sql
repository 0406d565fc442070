CREATE OR REPLACE VIEW score_distribution AS
WITH counts AS (
    SELECT
        tournament,
        ruleset,
        player_count,
        status,
        score,
        count(*) AS sides,
        count(*) FILTER (has_won) AS won
    FROM results
    -- One seat stands for its side.
    WHERE seat = side
    GROUP BY tournament, ruleset, player_count, status, score
)

SELECT
    tournament,
    ruleset,
    player_count,
    status,
    score,
    sides,
    won,
    sides / sum(sides) OVER (PARTITION BY tournament, ruleset, player_count, status) AS share
FROM counts;

COMMENT ON VIEW score_distribution IS 'One row a final score by tournament, rules, number of players and kind of end: how often a side has ended with it.';
COMMENT ON COLUMN score_distribution.tournament IS 'NULL for games that belong to none.';
COMMENT ON COLUMN score_distribution.ruleset IS 'The key of the rules: :rulesets.';
COMMENT ON COLUMN score_distribution.player_count IS 'How many played.';
COMMENT ON COLUMN score_distribution.status IS 'WON by the rules, or CLOSED by the arbiter: then scores are what they were.';
COMMENT ON COLUMN score_distribution.score IS 'The score; :penalties.';
COMMENT ON COLUMN score_distribution.sides IS 'How many sides ended with it.';
COMMENT ON COLUMN score_distribution.won IS 'How many of them have won.';
COMMENT ON COLUMN score_distribution.share IS 'Of all sides of the same tournament, rules, number of players and kind of end.';
