CREATE OR REPLACE VIEW round_score_distribution AS
WITH counts AS (
    SELECT
        tournament,
        ruleset,
        player_count,
        change,
        count(*) AS sides
    FROM round_scores
    WHERE ended_by <> 'VOID'
    GROUP BY tournament, ruleset, player_count, change
)

SELECT
    tournament,
    ruleset,
    player_count,
    change,
    sides,
    sides / sum(sides) OVER (PARTITION BY tournament, ruleset, player_count) AS share
FROM counts;

COMMENT ON VIEW round_score_distribution IS 'One row a change of score by tournament, rules and number of players: how often a round has brought it to a side. Void deals do not count.';
COMMENT ON COLUMN round_score_distribution.tournament IS 'NULL for games that belong to none.';
COMMENT ON COLUMN round_score_distribution.ruleset IS 'The key of the rules: :rulesets.';
COMMENT ON COLUMN round_score_distribution.player_count IS 'How many play.';
COMMENT ON COLUMN round_score_distribution.change IS 'What a round added to the score of a side; :penalties.';
COMMENT ON COLUMN round_score_distribution.sides IS 'How often it did.';
COMMENT ON COLUMN round_score_distribution.share IS 'Of all sides of all these rounds.';
