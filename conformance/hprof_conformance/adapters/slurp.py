"""hprof-slurp and heaptrail, which descends from it: their report counts what was read.

python -m hprof_conformance.adapters.slurp NAME VERSION BUGS PROGRAM [OPTION]...
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

from hprof_conformance.adapters.rust import run
from hprof_conformance.protocol import Hello, Reply
from hprof_conformance.serve import serve

LINES = {
    "strings": "UTF-8 Strings",
    "classes": "..GC class dump",
    "instances": "..GC instance dump",
    "object_arrays": "..GC object array dump",
    "primitive_arrays": "..GC primitive array dump",
}
ROOTS = {
    "ROOT_UNKNOWN": "..GC root unknown",
    "ROOT_JNI_GLOBAL": "..GC root JNI global",
    "ROOT_JNI_LOCAL": "..GC root JNI local",
    "ROOT_JAVA_FRAME": "..GC root Java frame",
    "ROOT_NATIVE_STACK": "..GC root native stack",
    "ROOT_STICKY_CLASS": "..GC root sticky class",
    "ROOT_THREAD_BLOCK": "..GC root thread block",
    "ROOT_MONITOR_USED": "..GC root monitor used",
    "ROOT_THREAD_OBJECT": "..GC root thread objects",
}
ROOTS_OF_ANDROID = {  # lines of hprof-slurp alone, which are there if the dump has one of these sub-records
    "ROOT_INTERNED_STRING": "..GC root interned string",
    "ROOT_FINALIZING": "..GC root finalizing",
    "ROOT_DEBUGGER": "..GC root debugger",
    "ROOT_REFERENCE_CLEANUP": "..GC root reference cleanup",
    "ROOT_VM_INTERNAL": "..GC root VM internal",
    "ROOT_JNI_MONITOR": "..GC root JNI monitor",
    "ROOT_UNREACHABLE": "..GC unreachable",
}


def counts_of(report: str, names: list[str]) -> dict[str, int]:
    """What the report has no line for is left out, except the roots of Android."""
    number_of = {words: int(number) for words, number in re.findall(r"^([^:\n]+): (\d+)$", report, re.MULTILINE)}
    found = {name: number_of[words] for name, words in {**LINES, **ROOTS}.items() if words in number_of}
    found |= {name: number_of.get(words, 0) for name, words in ROOTS_OF_ANDROID.items() if name in names}
    return {**found, "roots": sum(number for name, number in found.items() if name.startswith("ROOT_"))}


def read(hello: Hello, command: list[str], case: str, file: Path) -> Reply:
    reply, out = run([*command, str(file)], case)
    return replace(reply, counts=counts_of(out, hello.counts)) if reply.outcome == "accepted" else reply


def main() -> None:
    name, version, bugs, *command = sys.argv[1:]
    unsupported = {"gzip": "opens plain files only"}
    counts = [*LINES, "roots", *ROOTS]
    if name == "heaptrail":
        unsupported["no-objects"] = "its report is a table of objects"
    else:
        counts += ROOTS_OF_ANDROID
    hello = Hello(name, version, bugs, unsupported, counts, [], "exact")
    serve(hello, lambda case, file: read(hello, command, case, file))


if __name__ == "__main__":
    main()
