CREATE OR REPLACE VIEW activity AS
WITH days AS (
    SELECT
        CAST(make_timestamp(epoch_us(started_at)) AS DATE) AS day,
        tournament,
        ruleset,
        1 AS started,
        0 AS ended,
        turns
    FROM games
    WHERE started_at IS NOT NULL
    UNION ALL
    SELECT
        CAST(make_timestamp(epoch_us(ended_at)) AS DATE),
        tournament,
        ruleset,
        0,
        1,
        0
    FROM games
    WHERE ended_at IS NOT NULL
)

SELECT
    day,
    tournament,
    ruleset,
    CAST(sum(started) AS BIGINT) AS started,
    CAST(sum(ended) AS BIGINT) AS ended,
    CAST(sum(turns) AS BIGINT) AS turns
FROM days
GROUP BY day, tournament, ruleset;

COMMENT ON VIEW activity IS 'One row a day by tournament and rules: what was played. Games whose record tells no time are not in it.';
COMMENT ON COLUMN activity.day IS 'The day, UTC.';
COMMENT ON COLUMN activity.tournament IS 'NULL for games that belong to none.';
COMMENT ON COLUMN activity.ruleset IS 'The key of the rules: :rulesets.';
COMMENT ON COLUMN activity.started IS 'How many games began.';
COMMENT ON COLUMN activity.ended IS 'How many ended, whenever they began.';
COMMENT ON COLUMN activity.turns IS 'How many turns the games that began then have had so far, without those that were taken back.';
