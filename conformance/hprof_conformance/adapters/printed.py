"""Crates that a program of ours in readers/ reads with: it prints counts and digests as JSON (readers/rust/found.rs).

python -m hprof_conformance.adapters.printed NAME VERSION BUGS PROGRAM
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

from hprof_conformance.adapters.rust import run, without_paths
from hprof_conformance.protocol import Entry, Hello, Reply
from hprof_conformance.serve import serve

_OF_BOTH = [
    *("strings", "classes", "instances", "object_arrays", "primitive_arrays", "roots"),
    *("ROOT_UNKNOWN", "ROOT_JNI_GLOBAL", "ROOT_JNI_LOCAL", "ROOT_JAVA_FRAME", "ROOT_NATIVE_STACK"),
    *("ROOT_STICKY_CLASS", "ROOT_THREAD_BLOCK", "ROOT_MONITOR_USED", "ROOT_THREAD_OBJECT"),
]
COUNTS = {
    "jvm-hprof": [*_OF_BOTH, "ends"],
    "hprof-analyzer": [*_OF_BOTH, "ROOT_INTERNED_STRING", "ROOT_DEBUGGER", "ROOT_VM_INTERNAL", "ROOT_JNI_MONITOR"],
}
DIGESTS = {
    "jvm-hprof": [
        *("strings", "classes", "loaders", "statics", "instances", "instance_bytes"),
        *("object_arrays", "primitive_arrays", "roots"),
    ],
    "hprof-analyzer": ["strings", "classes", "loaders", "instances", "object_arrays", "primitive_arrays"],
}
UNSUPPORTED = {
    "jvm-hprof": {"gzip": "reads bytes of a plain dump", "version-1.0.3": "knows HotSpot's sub-records only"},
    "hprof-analyzer": {"several-heap-dumps": "analyses one heap: it ends at the first HEAP_DUMP_END"},
}
NOTHING = Entry(0, f"{0:032x}")


def read(hello: Hello, program: list[str], case: str, file: Path) -> Reply:
    reply, out = run([*program, str(file)], case)
    if reply.outcome != "accepted":
        return reply
    found = json.loads(out)
    failed = {name: without_paths(words) for name, words in found["failed"].items()}
    panicked = found["panicked"]
    return replace(
        reply,
        outcome="crashed" if panicked else reply.outcome,
        message="; ".join(f"{name}: {failed[name]}" for name in panicked),
        notices=found["notices"],
        counts={name: found["counts"].get(name, 0) for name in hello.counts},
        digests={
            name: Entry(**found["digests"][name]) if name in found["digests"] else NOTHING
            for name in hello.digests
            if name not in failed
        },
        failed=failed,
    )


def main() -> None:
    name, version, bugs, *program = sys.argv[1:]
    hello = Hello(name, version, bugs, UNSUPPORTED[name], COUNTS[name], DIGESTS[name], "exact")
    serve(hello, lambda case, file: read(hello, program, case, file))


if __name__ == "__main__":
    main()
