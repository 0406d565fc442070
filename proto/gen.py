"""Generate the Python code and its stubs beside the .proto files; `--check` fails where what is committed differs."""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).parent
PACKAGES = (Path("heptalog/v1"), Path("heptalog/internal/v1"))
SERVICES = ("admin.proto", "audit.proto", "games.proto", "log.proto", "query.proto")


def generate(out: Path) -> None:
    """Write the generated files of every .proto below `out`."""
    # The stub plugins are scripts beside this interpreter, which need not be on the path of who calls it.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    protos = sorted(path.relative_to(ROOT).as_posix() for path in below(ROOT, "*.proto"))
    services = [name for name in protos if Path(name).name in SERVICES]
    well_known = resources.files("grpc_tools") / "_proto"
    base = ["protoc", f"-I{ROOT}", f"-I{well_known}"]
    run([*base, f"--python_out={out}", f"--mypy_out=quiet:{out}", *protos])
    run([*base, f"--grpc_python_out={out}", f"--mypy_grpc_out=quiet:{out}", *services])


def below(root: Path, pattern: str) -> Iterator[Path]:
    """The files of every package."""
    return (path for package in PACKAGES for path in (root / package).glob(pattern))


def run(arguments: list[str]) -> None:
    """Run protoc in this process; stop with its exit code where it fails."""
    if code := protoc.main(arguments):
        sys.exit(code)


def differences(out: Path) -> list[str]:
    """The generated files that are missing, left over or different below proto/."""
    fresh = {path.relative_to(out): path.read_bytes() for path in out.rglob("*_pb2*")}
    committed = {path.relative_to(ROOT): path.read_bytes() for path in below(ROOT, "*_pb2*")}
    return sorted(str(path) for path in fresh.keys() | committed.keys() if fresh.get(path) != committed.get(path))


def main() -> None:
    """Generate, or check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where the committed files differ")
    if not parser.parse_args().check:
        generate(ROOT)
        return
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder))
        if stale := differences(Path(folder)):
            sys.exit(f"generated code differs, run `make gen`: {', '.join(stale)}")
    print("generated code is up to date")


if __name__ == "__main__":
    main()
