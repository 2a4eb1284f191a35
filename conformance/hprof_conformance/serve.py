"""The reader's side of the protocol, for adapters of programs that read one dump and end."""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from hprof_conformance.protocol import VERSION, Hello, Reply
from hprof_conformance.session import MOST_MEMORY

_PANIC = 101  # the exit status of a Rust program that panicked
_VARYING = re.compile(r" \(\d+\)(?= panicked)|/\S*/registry/src/[^/]+/")  # numbers of threads, folders of the build
_ALLOCATION = re.compile(r"memory allocation of \d+ bytes failed|bad_alloc|out of memory|OutOfMemoryError", re.IGNORECASE)


def without_paths(said: str) -> str:
    """A message of a program without what is another in each build or run."""
    return _VARYING.sub("", said)


def run(command: list[str], case: str) -> tuple[Reply, str]:
    """What became of a program that read one dump: accepted if its status is 0. And its standard output."""
    limit = (MOST_MEMORY, MOST_MEMORY)
    found = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        env={**os.environ, "RUST_BACKTRACE": "0"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, limit),
    )
    if found.returncode == 0:
        return Reply(case, "accepted"), found.stdout
    said = without_paths(found.stderr or found.stdout)
    lines = [line for line in said.strip().splitlines() if line and "RUST_BACKTRACE" not in line]
    message = f"status {found.returncode}: {' '.join(lines[-3:])[:400] or 'no message'}"
    if _ALLOCATION.search(message):
        return Reply(case, "out of memory", message), found.stdout
    crashed = found.returncode < 0 or found.returncode == _PANIC or "panicked at" in found.stderr
    return Reply(case, "crashed" if crashed else "rejected", message), found.stdout


def serve(hello: Hello, read: Callable[[str, Path], Reply]) -> None:
    """Answers requests until standard input ends."""
    _write({"protocol": VERSION, **asdict(hello)})
    for line in sys.stdin:
        asked = json.loads(line)
        _write(asdict(read(asked["case"], Path(asked["file"]))))


def _write(message: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Any program as a reader that accepts or rejects: python -m hprof_conformance.serve PROGRAM [ARGUMENT]..."""
    parser = argparse.ArgumentParser(prog="hprof_conformance.serve", description=main.__doc__)
    parser.add_argument("--name")
    parser.add_argument("--version", default="unknown")
    parser.add_argument("program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    asked = parser.parse_args()
    hello = Hello(asked.name or Path(asked.program).name, asked.version, "", {}, [], [], "exact")
    serve(hello, lambda case, file: run([asked.program, *asked.arguments, str(file)], case)[0])


if __name__ == "__main__":
    main()
