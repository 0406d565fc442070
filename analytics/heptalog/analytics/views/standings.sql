CREATE OR REPLACE VIEW standings AS
WITH entries AS (
    SELECT
        tournament, ruleset, player_id, player_name, game_number, status, has_won, rank, score, opposing_score, margin
    FROM results
    UNION ALL
    -- Who has not ended a game yet takes part all the same.
    SELECT
        games.tournament, seats.ruleset, seats.player_id, seats.player_name, seats.game_number, games.status,
        NULL, NULL, NULL, NULL, NULL
    FROM games
    INNER JOIN seats ON games.game_number = seats.game_number
    WHERE games.status = 'RUNNING'
),

totals AS (
    SELECT
        tournament,
        ruleset,
        player_id,
        arg_max(player_name, game_number) AS player_name,
        count(has_won) AS games,
        count(*) FILTER (has_won) AS won,
        count(*) FILTER (NOT has_won AND rank IS NOT NULL) AS lost,
        count(*) FILTER (status <> 'RUNNING' AND rank IS NULL) AS undecided,
        count(*) FILTER (status = 'CLOSED') AS closed,
        count(*) FILTER (status = 'RUNNING') AS running,
        CAST(sum(score) AS BIGINT) AS points_for,
        -- Decimals add up to the same in any order, so that equals stay equal.
        sum(CAST(opposing_score AS DECIMAL(18, 8))) AS points_against,
        sum(CAST(margin AS DECIMAL(18, 8))) AS margin
    FROM entries
    GROUP BY tournament, ruleset, player_id
)

SELECT
    tournament,
    ruleset,
    CASE
        WHEN games > 0 THEN rank() OVER (PARTITION BY tournament, ruleset, games > 0 ORDER BY won DESC, margin DESC)
    END AS rank,
    player_id,
    player_name,
    games,
    won,
    lost,
    undecided,
    closed,
    running,
    won / nullif(won + lost, 0) AS win_rate,
    points_for,
    round(CAST(points_against AS DOUBLE), 3) AS points_against,
    round(CAST(margin AS DOUBLE), 3) AS margin
FROM totals;

COMMENT ON VIEW standings IS 'One row a player of a tournament and its rules; games outside tournaments are told together.';
COMMENT ON COLUMN standings.tournament IS 'NULL for games that belong to none.';
COMMENT ON COLUMN standings.ruleset IS 'The key of the rules: :rulesets.';
COMMENT ON COLUMN standings.rank IS 'Their place: by games won, then by margin, equals share one; NULL before their first game has ended.';
COMMENT ON COLUMN standings.player_id IS 'The player.';
COMMENT ON COLUMN standings.player_name IS 'Their name in the last of these games; empty where none was given.';
COMMENT ON COLUMN standings.games IS 'Games that have ended: won, lost and undecided ones.';
COMMENT ON COLUMN standings.won IS 'Games in which they are among the winners, also by a closing.';
COMMENT ON COLUMN standings.lost IS 'Games that others have won.';
COMMENT ON COLUMN standings.undecided IS 'Games that the arbiter closed without winners.';
COMMENT ON COLUMN standings.closed IS 'Games that the arbiter closed, with winners or without.';
COMMENT ON COLUMN standings.running IS 'Games that still go on; no other column counts them.';
COMMENT ON COLUMN standings.win_rate IS 'Won of won and lost; NULL where there is neither.';
COMMENT ON COLUMN standings.points_for IS 'Their sides'' scores, added up; :penalties. NULL before the first game has ended.';
COMMENT ON COLUMN standings.points_against IS 'The mean scores of the other sides, added up, to the thousandth.';
COMMENT ON COLUMN standings.margin IS 'By how much they did better than the others, added up: penalties turned round, so that more is always better.';
