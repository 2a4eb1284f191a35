"""hprof-gen as its tests run it, and what its sentences list."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
from some_cases import shortened

TOOL = os.environ["HPROF_GEN"]
VALIDATOR = os.environ["HPROF_VALIDATE"]
SOURCE = Path(__file__).resolve().parents[2]
SCHEMA = jsonschema.Draft202012Validator(json.loads((SOURCE / "generator/manifest.schema.json").read_text()))
IS_SLOW = "HPROF_SLOW" in os.environ
LOADS = "javac, web, map or none"
HOTSPOTS = [f"hotspot-{version}" for version in (8, 11, 17, 21, 25, 28)]
AGENTS = [f"sa-{version}" for version in (11, 17, 21, 25, 28)]
LIKES = ", ".join(["plain, hotspot", *HOTSPOTS, "jdk8-agent, jvmpi-agent, sa", *AGENTS, "graalvm, mat or android"])
SHAPES = "mixed, list, tree, graph, arrays, strings, wide, deep or threads"

Arg = str | Path


class Done:
    def __init__(self, process: "subprocess.CompletedProcess[bytes]") -> None:
        self.status = process.returncode
        self.out = process.stdout
        self.err = process.stderr.decode()


def run(*args: Arg, cwd: Path | None = None, **kwargs: Any) -> Done:
    given: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return Done(subprocess.run([TOOL, *args], cwd=cwd, timeout=120, check=False, **given | kwargs))


# pytest shows the values of an assertion in a test file, but not in this one: messages here contain them.


def dump(*args: Arg, objects: int = 1000) -> bytes:
    done = run(f"--objects={objects}", *args)
    assert (done.status, done.err) == (0, ""), (done.status, done.err)
    return bytes(done.out)


def truth(*args: Arg, folder: Path) -> Any:
    """The manifest of a dump, checked against its schema."""
    done = run("-o", "dump.hprof", "--manifest", "truth.json", *args, cwd=folder)
    assert (done.status, done.err) == (0, ""), (done.status, done.err)
    manifest = json.loads((folder / "truth.json").read_text())
    SCHEMA.validate(shortened(manifest))
    return manifest


_MEASURE = """
import os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, used = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), used.ru_maxrss * 1024)
"""


def memory_of(*command: Arg) -> tuple[int, int]:
    """The exit status, and the most bytes of memory. A small process measures it: a child starts with the memory of its parent."""
    done = subprocess.run([sys.executable, "-c", _MEASURE, *command], check=True, capture_output=True, text=True)
    status, memory = map(int, done.stdout.split())
    return status, memory
