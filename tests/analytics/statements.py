"""Statements that analysts write, and statements that nobody may ask, over the tables of the games."""

from typing import Final

# One a line, so that a test names it by its line.
ALLOWED: Final = """
SELECT 1
SELECT 1;
SELECT 1 -- one
/* one */ SELECT 1
FROM games
FROM games SELECT game_id WHERE status = 'WON'
TABLE games
VALUES (1, 'a'), (2, 'b')
SELECT * FROM games
SELECT * FROM main.games
SELECT * FROM GAMES
SELECT g.* EXCLUDE (tags, options) REPLACE (events + 1 AS events) RENAME (game_id AS id) FROM games g
SELECT COLUMNS('game_.*'), COLUMNS(* EXCLUDE (tags)) FROM games
SELECT min(COLUMNS(* EXCLUDE (tags))) FROM games
SELECT COLUMNS(lambda name: name LIKE 'e%') FROM games
SELECT * LIKE 'game%' FROM games
SELECT coalesce(*COLUMNS(['table_name', 'tournament'])) FROM games
SELECT DISTINCT ruleset FROM games
SELECT DISTINCT ON (ruleset) ruleset, game_id FROM games ORDER BY ALL
SELECT count(*), count(), count(DISTINCT ruleset), sum(turns) FILTER (status = 'WON') FROM games
SELECT string_agg(game_id, ', ' ORDER BY game_id DESC NULLS LAST) FROM games
SELECT ruleset, avg(turns), median(turns), mode(rounds), stddev(events) FROM games GROUP BY ALL ORDER BY ALL
SELECT ruleset, count(*) FROM games GROUP BY ruleset HAVING count(*) > 1 ORDER BY 2 DESC NULLS FIRST
SELECT ruleset, status, count(*), grouping(ruleset) FROM games GROUP BY ROLLUP (ruleset, status)
SELECT ruleset, status, count(*) FROM games GROUP BY CUBE (ruleset, status)
SELECT ruleset, status, count(*) FROM games GROUP BY GROUPING SETS ((ruleset), (status), ())
SELECT game_id FROM games ORDER BY started_at DESC LIMIT 10 OFFSET 2
SELECT game_id FROM games LIMIT 10%
SELECT game_id FROM games LIMIT (SELECT 3)
SELECT game_id FROM games USING SAMPLE 10%
SELECT game_id FROM games USING SAMPLE reservoir(3 ROWS) REPEATABLE (5)
SELECT game_id FROM games TABLESAMPLE bernoulli(50%) REPEATABLE (3)
SELECT game_id, row_number() OVER (PARTITION BY ruleset ORDER BY events DESC) FROM games
SELECT game_id FROM games QUALIFY rank() OVER (PARTITION BY ruleset ORDER BY turns DESC) <= 3
SELECT lag(turns, 1, 0) OVER w, first_value(turns IGNORE NULLS) OVER w FROM games WINDOW w AS (ORDER BY game_number)
SELECT sum(turns) OVER (ORDER BY game_number ROWS BETWEEN 2 PRECEDING AND CURRENT ROW EXCLUDE TIES) FROM games
SELECT count(*) OVER (ORDER BY started_at RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND CURRENT ROW) FROM games
SELECT count(DISTINCT status) FILTER (turns > 1) OVER (PARTITION BY ruleset) FROM games
SELECT * FROM games JOIN seats USING (game_number) JOIN rounds USING (game_number)
SELECT * FROM games g LEFT JOIN refusals r ON r.game_id = g.game_id AND r.seat IS NOT NULL
SELECT * FROM games NATURAL JOIN seats
SELECT * FROM games CROSS JOIN (SELECT 1 AS one) AS it
SELECT * FROM games SEMI JOIN tricks USING (game_number)
SELECT * FROM games ANTI JOIN tricks USING (game_number)
SELECT * FROM games POSITIONAL JOIN seats
SELECT * FROM games g ASOF JOIN rating_changes r ON g.game_number >= r.game_number
SELECT * FROM games, LATERAL (SELECT count(*) AS n FROM seats WHERE seats.game_number = games.game_number) AS s
SELECT * FROM games WHERE game_number IN (SELECT game_number FROM tricks)
SELECT * FROM games g WHERE EXISTS (SELECT 1 FROM seats s WHERE s.game_number = g.game_number AND s.seat = 0)
SELECT (SELECT max(turns) FROM games g WHERE g.ruleset = o.ruleset) FROM games o
SELECT turns > ALL (SELECT 3), turns = ANY (SELECT 3), ARRAY (SELECT 1) FROM games
SELECT * FROM games WHERE (ruleset, status) IN (SELECT ruleset, status FROM games)
WITH a AS (FROM games), b(n) AS MATERIALIZED (SELECT count(*) FROM a) SELECT * FROM b, a
WITH games AS (SELECT * FROM games) SELECT * FROM games
WITH a AS (WITH b AS (SELECT 1 AS x) SELECT x FROM b) SELECT x FROM a
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT * FROM r
WITH RECURSIVE r(n, m) USING KEY (n) AS (SELECT 1, 2 UNION SELECT n, m + 1 FROM recurring.r WHERE m < 5) FROM r
SELECT (WITH a AS (SELECT 1 AS x) SELECT x FROM a)
SELECT 1 UNION SELECT 2 UNION ALL SELECT 3 EXCEPT SELECT 4 INTERSECT SELECT 5
SELECT 1 AS a UNION ALL BY NAME SELECT 2 AS b
(SELECT 1) UNION ALL (SELECT 2) ORDER BY 1 LIMIT 1
SELECT * FROM range(3), generate_series(1, 3) AS s(n), unnest([1, 2]) AS u(x)
SELECT game_id, unnest(winners) FROM games
SELECT game_id, w FROM games, unnest(winners) AS u(w)
SELECT unnest({'a': 1, 'b': {'c': 2}}, recursive := true)
SELECT * FROM games PIVOT (count(*) FOR ruleset IN ('seven_up', 'seven_rocks' AS rocks) GROUP BY status)
SELECT * FROM (PIVOT games ON ruleset IN ('seven_up') USING sum(turns) AS t GROUP BY status)
SELECT * FROM (SELECT game_id, turns, rounds FROM games) UNPIVOT (value FOR name IN (turns, rounds))
UNPIVOT (SELECT game_id, turns, rounds FROM games) ON turns, rounds INTO NAME name VALUE value
UNPIVOT (SELECT game_id, turns, rounds FROM games) ON COLUMNS(* EXCLUDE game_id) INTO NAME name VALUE value
SELECT CASE WHEN turns > 100 THEN 'long' ELSE 'short' END, CASE status WHEN 'WON' THEN 1 END, if(true, 1, 2) FROM games
SELECT turns::DOUBLE, CAST(turns AS VARCHAR), TRY_CAST(game_id AS INTEGER), turns::DECIMAL(10, 2) FROM games
SELECT [1, 2]::BIGINT[], {'a': 1}::STRUCT(a DOUBLE), MAP {'a': 1}::MAP(VARCHAR, DOUBLE), [1, 2]::INTEGER[2]
SELECT '2026-11-30'::DATE, '2026-11-30 10:00'::TIMESTAMP, '10:00'::TIME, '2026-11-30'::TIMESTAMPTZ, '3 days'::INTERVAL
SELECT '2026-11-30'::TIMESTAMP WITH TIME ZONE, 1::DOUBLE PRECISION, 1::HUGEINT, 'a'::VARCHAR(3), 1::FLOAT, 1::REAL
SELECT DATE '2026-11-30' + INTERVAL 3 DAY, TIMESTAMP '2026-11-30 00:00:00', INTERVAL '2' HOUR, x'ff', e'a\\n', 1e3
SELECT turns BETWEEN 1 AND 2, turns NOT BETWEEN 1 AND 2, status IN ('WON'), status NOT IN ('WON'), NOT true FROM games
SELECT table_name IS NULL, table_name IS NOT NULL, table_name IS DISTINCT FROM 'a', true IS NOT FALSE FROM games
SELECT game_id LIKE 'a%', game_id ILIKE 'A%', game_id SIMILAR TO 'a.*', game_id ~ 'a', game_id NOT LIKE 'b' FROM games
SELECT game_id LIKE 'a$%' ESCAPE '$', game_id GLOB 'a*', game_id ^@ 'a', game_id !~ 'b' FROM games
SELECT 1 + 2 - 3 * 4 / 5 // 6 % 7 ** 2, -1, ~1, 1 & 2 | 3 << 1 >> 1, xor(1, 2), 'a' || 'b', 2 ^ 3, @(-1), 4!
SELECT [1, 2, 3][1], [1, 2, 3][1:2], {'a': 1}.a, {'a': 1}['a'], tags[1].name, (1, 2), row(1, 2) FROM games
SELECT [x + 1 FOR x IN [1, 2, 3] IF x > 1], list_transform([1], lambda x, i: x + i), list_filter([1], lambda x: x > 0)
SELECT list_reduce([1, 2], lambda a, b: a + b), list_sort([2, 1]), list_aggregate([1, 2], 'sum'), len(scores) FROM games
SELECT options->>'$.target', options->'target', json_extract_string(options, '$.target') FROM games
SELECT * FROM games, json_each(games.options)
SELECT game_id.upper(), 'x'.lower().length(), games.game_id.lower() FROM games
SELECT game_id COLLATE nocase FROM games ORDER BY game_id COLLATE nocase
SELECT started_at AT TIME ZONE 'Europe/Zurich', extract(year FROM started_at), date_trunc('day', started_at) FROM games
SELECT strftime(started_at, '%Y-%m'), date_part('dow', started_at), epoch(started_at), age(started_at) FROM games
SELECT time_bucket(INTERVAL 1 WEEK, started_at), date_diff('day', started_at, ended_at), dayname(started_at) FROM games
SELECT now() IS NOT NULL, current_date IS NOT NULL, current_timestamp IS NOT NULL, today() IS NOT NULL
SELECT substring('abc' FROM 1 FOR 2), trim(BOTH ' ' FROM ' a '), position('a' IN 'b'), overlay('abc' PLACING 'x' FROM 1)
SELECT regexp_extract(game_id, '(.)', 1), regexp_replace(game_id, 'a', 'b', 'g'), split_part(game_id, '-', 1) FROM games
SELECT format('{} of {}', 1, 2), printf('%05d', 7), lpad('a', 3, '-'), concat_ws(', ', 'a', 'b'), repeat('ab', 3)
SELECT coalesce(NULL, 1), nullif(1, 1), ifnull(NULL, 1), greatest(1, 2), least(1, 2), try(1 // 0), typeof(1)
SELECT arg_max(game_id, turns), max_by(game_id, turns, 3), quantile_cont(turns, [0.5, 0.9]), histogram(turns) FROM games
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY turns), mode() WITHIN GROUP (ORDER BY rounds) FROM games
SELECT corr(turns, rounds), regr_slope(turns, rounds), approx_count_distinct(game_id), entropy(turns) FROM games
SELECT list(game_id ORDER BY turns)[1], first(game_id ORDER BY turns), array_agg(DISTINCT ruleset) FROM games
SELECT x: 1, y: 2
SELECT #1, game_id FROM games ORDER BY #2
SELECT "game_id" AS "the game's id" FROM "games"
SELECT aggregate([1], 'max'), [1, 2].list_aggr('AVG'), array_aggregate([1], 'count'), array_aggr(['a'], 'listagg', ',')
SELECT from_json('{}', '{"a": "DECIMAL(4, 1)", "b": ["INTEGER[2][]"], "c": {"d": "timestamp with time zone"}}')
SELECT json_transform(options, '{"target": "BIGINT"}'), '{"a": 1}'::JSON::MAP(VARCHAR, INTEGER) FROM games
SELECT ruleset, month, count(*) FROM turns WHERE month >= '2026-01' GROUP BY ALL
SELECT player_id, sum(think_seconds) FROM turns GROUP BY ALL ORDER BY 2 DESC LIMIT 10
SELECT * FROM standings JOIN ratings USING (player_id, ruleset)
SELECT tournament, player_id, rank() OVER (PARTITION BY tournament ORDER BY sum(score) DESC) FROM results GROUP BY 1, 2
""".strip().splitlines()

