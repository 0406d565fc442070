CREATE OR REPLACE VIEW opener_advantage AS
WITH ended AS (
    SELECT
        game_number, round, dealer, opener, ended_seat, score_changes, ruleset
    FROM rounds
    -- A void deal is not played, and a deciding round neither scores nor seats everybody.
    WHERE ended_by IS NOT NULL AND ended_by <> 'VOID' AND NOT is_deciding
),

roles AS (
    SELECT game_number, round, 'OPENER' AS role, opener AS seat, ended_seat, score_changes, ruleset
    FROM ended
    WHERE opener IS NOT NULL
    UNION ALL
    SELECT game_number, round, 'DEALER', dealer, ended_seat, score_changes, ruleset
    FROM ended
    WHERE dealer IS NOT NULL
),

changes AS (
    SELECT
        game_number,
        round,
        role,
        seat,
        ended_seat,
        CASE
            WHEN ruleset IN (:lowest_is_best) THEN [-change FOR change IN score_changes]
            ELSE score_changes
        END AS gains,
        gains[seat % len(gains) + 1] AS gain
    FROM roles
),

counts AS (
    SELECT
        games.tournament,
        games.ruleset,
        games.player_count,
        changes.role,
        any_value(games.side_count) AS side_count,
        count(*) AS rounds,
        count(changes.ended_seat) AS emptied,
        count(*) FILTER (changes.ended_seat = changes.seat) AS went_out,
        count(*) FILTER (gain = list_max(gains) AND len([other FOR other IN gains IF other = gain]) = 1) AS ahead,
        avg(gain) AS mean_gain,
        avg((list_sum(gains) - gain) / nullif(games.side_count - 1, 0)) AS mean_gain_of_others,
        count(*) FILTER (changes.round = 1 AND games.status = 'WON') AS games,
        count(*) FILTER (changes.round = 1 AND games.status = 'WON' AND list_contains(games.winners, changes.seat))
            AS games_won
    FROM changes
    INNER JOIN games ON changes.game_number = games.game_number
    GROUP BY games.tournament, games.ruleset, games.player_count, changes.role
)

SELECT
    tournament,
    ruleset,
    player_count,
    role,
    rounds,
    went_out,
    went_out / nullif(emptied, 0) AS went_out_rate,
    ahead,
    ahead / rounds AS ahead_rate,
    1 / side_count AS fair_rate,
    mean_gain,
    mean_gain_of_others,
    games,
    games_won,
    games_won / nullif(games, 0) AS games_won_rate
FROM counts;

COMMENT ON VIEW opener_advantage IS 'One row a role, who opens and who deals, by tournament, rules and number of players: what a round brings it. Ended rounds without void and deciding ones.';
COMMENT ON COLUMN opener_advantage.tournament IS 'NULL for games that belong to none.';
COMMENT ON COLUMN opener_advantage.ruleset IS 'The key of the rules: :rulesets.';
COMMENT ON COLUMN opener_advantage.player_count IS 'How many play.';
COMMENT ON COLUMN opener_advantage.role IS 'OPENER, who plays first, in Seven Up elder hand; or DEALER, whom Seven Rocks does not have.';
COMMENT ON COLUMN opener_advantage.rounds IS 'Rounds in which somebody had this role.';
COMMENT ON COLUMN opener_advantage.went_out IS 'Rounds that this very seat ended by an empty hand.';
COMMENT ON COLUMN opener_advantage.went_out_rate IS 'Those of all rounds that somebody ended so; NULL in Seven Up.';
COMMENT ON COLUMN opener_advantage.ahead IS 'Rounds that brought its side more than any other.';
COMMENT ON COLUMN opener_advantage.ahead_rate IS 'Those of all rounds.';
COMMENT ON COLUMN opener_advantage.fair_rate IS 'What that would be were all sides alike and no round a tie.';
COMMENT ON COLUMN opener_advantage.mean_gain IS 'What a round brings its side; penalties turned round, so that more is always better.';
COMMENT ON COLUMN opener_advantage.mean_gain_of_others IS 'What it brings another side.';
COMMENT ON COLUMN opener_advantage.games IS 'Games won by the rules in whose first round somebody had this role.';
COMMENT ON COLUMN opener_advantage.games_won IS 'Those that this seat has won, alone or with its partner.';
COMMENT ON COLUMN opener_advantage.games_won_rate IS 'Won of these games; NULL where there are none.';
