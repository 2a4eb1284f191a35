"""jvm-hprof: the program in readers/jvm-hprof prints counts and digests as JSON.

python -m hprof_conformance.adapters.jvm_hprof NAME VERSION BUGS PROGRAM
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

from hprof_conformance.protocol import Entry, Hello, Reply
from hprof_conformance.serve import run, serve

COUNTS = ["strings", "classes", "instances", "object_arrays", "primitive_arrays", "roots"]
DIGESTS = ["loaders", "instance_bytes", "object_arrays", "primitive_arrays"]
NOTHING = Entry(0, f"{0:032x}")


def read(program: list[str], case: str, file: Path) -> Reply:
    reply, out = run([*program, str(file)], case)
    if reply.outcome != "accepted":
        return reply
    found = json.loads(out)
    return replace(
        reply,
        counts={name: found["counts"].get(name, 0) for name in COUNTS},
        digests={name: Entry(**found["digests"][name]) if name in found["digests"] else NOTHING for name in DIGESTS},
    )


def main() -> None:
    name, version, bugs, *program = sys.argv[1:]
    unsupported = {"gzip": "reads bytes of a plain dump", "version-1.0.3": "knows HotSpot's sub-records only"}
    serve(Hello(name, version, bugs, unsupported, COUNTS, DIGESTS, "exact"), lambda case, file: read(program, case, file))


if __name__ == "__main__":
    main()
