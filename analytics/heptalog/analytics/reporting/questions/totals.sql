-- One row: all that the report is about. Without a tournament, everything.
SELECT
    count(*) AS games,
    count(*) FILTER (status = 'RUNNING') AS running,
    count(*) FILTER (status = 'CLOSED') AS closed,
    count(DISTINCT tournament) AS tournaments,
    CAST(sum(rounds) AS BIGINT) AS rounds,
    CAST(sum(turns) AS BIGINT) AS turns,
    CAST(sum(events) AS BIGINT) AS events,
    CAST(sum(takebacks) AS BIGINT) AS takebacks,
    strftime(make_timestamp(epoch_us(min(started_at))), '%Y-%m-%d') AS first_day,
    strftime(make_timestamp(epoch_us(max(last_recorded_at))), '%Y-%m-%d') AS last_day,
    (
        SELECT count(DISTINCT seats.player_id)
        FROM seats
        INNER JOIN games AS played ON seats.game_number = played.game_number
        WHERE :tournament IS NULL OR played.tournament = :tournament
    ) AS players
FROM games
WHERE :tournament IS NULL OR tournament = :tournament
