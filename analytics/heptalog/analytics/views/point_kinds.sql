CREATE OR REPLACE VIEW point_kinds AS
WITH ended AS (
    SELECT
        rounds.game_number,
        rounds.round,
        rounds.dealer % games.side_count AS dealer_side,
        rounds.opener % games.side_count AS elder_side,
        games.tournament,
        games.ruleset,
        games.player_count
    FROM rounds
    INNER JOIN games ON rounds.game_number = games.game_number
    WHERE rounds.ruleset = 'seven_up' AND rounds.ended_by IS NOT NULL
),

played AS (
    SELECT tournament, player_count, count(*) AS rounds
    FROM ended
    GROUP BY tournament, player_count
),

counts AS (
    SELECT
        ended.tournament,
        ended.ruleset,
        ended.player_count,
        points.kind,
        count(*) AS scored,
        CAST(sum(points.points) AS BIGINT) AS points,
        count(*) FILTER (points.side = ended.dealer_side) AS for_dealer,
        count(*) FILTER (points.side = ended.elder_side) AS for_elder
    FROM points
    INNER JOIN ended ON points.game_number = ended.game_number AND points.round = ended.round
    GROUP BY ended.tournament, ended.ruleset, ended.player_count, points.kind
)

SELECT
    counts.tournament,
    counts.ruleset,
    counts.player_count,
    counts.kind,
    played.rounds,
    counts.scored,
    counts.scored / played.rounds AS per_round,
    counts.points,
    counts.for_dealer,
    counts.for_elder,
    counts.scored - counts.for_dealer - counts.for_elder AS for_others
FROM counts
INNER JOIN played
    ON counts.tournament IS NOT DISTINCT FROM played.tournament AND counts.player_count = played.player_count;

COMMENT ON VIEW point_kinds IS 'Seven Up: one row a kind of point by tournament and number of players: how often a round has it, and for whom.';
COMMENT ON COLUMN point_kinds.tournament IS 'NULL for games that belong to none.';
COMMENT ON COLUMN point_kinds.ruleset IS 'The key of the rules: seven_up.';
COMMENT ON COLUMN point_kinds.player_count IS 'How many play.';
COMMENT ON COLUMN point_kinds.kind IS 'HIGH, LOW, JACK, GAME, TURNED_JACK, GIFT or INFRACTION.';
COMMENT ON COLUMN point_kinds.rounds IS 'Rounds that have ended, void ones too: they may have turned jacks.';
COMMENT ON COLUMN point_kinds.scored IS 'How often it was scored in them.';
COMMENT ON COLUMN point_kinds.per_round IS 'Scored by rounds.';
COMMENT ON COLUMN point_kinds.points IS 'What it came to; an infraction among three takes one off.';
COMMENT ON COLUMN point_kinds.for_dealer IS 'How often it went to the dealer''s side, or was taken off it.';
COMMENT ON COLUMN point_kinds.for_elder IS 'How often to that of elder hand.';
COMMENT ON COLUMN point_kinds.for_others IS 'How often to the third of three.';
