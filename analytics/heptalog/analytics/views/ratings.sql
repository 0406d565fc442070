CREATE OR REPLACE VIEW ratings AS
WITH last_changes AS (
    SELECT
        ruleset,
        player_id,
        -- One whole row, the last one.
        arg_max({'games': games, 'mu': mu, 'sigma': sigma, 'game_id': game_id}, ended_position) AS change,
        max(mu - 3 * sigma) AS ordinal_max
    FROM rating_changes
    GROUP BY ruleset, player_id
)

SELECT
    ruleset,
    rank() OVER (PARTITION BY ruleset ORDER BY change.mu - 3 * change.sigma DESC) AS rank,
    player_id,
    change.games,
    change.mu,
    change.sigma,
    change.mu - 3 * change.sigma AS ordinal,
    ordinal_max,
    change.game_id AS last_game_id
FROM last_changes;

COMMENT ON VIEW ratings IS 'One row a player and rules: the rating as it stands. Its history is in rating_changes.';
COMMENT ON COLUMN ratings.ruleset IS 'The key of the rules; each has ratings of its own.';
COMMENT ON COLUMN ratings.rank IS 'The place by ordinal, 1 the best; equals share one.';
COMMENT ON COLUMN ratings.player_id IS 'The player.';
COMMENT ON COLUMN ratings.games IS 'How many rated games they have played.';
COMMENT ON COLUMN ratings.mu IS 'What they are thought to play like.';
COMMENT ON COLUMN ratings.sigma IS 'How uncertain that is; it shrinks with every game.';
COMMENT ON COLUMN ratings.ordinal IS 'Mu less three sigma: what they play like at least, almost surely. Lists go by it.';
COMMENT ON COLUMN ratings.ordinal_max IS 'The best that it has been after a game.';
COMMENT ON COLUMN ratings.last_game_id IS 'The last game that was rated.';
