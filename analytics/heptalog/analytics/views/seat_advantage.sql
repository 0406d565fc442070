CREATE OR REPLACE VIEW seat_advantage AS
SELECT
    tournament,
    ruleset,
    player_count,
    seat,
    count(*) AS games,
    count(*) FILTER (has_won) AS won,
    count(*) FILTER (has_won) / count(*) AS win_rate,
    1 / any_value(side_count) AS fair_rate,
    win_rate - fair_rate AS advantage,
    sqrt(fair_rate * (1 - fair_rate) / count(*)) AS standard_error,
    avg(score) AS mean_score,
    avg(rank) AS mean_rank
FROM results
WHERE status = 'WON'
GROUP BY tournament, ruleset, player_count, seat;

COMMENT ON VIEW seat_advantage IS 'One row a seat by tournament, rules and number of players: how often it wins. Games that the arbiter closed do not count.';
COMMENT ON COLUMN seat_advantage.tournament IS 'NULL for games that belong to none.';
COMMENT ON COLUMN seat_advantage.ruleset IS 'The key of the rules: :rulesets.';
COMMENT ON COLUMN seat_advantage.player_count IS 'How many played.';
COMMENT ON COLUMN seat_advantage.seat IS 'The seat, from 0, clockwise.';
COMMENT ON COLUMN seat_advantage.games IS 'Games that were won by the rules.';
COMMENT ON COLUMN seat_advantage.won IS 'Those that this seat has won, alone or with its partner.';
COMMENT ON COLUMN seat_advantage.win_rate IS 'Won of games.';
COMMENT ON COLUMN seat_advantage.fair_rate IS 'What it would be were all sides alike.';
COMMENT ON COLUMN seat_advantage.advantage IS 'Win rate less fair rate.';
COMMENT ON COLUMN seat_advantage.standard_error IS 'What chance alone may make of it: an advantage within two of these says nothing.';
COMMENT ON COLUMN seat_advantage.mean_score IS 'The mean score of its side; :penalties.';
COMMENT ON COLUMN seat_advantage.mean_rank IS 'The mean place of its side, 1 the best.';
