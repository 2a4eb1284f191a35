"""The reader's side of the protocol, for adapters of programs that read one dump and end."""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from hprof_conformance.protocol import VERSION, Hello, Reply
from hprof_conformance.session import MOST_MEMORY

_MOST_LINES, _MOST = 3, 400


def message(status: int, said: str) -> str:
    """The last lines that a program printed before it ended."""
    lines = [line for line in said.strip().splitlines() if line]
    return f"status {status}: {' '.join(lines[-_MOST_LINES:])[:_MOST] or 'no message'}"


def run(command: list[str], case: str) -> tuple[Reply, subprocess.CompletedProcess[str]]:
    """What became of a program that read one dump: only its exit status counts. And what it printed."""
    limit = (MOST_MEMORY, MOST_MEMORY)
    found = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, limit),
    )
    if found.returncode == 0:
        return Reply(case, "accepted"), found
    outcome = "crashed" if found.returncode < 0 else "rejected"
    return Reply(case, outcome, message(found.returncode, found.stderr or found.stdout)), found


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
