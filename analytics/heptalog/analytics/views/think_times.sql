CREATE OR REPLACE VIEW think_times AS
WITH counts AS (
    SELECT
        games.tournament,
        games.ruleset,
        turns.player_id,
        turns.kind,
        count(*) AS turns,
        count(turns.think_seconds) AS timed,
        -- Every time is held until the last has come: in four bytes, for there may be a hundred million. They hold
        -- seven digits, and the thousandth up to 16,384 seconds.
        quantile_disc(CAST(turns.think_seconds AS FLOAT), [0.5, 0.9]) AS seconds,
        max(turns.think_seconds) AS seconds_max
    FROM turns
    INNER JOIN games ON turns.game_number = games.game_number
    WHERE NOT turns.is_retracted
    GROUP BY games.tournament, games.ruleset, turns.player_id, turns.kind
)

SELECT
    tournament,
    ruleset,
    player_id,
    kind,
    turns,
    timed,
    round(CAST(seconds[1] AS DOUBLE), 3) AS seconds_median,
    round(CAST(seconds[2] AS DOUBLE), 3) AS seconds_p90,
    seconds_max
FROM counts;

COMMENT ON VIEW think_times IS 'One row a player and a kind of turn by tournament and rules: how long they took, by the clock of the table, running games included.';
COMMENT ON COLUMN think_times.tournament IS 'NULL for games that belong to none.';
COMMENT ON COLUMN think_times.ruleset IS 'The key of the rules: :rulesets.';
COMMENT ON COLUMN think_times.player_id IS 'The player.';
COMMENT ON COLUMN think_times.kind IS 'TILE_PLAYED, CARD_PLAYED, TURN_PASSED, TRUMP_DECIDED or CARDS_DISCARDED.';
COMMENT ON COLUMN think_times.turns IS 'How many such turns they took, without those that were taken back.';
COMMENT ON COLUMN think_times.timed IS 'How many of them have a time, and so are in the other columns.';
COMMENT ON COLUMN think_times.seconds_median IS 'Half of those took no longer, to the thousandth up to four hours and to seven digits beyond; NULL where none has a time.';
COMMENT ON COLUMN think_times.seconds_p90 IS 'Nine in ten took no longer, as exactly.';
COMMENT ON COLUMN think_times.seconds_max IS 'The longest took so long.';
