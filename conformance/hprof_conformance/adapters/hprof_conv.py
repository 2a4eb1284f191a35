"""hprof-conv, which converts 1.0.3 to 1.0.2: its output shows what it read.

python -m hprof_conformance.adapters.hprof_conv NAME VERSION BUGS PROGRAM
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from hprof_conformance.cases import truth_of
from hprof_conformance.protocol import Hello, Reply
from hprof_conformance.serve import run, serve
from hprof_corpus.truth import holds
from hprof_corpus.walk import FramingError

COUNTS = ["strings", "classes", "instances", "object_arrays", "primitive_arrays", "objects", "roots"]
DIGESTS = ["strings", "classes", "loaders", "statics", "instances", "object_arrays", "primitive_arrays"]
UNSUPPORTED = {
    "version-1.0.1": "converts Android's 1.0.3",
    "version-1.0.2": "is what it converts to",
    "id-size-8": "takes every ID for four bytes, as Android writes them",
    "gzip": "opens plain files only",
}


def read(program: list[str], case: str, file: Path) -> Reply:
    converted = file.with_suffix(".converted")
    reply, _ = run([*program, str(file), str(converted)], case)
    if reply.outcome != "accepted":
        return reply
    data = memoryview(converted.read_bytes())
    try:
        counts = holds(data).counts()
    except FramingError as error:  # then nothing is given
        return replace(reply, notices=[f"its output is malformed: {error}"])
    exact = truth_of(data, counts).exact or {}
    return replace(reply, counts={name: counts[name] for name in COUNTS}, digests={name: exact[name] for name in DIGESTS})


def main() -> None:
    name, version, bugs, *program = sys.argv[1:]
    hello = Hello(name, version, bugs, UNSUPPORTED, COUNTS, DIGESTS, "exact")
    serve(hello, lambda case, file: read(program, case, file))


if __name__ == "__main__":
    main()
