"""The reader against the texts of the corpus, against small dumps counted by hand, and against the validator."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from hprof_corpus.assembler import assemble, assemble_file
from hprof_corpus.reader import ArrayCounts, Counts, References, count
from hprof_corpus.walk import FramingError
from tests.conftest import CORPUS, manifest_files

VALIDATE = os.environ.get("HPROF_VALIDATE", "")
# Where a wrong length leads to a record by chance, this reader sees no fault: it goes by lengths alone.
ENTRIES = [entry for entry in manifest_files() if entry["checked_in"] and "utf8-over-records" not in entry["file"]]
Entry = dict[str, Any]

# After these faults the positions of later records are uncertain; GZ rules too.
FRAMING = {
    *("HDR-001", "HDR-002", "HDR-004", "HDR-005"),
    *("REC-001", "REC-002", "REC-003", "REC-008", "REC-011", "REC-013", "REC-014", "REC-015"),
    *("STR-001", "CLS-001", "CLS-006", "CLS-014", "CLS-015", "OBJ-008", "STK-001", "STK-007"),
    *("THR-001", "THR-002", "PRF-001", "PRF-006", "PRF-007", "PRF-009"),
}


def name(entry: Entry) -> str:
    file: str = entry["file"]
    return file


def read(entry: Entry) -> Counts:
    return count(memoryview((CORPUS / entry["file"]).read_bytes()))


def is_damaged_record(entry: Entry) -> bool:
    """Of a tag that 1.0.1 does not know; the reader takes it for what later versions have."""
    return name(entry).startswith(("invalid/REC-005/end-with-body", "invalid/REC-005/no-sub-record"))


def is_broken(entry: Entry) -> bool:
    return (
        "beyond-its-record" in entry["file"]
        or is_damaged_record(entry)
        or any(one["rule"] in FRAMING or (one["rule"].startswith("GZ-") and one["rule"] != "GZ-008") for one in entry["findings"])
    )


def is_met_elsewhere(entry: Entry) -> bool:
    """By a reader that looks neither ahead nor at what a class asks for."""
    return (
        any(one["rule"].startswith("GZ-") or one["rule"] == "REC-011" for one in entry["findings"])
        or entry["findings"][0]["rule"] == "OBJ-006"
        or is_damaged_record(entry)
        or any(word in entry["file"] for word in ("unknown-tag", "string-short-before", "string-takes-in"))
    )


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if is_broken(entry)], ids=name)
def test_a_fault_of_framing_ends_it_with_the_offset(entry: Entry) -> None:
    with pytest.raises(FramingError) as error:
        read(entry)
    if not is_met_elsewhere(entry):
        first = next(one for one in entry["findings"] if one["rule"] in FRAMING)
        assert error.value.offset == first["offset"]


SOUND = [entry for entry in ENTRIES if not is_broken(entry)]


# The largest texts take long to assemble.
@pytest.mark.parametrize("entry", [entry for entry in SOUND if entry["bytes"] < 100_000], ids=name)
def test_counts_are_those_of_the_text(entry: Entry) -> None:
    counts = read(entry)
    found = {label: n for label, n in {**counts.records, **counts.sub_records}.items() if n}
    spots = assemble_file(CORPUS / entry["text"]).spots
    assert found == Counter(spot.label for spot in spots if spot.label.isupper())
    assert (counts.version, counts.id_size, counts.compressed) == (
        entry["version"],
        entry["id_size"],
        entry["compressed"],
    )
    assert (counts.file_bytes, counts.file_sha256) == (entry["bytes"], entry["sha256"])


@pytest.mark.skipif(not VALIDATE, reason="HPROF_VALIDATE does not name a validator")
def test_counts_are_those_of_the_validator() -> None:
    command = [VALIDATE, "--profile", "strict", "--format", "json", *(str(CORPUS / entry["file"]) for entry in SOUND)]
    run = subprocess.run(command, capture_output=True, check=False)
    reports = json.loads(run.stdout)["files"]
    for entry, report in zip(SOUND, reports, strict=True):
        counts = read(entry)
        ours = {**counts.records, **counts.sub_records}
        ours |= {"classes": counts.sub_records["CLASS_DUMP"], "unknown": 0}
        for word in ("instances", "object_arrays", "primitive_arrays"):
            ours[word] = getattr(counts, word)
        ours["references"] = counts.references.all
        theirs = report["counts"]
        assert ours == {word: theirs[word] for word in ours}, entry["file"]
        assert counts.bytes == report["bytes"]


HEAP = """
hprof "JAVA PROFILE 1.0.2" id-size 4 time 2026-01-01T00:00:00Z
utf8 $Object "java/lang/Object"
utf8 $Point "Point"
utf8 $Objects "[Ljava/lang/Object;"
load-class serial 1 class @Object name $Object
load-class serial 2 class @Point name $Point
load-class serial 3 class @Objects name $Objects
segment {
  root-sticky-class @Object
  instance-dump @early class @Point [ int 1 object @late byte 7 object null ]
  class-dump @Point super @Base {
    constant 1 object @early
    static $Point object null
    static $Point int 5
    field $Point int
    field $Point object
  }
  class-dump @Base super @Object {
    field $Point byte
    field $Point object
  }
}
segment {
  root-unknown @late
  class-dump @Object super null
  class-dump @Objects super @Object
  instance-dump @late class @Point [ int 1 object @late byte 7 object @early ]
  instance-dump @short class @Point bytes 3 [ raw 0x000000 ]
  instance-dump @stray class @missing [ raw 0x000000 ]
  object-array-dump @a class @Objects [ null * 100000 @early @late ]
  primitive-array-dump @b type char [ "text" ]
}
end
heap-dump {
  class-dump @Object super null
  instance-dump @early class @Object
}
"""


@pytest.mark.parametrize("compressed", [False, True])
def test_a_small_heap(compressed: bool) -> None:
    plain = assemble(HEAP).file.to_bytes()
    file = gzip.compress(plain[:100]) + gzip.compress(plain[100:]) if compressed else plain
    counts = count(memoryview(file))
    assert (counts.bytes, counts.sha256) == (len(plain), hashlib.sha256(plain).hexdigest())
    assert (counts.file_bytes, counts.file_sha256) == (len(file), hashlib.sha256(file).hexdigest())
    assert (counts.compressed, counts.heap_dumps, counts.strings, counts.deepest_chain) == (compressed, 2, 3, 3)
    assert {root: n for root, n in counts.roots.items() if n} == {"ROOT_STICKY_CLASS": 1, "ROOT_UNKNOWN": 1}
    assert (counts.instances, counts.instance_bytes, counts.instances_not_followed) == (5, 32, 2)
    assert counts.references_in == {
        "fields": References(4, 3),
        "elements": References(100002, 2),
        "statics": References(1, 0),
        "constants": References(1, 1),
    }
    assert counts.references == References(100008, 6)
    assert counts.primitive_arrays_by_type["char"] == ArrayCounts(1, 4)
    by_name = {one.name: one for one in counts.classes}
    point, array = by_name["Point"], by_name["[Ljava/lang/Object;"]
    assert (point.instances, point.instance_bytes, point.loads, point.dumps) == (3, 29, 1, 1)
    assert (array.arrays, array.elements, array.instances) == (1, 100002, 0)
    assert by_name["java/lang/Object"].dumps == 2


def test_as_a_program(tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    dump.write_bytes(assemble(HEAP).file.to_bytes())
    command = [sys.executable, "-m", "hprof_corpus.reader"]
    run = subprocess.run([*command, dump], capture_output=True, check=True)
    with dump.open("rb") as file:
        assert subprocess.run([*command, "-"], stdin=file, capture_output=True, check=True).stdout == run.stdout
    assert subprocess.run([*command, "-"], input=dump.read_bytes(), capture_output=True).stdout == run.stdout
    assert json.loads(run.stdout) == json.loads(json.dumps(asdict(count(memoryview(dump.read_bytes())))))
    broken = subprocess.run([*command, "-"], input=dump.read_bytes()[:-1], capture_output=True)
    assert (broken.returncode, broken.stdout) == (1, b"")
    assert b"ends beyond" in broken.stderr
    assert subprocess.run([*command, tmp_path / "none"], capture_output=True).returncode == 3


def test_nobody_reads_what_it_prints(tmp_path: Path) -> None:
    (tmp_path / "dump").write_bytes(assemble(HEAP).file.to_bytes())
    command = [sys.executable, "-m", "hprof_corpus.reader", str(tmp_path / "dump")]
    ours, its = os.pipe()
    os.close(ours)
    gone = subprocess.run(command, stdout=its, stderr=subprocess.PIPE)
    os.close(its)
    assert (gone.returncode, gone.stderr) == (0, b"")
    closed = subprocess.run(command, stderr=subprocess.PIPE, preexec_fn=lambda: os.close(1))
    assert (closed.returncode, closed.stderr) == (3, b"standard output: Bad file descriptor\n")
