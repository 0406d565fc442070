"""Fuzzing `heptalog verify` with databases of which some bytes are changed, in a process of its own: an engine can die.

An input is the changes, one a line: a file, a place, a byte. After `fit` the checksum of each changed block is made to
fit, as no accident would, so that what stands behind it is tried as well; then the engine itself may die, which is
counted. Whatever is changed, a database that is found good has every record that it had.
"""

import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np

from heptalog.replay.registry import GAMES
from heptalog.service.store.duck import DuckStore
from tests.cli.running import run
from tests.fuzz.targets import Target
from tests.support.recording import batches_of, recorded_game

ROOT: Final = Path(__file__).parent.parent.parent
WAIT_SECONDS: Final = 120
NAME: Final = "log.duckdb"
FIT: Final = b"fit"
# How the engine lays out a file: three headers, then blocks, each with a checksum before it.
HEADER_SIZE: Final = 4096
HEADER_COUNT: Final = 3
BLOCK_SIZE: Final = 262_144
CHECKSUM_SIZE: Final = 8
_SEED: Final = np.uint64(5381)
_FACTOR: Final = np.uint64(0xBF58476D1CE4E5B9)


@cache
def files() -> dict[str, bytes]:
    """A small log as a killed server leaves it: the database, its write-ahead log and what lies beside them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / NAME
        store = DuckStore(path)
        batches = [batches_of(recorded_game(rules, seed, event_count_max=30)) for rules in GAMES for seed in range(2)]
        for batch in batches[:4]:
            store.append(batch)
        store.close()
        store = DuckStore(path)
        for batch in batches[4:]:
            store.append(batch)
        left = {file.name: file.read_bytes() for file in Path(folder).iterdir() if file.is_file()}
        store.close()
    return left


def digest_of(path: Path) -> str:
    """One number for all records, in their order."""
    store = DuckStore(path, is_read_only=True)
    try:
        return sha256(b"".join(stored.record for stored in store.read_all())).hexdigest()
    finally:
        store.close()


class Verifying:
    """`heptalog verify` in a process that is started again whenever it has died."""

    def __init__(self) -> None:
        self.died = 0
        self._child: subprocess.Popen[bytes] | None = None
        self._folder = Path(tempfile.mkdtemp(prefix="heptalog-fuzz-"))
        for name, content in files().items():
            (self._folder / name).write_bytes(content)
        self._good = self._asked()
        assert self._good["code"] == 0, self._good

    def close(self) -> None:
        """End the process."""
        self._end()
        shutil.rmtree(self._folder, ignore_errors=True)

    def check(self, data: bytes) -> bool:
        """Verify a changed database; a good one has every record that it had."""
        for file in self._folder.iterdir():
            if file.name not in files():
                file.unlink() if file.is_file() else shutil.rmtree(file)
        is_fit = apply_changes(self._folder, data)
        try:
            answer = self._asked()
        except ChildProcessError:
            assert is_fit, "only behind a checksum that was made to fit may the engine die"
            self.died += 1
            return False
        assert answer["code"] in (0, 1, 3), answer
        assert "Traceback" not in answer["err"]
        assert answer["code"] or answer["digest"] == self._good["digest"], answer
        return not answer["code"]

    def _asked(self) -> dict[str, Any]:
        if self._child is None:
            command = [sys.executable, "-m", "tests.fuzz.databases"]
            self._child = subprocess.Popen(
                command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.write(os.fsencode(self._folder / NAME) + b"\n")
        self._child.stdin.flush()
        ready, _, _ = select.select([self._child.stdout], [], [], WAIT_SECONDS)
        line = self._child.stdout.readline() if ready else b""
        if not line:
            self._end()
            if not ready:
                raise TimeoutError("a verification has not ended")
            raise ChildProcessError
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _end(self) -> None:
        if self._child is not None:
            self._child.kill()
            for pipe in (self._child.stdin, self._child.stdout):
                assert pipe is not None
                with suppress(BrokenPipeError):
                    pipe.close()
            self._child.wait()
            self._child = None


def apply_changes(folder: Path, data: bytes) -> bool:
    """Lay out the log with these changes; whether checksums are made to fit."""
    changed = {name: bytearray(content) for name, content in files().items()}
    places: set[int] = set()
    is_fit = False
    for line in data.splitlines():
        words = line.split()
        is_fit |= words == [FIT]
        if len(words) == 3 and (content := changed.get(words[0].decode(errors="replace"))) and words[1].isdigit():
            place = int(words[1]) % len(content)
            content[place] = int(words[2][:2] or b"0", 16) if words[2][:2].isalnum() else 0
            if words[0].decode() == NAME:
                places.add(place)
    if is_fit:
        for start, size in {_block_of(place) for place in places}:
            _fit(changed[NAME], start, size)
    for name, content in changed.items():
        (folder / name).write_bytes(content)
    return is_fit


def _block_of(place: int) -> tuple[int, int]:
    """Where the block of a place begins, and its size."""
    first = HEADER_SIZE * HEADER_COUNT
    if place < first:
        return place // HEADER_SIZE * HEADER_SIZE, HEADER_SIZE
    return first + (place - first) // BLOCK_SIZE * BLOCK_SIZE, BLOCK_SIZE


def _fit(content: bytearray, start: int, size: int) -> None:
    words = np.frombuffer(bytes(content[start + CHECKSUM_SIZE : start + size]), dtype="<u8")
    if words.size * 8 == size - CHECKSUM_SIZE:
        checksum = np.bitwise_xor.reduce(words * _FACTOR) ^ _SEED
        content[start : start + CHECKSUM_SIZE] = int(checksum).to_bytes(CHECKSUM_SIZE, "little")


def _spoil(data: bytes, random: Random) -> bytes:
    """Further changes, mostly where there is something."""
    lines = [data] if data else []
    for _ in range(random.choice((1, 1, 1, 3, 16))):
        name = random.choice((NAME, NAME, NAME, NAME + ".wal", *files()))
        content = files().get(name, b"")
        if not content:
            continue
        start = random.choice(_used(name)) if random.random() < 0.9 else random.randrange(len(content))
        place = (start + random.randrange(64)) % len(content)
        byte = random.choice((content[place] ^ 1 << random.randrange(8), random.randrange(256)))
        lines.append(f"{name} {place} {byte:02x}".encode())
    if FIT not in lines and random.random() < 0.5:
        lines.append(FIT)
    return b"\n".join(lines)


@cache
def _used(name: str) -> Sequence[int]:
    """Where a file is not empty, by 64 bytes."""
    content = files()[name]
    return [place for place in range(0, len(content), 64) if any(content[place : place + 64])] or [0]


def target_of(verifying: Verifying) -> Target:
    """The target that is this process."""
    # Each costs a process where the engine dies of it: the long run is for `make trials`.
    return Target("database", lambda: [b""], _spoil, verifying.check, tries=8)


def main() -> None:
    """Verify every database that is named on stdin, and tell what came of it; for `Verifying`."""
    for line in sys.stdin.buffer:
        path = Path(os.fsdecode(line.rstrip(b"\n")))
        ended = run("verify", path, "--format", "jsonl", "--jobs", "1")
        answer = {"code": ended.code, "err": ended.err, "digest": "" if ended.code else digest_of(path)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
