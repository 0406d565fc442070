SELECT games.game_number, games.game_id, games.ruleset, games.ended_position, seats.players, seats.sides, games.scores,
    games.winners
FROM read_parquet($games, hive_partitioning = true, hive_types_autocast = false) AS games
JOIN (
    SELECT game_number, list(player_id ORDER BY seat) AS players, list(side ORDER BY seat) AS sides
    FROM read_parquet($seats, hive_partitioning = true, hive_types_autocast = false)
    GROUP BY game_number
) AS seats USING (game_number)
WHERE games.ended_position >= $since AND len(games.winners) > 0 AND games.turns > 0
ORDER BY games.ended_position
