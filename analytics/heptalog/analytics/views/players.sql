CREATE OR REPLACE VIEW players AS
SELECT
    seats.player_id,
    arg_max(seats.player_name, seats.game_number) AS player_name,
    list_sort(coalesce(list(DISTINCT seats.player_name) FILTER (seats.player_name <> ''), [])) AS names,
    list_sort(list(DISTINCT seats.ruleset)) AS rulesets,
    list_sort(coalesce(list(DISTINCT games.tournament) FILTER (games.tournament IS NOT NULL), [])) AS tournaments,
    count(*) AS games,
    count(*) FILTER (games.status = 'RUNNING') AS running,
    count(*) FILTER (seats.has_won) AS won,
    count(*) FILTER (NOT seats.has_won AND len(games.winners) > 0) AS lost,
    count(*) FILTER (games.status = 'CLOSED' AND len(games.winners) = 0) AS undecided,
    CAST(sum(seats.turns) AS BIGINT) AS turns,
    min(games.started_at) AS first_seen_at,
    max(games.last_recorded_at) AS last_seen_at
FROM seats
INNER JOIN games ON seats.game_number = games.game_number
GROUP BY seats.player_id;

COMMENT ON VIEW players IS 'One row a player: under which names, in what, how often, since when.';
COMMENT ON COLUMN players.player_id IS 'The player.';
COMMENT ON COLUMN players.player_name IS 'Their name in their last game; empty where none was given.';
COMMENT ON COLUMN players.names IS 'Every name that they were given, in order of the alphabet.';
COMMENT ON COLUMN players.rulesets IS 'The keys of the rules that they have played by.';
COMMENT ON COLUMN players.tournaments IS 'The tournaments that they have played in.';
COMMENT ON COLUMN players.games IS 'How many games they have been in.';
COMMENT ON COLUMN players.running IS 'How many of them still go on.';
COMMENT ON COLUMN players.won IS 'How many they have won, also by a closing.';
COMMENT ON COLUMN players.lost IS 'How many others have won.';
COMMENT ON COLUMN players.undecided IS 'How many the arbiter closed without winners.';
COMMENT ON COLUMN players.turns IS 'How many turns they took, without those that were taken back.';
COMMENT ON COLUMN players.first_seen_at IS 'When their first game began; NULL where no record says.';
COMMENT ON COLUMN players.last_seen_at IS 'When the last event of their games was accepted; NULL where no record says.';
