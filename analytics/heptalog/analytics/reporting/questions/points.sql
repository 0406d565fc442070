-- One row a kind of point: how often it is scored, and for whom.
SELECT
    ruleset,
    kind,
    CAST(sum(scored) AS BIGINT) AS scored,
    CAST(sum(for_dealer) AS BIGINT) AS for_dealer,
    CAST(sum(for_elder) AS BIGINT) AS for_elder,
    CAST(sum(for_others) AS BIGINT) AS for_others
FROM point_kinds
WHERE :tournament IS NULL OR tournament = :tournament
GROUP BY ruleset, kind
ORDER BY ruleset, scored DESC, kind
