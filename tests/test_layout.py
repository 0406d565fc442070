"""The house rules that a program can check."""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOTS = ("proto", "replay", "service", "cli", "analytics")
ARROWS = {
    "replay": {"replay"},
    "service": {"replay", "analytics", "service", "v1"},
    "analytics": {"replay", "analytics"},
    "cli": {"replay", "service", "analytics", "cli"},
}
# The edges that know the generated code; rules never see it.
KNOW_THE_WIRE = {
    "replay/heptalog/replay/bodies.py",
    "replay/heptalog/replay/codec.py",
    "service/heptalog/service/admin.py",
    "service/heptalog/service/appending/reading.py",
    "service/heptalog/service/appending/streaming.py",
    "service/heptalog/service/audit.py",
    "service/heptalog/service/backup/messages.py",
    "service/heptalog/service/client/asynchronous.py",
    "service/heptalog/service/client/calls.py",
    "service/heptalog/service/client/feeds.py",
    "service/heptalog/service/client/flight.py",
    "service/heptalog/service/client/joint.py",
    "service/heptalog/service/client/synchronous.py",
    "service/heptalog/service/examining/messages.py",
    "service/heptalog/service/followed.py",
    "service/heptalog/service/games.py",
    "service/heptalog/service/log.py",
    "service/heptalog/service/query.py",
    "service/heptalog/service/recorded.py",
    "service/heptalog/service/server.py",
    "service/heptalog/service/subscribing/messages.py",
    "service/heptalog/service/wire.py",
}
# What replay may use of the standard library: nothing that opens, asks a clock or draws.
PURE = {
    "base64",
    "collections",
    "dataclasses",
    "datetime",
    "enum",
    "functools",
    "hashlib",
    "itertools",
    "json",
    "operator",
}
PURE |= {"re", "struct", "types", "typing", "msgspec", "heptalog"}
KNOW_PROTOBUF = {"bodies.py", "codec.py", "mapping.py"}
GAME_FILES = {
    "__init__.py",
    "apply.py",
    "check.py",
    "dealing.py",
    "events.py",
    "legal.py",
    "outcomes.py",
    "scoring.py",
    "state.py",
    "tables.py",
    "view.py",
    "words.py",
}
LINES_A_FILE_MAX = 400
LINES_A_FUNCTION_MAX = 70


def python_files(*folders: str) -> Iterator[Path]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "_pb2" not in path.name:
                yield path


OURS = [path.relative_to(ROOT).as_posix() for path in python_files(*ROOTS)]
EVERYTHING = [path.relative_to(ROOT).as_posix() for path in python_files(*ROOTS, "tests", "bench")]


