"""hprof-slurp finds in real dumps what hprof-validate --stats finds: records, sub-records, roots by kind, and classes with the
number and the bytes of their objects.

The program is built, so ci/full runs this: HPROF_REPAIRED names the folder in which to build.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from built import TOOL

from hprof_conformance import gold, readers
from hprof_conformance.adapters.slurp import LINES, ROOTS, counts_of

ROOT = Path(__file__).resolve().parents[2]
BUILD = os.environ.get("HPROF_REPAIRED", "")
SUB_RECORDS = {
    "classes": "CLASS_DUMP",
    "instances": "INSTANCE_DUMP",
    "object_arrays": "OBJECT_ARRAY_DUMP",
    "primitive_arrays": "PRIMITIVE_ARRAY_DUMP",
}
# Bytes that hprof-slurp adds to each instance and each array, by the size of IDs; it rounds up to a multiple of 8.
HEADERS = {4: (8, 12), 8: (16, 16)}

pytestmark = pytest.mark.skipif(not BUILD, reason="HPROF_REPAIRED names no folder: ci/full builds readers")


@pytest.fixture(scope="module")
def slurp() -> Path:
    (reader,) = (one for one in readers.read_readers(ROOT) if one.name == "hprof-slurp")
    folder = Path(BUILD).resolve() / reader.name
    readers.command(ROOT, reader, folder)
    return folder / "bin" / reader.start[0]


def number(found: dict[str, Any], kind: str) -> int:
    return int(found.get(kind, {"number": 0})["number"])


def classes_of(found: Any) -> dict[str, list[int]]:
    """By name: classes, objects, bytes of values, object arrays, primitive arrays."""
    classes: dict[str, list[int]] = {}
    for one in found["classes"]:
        if one["instances"] + one["arrays"]:
            arrays = (0, one["arrays"]) if one["id"] is None else (one["arrays"], 0)
            added = (1, one["instances"] + one["arrays"], one["instance_bytes"] + one["array_bytes"], *arrays)
            classes[one["name"]] = [sum(pair) for pair in zip(classes.get(one["name"], [0] * 5), added, strict=True)]
    return classes


def check_classes(found: Any, theirs: list[dict[str, Any]]) -> None:
    ours = classes_of(found)
    assert {one["class_name"] for one in theirs} == ours.keys()
    for one in theirs:
        classes, objects, values, object_arrays, primitive_arrays = ours[one["class_name"]]
        if classes > 1:  # of several loaders: it shows one of them
            assert one["instance_count"] < objects, one
            continue
        assert one["instance_count"] == objects, one
        is_array = object_arrays + primitive_arrays > 0
        added = one["allocation_size_bytes"] - values - HEADERS[found["id_size"]][is_array] * objects
        if object_arrays and found["id_size"] == 8:
            assert added == 0, one
        elif is_array:
            assert 0 <= added < 8 * objects, one
        else:  # the fields of each class begin at a multiple of 8 bytes
            assert added >= 0, one


def names() -> list[str]:
    """It reads plain files alone."""
    return [name for name in gold.index(ROOT) if not name.endswith("-gz")]


@pytest.mark.parametrize("name", names())
def test_figures_agree(name: str, slurp: Path, tmp_path: Path) -> None:
    dump, report = tmp_path / "heap.hprof", tmp_path / "slurp.json"
    dump.write_bytes(gold.read(ROOT, name))
    command: list[str | Path] = [slurp, "--top", "1000000", "--json", "--output", report, dump]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode()
    found = json.loads(subprocess.run([TOOL, "--stats", "--format=json", dump], check=False, stdout=subprocess.PIPE).stdout)
    counts = counts_of(text, [*LINES, *ROOTS])
    twice = found["verdict"]["totals"].get("STR-003", 0)  # strings with an ID that another has: it counts the IDs
    assert {key: counts[key] for key in LINES} == {
        "strings": number(found["records"], "UTF8") - twice,
        **{key: number(found["sub_records"], kind) for key, kind in SUB_RECORDS.items()},
    }
    assert {kind: counts[kind] for kind in ROOTS} == {kind: number(found["roots"], kind) for kind in ROOTS}
    check_classes(found, json.loads(report.read_text())["heap"]["top_allocated_classes"])
