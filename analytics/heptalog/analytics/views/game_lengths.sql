CREATE OR REPLACE VIEW game_lengths AS
WITH won AS (
    SELECT
        tournament,
        ruleset,
        player_count,
        turns,
        rounds,
        (epoch_us(ended_at) - epoch_us(started_at)) // 1000000 AS seconds
    FROM games
    WHERE status = 'WON'
)

SELECT
    tournament,
    ruleset,
    player_count,
    count(*) AS games,
    min(turns) AS turns_min,
    quantile_disc(turns, 0.5) AS turns_median,
    quantile_disc(turns, 0.9) AS turns_p90,
    max(turns) AS turns_max,
    avg(turns) AS mean_turns,
    avg(rounds) AS mean_rounds,
    max(rounds) AS rounds_max,
    count(seconds) AS timed,
    quantile_disc(seconds, 0.5) AS seconds_median,
    quantile_disc(seconds, 0.9) AS seconds_p90,
    max(seconds) AS seconds_max
FROM won
GROUP BY tournament, ruleset, player_count;

COMMENT ON VIEW game_lengths IS 'One row for the games won by the rules, by tournament, rules and number of players: how long they were. Closed games are no measure.';
COMMENT ON COLUMN game_lengths.tournament IS 'NULL for games that belong to none.';
COMMENT ON COLUMN game_lengths.ruleset IS 'The key of the rules: :rulesets.';
COMMENT ON COLUMN game_lengths.player_count IS 'How many played.';
COMMENT ON COLUMN game_lengths.games IS 'How many games were won by the rules.';
COMMENT ON COLUMN game_lengths.turns_min IS 'Turns of the shortest.';
COMMENT ON COLUMN game_lengths.turns_median IS 'Half of them had no more turns than this.';
COMMENT ON COLUMN game_lengths.turns_p90 IS 'Nine in ten had no more.';
COMMENT ON COLUMN game_lengths.turns_max IS 'Turns of the longest.';
COMMENT ON COLUMN game_lengths.mean_turns IS 'Turns in the mean, without those that were taken back.';
COMMENT ON COLUMN game_lengths.mean_rounds IS 'Rounds in the mean.';
COMMENT ON COLUMN game_lengths.rounds_max IS 'The most rounds.';
COMMENT ON COLUMN game_lengths.timed IS 'How many have both times, and so are in the columns of seconds.';
COMMENT ON COLUMN game_lengths.seconds_median IS 'Half of those took no longer, from their first event to the one that ended them; NULL where no record says.';
COMMENT ON COLUMN game_lengths.seconds_p90 IS 'Nine in ten took no longer.';
COMMENT ON COLUMN game_lengths.seconds_max IS 'The longest took so long.';