# Each with a word of the reason.
REFUSED: Final = tuple(
    tuple(line.rsplit(" ### ", 1))
    for line in """
 ### there is no statement
-- nothing ### there is no statement
; ### there is no statement
SELECT 1; SELECT 2 ### one SELECT
SELEC 1 ### syntax error
SELECT ( ### syntax error
INSERT INTO games VALUES (1) ### one SELECT
UPDATE games SET turns = 1 ### one SELECT
DELETE FROM games ### one SELECT
CREATE TABLE t AS SELECT 1 ### one SELECT
CREATE TEMP TABLE t AS SELECT 1 ### one SELECT
CREATE VIEW v AS SELECT 1 ### one SELECT
CREATE MACRO m(a) AS a ### one SELECT
DROP VIEW games ### one SELECT
COPY games TO 'games.csv' ### one SELECT
COPY (SELECT 1) TO '/dev/stdout' ### one SELECT
EXPORT DATABASE 'there' ### one SELECT
IMPORT DATABASE 'there' ### one SELECT
ATTACH 'log.duckdb' AS log ### one SELECT
DETACH memory ### one SELECT
USE kept ### one SELECT
INSTALL httpfs ### one SELECT
LOAD httpfs ### one SELECT
SET memory_limit = '100GB' ### one SELECT
RESET memory_limit ### one SELECT
SET VARIABLE v = 1 ### one SELECT
PRAGMA database_list ### one SELECT
CALL checkpoint() ### one SELECT
CHECKPOINT ### one SELECT
BEGIN ### one SELECT
COMMIT ### one SELECT
ROLLBACK ### one SELECT
PREPARE p AS SELECT 1 ### one SELECT
EXECUTE p ### one SELECT
EXPLAIN SELECT 1 ### one SELECT
EXPLAIN ANALYZE SELECT 1 ### one SELECT
VACUUM ### one SELECT
ANALYZE ### one SELECT
PIVOT games ON ruleset ### PIVOT that names its values
DESCRIBE games ### heptalog views
DESCRIBE SELECT 1 ### heptalog views
SUMMARIZE games ### heptalog views
SHOW TABLES ### heptalog views
SHOW ALL TABLES ### heptalog views
SELECT * FROM (DESCRIBE games) ### heptalog views
SELECT * FROM (SUMMARIZE games) ### heptalog views
WITH x AS (INSERT INTO games VALUES (1) RETURNING *) SELECT * FROM x ### INSERT
WITH x AS (UPDATE games SET turns = 1 RETURNING *) SELECT * FROM x ### UPDATE
WITH x AS (DELETE FROM games RETURNING *) SELECT * FROM x ### DELETE
WITH x AS (COPY games TO 'games.csv') SELECT * FROM x ### COPY
WITH a AS (WITH x AS (DELETE FROM games RETURNING *) FROM x) SELECT * FROM a ### DELETE
SELECT (WITH x AS (DELETE FROM games RETURNING *) SELECT count(*) FROM x) ### DELETE
SELECT ? ### parameters
SELECT $1 ### parameters
SELECT $name ### parameters
SELECT DEFAULT ### DEFAULT
SELECT * FROM games AT (VERSION => 1) ### AT
SELECT * FROM nothing ### no table nothing
SELECT * FROM kept.games ### no table kept.games
SELECT * FROM kept.refusals ### no table kept.refusals
SELECT * FROM memory.kept.refusals ### no table memory.kept.refusals
SELECT * FROM memory.main.games ### no table memory.main.games
SELECT * FROM duckdb_settings ### no table duckdb_settings
SELECT * FROM information_schema.tables ### no table information_schema.tables
SELECT * FROM pg_catalog.pg_class ### no table pg_catalog.pg_class
SELECT * FROM sqlite_master ### no table sqlite_master
SELECT * FROM 'games.parquet' ### no table games.parquet
SELECT * FROM "/etc/passwd" ### no table /etc/passwd
SELECT * FROM 'https://example.org/x.csv' ### no table https
WITH duckdb_settings AS (SELECT 1) SELECT * FROM duckdb_settings ### cannot be a name in WITH
WITH "a.csv" AS (SELECT 1) SELECT * FROM "a.csv" ### cannot be a name in WITH
WITH a AS (FROM b), b AS (SELECT 1) SELECT * FROM a ### no table b
SELECT * FROM (WITH a AS (SELECT 1) SELECT * FROM a) JOIN a ON true ### no table a
WITH RECURSIVE a AS (SELECT * FROM recurring.a) SELECT * FROM a ### no table recurring.a
SELECT * FROM read_csv('a.csv') ### read_csv cannot be called
SELECT * FROM duckdb_tables() ### duckdb_tables cannot be called
SELECT * FROM pg_catalog.range(3), system.main.duckdb_settings() ### duckdb_settings cannot be called
SELECT * FROM query('SELECT 1') ### query cannot be called
SELECT * FROM query_table('games') ### query_table cannot be called
SELECT * FROM histogram_values(games, turns) ### histogram_values cannot be called
SELECT * FROM summary((FROM games)) ### summary cannot be called
SELECT current_setting('memory_limit') ### current_setting cannot be called
SELECT version() ### version cannot be called
SELECT pg_catalog.version() ### version cannot be called
SELECT main.version() ### version cannot be called
SELECT VERSION() ### version cannot be called
SELECT "version"() ### version cannot be called
SELECT 'x'.version() ### version cannot be called
SELECT current_user ### current_user cannot be asked
SELECT current_schema ### current_schema cannot be asked
SELECT getenv('HOME') ### no function getenv
SELECT nothing(1) ### no function nothing
SELECT nextval('s') ### nextval cannot be called
SELECT row_number() OVER (ORDER BY nextval('s')) ### nextval cannot be called
SELECT nextval('s') OVER () ### nextval cannot be called
SELECT 1 ORDER BY sleep_ms(1) ### sleep_ms cannot be called
SELECT 1 LIMIT sleep_ms(1) ### sleep_ms cannot be called
SELECT sum(1) FILTER (sleep_ms(1) IS NULL) ### sleep_ms cannot be called
SELECT list_transform([1], lambda x: sleep_ms(x)) ### sleep_ms cannot be called
SELECT * REPLACE (sleep_ms(1) AS turns) FROM games ### sleep_ms cannot be called
SELECT * FROM games PIVOT (sum(sleep_ms(1)) FOR ruleset IN ('a')) ### sleep_ms cannot be called
SELECT * FROM games PIVOT (count(*) FOR sleep_ms(1) IN (1)) ### sleep_ms cannot be called
SELECT * FROM games JOIN seats ON sleep_ms(1) IS NULL ### sleep_ms cannot be called
SELECT * FROM unnest([sleep_ms(1)]) ### sleep_ms cannot be called
VALUES (sleep_ms(1)) ### sleep_ms cannot be called
SELECT 1 GROUP BY GROUPING SETS ((sleep_ms(1))) ### sleep_ms cannot be called
SELECT list_aggregate([1, 5], 'bitstring_agg', 0, 10) ### bitstring_agg cannot be called
SELECT LIST_AGGR([1], 'SUM_NO_OVERFLOW') ### SUM_NO_OVERFLOW cannot be called
SELECT aggregate([1], 'combine_aggr') ### combine_aggr cannot be called
SELECT array_aggr([1], 'to_aggregate_state') ### to_aggregate_state cannot be called
SELECT array_aggregate(['a'], 'variant_group_object', 'b') ### variant_group_object cannot be called
SELECT [1].list_aggregate('nothing') ### nothing cannot be called
SELECT list_aggregate([1], 'su' || 'm') ### must be the name of an aggregate
SELECT list_aggregate([1], (SELECT 'sum')) ### must be the name of an aggregate
SELECT list_aggregate(list := [1], function_name := 'lttb') ### must be the name of an aggregate
SELECT list_aggregate(*COLUMNS('tags'), 'sum') FROM games ### must be the name of an aggregate
SELECT list_transform([[1]], lambda x: list_aggregate(x, 'lttb')) ### lttb cannot be called
SELECT from_json('1', '"UNION(a INTEGER)"') ### can be written as a cast
SELECT from_json('1', '"kept.games"') ### can be written as a cast
SELECT from_json('1', '"INTEGER) AS x"') ### can be written as a cast
SELECT from_json_strict('1', '["VARIANT"]') ### nothing can be cast to VARIANT
SELECT json_transform('{}', '{"a": "BIT", "a": "INTEGER"}') ### nothing can be cast to BIT
SELECT json_transform_strict('{}', '{"a": {"b": ["GEOMETRY[]"]}}') ### nothing can be cast to GEOMETRY
SELECT from_json('1', lower('"INTEGER"')) ### must be a structure
SELECT from_json('1', structure := '"BIT"') ### must be a structure
SELECT from_json('1', '{"a": 1}') ### no type
SELECT from_json('1', 'INTEGER') ### not JSON
SELECT 1::regclass ### nothing can be cast to regclass
SELECT 1::kept.games ### nothing can be cast to kept.games
SELECT '1'::BIT ### nothing can be cast to BIT
SELECT [1]::STRUCT(a VARIANT)[] ### nothing can be cast to VARIANT
""".strip("\n").splitlines()
)
