"""What became of a program in Rust that read one dump. Its messages distinguish a panic and too little memory from an error."""

from __future__ import annotations

import os
import re
from dataclasses import replace

from hprof_conformance import serve
from hprof_conformance.protocol import Reply

_PANIC = 101  # the exit status of a program that panicked
_VARYING = re.compile(r" \(\d+\)(?= panicked)|/\S*/registry/src/[^/]+/")  # numbers of threads, folders of the build
_HINT = re.compile(r"^.*RUST_BACKTRACE.*$", re.MULTILINE)
_ALLOCATION = re.compile(r"memory allocation of \d+ bytes failed|bad_alloc|out of memory", re.IGNORECASE)


def without_paths(said: str) -> str:
    """A message of a program without what is another in each build or run."""
    return _VARYING.sub("", said)


def run(command: list[str], case: str) -> tuple[Reply, str]:
    """And its standard output."""
    os.environ["RUST_BACKTRACE"] = "0"  # the message is in the last lines
    reply, found = serve.run(command, case)
    if reply.outcome == "accepted":
        return reply, found.stdout
    message = serve.message(found.returncode, _HINT.sub("", without_paths(found.stderr or found.stdout)))
    panicked = found.returncode == _PANIC or "panicked at" in found.stderr
    outcome = "out of memory" if _ALLOCATION.search(message) else "crashed" if panicked else reply.outcome
    return replace(reply, outcome=outcome, message=message), found.stdout
