CREATE OR REPLACE VIEW pairs AS
WITH totals AS (
    SELECT
        one.tournament,
        one.ruleset,
        least(one.player_id, other.player_id) AS player_id,
        greatest(one.player_id, other.player_id) AS partner_id,
        count(*) AS games,
        count(*) FILTER (one.has_won) AS won,
        count(*) FILTER (NOT one.has_won AND one.rank IS NOT NULL) AS lost,
        count(*) FILTER (one.rank IS NULL) AS undecided,
        CAST(sum(one.score) AS BIGINT) AS points_for,
        sum(CAST(one.opposing_score AS DECIMAL(18, 8))) AS points_against,
        sum(CAST(one.margin AS DECIMAL(18, 8))) AS margin
    FROM results AS one
    INNER JOIN seats AS other
        ON one.game_number = other.game_number AND one.side = other.side AND one.seat < other.seat
    WHERE one.side_count < one.player_count
    GROUP BY one.tournament, one.ruleset, least(one.player_id, other.player_id), greatest(one.player_id, other.player_id)
)

SELECT
    tournament,
    ruleset,
    rank() OVER (PARTITION BY tournament, ruleset ORDER BY won DESC, margin DESC) AS rank,
    player_id,
    partner_id,
    games,
    won,
    lost,
    undecided,
    won / nullif(won + lost, 0) AS win_rate,
    points_for,
    round(CAST(points_against AS DOUBLE), 3) AS points_against,
    round(CAST(margin AS DOUBLE), 3) AS margin
FROM totals;

COMMENT ON VIEW pairs IS 'One row two partners of a tournament and its rules, by the games that they have ended together.';
COMMENT ON COLUMN pairs.tournament IS 'NULL for games that belong to none.';
COMMENT ON COLUMN pairs.ruleset IS 'The key of the rules: seven_rocks, or seven_up with four.';
COMMENT ON COLUMN pairs.rank IS 'Their place among pairs: by games won, then by margin, equals share one.';
COMMENT ON COLUMN pairs.player_id IS 'The partner whose id comes first.';
COMMENT ON COLUMN pairs.partner_id IS 'The other.';
COMMENT ON COLUMN pairs.games IS 'Games that have ended: won, lost and undecided ones.';
COMMENT ON COLUMN pairs.won IS 'Games that they have won, also by a closing.';
COMMENT ON COLUMN pairs.lost IS 'Games that others have won.';
COMMENT ON COLUMN pairs.undecided IS 'Games that the arbiter closed without winners.';
COMMENT ON COLUMN pairs.win_rate IS 'Won of won and lost; NULL where there is neither.';
COMMENT ON COLUMN pairs.points_for IS 'Their scores, added up.';
COMMENT ON COLUMN pairs.points_against IS 'The scores of the other pairs, added up.';
COMMENT ON COLUMN pairs.margin IS 'Points for without points against.';
