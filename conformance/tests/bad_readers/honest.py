"""A reader that is right in everything: what the others of this folder spoil. Alone it must pass."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hprof_corpus.digest import Content, Instance, Object, ObjectArray, PrimitiveArray, identity
from hprof_corpus.reader import decompressed
from hprof_corpus.source import is_gzip
from hprof_corpus.truth import FEATURES, ROOTS, holds
from hprof_corpus.walk import FramingError

COUNTS = ["strings", "classes", "instances", "object_arrays", "primitive_arrays", "objects", "roots", *ROOTS]
DIGESTS = [
    "strings",
    "classes",
    "loaders",
    "statics",
    "constants",
    "instances",
    "instance_bytes",
    "object_arrays",
    "primitive_arrays",
    "roots",
]
KINDS = {"instances": Instance, "object_arrays": ObjectArray, "primitive_arrays": PrimitiveArray}
Json = dict[str, Any]


def say(message: Json) -> None:
    print(json.dumps(message), flush=True)


def hello(**changes: object) -> Json:
    found = {
        "protocol": 1,
        "name": "honest",
        "version": "1",
        "bugs": "",
        "unsupported": {},
        "counts": COUNTS,
        "digests": DIGESTS,
        "references": "exact",
    }
    return {**found, **changes}


def read(file: Path, change: Callable[[Content], None] = lambda content: None) -> Json:
    """`change` spoils what was read. Counts go with it."""
    data = memoryview(file.read_bytes())
    try:
        held = holds(data)
        counts = {**held.counts(), **{name: held.sub_records.get(name, 0) for name in ROOTS}}
        content = Content(decompressed(data) if is_gzip(data) else data)
    except FramingError as error:
        return {"outcome": "rejected", "message": str(error)}
    change(content)
    objects = [one for dump in content.dumps for one in dump.objects]
    for name, kind in KINDS.items():
        counts[name] = sum(isinstance(one, kind) for one in objects)
    counts["objects"] = len(objects)
    counts["classes"] = sum(len(dump.classes) + len(dump.later_classes) for dump in content.dumps)
    counts["strings"] = len(content.strings)
    found = identity(content, "exact")
    digests = {name: {"count": one.count, "sum": f"{one.sum:032x}"} for name, one in found.items() if name in DIGESTS}
    return {"outcome": "accepted", "counts": {name: counts[name] for name in COUNTS}, "digests": digests}


def serve(answer: Callable[[Path], Json] = read, **changes: object) -> None:
    say(hello(**changes))
    for line in sys.stdin:
        asked = json.loads(line)
        say({"case": asked["case"], **answer(Path(asked["file"]))})


def spoil(change: Callable[[Content], None]) -> None:
    """Serves dumps that a change spoils."""
    serve(lambda file: read(file, change))


def each_object(change: Callable[[Object], Object | None]) -> Callable[[Content], None]:
    """None leaves an object out."""

    def spoiled(content: Content) -> None:
        for dump in content.dumps:
            dump.objects = [made for one in dump.objects if (made := change(one)) is not None]

    return spoiled


def first_object(fits: Callable[[Object], bool], change: Callable[[Object], Object | None]) -> Callable[[Content], None]:
    """Of each heap dump of more than a hundred objects, the middle one that fits: a real dump."""

    def spoiled(content: Content) -> None:
        for dump in content.dumps:
            if len(dump.objects) > 100:
                fitting = [at for at, one in enumerate(dump.objects) if fits(one)]
                at = fitting[len(fitting) // 2]
                made = change(dump.objects[at])
                dump.objects[at : at + 1] = [] if made is None else [made]

    return spoiled


if __name__ == "__main__":
    assert set(FEATURES)
    serve()
