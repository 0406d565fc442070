CREATE OR REPLACE VIEW round_endings AS
WITH counts AS (
    SELECT
        games.tournament,
        games.ruleset,
        games.player_count,
        rounds.ended_by,
        count(*) AS rounds,
        avg(rounds.turns) AS mean_turns,
        max(rounds.turns) AS turns_max
    FROM rounds
    INNER JOIN games ON rounds.game_number = games.game_number
    WHERE rounds.ended_by IS NOT NULL
    GROUP BY games.tournament, games.ruleset, games.player_count, rounds.ended_by
)

SELECT
    tournament,
    ruleset,
    player_count,
    ended_by,
    rounds,
    rounds / sum(rounds) OVER (PARTITION BY tournament, ruleset, player_count) AS share,
    mean_turns,
    turns_max
FROM counts;

COMMENT ON VIEW round_endings IS 'One row a way in which rounds end, by tournament, rules and number of players.';
COMMENT ON COLUMN round_endings.tournament IS 'NULL for games that belong to none.';
COMMENT ON COLUMN round_endings.ruleset IS 'The key of the rules: :rulesets.';
COMMENT ON COLUMN round_endings.player_count IS 'How many play.';
COMMENT ON COLUMN round_endings.ended_by IS 'EMPTY_HAND, BLOCKED, EXHAUSTED, TRICKS_PLAYED, VOID, or MATCH_WON where the match was won in the middle of it.';
COMMENT ON COLUMN round_endings.rounds IS 'How many rounds ended so.';
COMMENT ON COLUMN round_endings.share IS 'Of all rounds that have ended; those in which the arbiter closed the game have not.';
COMMENT ON COLUMN round_endings.mean_turns IS 'How many turns such a round has.';
COMMENT ON COLUMN round_endings.turns_max IS 'How many the longest of them had.';
