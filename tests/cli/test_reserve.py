"""Sizes as a person writes them, and the reserve of a disk as the program keeps it."""

from pathlib import Path

import pytest

from heptalog.cli.exits import WrongUse
from heptalog.cli.sizes import size_of
from heptalog.replay.errors import Code, Unavailable
from heptalog.replay.sentences import sentence, shown_size
from heptalog.service.client import Client
from heptalog.service.store import space
from tests.cli.running import run, serving
from tests.service.asking import ROCKS

MIB = 1024 * 1024


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("512", 512),
        ("512B", 512),
        ("1kB", 1000),
        ("1 KiB", 1024),
        ("512MiB", 512 * MIB),
        ("512mib", 512 * MIB),
        ("1.5MiB", 3 * MIB // 2),
        ("0.5 GB", 500_000_000),
        ("2TB", 2 * 10**12),
        (" 2 TiB ", 2 * 1024**4),
    ],
)
def test_a_size(text: str, size: int) -> None:
    assert size_of(text, "--reserve") == size


@pytest.mark.parametrize(
    "text", ["", "MiB", "-1", "1.5", "1.5B", "1e9", "512M", "5%", "1..5MiB", "٣MiB", "9" * 19, "1 MiB 2", "0x10"]
)
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(WrongUse, match="--reserve"):
        size_of(text, "--reserve")


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1024, "1.0 KiB"), (1536 * MIB, "1.5 GiB"), (2**60, "1048576.0 TiB")],
)
def test_a_size_for_eyes(size: int, text: str) -> None:
    assert shown_size(size) == text


def test_a_server_with_a_reserve(tmp_path: Path, game: Path) -> None:
    path = tmp_path / "games.duckdb"
    with (
        serving(path, "--no-tables", "--reserve", "1000TiB") as served,
        Client(served.url.removeprefix("grpc://")) as client,
    ):
        with pytest.raises(Unavailable) as caught:
            client.create_game(ROCKS, game_id="new")
        assert caught.value.code is Code.DISK_RESERVE
        assert caught.value.facts["reserve"] == 1000 * 1024**4
        assert list(client.games()) == []
        assert "reserve 1000.0 TiB" in sentence(caught.value)
        refused = run("import", game, "--into", served.url)
        assert (refused.code, "[DISK_RESERVE]" in refused.err) == (3, True)
        assert "reserve 1000.0 TiB" in refused.err
        assert served.stopped() == 0
    with serving(path, "--no-tables", "--reserve", "0") as served:
        assert run("import", game, "--into", served.url).code == 0


def test_a_reserve_that_is_none(tmp_path: Path) -> None:
    ended = run("serve", tmp_path / "games.duckdb", "--port", "0", "--reserve", "9 parrots")
    assert (ended.code, ended.out) == (2, "")
    assert "--reserve 9 parrots: write a size such as 512MiB" in ended.err
    assert not list(tmp_path.iterdir())


def test_importing_into_a_file_leaves_the_reserve_too(
    tmp_path: Path, game: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space, "RESERVE_PARTS", 1)
    monkeypatch.setattr(space, "RESERVE_MAX", 2**62)
    ended = run("import", game, "--into", tmp_path / "games.duckdb")
    assert ended.code == 3
    assert "[DISK_RESERVE]" in ended.err
    monkeypatch.undo()
    assert run("import", game, "--into", tmp_path / "games.duckdb").code == 0
