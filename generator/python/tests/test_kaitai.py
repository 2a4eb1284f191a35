"""corpus/hprof.ksy, compiled by the compiler of Kaitai Struct: whether it reads the corpus, to the last byte of each record.

HPROF_KAITAI is the folder of the compiled module, as `ci/kaitai` prints it.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from hprof_corpus.layouts import RECORDS, SUBRECORDS
from hprof_corpus.reader import count
from tests.conftest import CORPUS, manifest_files

pytestmark = pytest.mark.skipif("HPROF_KAITAI" not in os.environ, reason="HPROF_KAITAI is not set: see ci/kaitai")

# Whose lengths and tags are right, and whose version is described. Files of faults in values are read like valid ones.
FRAMING = ("HDR-001", "HDR-002", "HDR-004", "HDR-005", "REC-", "GZ-", "CLS-014", "CLS-015", "OBJ-008", "STR-001")
LENGTHS = ("CLS-001", "CLS-006", "STK-001", "STK-007", "THR-001", "THR-002", "PRF-001", "PRF-006", "PRF-007", "PRF-009")


def is_readable(entry: dict[str, Any]) -> bool:
    faults = [finding["rule"] for finding in entry["findings"]]
    return (
        entry["checked_in"]
        and not entry["compressed"]
        and not any(rule.startswith(FRAMING + LENGTHS) or rule == "OBJ-006" for rule in faults)
    )


FILES = [entry["file"] for entry in manifest_files() if is_readable(entry)]


@cache
def compiled() -> Any:
    sys.path.insert(0, os.environ["HPROF_KAITAI"])
    return import_module("hprof").Hprof


def read(file: str) -> Any:
    return compiled().from_file(str(CORPUS / file))


def test_enough_files() -> None:
    assert len(FILES) > 250
    tags = {record.tag for file in FILES for record in read(file).records}
    assert tags >= {record.tag for record in RECORDS}
    sub_tags = {sub.tag for file in FILES for record in read(file).records for sub in getattr(record.body, "subrecords", [])}
    assert sub_tags >= {record.tag for record in SUBRECORDS}


@pytest.mark.parametrize("file", FILES)
def test_every_record_is_read_to_its_end(file: str) -> None:
    dump = read(file)
    for record in dump.records:
        if not isinstance(record.body, bytes):  # of HEAP_DUMP_END, which has none
            assert record.body._io.is_eof(), record.tag
        else:
            assert record.body == b""


@pytest.mark.parametrize("file", FILES)
def test_records_are_those_of_the_reader(file: str) -> None:
    dump = read(file)
    counts = count(memoryview(Path(CORPUS / file).read_bytes()))
    assert dump.header.id_size == counts.id_size
    assert dump.header.timestamp == counts.time
    assert dump.header.format == f"JAVA PROFILE {counts.version}"
    assert Counter(record.tag.name.upper() for record in dump.records) == Counter(counts.records)
    subs = [sub for record in dump.records for sub in getattr(record.body, "subrecords", [])]
    assert Counter(sub.tag.name.upper() for sub in subs) == Counter(counts.sub_records)
    assert sum(sub.body.num_elements for sub in subs if sub.tag.name == "object_array_dump") == counts.elements
