-- What a column of these types may say. In a result they are text: a cast on every row read would cost three times the scan.
CREATE TYPE game_status AS ENUM ('RUNNING', 'WON', 'CLOSED');
CREATE TYPE round_ending AS ENUM ('EMPTY_HAND', 'BLOCKED', 'EXHAUSTED', 'TRICKS_PLAYED', 'VOID', 'MATCH_WON');
CREATE TYPE turn_kind AS ENUM ('TILE_PLAYED', 'CARD_PLAYED', 'TURN_PASSED', 'TRUMP_DECIDED', 'CARDS_DISCARDED');
CREATE TYPE arm AS ENUM ('LEFT', 'RIGHT', 'UP', 'DOWN');
CREATE TYPE trump_decision AS ENUM ('STAND', 'BEG', 'GIVE', 'RUN');
CREATE TYPE suit AS ENUM ('S', 'H', 'D', 'C');
CREATE TYPE void_reason AS ENUM ('STOCK_SHORT', 'SUITS_REJECTED');
CREATE TYPE point_kind AS ENUM ('HIGH', 'LOW', 'JACK', 'GAME', 'TURNED_JACK', 'GIFT', 'INFRACTION');
CREATE TYPE pass_kind AS ENUM ('TOKEN', 'GHOST', 'WAIT');
CREATE TYPE ruling_kind AS ENUM ('MOVES_RETRACTED', 'GAME_CLOSED', 'NOTE_ADDED', 'INFRACTION_CALLED');
