"""Whoever asks may die at any moment: nothing of its questions lives on."""

import os
import signal
import subprocess
import sys
from typing import Final

import msgspec

from heptalog.analytics.snapshots import Snapshot
from tests.analytics.asking import children_of, ending_of, wait_for_end

ASKER: Final = """
import sys
import msgspec
from heptalog.analytics.asking import Limits, Workers
from heptalog.analytics.snapshots import Snapshot

snapshot = msgspec.msgpack.decode(bytes.fromhex(sys.argv[1]), type=Snapshot)
workers = Workers()
sqls = (
    "SELECT count(*) FROM range(1000000000000)",
    "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range < -b.range",
    "SELECT * FROM range(1000000000)",
)
answers = [workers.ask(sql, snapshot, Limits(seconds=600.0, rows=1 << 40)) for sql in sqls]
# Its first piece says that it runs, and so that the others do, whose turn came before.
next(iter(answers[-1]))
print(workers._process.pid, flush=True)
sys.stdin.read()
"""


def test_a_killed_asker_leaves_nothing(snapshot: Snapshot) -> None:
    text = msgspec.msgpack.encode(snapshot).hex()
    command = [sys.executable, "-c", ASKER, text]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as asker:
        assert asker.stdout is not None
        nursery = int(asker.stdout.readline())
        processes = [nursery, *children_of(nursery)]
        assert len(processes) == 4
        endings = [ending_of(process) for process in processes]
        asker.send_signal(signal.SIGKILL)
        for ending in endings:
            wait_for_end(ending)
        asker.wait()


def test_a_killed_nursery_leaves_nothing(snapshot: Snapshot) -> None:
    text = msgspec.msgpack.encode(snapshot).hex()
    command = [sys.executable, "-c", ASKER, text]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as asker:
        assert asker.stdout is not None
        nursery = int(asker.stdout.readline())
        endings = [ending_of(process) for process in children_of(nursery)]
        assert len(endings) == 3
        os.kill(nursery, signal.SIGKILL)
        for ending in endings:
            wait_for_end(ending)
        asker.communicate("")
