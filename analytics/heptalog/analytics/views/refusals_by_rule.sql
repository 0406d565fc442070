CREATE OR REPLACE VIEW refusals_by_rule AS
SELECT
    games.tournament,
    games.ruleset,
    refusals.rule,
    refusals.code,
    refusals.kind,
    count(*) AS refusals,
    count(DISTINCT refusals.game_id) AS games,
    min(refusals.refused_at) AS first_refused_at,
    max(refusals.refused_at) AS last_refused_at
FROM refusals
LEFT JOIN games ON refusals.game_id = games.game_id
GROUP BY games.tournament, games.ruleset, refusals.rule, refusals.code, refusals.kind;

COMMENT ON VIEW refusals_by_rule IS 'One row a rule that said no, and to what, by tournament and rules. Those of running games come when they have ended.';
COMMENT ON COLUMN refusals_by_rule.tournament IS 'NULL for games that belong to none.';
COMMENT ON COLUMN refusals_by_rule.ruleset IS 'The key of the rules; NULL where there is no such game, as when its opening was refused.';
COMMENT ON COLUMN refusals_by_rule.rule IS 'The number of the rule, or the name of the contract.';
COMMENT ON COLUMN refusals_by_rule.code IS 'The stable code of the refusal.';
COMMENT ON COLUMN refusals_by_rule.kind IS 'What was asked for, as a game file names it: cardPlayed.';
COMMENT ON COLUMN refusals_by_rule.refusals IS 'How often it was refused.';
COMMENT ON COLUMN refusals_by_rule.games IS 'In how many games.';
COMMENT ON COLUMN refusals_by_rule.first_refused_at IS 'When first.';
COMMENT ON COLUMN refusals_by_rule.last_refused_at IS 'When last.';
