"""Known answers: the bytes and hashes of the evidence, as the product and a second encoder make them."""

import base64
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heptalog.replay import codec
from heptalog.replay.evidence import chain, seals
from heptalog.replay.gamefile import decode_line, encode_line
from heptalog.replay.rules import AnyRules
from heptalog.replay.verify import verify
from tests.chain import second_encoder
from tests.support.evidence import lines_of, recorded, redacted
from tests.support.play import EACH_GAME, games

VECTORS = json.loads((Path(__file__).parent / "vectors.json").read_text())


@pytest.mark.parametrize("vector", VECTORS["link"], ids=lambda vector: vector["hash"][:8])
def test_link(vector: dict[str, str]) -> None:
    previous, public = bytes.fromhex(vector["previous"]), bytes.fromhex(vector["public"])
    assert chain.link(previous, public).hex() == vector["hash"]
    assert second_encoder.link(previous, public).hex() == vector["hash"]


@pytest.mark.parametrize("vector", VECTORS["commitment"], ids=lambda vector: vector["commitment"][:8])
def test_commitment(vector: dict[str, Any]) -> None:
    salt, values = bytes.fromhex(vector["salt"]), vector["values"]
    assert seals.commitment(salt, tuple(values)).hex() == vector["commitment"]
    assert second_encoder.commitment(salt, values).hex() == vector["commitment"]


@pytest.mark.parametrize("vector", VECTORS["events"], ids=lambda vector: vector["name"])
def test_event(vector: dict[str, Any]) -> None:
    event = decode_line(json.dumps(vector["line"]).encode())
    previous = bytes.fromhex(vector["previous"])
    assert codec.public_form(event).hex() == vector["public"]
    linked, record = codec.chained(event, previous)
    assert (record.hex(), linked.hash.hex()) == (vector["record"], vector["hash"])
    assert codec.encode(linked) == record
    assert codec.decode(record) == (linked, bytes.fromhex(vector["public"]))
    assert codec.hash_in(record) == linked.hash
    assert decode_line(encode_line(event)) == event
    seals.check_seals(event.body)
    assert second_encoder.public_of(vector["line"]).hex() == vector["public"]
    chain_fields = {"previousHash": _base64(previous), "hash": _base64(linked.hash)}
    assert second_encoder.record_of({**vector["line"], **chain_fields}).hex() == vector["record"]


def test_every_kind_of_event_has_a_vector() -> None:
    names = {name for vector in VECTORS["events"] for name in vector["line"]}
    bodies = {name for name, field in second_encoder.MESSAGES["Event"].items() if field.number >= 16}
    assert bodies <= names
    assert len(bodies) == len(codec.BODIES)


def test_whole_game() -> None:
    events = [decode_line(json.dumps(entry["line"]).encode()) for entry in VECTORS["game"]]
    assert verify((event, None) for event in events).ok
    previous = chain.GENESIS
    for event, entry in zip(events, VECTORS["game"], strict=True):
        linked, record = codec.chained(event, previous)
        assert linked == event
        assert (record.hex(), linked.hash.hex()) == (entry["record"], entry["hash"])
        assert codec.public_form(event).hex() == entry["public"]
        assert second_encoder.record_of(entry["line"]).hex() == entry["record"]
        assert second_encoder.link(previous, second_encoder.public_of(entry["line"])) == linked.hash
        previous = linked.hash


@EACH_GAME
@settings(max_examples=15)
@given(data=st.data())
def test_a_second_encoder_comes_to_the_same_bytes(rules: AnyRules, data: st.DataObject) -> None:
    game = data.draw(games(rules, events_max=120))
    records = recorded(game.bodies, is_sealed=data.draw(st.booleans()), with_times=data.draw(st.booleans()))
    copies = redacted(event for event, _ in records)
    previous = chain.GENESIS
    for (event, record), line, copy in zip(
        records, lines_of(event for event, _ in records), lines_of(copies), strict=True
    ):
        tree, redacted_tree = msgspec.json.decode(line), msgspec.json.decode(copy)
        assert second_encoder.record_of(tree) == record
        public = second_encoder.public_of(tree)
        assert public == codec.public_form(event) == codec.decode(record)[1]
        assert public == second_encoder.public_of(redacted_tree)
        previous = second_encoder.link(previous, public)
        assert previous == event.hash
        for seal, values in second_encoder.seals_of(tree):
            assert second_encoder.commitment(base64.b64decode(seal["salt"]), values) == base64.b64decode(
                seal["commitment"]
            )
            assert seal["count"] == len(values)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
