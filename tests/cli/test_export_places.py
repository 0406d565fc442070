"""Where `heptalog export` writes to: what is there and is no ordinary file is never replaced."""

import os
import stat
from pathlib import Path
from threading import Thread

from tests.cli.running import run


def test_a_dash_is_stdout(game: Path) -> None:
    assert run("export", game, "--out", "-") == run("export", game)
    assert not Path("-").exists()


def test_a_pipe_is_written_into(game: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for place in (pipe, tmp_path / "link"):
        if place != pipe:
            place.symlink_to(pipe)
        read: list[bytes] = []
        reader = Thread(target=lambda read=read: read.append(pipe.read_bytes()), daemon=True)
        reader.start()
        ended = run("export", game, "--out", place)
        reader.join(60)
        assert (ended.code, ended.err) == (0, "")
        assert read == [run("export", game).out.encode()]
        assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert place.is_symlink()


def test_a_link_stays_a_link(game: Path, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for name in ("there.jsonl", "not-yet.jsonl"):
        link = tmp_path / name
        link.symlink_to(folder / name)
    (folder / "there.jsonl").write_text("what was there")
    (folder / "there.jsonl").chmod(0o600)
    for name in ("there.jsonl", "not-yet.jsonl"):
        assert run("export", game, "--out", tmp_path / name).code == 0
        assert (tmp_path / name).is_symlink()
        assert (folder / name).read_text() == run("export", game).out
    assert stat.S_IMODE((folder / "there.jsonl").stat().st_mode) == 0o600
    assert sorted(path.name for path in folder.iterdir()) == ["not-yet.jsonl", "there.jsonl"]


def test_a_log_or_a_key_is_never_written_over(database: Path, tmp_path: Path) -> None:
    key = tmp_path / "season.key"
    assert run("keygen", "example.org/season", "--out", key).code == 0
    game_id = run("games", database, "--format", "json").document[0]["gameId"]
    for place in (database, database.with_name(database.name + ".head"), key):
        content = place.read_bytes()
        ended = run("export", f"{database}#{game_id}", "--out", place)
        assert ended.code == 3
        assert ended.err.endswith(" [WRITE_FAILED]\n")
        assert place.read_bytes() == content


def test_what_cannot_be_written_is_said_to_be_so(game: Path, tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for place in (game / "x.jsonl", tmp_path / "no" / "x.jsonl", loop):
        ended = run("export", game, "--out", place)
        assert (ended.code, ended.out, ended.err.count("\n")) == (3, "", 1)
        assert ended.err.startswith(f"heptalog: {place}: it cannot be written: ")
        assert ended.err.endswith(" [WRITE_FAILED]\n")


def test_all_games_go_into_folders_only(database: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for place in ("-", pipe):
        assert run("export", database, "--out", place).code == 2
    assert stat.S_ISFIFO(pipe.stat().st_mode)
