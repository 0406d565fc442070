CREATE OR REPLACE VIEW ghost_rates AS
SELECT
    games.tournament,
    games.ruleset,
    games.player_count,
    penalties.player_id,
    count(*) AS rounds,
    count(*) FILTER (penalties.was_ghost) AS ghosts,
    count(*) FILTER (penalties.was_ghost) / count(*) AS ghost_rate,
    avg(penalties.penalty) FILTER (penalties.was_ghost) AS mean_penalty_ghost,
    avg(penalties.penalty) FILTER (NOT penalties.was_ghost) AS mean_penalty_other
FROM penalties
INNER JOIN games ON penalties.game_number = games.game_number
WHERE coalesce(CAST(json_extract(games.options, '$.ghosts') AS BOOLEAN), true)
GROUP BY games.tournament, games.ruleset, games.player_count, penalties.player_id;

COMMENT ON VIEW ghost_rates IS 'Seven Bridge: one row a player by tournament and number of players: how often a round has made them a ghost (SB-R13). Of booked rounds of games with ghosts.';
COMMENT ON COLUMN ghost_rates.tournament IS 'NULL for games that belong to none.';
COMMENT ON COLUMN ghost_rates.ruleset IS 'The key of the rules: seven_bridge.';
COMMENT ON COLUMN ghost_rates.player_count IS 'How many play.';
COMMENT ON COLUMN ghost_rates.player_id IS 'The player.';
COMMENT ON COLUMN ghost_rates.rounds IS 'Rounds at whose end penalties were booked; a deciding round books none.';
COMMENT ON COLUMN ghost_rates.ghosts IS 'Those in which they had become a ghost.';
COMMENT ON COLUMN ghost_rates.ghost_rate IS 'Ghosts of rounds.';
COMMENT ON COLUMN ghost_rates.mean_penalty_ghost IS 'What such a round cost them; NULL where there is none.';
COMMENT ON COLUMN ghost_rates.mean_penalty_other IS 'What another one cost them, won ones included; NULL where there is none.';
