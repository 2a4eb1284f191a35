"""Before a reader counts: what it claims, and three files, two of them twice, show whether its adapter works at all."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from hprof_conformance.protocol import COUNTS, Hello, ProtocolError, Reply
from hprof_conformance.readers import Reader
from hprof_conformance.session import Session
from hprof_corpus.assembler import assemble

TINY = """
utf8 $Object "java/lang/Object"
utf8 $Point "Point"
utf8 $x "x"
utf8 $Objects "[Ljava/lang/Object;"
utf8 $Ints "[I"
utf8 $Class "java/lang/Class"
utf8 $ClassLoader "java/lang/ClassLoader"
load-class serial 1 class @Object name $Object
load-class serial 2 class @Point name $Point
load-class serial 3 class @Objects name $Objects
load-class serial 4 class @Ints name $Ints
load-class serial 5 class @Class name $Class
load-class serial 6 class @ClassLoader name $ClassLoader
trace serial 1 thread 0 [ ]
segment {
  class-dump @Object super null trace 1
  class-dump @Point super @Object trace 1 {
    field $x int
  }
  class-dump @Objects super @Object trace 1
  class-dump @Ints super @Object trace 1
  class-dump @Class super @Object trace 1
  class-dump @ClassLoader super @Object trace 1
  instance-dump @a trace 1 class @Point [ int 1 ]
  instance-dump @b trace 1 class @Point [ int 2 ]
  object-array-dump @c trace 1 class @Objects [ @a @b null ]
  primitive-array-dump @d trace 1 type int [ 1 2 3 ]
  root-sticky-class @Point
  root-jni-global @c
  root-jni-global @d
}
end
"""
KNOWN = dict.fromkeys(COUNTS, 0) | {
    "strings": 7,
    "classes": 6,
    "instances": 2,
    "object_arrays": 1,
    "primitive_arrays": 1,
    "objects": 4,
    "roots": 3,
    "ROOT_STICKY_CLASS": 1,
    "ROOT_JNI_GLOBAL": 2,
    "ends": 1,
}


@dataclass(frozen=True)
class Step:
    what: str
    passed: bool
    found: str


LEAST = 10  # a reader claims at least one of so many cases


def calibrate(session: Session, folder: Path, reader: Reader | None, needs: list[list[str]]) -> list[Step]:
    """`reader` is what reader.toml declares, independently of the adapter; None for a program of the user's own. `needs` are the
    features that each of all cases needs."""
    try:
        hello = session.start()
    except (ProtocolError, OSError) as error:
        return [Step("hello", False, str(error))]
    steps = [Step("hello", True, f"{hello.name} {hello.version}")]
    if reader is not None:
        steps.append(_declares(hello, reader))
    steps.append(_claims(hello, needs))
    tiny, known = tiny_dump(hello)
    reply = _ask(session, folder, tiny)
    steps += [_counts_right(reply, hello, known, "a tiny dump, its counts known"), _gives_something(reply, hello)]
    empty = _ask(session, folder, b"")
    steps.append(Step("an empty file has no content", not any(empty.counts.values()), empty.message or empty.outcome))
    half = _ask(session, folder, tiny[: len(tiny) // 2])  # whatever the reader says of it, the next dump must not suffer
    steps += [_refuses(empty, hello, "an empty file"), _refuses(half, hello, "the half of a dump")]
    steps.append(_counts_right(_ask(session, folder, tiny), hello, known, "after half a dump it reads the tiny dump"))
    ended = session.end()
    steps.append(Step("it ends with status 0 when its input ends", not ended, ended or "status 0"))
    return steps


def _claims(hello: Hello, needs: list[list[str]]) -> Step:
    claimed = sum(not set(one) & set(hello.unsupported) for one in needs)
    return Step(f"claims one of {LEAST} cases or more", claimed * LEAST >= len(needs), f"{claimed} of {len(needs)}")


def _declares(hello: Hello, reader: Reader) -> Step:
    found = {
        "unsupported": (hello.unsupported, reader.unsupported),
        "counts": (hello.counts, reader.counts),
        "digests": (hello.digests, reader.digests),
        "references": ([hello.references], [reader.references]),
    }
    other = [
        f"{name}: {', '.join(sorted(said)) or 'none'} in the hello, {', '.join(sorted(listed)) or 'none'} in reader.toml"
        for name, (said, listed) in found.items()
        if {*said} != {*listed}
    ]
    return Step("declares what the list says", not other, "; ".join(other))


def tiny_dump(hello: Hello) -> tuple[bytes, dict[str, int]]:
    """And its counts. In a version and with IDs that the reader supports."""
    version = next((one for one in ("1.0.2", "1.0.3", "1.0.1") if f"version-{one}" not in hello.unsupported), "1.0.2")
    id_size = 4 if "id-size-8" in hello.unsupported else 8
    text, counts = TINY, KNOWN
    if version == "1.0.1":  # it has no segments
        text, counts = text.replace("segment {", "heap-dump {").removesuffix("end\n"), {**counts, "ends": 0}
    return assemble(f'hprof "JAVA PROFILE {version}" id-size {id_size} time 1700000000000\n{text}').file.to_bytes(), counts


def _ask(session: Session, folder: Path, data: bytes) -> Reply:
    with tempfile.TemporaryDirectory(prefix=folder.name, ignore_cleanup_errors=True) as own:  # for a cache beside the dump
        file = Path(own) / "dump.hprof"
        file.write_bytes(data)
        return session.ask(f"calibration of {len(data)} bytes", file)


def _gives_something(reply: Reply, hello: Hello) -> Step:
    """A reader of which all counts and digests are nothing could answer without reading."""
    given = [*reply.counts.values(), *(one.count for one in reply.digests.values())]
    some = any(given) or reply.outcome != "accepted" or not (hello.counts or hello.digests)
    return Step("of a tiny dump something of what the hello names is not 0", some, "" if some else "all is 0")


def _refuses(reply: Reply, hello: Hello, what: str) -> Step:
    """A reader without counts and digests can report a truncated dump by its status or a notice alone: SPEC.md 1.4."""
    is_wrong = reply.outcome == "accepted" and not (hello.counts or hello.digests or reply.notices)
    return Step(f"without counts and digests, it refuses {what}", not is_wrong, "accepted" if is_wrong else "")


def _counts_right(reply: Reply, hello: Hello, known: dict[str, int], what: str) -> Step:
    if reply.outcome != "accepted":
        return Step(what, False, reply.message or reply.outcome)
    differs = [
        f"{name} is {reply.counts.get(name, 'not given')}, not {known[name] if name in hello.counts else 'in the hello'}"
        for name in sorted({*hello.counts, *reply.counts})
        if name not in hello.counts or reply.counts.get(name) != known[name]
    ]
    return Step(what, not differs, ", ".join(differs) or "accepted")
