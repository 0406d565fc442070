"""The compiled form of the core: the same typed source through mypyc, in wheels that are asked for it.

Without being asked a wheel is pure Python and needs no compiler: `make compiled`, or HATCH_BUILD_HOOKS_ENABLE=1 in the
environment of any build. The sources go into the wheel as well, so that tracebacks show them and tools read them.
"""

import shutil
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledModules(BuildHookInterface[Any]):
    """Compiles the modules that pyproject.toml names, and puts them beside their sources in the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, unless the sources themselves are installed, where what is edited must be what runs."""
        if version == "editable":
            return
        root = Path(self.root)
        folder = root / "build" / f"mypyc-{sys.implementation.cache_tag}"
        shutil.rmtree(folder, ignore_errors=True)
        for module in _compiled(root, self._sources(root), folder):
            build_data["force_include"][str(module)] = module.relative_to(folder / "lib").as_posix()
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def _sources(self, root: Path) -> list[str]:
        names = [path.relative_to(root).as_posix() for pattern in self.config["modules"] for path in root.glob(pattern)]
        assert names, "there are modules to compile"
        return sorted(names)


def _compiled(root: Path, sources: list[str], folder: Path) -> list[Path]:
    """The modules made of these sources, below `folder`/lib as they lie in a wheel."""
    # Only where something is compiled must there be a compiler for it.
    from mypyc.build import mypycify
    from setuptools import Distribution
    from setuptools.command.build_ext import build_ext
    from setuptools.errors import CCompilerError, PlatformError

    extensions = mypycify(
        ["--config-file", str(root / "pyproject.toml"), *sources],
        opt_level="3",
        debug_level="0",
        group_name="heptalog",
        target_dir=str(folder / "c"),
    )
    command = build_ext(Distribution({"name": "heptalog", "ext_modules": extensions}))
    command.build_lib = str(folder / "lib")
    command.build_temp = str(folder / "temp")
    command.ensure_finalized()
    try:
        command.run()
    except (CCompilerError, PlatformError) as error:
        raise RuntimeError(f"{error}; the compiled form needs a C compiler, the form as written does not") from error
    return sorted(path for path in (folder / "lib").rglob("*") if path.is_file())
