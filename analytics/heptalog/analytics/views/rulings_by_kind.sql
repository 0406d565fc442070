CREATE OR REPLACE VIEW rulings_by_kind AS
WITH totals AS (
    SELECT
        tournament,
        ruleset,
        count(*) AS games
    FROM games
    GROUP BY tournament, ruleset
),

called AS (
    SELECT
        games.tournament,
        games.ruleset,
        rulings.kind,
        count(*) AS rulings,
        count(*) FILTER (rulings.is_retracted) AS retracted,
        count(DISTINCT games.game_number) AS games
    FROM rulings
    INNER JOIN games ON rulings.game_number = games.game_number
    GROUP BY games.tournament, games.ruleset, rulings.kind
)

SELECT
    called.tournament,
    called.ruleset,
    called.kind,
    called.rulings,
    called.retracted,
    called.games,
    totals.games AS games_in_all,
    called.games / totals.games AS games_share
FROM called
INNER JOIN totals
    ON called.tournament IS NOT DISTINCT FROM totals.tournament AND called.ruleset = totals.ruleset;

COMMENT ON VIEW rulings_by_kind IS 'One row a kind of ruling by tournament and rules: how often the arbiter was called, running games included.';
COMMENT ON COLUMN rulings_by_kind.tournament IS 'NULL for games that belong to none.';
COMMENT ON COLUMN rulings_by_kind.ruleset IS 'The key of the rules: :rulesets.';
COMMENT ON COLUMN rulings_by_kind.kind IS 'MOVES_RETRACTED, GAME_CLOSED, NOTE_ADDED or INFRACTION_CALLED.';
COMMENT ON COLUMN rulings_by_kind.rulings IS 'How many there were, also those that were taken back later.';
COMMENT ON COLUMN rulings_by_kind.retracted IS 'How many were taken back later.';
COMMENT ON COLUMN rulings_by_kind.games IS 'Games with at least one.';
COMMENT ON COLUMN rulings_by_kind.games_in_all IS 'All games of this tournament and these rules.';
COMMENT ON COLUMN rulings_by_kind.games_share IS 'Games with at least one, of all.';
