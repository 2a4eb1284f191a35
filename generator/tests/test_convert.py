"""Dumps of Android, 1.0.3, become dumps of 1.0.2: hprof-gen --from FILE --dump-version 1.0.2."""

from collections import Counter
from pathlib import Path

import pytest
from gen_tool import SOURCE, run

from hprof_corpus.digest import digests
from hprof_corpus.reader import Counts, count

CORPUS = sorted(path for path in (SOURCE / "corpus/either").glob("*.hprof") if path.read_bytes().startswith(b"JAVA PROFILE 1.0.3"))
UNKNOWN = {f"ROOT_{kind}" for kind in ("INTERNED_STRING", "FINALIZING", "DEBUGGER", "REFERENCE_CLEANUP", "VM_INTERNAL")}
GONE = {"HEAP_DUMP_INFO", "ROOT_UNREACHABLE"}


def converted(data: bytes, folder: Path) -> bytes:
    (folder / "from.hprof").write_bytes(data)
    done = run("--from", folder / "from.hprof", "--dump-version", "1.0.2", "-o", folder / "to.hprof")
    assert (done.status, done.err) == (0, "")
    return (folder / "to.hprof").read_bytes()


def expected(before: Counts) -> Counter[str]:
    """The sub-records of 1.0.2."""
    kinds: Counter[str] = Counter()
    for kind, number in before.sub_records.items():
        if kind in GONE:
            continue
        name = "ROOT_UNKNOWN" if kind in UNKNOWN else "ROOT_MONITOR_USED" if kind == "ROOT_JNI_MONITOR" else kind
        kinds["PRIMITIVE_ARRAY_DUMP" if kind == "PRIMITIVE_ARRAY_NODATA" else name] += number
    return kinds


@pytest.mark.parametrize("path", [None, *CORPUS], ids=lambda path: path.stem if path else "made")
def test_a_converted_dump_has_the_same_content(path: Path | None, tmp_path: Path) -> None:
    original = path.read_bytes() if path else run("--like", "android", "--objects", "3000").out
    data = converted(original, tmp_path)
    before, after = count(memoryview(original)), count(memoryview(data))
    assert after.version == "1.0.2"
    assert Counter(after.sub_records) == expected(before)
    assert {k: n for k, n in before.records.items() if k != "HEAP_DUMP_SEGMENT"} == {
        k: n for k, n in after.records.items() if k != "HEAP_DUMP_SEGMENT"
    }
    mine, theirs = digests(memoryview(data)).exact, digests(memoryview(original)).exact
    changed = {"roots"} | {"primitive_arrays" for kind in before.sub_records if kind == "PRIMITIVE_ARRAY_NODATA"}  # their kinds
    assert {k: one for k, one in mine.items() if k not in changed} == {k: one for k, one in theirs.items() if k not in changed}


def test_other_versions_stay_as_they_are(tmp_path: Path) -> None:
    made = run("--objects", "100").out
    assert converted(made, tmp_path) == made


def test_only_1_0_2_can_be_made(tmp_path: Path) -> None:
    (tmp_path / "from").write_bytes(run("--like", "android", "--objects", "10").out)
    done = run("--from", tmp_path / "from", "--dump-version", "1.0.1")
    assert done.status == 2 and "--dump-version does not go with --from" in done.err
