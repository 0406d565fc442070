CREATE OR REPLACE VIEW head_to_head AS
SELECT
    one.tournament,
    one.ruleset,
    one.player_id,
    other.player_id AS opponent_id,
    count(*) AS games,
    count(*) FILTER (one.has_won AND NOT other.has_won) AS won,
    count(*) FILTER (other.has_won AND NOT one.has_won) AS lost,
    count(*) FILTER (one.has_won = other.has_won) AS neither,
    count(*) FILTER (one.rank < other.rank) AS ahead,
    count(*) FILTER (one.rank > other.rank) AS behind,
    count(*) FILTER (one.has_won AND NOT other.has_won) / nullif(count(*) FILTER (one.has_won <> other.has_won), 0)
        AS win_rate,
    CAST(sum(one.score) AS BIGINT) AS points_for,
    CAST(sum(other.score) AS BIGINT) AS points_against
FROM results AS one
INNER JOIN results AS other ON one.game_number = other.game_number AND one.side <> other.side
GROUP BY one.tournament, one.ruleset, one.player_id, other.player_id;

COMMENT ON VIEW head_to_head IS 'One row a player and an opponent by tournament and rules, each pair both ways round: how their ended games went.';
COMMENT ON COLUMN head_to_head.tournament IS 'NULL for games that belong to none.';
COMMENT ON COLUMN head_to_head.ruleset IS 'The key of the rules: :rulesets.';
COMMENT ON COLUMN head_to_head.player_id IS 'The player.';
COMMENT ON COLUMN head_to_head.opponent_id IS 'A player of another side.';
COMMENT ON COLUMN head_to_head.games IS 'Ended games in which they sat on different sides.';
COMMENT ON COLUMN head_to_head.won IS 'Games that the player has won, and the opponent has not.';
COMMENT ON COLUMN head_to_head.lost IS 'Games that the opponent has won, and the player has not.';
COMMENT ON COLUMN head_to_head.neither IS 'The others: a third side has won, nobody, or by a closing both.';
COMMENT ON COLUMN head_to_head.ahead IS 'Games in which the player came out in a better place, whoever has won.';
COMMENT ON COLUMN head_to_head.behind IS 'Games in which the opponent did.';
COMMENT ON COLUMN head_to_head.win_rate IS 'Won of won and lost; NULL where there is neither.';
COMMENT ON COLUMN head_to_head.points_for IS 'The scores of the player''s sides, added up; :penalties.';
COMMENT ON COLUMN head_to_head.points_against IS 'Those of the opponent''s sides.';
