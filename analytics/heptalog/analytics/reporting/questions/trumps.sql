-- One row a trump suit: how it came to be.
SELECT
    ruleset,
    trump,
    CAST(sum(deals) AS BIGINT) AS deals,
    CAST(sum(stood) AS BIGINT) AS stood,
    CAST(sum(given) AS BIGINT) AS given,
    sum(elder_mean_points * deals) / sum(deals) AS elder_points,
    sum(dealer_mean_points * deals) / sum(deals) AS dealer_points
FROM trumps
WHERE :tournament IS NULL OR tournament = :tournament
GROUP BY ruleset, trump
ORDER BY ruleset, deals DESC, trump
