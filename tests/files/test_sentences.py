"""Codes into sentences: every code has one, and facts are told so that a person knows what to look for."""

from heptalog.replay.errors import Code, Corrupt, Refused, error_of
from heptalog.replay.sentences import SENTENCES, sentence


def test_every_code_has_its_sentence() -> None:
    assert set(SENTENCES) == set(Code)
    assert all(sentence(error_of(code)) == SENTENCES[code] for code in Code)


def test_the_facts_and_the_rule_stand_behind_it() -> None:
    error = Refused(Code.NOT_YOUR_TURN, rule="SR-R10", seat=0, to_act=(1, 2))
    assert sentence(error) == "it is not this seat's turn: seat 0, to act 1 2 (SR-R10)"


def test_a_problem_comes_first_and_the_place_is_told_elsewhere() -> None:
    error = Corrupt(Code.CHAIN_BROKEN, rule="evidence", game_id="final", problem="its hash is missing", sequence=7)
    assert sentence(error) == "the chain of hashes is broken: its hash is missing, game id final (evidence)"


def test_a_piece_that_was_left_out_is_said_to_be() -> None:
    assert sentence(Refused(Code.CARD_UNKNOWN, rule="SU-D1", card="")).endswith(": no card is named (SU-D1)")
    assert sentence(Refused(Code.TILE_UNKNOWN, rule="SR-R2", tile="")).endswith(": no tile is named (SR-R2)")
