"""hprof-slurp and heaptrail, which descends from it: their report counts what was read.

python -m hprof_conformance.adapters.slurp NAME VERSION BUGS PROGRAM [OPTION]...
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

from hprof_conformance.protocol import Hello, Reply
from hprof_conformance.serve import run, serve

LINES = {
    "strings": "UTF-8 Strings",
    "classes": "..GC class dump",
    "instances": "..GC instance dump",
    "object_arrays": "..GC object array dump",
    "primitive_arrays": "..GC primitive array dump",
}
ROOTS = re.compile(r"^\.\.GC root [^:]*: (\d+)$", re.MULTILINE)


def read(command: list[str], case: str, file: Path) -> Reply:
    reply, out = run([*command, str(file)], case)
    if reply.outcome != "accepted":
        return reply
    counts = {}
    for name, words in LINES.items():
        line = re.search(rf"^{re.escape(words)}: (\d+)$", out, re.MULTILINE)
        if line:
            counts[name] = int(line[1])
    counts["roots"] = sum(int(number) for number in ROOTS.findall(out))
    return replace(reply, counts=counts)


def main() -> None:
    name, version, bugs, *command = sys.argv[1:]
    unsupported = {"gzip": "opens plain files only"}
    if name == "heaptrail":
        unsupported["no-objects"] = "its report is a table of objects"
    serve(Hello(name, version, bugs, unsupported, [*LINES, "roots"], [], "exact"), lambda case, file: read(command, case, file))


if __name__ == "__main__":
    main()
