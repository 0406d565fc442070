CREATE OR REPLACE VIEW first_tricks AS
WITH game_points AS (
    SELECT game_number, round, side
    FROM points
    WHERE kind = 'GAME'
),

counts AS (
    SELECT
        games.tournament,
        games.ruleset,
        games.player_count,
        (tricks.seat - tricks.leader + games.player_count) % games.player_count AS place,
        count(*) AS tricks,
        count(*) FILTER (tricks.is_trumped) AS trumped,
        count(*) FILTER (tricks.trump = right(tricks.cards[1], 1)) AS trump_led,
        count(game_points.side) AS counted,
        count(*) FILTER (game_points.side = tricks.side) AS took_game
    FROM tricks
    INNER JOIN games ON tricks.game_number = games.game_number
    LEFT JOIN game_points ON tricks.game_number = game_points.game_number AND tricks.round = game_points.round
    WHERE tricks.trick = 1
    GROUP BY
        games.tournament, games.ruleset, games.player_count,
        (tricks.seat - tricks.leader + games.player_count) % games.player_count
)

SELECT
    tournament,
    ruleset,
    player_count,
    place,
    tricks,
    tricks / sum(tricks) OVER (PARTITION BY tournament, ruleset, player_count) AS share,
    trumped,
    trump_led,
    counted,
    took_game,
    took_game / nullif(counted, 0) AS took_game_rate
FROM counts;

COMMENT ON VIEW first_tricks IS 'Seven Up: one row a place in the first trick by tournament and number of players: how often it takes the trick (SU-R15), and whether that helps.';
COMMENT ON COLUMN first_tricks.tournament IS 'NULL for games that belong to none.';
COMMENT ON COLUMN first_tricks.ruleset IS 'The key of the rules: seven_up.';
COMMENT ON COLUMN first_tricks.player_count IS 'How many play.';
COMMENT ON COLUMN first_tricks.place IS 'The place of who took it: 0 led it, as elder hand; 1 played next.';
COMMENT ON COLUMN first_tricks.tricks IS 'How many first tricks this place has taken.';
COMMENT ON COLUMN first_tricks.share IS 'Of all first tricks.';
COMMENT ON COLUMN first_tricks.trumped IS 'Those that it took by a trump that was not led.';
COMMENT ON COLUMN first_tricks.trump_led IS 'Those to which a trump was led.';
COMMENT ON COLUMN first_tricks.counted IS 'Those of rounds in which somebody scored Game.';
COMMENT ON COLUMN first_tricks.took_game IS 'Those whose taker''s side scored Game too.';
COMMENT ON COLUMN first_tricks.took_game_rate IS 'Those of counted; NULL where there are none.';
