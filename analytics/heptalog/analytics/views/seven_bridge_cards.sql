CREATE OR REPLACE VIEW seven_bridge_cards AS
WITH uses AS (
    -- What was played in a round that booked nothing has no counterpart among the penalties.
    SELECT plays.game_number, plays.card, plays.ghost IS NULL AS is_own, false AS is_left
    FROM plays
    INNER JOIN rounds ON plays.game_number = rounds.game_number AND plays.round = rounds.round
    WHERE rounds.ended_by IS NOT NULL AND NOT rounds.is_deciding
    UNION ALL
    SELECT game_number, unnest(cards), false, true
    FROM penalties
)

SELECT
    games.tournament,
    games.ruleset,
    uses.card,
    count(*) FILTER (uses.is_own) AS played,
    count(*) FILTER (NOT uses.is_own AND NOT uses.is_left) AS played_for_ghosts,
    count(*) FILTER (uses.is_left) AS counted,
    counted / nullif(played + counted, 0) AS counted_rate
FROM uses
INNER JOIN games ON uses.game_number = games.game_number
GROUP BY games.tournament, games.ruleset, uses.card;

COMMENT ON VIEW seven_bridge_cards IS 'Seven Bridge: one row a card by tournament: how often it was played, and how often it was left and cost its holder. Of booked rounds.';
COMMENT ON COLUMN seven_bridge_cards.tournament IS 'NULL for games that belong to none.';
COMMENT ON COLUMN seven_bridge_cards.ruleset IS 'The key of the rules: seven_bridge.';
COMMENT ON COLUMN seven_bridge_cards.card IS 'The card, or the joker.';
COMMENT ON COLUMN seven_bridge_cards.played IS 'How often who held it played it.';
COMMENT ON COLUMN seven_bridge_cards.played_for_ghosts IS 'How often others played it, once a ghost had exposed it (SB-D9).';
COMMENT ON COLUMN seven_bridge_cards.counted IS 'How often it was counted against who held it, also where others had played it for a ghost (SB-D11).';
COMMENT ON COLUMN seven_bridge_cards.counted_rate IS 'Counted of played and counted.';
