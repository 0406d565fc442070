CREATE OR REPLACE VIEW refusals_by_player AS
SELECT
    games.tournament,
    games.ruleset,
    seats.player_id,
    refusals.code,
    count(*) AS refusals,
    count(DISTINCT games.game_number) AS games,
    max(refusals.refused_at) AS last_refused_at
FROM refusals
INNER JOIN games ON refusals.game_id = games.game_id
INNER JOIN seats ON games.game_number = seats.game_number AND refusals.seat = seats.seat
GROUP BY games.tournament, games.ruleset, seats.player_id, refusals.code;

COMMENT ON VIEW refusals_by_player IS 'One row a player and a code by tournament and rules: how often an event that named their seat was refused. Those of running games come when they have ended.';
COMMENT ON COLUMN refusals_by_player.tournament IS 'NULL for games that belong to none.';
COMMENT ON COLUMN refusals_by_player.ruleset IS 'The key of the rules: :rulesets.';
COMMENT ON COLUMN refusals_by_player.player_id IS 'Who sits in the seat that was named. Who asked for it may be a table that made a mistake.';
COMMENT ON COLUMN refusals_by_player.code IS 'The stable code of the refusal.';
COMMENT ON COLUMN refusals_by_player.refusals IS 'How often it was refused.';
COMMENT ON COLUMN refusals_by_player.games IS 'In how many games.';
COMMENT ON COLUMN refusals_by_player.last_refused_at IS 'When last.';
