CREATE OR REPLACE VIEW pass_rates AS
WITH counts AS (
    SELECT game_number, player_id, turns, 0 AS passes, 0 AS tokens, 0 AS ghosts, 0 AS waits
    FROM seats
    WHERE ruleset <> 'seven_up'
    UNION ALL
    -- Those of Seven Bridge have a table, and it is smaller.
    SELECT game_number, player_id, 0, count(*), 0, 0, 0
    FROM turns
    WHERE ruleset NOT IN ('seven_up', 'seven_bridge') AND kind = 'TURN_PASSED' AND NOT is_retracted
    GROUP BY game_number, player_id
    UNION ALL
    SELECT
        game_number,
        player_id,
        0,
        count(*),
        count(*) FILTER (kind = 'TOKEN'),
        count(*) FILTER (kind = 'GHOST'),
        count(*) FILTER (kind = 'WAIT')
    FROM passes
    GROUP BY game_number, player_id
)

SELECT
    games.tournament,
    games.ruleset,
    counts.player_id,
    CAST(sum(counts.turns) AS BIGINT) AS turns,
    CAST(sum(counts.passes) AS BIGINT) AS passes,
    sum(counts.passes) / nullif(sum(counts.turns), 0) AS pass_rate,
    CAST(sum(counts.tokens) AS BIGINT) AS tokens,
    CAST(sum(counts.ghosts) AS BIGINT) AS ghosts,
    CAST(sum(counts.waits) AS BIGINT) AS waits
FROM counts
INNER JOIN games ON counts.game_number = games.game_number
GROUP BY games.tournament, games.ruleset, counts.player_id;

COMMENT ON VIEW pass_rates IS 'One row a player by tournament and rules: how often they passed or knocked, running games included. Nobody passes in Seven Up.';
COMMENT ON COLUMN pass_rates.tournament IS 'NULL for games that belong to none.';
COMMENT ON COLUMN pass_rates.ruleset IS 'The key of the rules: seven_rocks, seven_bridge.';
COMMENT ON COLUMN pass_rates.player_id IS 'The player.';
COMMENT ON COLUMN pass_rates.turns IS 'Turns they took, without those that were taken back.';
COMMENT ON COLUMN pass_rates.passes IS 'Those on which they passed; in Seven Rocks only because they had to (SR-R12).';
COMMENT ON COLUMN pass_rates.pass_rate IS 'Passes of turns; NULL before the first.';
COMMENT ON COLUMN pass_rates.tokens IS 'Seven Bridge: passes that cost a token (SB-R12).';
COMMENT ON COLUMN pass_rates.ghosts IS 'Seven Bridge: passes that made them a ghost (SB-R13).';
COMMENT ON COLUMN pass_rates.waits IS 'Seven Bridge without ghosts: passes that cost nothing (SB-R23).';
