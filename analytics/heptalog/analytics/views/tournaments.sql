CREATE OR REPLACE VIEW tournaments AS
WITH entrants AS (
    SELECT
        games.tournament,
        games.ruleset,
        count(DISTINCT seats.player_id) AS players
    FROM games
    INNER JOIN seats ON games.game_number = seats.game_number
    WHERE games.tournament IS NOT NULL
    GROUP BY games.tournament, games.ruleset
)

SELECT
    games.tournament,
    games.ruleset,
    count(*) AS games,
    count(*) FILTER (games.status = 'RUNNING') AS running,
    count(*) FILTER (games.status = 'WON') AS won,
    count(*) FILTER (games.status = 'CLOSED') AS closed,
    any_value(entrants.players) AS players,
    CAST(sum(games.rounds) AS BIGINT) AS rounds,
    CAST(sum(games.turns) AS BIGINT) AS turns,
    CAST(sum(games.takebacks) AS BIGINT) AS takebacks,
    min(games.started_at) AS first_started_at,
    max(games.last_recorded_at) AS last_recorded_at
FROM games
INNER JOIN entrants ON games.tournament = entrants.tournament AND games.ruleset = entrants.ruleset
GROUP BY games.tournament, games.ruleset;

COMMENT ON VIEW tournaments IS 'One row a tournament and its rules: how far it has come.';
COMMENT ON COLUMN tournaments.tournament IS 'The tournament.';
COMMENT ON COLUMN tournaments.ruleset IS 'The key of the rules: :rulesets.';
COMMENT ON COLUMN tournaments.games IS 'How many games it has.';
COMMENT ON COLUMN tournaments.running IS 'How many of them still go on.';
COMMENT ON COLUMN tournaments.won IS 'How many were won by the rules.';
COMMENT ON COLUMN tournaments.closed IS 'How many the arbiter closed.';
COMMENT ON COLUMN tournaments.players IS 'How many different players sit in them.';
COMMENT ON COLUMN tournaments.rounds IS 'How many rounds have begun.';
COMMENT ON COLUMN tournaments.turns IS 'How many turns were taken, without those that were taken back.';
COMMENT ON COLUMN tournaments.takebacks IS 'How often the arbiter took back.';
COMMENT ON COLUMN tournaments.first_started_at IS 'When its first game began; NULL where no record says.';
COMMENT ON COLUMN tournaments.last_recorded_at IS 'When its last event was accepted; NULL where no record says.';
