CREATE OR REPLACE VIEW seven_up_players AS
WITH counts AS (
    SELECT seats.game_number, seats.player_id, 'ROUND' AS what, count(*) AS times
    FROM rounds
    INNER JOIN seats ON rounds.game_number = seats.game_number
    WHERE rounds.ruleset = 'seven_up' AND rounds.ended_by IS NOT NULL
    GROUP BY seats.game_number, seats.player_id
    UNION ALL
    SELECT game_number, player_id, 'TRICK', count(*)
    FROM tricks
    GROUP BY game_number, player_id
    UNION ALL
    -- Game is a side's, an infraction is the offender's, and so each is told for whom it is.
    SELECT points.game_number, seats.player_id, points.kind, count(*)
    FROM points
    INNER JOIN seats
        ON
            points.game_number = seats.game_number
            AND CASE WHEN points.kind = 'GAME' THEN seats.side = points.side ELSE seats.seat = points.seat END
    GROUP BY points.game_number, seats.player_id, points.kind
    UNION ALL
    SELECT game_number, player_id, detail, count(*)
    FROM turns
    WHERE ruleset = 'seven_up' AND kind = 'TRUMP_DECIDED' AND NOT is_retracted
    GROUP BY game_number, player_id, detail
)

SELECT
    games.tournament,
    games.ruleset,
    counts.player_id,
    CAST(coalesce(sum(times) FILTER (what = 'ROUND'), 0) AS BIGINT) AS rounds,
    CAST(coalesce(sum(times) FILTER (what = 'TRICK'), 0) AS BIGINT) AS tricks,
    CAST(coalesce(sum(times) FILTER (what = 'HIGH'), 0) AS BIGINT) AS high,
    CAST(coalesce(sum(times) FILTER (what = 'LOW'), 0) AS BIGINT) AS low,
    CAST(coalesce(sum(times) FILTER (what = 'JACK'), 0) AS BIGINT) AS jack,
    CAST(coalesce(sum(times) FILTER (what = 'GAME'), 0) AS BIGINT) AS game,
    CAST(coalesce(sum(times) FILTER (what = 'TURNED_JACK'), 0) AS BIGINT) AS turned_jacks,
    CAST(coalesce(sum(times) FILTER (what = 'GIFT'), 0) AS BIGINT) AS gifts,
    CAST(coalesce(sum(times) FILTER (what = 'INFRACTION'), 0) AS BIGINT) AS infractions,
    CAST(coalesce(sum(times) FILTER (what = 'STAND'), 0) AS BIGINT) AS stood,
    CAST(coalesce(sum(times) FILTER (what = 'BEG'), 0) AS BIGINT) AS begged,
    begged / nullif(stood + begged, 0) AS begged_rate,
    CAST(coalesce(sum(times) FILTER (what = 'GIVE'), 0) AS BIGINT) AS gave,
    CAST(coalesce(sum(times) FILTER (what = 'RUN'), 0) AS BIGINT) AS ran,
    gave / nullif(gave + ran, 0) AS gave_rate
FROM counts
INNER JOIN games ON counts.game_number = games.game_number
GROUP BY games.tournament, games.ruleset, counts.player_id;

COMMENT ON VIEW seven_up_players IS 'Seven Up: one row a player by tournament: what they took, scored and said, running games included.';
COMMENT ON COLUMN seven_up_players.tournament IS 'NULL for games that belong to none.';
COMMENT ON COLUMN seven_up_players.ruleset IS 'The key of the rules: seven_up.';
COMMENT ON COLUMN seven_up_players.player_id IS 'The player.';
COMMENT ON COLUMN seven_up_players.rounds IS 'Rounds that have ended, void ones too.';
COMMENT ON COLUMN seven_up_players.tricks IS 'Tricks they took.';
COMMENT ON COLUMN seven_up_players.high IS 'Points for the highest trump (SU-R21).';
COMMENT ON COLUMN seven_up_players.low IS 'Points for the lowest (SU-R22).';
COMMENT ON COLUMN seven_up_players.jack IS 'Points for the jack of trumps (SU-R23).';
COMMENT ON COLUMN seven_up_players.game IS 'Points for Game, alone or with their partner (SU-R25).';
COMMENT ON COLUMN seven_up_players.turned_jacks IS 'Points for jacks that they turned as dealer (SU-R6).';
COMMENT ON COLUMN seven_up_players.gifts IS 'Points that the dealer gave them (SU-R9).';
COMMENT ON COLUMN seven_up_players.infractions IS 'Infractions that they were charged with (SU-R19).';
COMMENT ON COLUMN seven_up_players.stood IS 'How often they stood as elder hand.';
COMMENT ON COLUMN seven_up_players.begged IS 'How often they begged as elder hand.';
COMMENT ON COLUMN seven_up_players.begged_rate IS 'Begged of stood and begged; NULL where there is neither.';
COMMENT ON COLUMN seven_up_players.gave IS 'How often they gave a point as dealer, to keep the suit.';
COMMENT ON COLUMN seven_up_players.ran IS 'How often they ran cards as dealer.';
COMMENT ON COLUMN seven_up_players.gave_rate IS 'Gave of gave and ran; NULL where there is neither.';
