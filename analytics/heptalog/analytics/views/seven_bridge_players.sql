CREATE OR REPLACE VIEW seven_bridge_players AS
WITH counts AS (
    SELECT
        game_number,
        player_id,
        count(*) AS played,
        count(*) FILTER (ghost IS NOT NULL) AS played_for_ghosts,
        count(*) FILTER (stands_for IS NOT NULL) AS jokers,
        count(*) FILTER (completes_column) AS columns,
        0 AS went_out,
        0 AS booked,
        0 AS penalty,
        0 AS bonus
    FROM plays
    GROUP BY game_number, player_id
    UNION ALL
    SELECT game_number, player_id, 0, 0, 0, 0, 0, count(*), sum(penalty), sum(bonus)
    FROM penalties
    GROUP BY game_number, player_id
    UNION ALL
    SELECT rounds.game_number, seats.player_id, 0, 0, 0, 0, count(*), 0, 0, 0
    FROM rounds
    INNER JOIN seats ON rounds.game_number = seats.game_number AND rounds.ended_seat = seats.seat
    WHERE rounds.ruleset = 'seven_bridge' AND NOT rounds.is_deciding
    GROUP BY rounds.game_number, seats.player_id
)

SELECT
    games.tournament,
    games.ruleset,
    counts.player_id,
    count(DISTINCT counts.game_number) AS games,
    CAST(sum(counts.played) AS BIGINT) AS played,
    CAST(sum(counts.played_for_ghosts) AS BIGINT) AS played_for_ghosts,
    CAST(sum(counts.jokers) AS BIGINT) AS jokers,
    CAST(sum(counts.columns) AS BIGINT) AS columns,
    CAST(sum(counts.booked) AS BIGINT) AS booked,
    CAST(sum(counts.went_out) AS BIGINT) AS went_out,
    sum(counts.went_out) / nullif(sum(counts.booked), 0) AS went_out_rate,
    CAST(sum(counts.penalty) AS BIGINT) AS penalty,
    sum(counts.penalty) / nullif(sum(counts.booked), 0) AS mean_penalty,
    CAST(sum(counts.bonus) AS BIGINT) AS bonus
FROM counts
INNER JOIN games ON counts.game_number = games.game_number
GROUP BY games.tournament, games.ruleset, counts.player_id;

COMMENT ON VIEW seven_bridge_players IS 'Seven Bridge: one row a player by tournament: what they played and what it cost them, running games included. Passes and ghosts are in pass_rates and ghost_rates.';
COMMENT ON COLUMN seven_bridge_players.tournament IS 'NULL for games that belong to none.';
COMMENT ON COLUMN seven_bridge_players.ruleset IS 'The key of the rules: seven_bridge.';
COMMENT ON COLUMN seven_bridge_players.player_id IS 'The player.';
COMMENT ON COLUMN seven_bridge_players.games IS 'Games in which they have played a card or been booked a penalty.';
COMMENT ON COLUMN seven_bridge_players.played IS 'Cards they played.';
COMMENT ON COLUMN seven_bridge_players.played_for_ghosts IS 'Those that a ghost had exposed (SB-D9).';
COMMENT ON COLUMN seven_bridge_players.jokers IS 'Jokers they played (SB-R25).';
COMMENT ON COLUMN seven_bridge_players.columns IS 'Columns that they completed, with a Race to the Kings or without.';
COMMENT ON COLUMN seven_bridge_players.booked IS 'Rounds at whose end penalties were booked; a deciding round books none.';
COMMENT ON COLUMN seven_bridge_players.went_out IS 'Those that they ended by an empty hand.';
COMMENT ON COLUMN seven_bridge_players.went_out_rate IS 'Went out of booked; NULL before the first.';
COMMENT ON COLUMN seven_bridge_players.penalty IS 'What they were charged in all, before bonuses.';
COMMENT ON COLUMN seven_bridge_players.mean_penalty IS 'What a round cost them, before bonuses; NULL before the first.';
COMMENT ON COLUMN seven_bridge_players.bonus IS 'What was taken off for columns in a Race to the Kings (SB-R26).';
