CREATE OR REPLACE VIEW results AS
SELECT
    games.game_number,
    games.game_id,
    games.tournament,
    games.table_name,
    games.player_count,
    games.side_count,
    seats.seat,
    seats.player_id,
    seats.player_name,
    seats.side,
    seats.score,
    CASE
        WHEN len(games.winners) = 0 THEN NULL
        WHEN seats.has_won THEN 1
        -- Winners first, whoever they are: a closing may name more than one side. Then by score, of which a penalty is the other way round.
        ELSE len(games.winners) * games.side_count // games.player_count + 1 + len([
            side FOR side IN range(games.side_count)
            IF NOT list_contains(games.winners, side)
            AND CASE
                WHEN games.ruleset IN (:lowest_is_best) THEN games.scores[side + 1] < seats.score
                ELSE games.scores[side + 1] > seats.score
            END
        ])
    END AS rank,
    (list_sum(games.scores) - seats.score) / nullif(games.side_count - 1, 0) AS opposing_score,
    CASE
        WHEN games.ruleset IN (:lowest_is_best) THEN opposing_score - seats.score
        ELSE seats.score - opposing_score
    END AS margin,
    seats.has_won,
    games.status,
    games.ended_at,
    games.ended_position,
    games.ruleset,
    games.month
FROM games
INNER JOIN seats ON games.game_number = seats.game_number
WHERE games.status <> 'RUNNING';

COMMENT ON VIEW results IS 'One row a player of an ended game: what they have scored, their place, and whether they have won.';
COMMENT ON COLUMN results.game_number IS 'The game: the position of its first event. It grows with time, and joins faster than game_id.';
COMMENT ON COLUMN results.game_id IS 'The game, by its name for ever.';
COMMENT ON COLUMN results.tournament IS 'NULL where it belongs to none.';
COMMENT ON COLUMN results.table_name IS 'NULL where no table was named.';
COMMENT ON COLUMN results.player_count IS 'How many played.';
COMMENT ON COLUMN results.side_count IS 'How many scored: two pairs, or as many as players.';
COMMENT ON COLUMN results.seat IS 'From 0, clockwise.';
COMMENT ON COLUMN results.player_id IS 'Who sat there.';
COMMENT ON COLUMN results.player_name IS 'Their name in this game; empty where none was given.';
COMMENT ON COLUMN results.side IS 'The side they scored for: partners have one, seats 0 and 2 are side 0.';
COMMENT ON COLUMN results.score IS 'Their side''s; :penalties.';
COMMENT ON COLUMN results.rank IS 'The place of their side: 1 for winners, then by score, equals share one. NULL where the arbiter closed the game without winners.';
COMMENT ON COLUMN results.opposing_score IS 'The mean score of the other sides.';
COMMENT ON COLUMN results.margin IS 'By how much their side did better than that mean: penalties turned round, so that more is always better.';
COMMENT ON COLUMN results.has_won IS 'Whether they are among the winners.';
COMMENT ON COLUMN results.status IS 'WON by the rules, or CLOSED by the arbiter.';
COMMENT ON COLUMN results.ended_at IS 'When the event that ended it was accepted; NULL where the record does not say.';
COMMENT ON COLUMN results.ended_position IS 'The position of that event.';
COMMENT ON COLUMN results.ruleset IS 'The key of its rules: :rulesets.';
COMMENT ON COLUMN results.month IS 'The month in which the game began, UTC, as 2026-11. A question that names it reads less.';
