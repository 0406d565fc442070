CREATE OR REPLACE VIEW trump_decisions AS
WITH counts AS (
    SELECT
        games.tournament,
        games.ruleset,
        games.player_count,
        deals.decision,
        deals.runs,
        deals.void_reason,
        count(*) AS deals,
        avg(rounds.score_changes[deals.elder % games.side_count + 1]) AS elder_mean_points,
        avg(rounds.score_changes[deals.dealer % games.side_count + 1]) AS dealer_mean_points
    FROM deals
    INNER JOIN rounds ON deals.game_number = rounds.game_number AND deals.round = rounds.round
    INNER JOIN games ON deals.game_number = games.game_number
    WHERE rounds.ended_by IS NOT NULL
    GROUP BY
        games.tournament, games.ruleset, games.player_count, deals.decision, deals.runs, deals.void_reason
)

SELECT
    tournament,
    ruleset,
    player_count,
    decision,
    runs,
    void_reason,
    deals,
    deals / sum(deals) OVER (PARTITION BY tournament, ruleset, player_count) AS share,
    elder_mean_points,
    dealer_mean_points
FROM counts;

COMMENT ON VIEW trump_decisions IS 'Seven Up: one row a way to a trump, or to none, by tournament and number of players: how often it was gone and what it brought. Ended deals, void ones included.';
COMMENT ON COLUMN trump_decisions.tournament IS 'NULL for games that belong to none.';
COMMENT ON COLUMN trump_decisions.ruleset IS 'The key of the rules: seven_up.';
COMMENT ON COLUMN trump_decisions.player_count IS 'How many play.';
COMMENT ON COLUMN trump_decisions.decision IS 'The last word: STAND, BEG, GIVE or RUN; NULL where a turned jack won the match before any.';
COMMENT ON COLUMN trump_decisions.runs IS 'How often cards were run.';
COMMENT ON COLUMN trump_decisions.void_reason IS 'STOCK_SHORT or SUITS_REJECTED where the deal was void; otherwise NULL.';
COMMENT ON COLUMN trump_decisions.deals IS 'Deals that went so.';
COMMENT ON COLUMN trump_decisions.share IS 'Of all deals that have ended.';
COMMENT ON COLUMN trump_decisions.elder_mean_points IS 'What such a deal brings the side of elder hand, the gift included.';
COMMENT ON COLUMN trump_decisions.dealer_mean_points IS 'What it brings the dealer''s side, turned jacks included.';
