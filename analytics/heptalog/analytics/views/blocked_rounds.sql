CREATE OR REPLACE VIEW blocked_rounds AS
WITH hands AS (
    SELECT
        game_number,
        round,
        sum(pips) AS pips,
        sum(deduction) AS deduction
    FROM settlements
    GROUP BY game_number, round
)

SELECT
    games.tournament,
    games.ruleset,
    count(*) AS rounds,
    count(*) FILTER (rounds.ended_by = 'BLOCKED') AS blocked,
    blocked / count(*) AS blocked_rate,
    avg(rounds.turns) FILTER (rounds.ended_by = 'BLOCKED') AS mean_turns_blocked,
    avg(rounds.turns) FILTER (rounds.ended_by = 'EMPTY_HAND') AS mean_turns_emptied,
    avg(hands.pips) FILTER (rounds.ended_by = 'BLOCKED') AS mean_pips_blocked,
    avg(hands.pips) FILTER (rounds.ended_by = 'EMPTY_HAND') AS mean_pips_emptied,
    avg(hands.deduction) FILTER (rounds.ended_by = 'BLOCKED') AS mean_deduction_blocked,
    avg(hands.deduction) FILTER (rounds.ended_by = 'EMPTY_HAND') AS mean_deduction_emptied
FROM rounds
INNER JOIN hands ON rounds.game_number = hands.game_number AND rounds.round = hands.round
INNER JOIN games ON rounds.game_number = games.game_number
WHERE rounds.ruleset = 'seven_rocks' AND rounds.ended_by IN ('BLOCKED', 'EMPTY_HAND')
GROUP BY games.tournament, games.ruleset;

COMMENT ON VIEW blocked_rounds IS 'Seven Rocks: one row a tournament: how often a round is blocked (SR-R24). Of settled rounds: one in which the match was won might still have been.';
COMMENT ON COLUMN blocked_rounds.tournament IS 'NULL for games that belong to none.';
COMMENT ON COLUMN blocked_rounds.ruleset IS 'The key of the rules: seven_rocks.';
COMMENT ON COLUMN blocked_rounds.rounds IS 'Rounds that were settled: blocked, or ended by an empty hand.';
COMMENT ON COLUMN blocked_rounds.blocked IS 'Those that were blocked.';
COMMENT ON COLUMN blocked_rounds.blocked_rate IS 'Blocked of settled rounds.';
COMMENT ON COLUMN blocked_rounds.mean_turns_blocked IS 'Turns of a blocked round, the four knocks included; NULL where there is none.';
COMMENT ON COLUMN blocked_rounds.mean_turns_emptied IS 'Turns of one that ended by an empty hand; NULL where there is none.';
COMMENT ON COLUMN blocked_rounds.mean_pips_blocked IS 'Pips left in all four hands of a blocked round.';
COMMENT ON COLUMN blocked_rounds.mean_pips_emptied IS 'Pips left where a hand was emptied.';
COMMENT ON COLUMN blocked_rounds.mean_deduction_blocked IS 'What a blocked round took off the scores of both pairs together.';
COMMENT ON COLUMN blocked_rounds.mean_deduction_emptied IS 'What it took off where a hand was emptied.';
