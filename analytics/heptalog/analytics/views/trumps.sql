CREATE OR REPLACE VIEW trumps AS
WITH counts AS (
    SELECT
        games.tournament,
        games.ruleset,
        games.player_count,
        deals.trump,
        count(*) AS deals,
        count(*) FILTER (deals.decision = 'STAND') AS stood,
        count(*) FILTER (deals.decision = 'GIVE') AS given,
        avg(deals.runs) AS mean_runs,
        count(*) FILTER (deals.trump_card = 'J' || deals.trump) AS jack_turned,
        avg(rounds.score_changes[deals.elder % games.side_count + 1]) AS elder_mean_points,
        avg(rounds.score_changes[deals.dealer % games.side_count + 1]) AS dealer_mean_points
    FROM deals
    INNER JOIN rounds ON deals.game_number = rounds.game_number AND deals.round = rounds.round
    INNER JOIN games ON deals.game_number = games.game_number
    WHERE deals.trump IS NOT NULL AND rounds.ended_by IS NOT NULL
    GROUP BY games.tournament, games.ruleset, games.player_count, deals.trump
)

SELECT
    tournament,
    ruleset,
    player_count,
    trump,
    deals,
    deals / sum(deals) OVER (PARTITION BY tournament, ruleset, player_count) AS share,
    stood,
    given,
    mean_runs,
    jack_turned,
    elder_mean_points,
    dealer_mean_points
FROM counts;

COMMENT ON VIEW trumps IS 'Seven Up: one row a trump suit by tournament and number of players: how it was fixed, and whom it served. Deals that have ended with a trump.';
COMMENT ON COLUMN trumps.tournament IS 'NULL for games that belong to none.';
COMMENT ON COLUMN trumps.ruleset IS 'The key of the rules: seven_up.';
COMMENT ON COLUMN trumps.player_count IS 'How many play.';
COMMENT ON COLUMN trumps.trump IS 'S, H, D or C.';
COMMENT ON COLUMN trumps.deals IS 'Deals in which it was trump.';
COMMENT ON COLUMN trumps.share IS 'Of all deals with a trump.';
COMMENT ON COLUMN trumps.stood IS 'Those in which elder hand stood (SU-R8).';
COMMENT ON COLUMN trumps.given IS 'Those in which elder hand begged, and the dealer gave a point to keep it (SU-R9).';
COMMENT ON COLUMN trumps.mean_runs IS 'How often cards were run before.';
COMMENT ON COLUMN trumps.jack_turned IS 'Those in which its jack was the card that fixed it.';
COMMENT ON COLUMN trumps.elder_mean_points IS 'What such a deal brings the side of elder hand.';
COMMENT ON COLUMN trumps.dealer_mean_points IS 'What it brings the dealer''s side.';
