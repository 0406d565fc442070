-- The names of all tournaments; of very many the newest.
SELECT tournament
FROM games
WHERE tournament <> ''
GROUP BY tournament
ORDER BY max(game_number) DESC
LIMIT 10000