def imports_of(name: str) -> Iterator[str]:
    for node in ast.walk(ast.parse((ROOT / name).read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}:{node.lineno} imports relatively"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("name", OURS)
def test_arrows_point_the_right_way(name: str) -> None:
    allowed = ARROWS.get(name.split("/", maxsplit=1)[0], set())
    for imported in imports_of(name):
        if imported.startswith("heptalog."):
            folder = imported.split(".")[1]
            if folder in ("v1", "internal"):
                assert name in KNOW_THE_WIRE, f"{name} imports {imported}"
            else:
                assert folder in allowed, f"{name} imports {imported}"


@pytest.mark.parametrize("name", sorted(KNOW_THE_WIRE))
def test_an_edge_knows_the_wire(name: str) -> None:
    assert any(imported.startswith(("heptalog.v1.", "heptalog.internal.")) for imported in imports_of(name))


@pytest.mark.parametrize("name", [name for name in OURS if name.startswith("replay/")])
def test_replay_remembers_within_bounds(name: str) -> None:
    """What a pure function has answered may be kept: so much of it, and nothing else."""
    for node in ast.walk(ast.parse((ROOT / name).read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "functools":
            assert "cache" not in {alias.name for alias in node.names}, f"{name}:{node.lineno} is without a bound"
        for decorator in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
            spelled = ast.unparse(decorator)
            if "lru_cache" in spelled:
                bound = re.fullmatch(r"lru_cache\((?:maxsize=)?([A-Z_]+_(?:MAX|KEPT))\)", spelled)
                assert bound, f"{name}:{decorator.lineno} names no bound"


@pytest.mark.parametrize("name", [name for name in OURS if name.startswith("replay/")])
def test_replay_is_arithmetic(name: str) -> None:
    may_know_protobuf = Path(name).name in KNOW_PROTOBUF
    for imported in imports_of(name):
        first = imported.split(".", maxsplit=1)[0]
        assert first in PURE or (first == "google" and may_know_protobuf), f"{name} imports {imported}"
    source = (ROOT / name).read_text()
    assert not re.search(r"\b(open|print|input)\(|\.(now|utcnow|today)\(|^\s*global\b", source, re.MULTILINE), name


@pytest.mark.parametrize("name", EVERYTHING)
def test_files_and_functions_are_short(name: str) -> None:
    source = (ROOT / name).read_text()
    assert source.count("\n") <= LINES_A_FILE_MAX, f"{name} is too long"
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
            length = node.end_lineno - node.lineno + 1
            assert length <= LINES_A_FUNCTION_MAX, f"{name}:{node.lineno} {node.name} has {length} lines"


@pytest.mark.parametrize("name", OURS)
def test_everything_public_has_a_docstring(name: str) -> None:
    tree = ast.parse((ROOT / name).read_text())
    assert ast.get_docstring(tree), f"{name} says nothing of itself"
    for node in public_in(tree):
        assert ast.get_docstring(node), f"{name}:{node.lineno} {node.name} has no docstring"
        if isinstance(node, ast.ClassDef):
            for method in public_in(node):
                is_told = ast.get_docstring(method) or method.name in told_elsewhere(node)
                assert is_told, f"{name}:{method.lineno} {node.name}.{method.name} has no docstring"


def public_in(node: ast.Module | ast.ClassDef) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """What is defined there for others."""
    for child in node.body:
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not child.name.startswith("_"):
            yield child


def told_elsewhere(node: ast.ClassDef) -> set[str]:
    """The methods of a class that somebody else tells of: its bases, and what its docstring says that it is.

    Those of a servicer are told of in `proto/`. The properties of a protocol are its fields, told of by itself.
    """
    named = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
    named |= set(re.findall(r"\w+", ast.get_docstring(node) or ""))
    if "Protocol" in named:
        return {child.name for child in public_in(node) if child.decorator_list}
    if any(name.endswith("Servicer") for name in named):
        return {child.name for child in public_in(node)}
    return {method for name in named for method in told_by().get(name, ())}


@cache
def told_by() -> dict[str, set[str]]:
    """For each class of ours the methods that it tells of, or its bases do."""
    told: dict[str, set[str]] = {}
    bases: dict[str, set[str]] = {}
    for name in OURS:
        for node in public_in(ast.parse((ROOT / name).read_text())):
            if isinstance(node, ast.ClassDef):
                methods = {method.name for method in public_in(node) if ast.get_docstring(method)}
                told.setdefault(node.name, set()).update(methods)
                bases.setdefault(node.name, set()).update(base.id for base in node.bases if isinstance(base, ast.Name))
    return {name: methods.union(*(told.get(base, ()) for base in bases[name])) for name, methods in told.items()}


def test_no_root_hides_the_others() -> None:
    assert not [root for root in ROOTS if (ROOT / root / "heptalog" / "__init__.py").exists()]


def test_only_the_generator_lies_in_a_source_root() -> None:
    # Python files there would be importable names of their own.
    assert [path.name for root in ROOTS for path in (ROOT / root).glob("*.py")] == ["gen.py"]


def test_every_portion_is_typed() -> None:
    portions = [ROOT / root / "heptalog" / ("v1" if root == "proto" else root) for root in ROOTS]
    portions.append(ROOT / "proto/heptalog/internal/v1")
    assert all((portion / "py.typed").exists() for portion in portions)


def test_the_roots_are_spelled_alike_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    assert project["hatch"]["build"]["dev-mode-dirs"] == list(ROOTS)
    assert project["hatch"]["build"]["targets"]["wheel"]["packages"] == [f"{root}/heptalog" for root in ROOTS]
    assert project["mypy"]["mypy_path"] == [*ROOTS, "."]
    assert project["pyright"]["extraPaths"] == [*ROOTS, "."]
    assert project["ruff"]["src"] == [*ROOTS, "."]
    assert project["coverage"]["run"]["source"] == [root for root in ROOTS if root != "proto"]


def test_every_game_has_the_same_files() -> None:
    games = [folder for folder in (ROOT / "replay/heptalog/replay").iterdir() if (folder / "tables.py").exists()]
    assert len(games) >= 3
    for game in games:
        assert {path.name for path in game.glob("*.py")} == GAME_FILES, game.name


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock"])
def test_a_lock_has_hashes_and_names_no_host(name: str) -> None:
    lock = (ROOT / name).read_text()
    pinned = re.findall(r"^[\w.-]+(?:\[\w+\])?==.*", lock, re.MULTILINE)
    assert len(pinned) > 10
    assert all(line.endswith("\\") for line in pinned), "every pin is followed by its hashes"
    assert "--hash=sha256:" in lock
    assert "://" not in lock


def test_the_locks_agree() -> None:
    pins = [
        set(re.findall(r"^([\w.-]+(?:\[\w+\])?==\S+(?: ; [^\\]+)?)", (ROOT / name).read_text(), re.MULTILINE))
        for name in ("requirements.lock", "requirements-dev.lock")
    ]
    assert pins[0] <= pins[1]


def test_the_generated_code_runs_on_the_declared_floors() -> None:
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    floors = {
        match[1]: tuple(map(int, match[2].split(".")))
        for dependency in dependencies
        if (match := re.match(r"([\w-]+)>=([\d.]+)", dependency))
    }
    generated = (ROOT / "proto/heptalog/v1/log_pb2_grpc.py").read_text()
    grpc = re.search(r"GRPC_GENERATED_VERSION = '([\d.]+)'", generated)
    protobuf = re.search(r"Protobuf Python Version: ([\d.]+)", (ROOT / "proto/heptalog/v1/log_pb2.py").read_text())
    assert grpc
    assert protobuf
    assert floors["grpcio"] + (0,) >= tuple(map(int, grpc[1].split(".")))
    assert floors["protobuf"] >= tuple(map(int, protobuf[1].split(".")))
