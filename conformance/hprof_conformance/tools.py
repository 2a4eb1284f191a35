"""The programs of this project that a producer is, or that check its dumps; and what a machine lacks to have them."""

from __future__ import annotations

import functools
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from hprof_conformance import jvms
from hprof_conformance.command import RefusedError
from hprof_conformance.files import locked

if TYPE_CHECKING:
    from hprof_conformance.ways import Producer

OWN_TOOLS = {"hprof-validate": "validator", "hprof-gen": "generator"}
LIBHPROF = ("libhprof.so", "generator/agent", "HPROF_AGENT")
_TO_BUILD = (  # Debian packages
    *("cmake", "ninja-build", "gcc", "libc6-dev", "pkg-config"),
    *("libisal-dev", "libjansson-dev", "zlib1g-dev", "libssl-dev"),
)


def _variable(tool: str) -> str:
    return tool.upper().replace("-", "_")


def _found(root: Path, tool: str, folder: str, variable: str = "") -> Path | None:
    """A tool of this project: named by the environment, as it was built, or as it is installed."""
    variable = variable or _variable(tool)
    named = os.environ.get(variable)
    if named and not Path(named).exists():
        raise RefusedError(f"{variable}: {named}: no such file")
    places = (named, root / "build" / "release" / folder / tool, shutil.which(tool))
    return next((Path(path) for path in places if path and Path(path).exists()), None)


def built(root: Path, tool: str, folder: str, variable: str = "") -> Path:
    """The same, or it is built now."""
    found = _found(root, tool, folder, variable)
    if not found and not (root / "CMakeLists.txt").exists():
        raise RefusedError(f"needs {tool}: it is not on PATH, and {variable or _variable(tool)} does not name it")
    return found or _build_tools(root) / folder / tool


def lacks(root: Path, producer: Producer) -> list[str]:
    """What this machine has not, and the producer, or the check of its dumps, needs: what only root can install."""
    if producer.kind == "none":
        return []
    tools = [(name, folder, "") for name, folder in OWN_TOOLS.items() if name == "hprof-validate" or name in _uses(producer)]
    if producer.kind == "libhprof":
        tools.append(LIBHPROF)
    missing = [] if all(_found(root, *tool) for tool in tools) else _not_there("cmake", "ninja", "cc", "pkg-config")
    if producer.package and not Path(producer.start[0]).exists():
        missing.append(producer.package)
    return [f"{', '.join(missing)} ({'root installs' if os.geteuid() else 'the run installs'} what is missing)"] if missing else []


def _uses(producer: Producer) -> list[str]:
    return ["hprof-gen"] if producer.kind == "hprof-gen" else producer.start[:1]


def _not_there(*programs: str) -> list[str]:
    return [name for name in programs if not shutil.which(name)]


@functools.cache
def _build_tools(root: Path) -> Path:
    """From the sources as they are now. Raises NotHereError or NotBuiltError."""
    folder = root / "build" / "conformance" / "tools"
    commands: list[list[str | Path]] = [
        [root / "ci" / "packages", *_TO_BUILD],
        ["cmake", "--preset", "release", "-DHPROF_TESTS=OFF", "-B", folder],
        ["cmake", "--build", folder],
    ]
    with locked(folder):
        for command in commands:
            jvms.install(command, root, folder.with_suffix(".log"))
    return folder
