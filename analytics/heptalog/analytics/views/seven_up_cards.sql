CREATE OR REPLACE VIEW seven_up_cards AS
WITH played AS (
    SELECT
        game_number,
        unnest(cards) AS card,
        unnest(range(len(cards))) AS place,
        (seat - leader + len(cards)) % len(cards) AS winning_place,
        trump
    FROM tricks
)

SELECT
    games.tournament,
    games.ruleset,
    played.card,
    right(played.card, 1) = played.trump AS is_trump,
    count(*) AS played,
    count(*) FILTER (played.place = 0) AS led,
    count(*) FILTER (played.place = played.winning_place) AS won,
    count(*) FILTER (played.place = played.winning_place) / count(*) AS won_rate,
    count(*) FILTER (played.place = 0 AND played.winning_place = 0)
    / nullif(count(*) FILTER (played.place = 0), 0) AS led_won_rate
FROM played
INNER JOIN games ON played.game_number = games.game_number
GROUP BY games.tournament, games.ruleset, played.card, right(played.card, 1) = played.trump;

COMMENT ON VIEW seven_up_cards IS 'Seven Up: one row a card, as a trump and as none, by tournament: how often it was played to a whole trick and won it.';
COMMENT ON COLUMN seven_up_cards.tournament IS 'NULL for games that belong to none.';
COMMENT ON COLUMN seven_up_cards.ruleset IS 'The key of the rules: seven_up.';
COMMENT ON COLUMN seven_up_cards.card IS 'The card.';
COMMENT ON COLUMN seven_up_cards.is_trump IS 'Whether it was of the trump suit.';
COMMENT ON COLUMN seven_up_cards.played IS 'How often it was in a whole trick.';
COMMENT ON COLUMN seven_up_cards.led IS 'How often it was led.';
COMMENT ON COLUMN seven_up_cards.won IS 'How often it won the trick.';
COMMENT ON COLUMN seven_up_cards.won_rate IS 'Won of played.';
COMMENT ON COLUMN seven_up_cards.led_won_rate IS 'How often it won where it was led; NULL where it never was.';
