CREATE TABLE records (game_number BIGINT, position BIGINT, sequence BIGINT, record BLOB);
CREATE TABLE games (game_number BIGINT, game_id VARCHAR);
CREATE TABLE refusals (
    number BIGINT, game_id VARCHAR, sequence BIGINT, refused_at BIGINT, recorded_by VARCHAR, kind VARCHAR,
    code VARCHAR, rule VARCHAR, content BLOB
);
CREATE TABLE marks (position BIGINT, record BLOB);
CREATE TABLE moment (position BIGINT, refusals BIGINT);
