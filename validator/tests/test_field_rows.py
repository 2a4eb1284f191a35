"""Dumps of producers, and of programs, that people were puzzled by."""

import json
import os
import random
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest
from dumps import OBJECT, OBJECTS, VALID, class_dump, dump, instance, load_class, object_array, record, utf8
from losses import Shapes
from some_cases import some
from test_field import HEAPS, check, check_pipe, objects, record_offsets
from test_losses import GOLD
from test_parts import JDK
from tool import SOURCE, TOOL, run

from hprof_conformance import gold

IS_SANITIZED = "HPROF_SANITIZED" in os.environ
HPROF_CONV = shutil.which("hprof-conv") or shutil.which("/usr/lib/android-sdk/platform-tools/hprof-conv")


def severities(found: Any) -> dict[str, str]:
    return {one["rule"]: one["severity"] for one in found["findings"]}


def test_the_array_of_a_list_is_not_the_list_of_roots_of_an_archive(tmp_path: Path) -> None:
    """One Object[] with missing elements, but a list names it: they are missing, and nothing excuses that."""
    missing = [0x5000 + 8 * n for n in range(6)]
    a_list, its_class = 0x2000, 0x30
    fields = class_dump(its_class, OBJECT, 8)[:-2] + struct.pack(">HQB", 1, 4, 2)
    holder = struct.pack(">BQIQIQ", 0x21, a_list, 0, its_class, 8, 0x2008)
    data = dump(fields, holder, object_array(0x2008, OBJECTS, missing), struct.pack(">BQQ", 0x01, a_list, 0))
    data = data[:31] + utf8(3, "java/util/ArrayList") + utf8(4, "elementData") + load_class(3, its_class, 3) + data[31:]
    (tmp_path / "dump").write_bytes(data)
    for profile in ("hotspot", "auto"):
        for arguments in (["dump"], ["-"]):
            done = run("--profile", profile, "--format", "json", *arguments, cwd=tmp_path, stdin=data)
            found = json.loads(done.out)["files"][0]
            assert (done.status, found["complete"], found["missing_objects"]) == (1, False, 6)
            assert found["totals"]["REF-002"] == found["warnings"] == 6


def test_the_hook_passes_no_incomplete_dump(tmp_path: Path) -> None:
    hook = dict(line.strip("- ").split(": ", 1) for line in (SOURCE / ".pre-commit-hooks.yaml").read_text().splitlines())
    arguments = [*hook["entry"].split()[1:], *hook["args"].strip("[]").split(", ")]
    for elements, status in (([], 0), ([0x3008], 1)):
        (tmp_path / "dump.hprof").write_bytes(dump(object_array(0x2008, OBJECTS, elements), struct.pack(">BQQ", 0x01, 0x2008, 0)))
        assert run(*arguments, "dump.hprof", cwd=tmp_path).status == status


def test_a_missing_object_that_a_root_names_too_is_missing(tmp_path: Path) -> None:
    """One finding, that of the root; but what refers to it lacks it. Without a reference to it, nothing is missing."""
    held = struct.pack(">BQQ", 0x01, 0x3008, 0)
    for more, missing in ((object_array(0x2008, OBJECTS, [0x3008]) + struct.pack(">BQQ", 0x01, 0x2008, 0), 1), (b"", 0)):
        data = dump(instance(0x20, OBJECT), more + held)
        (tmp_path / "dump").write_bytes(data)
        for profile in ("hotspot", "auto"):
            for argument in ("dump", "-"):
                done = run("--profile", profile, "--format", "json", argument, cwd=tmp_path, stdin=data)
                found = json.loads(done.out)["files"][0]
                assert (found["missing_objects"], found["incomplete"]) == (missing, missing > 0), (profile, argument)
                assert [one["rule"] for one in found["findings"]] == ["REF-001"]


@pytest.mark.parametrize(
    ("profile", "tag", "name"),
    [
        ("hotspot", 0x05, "jdk/internal/event/ThreadSleepEvent"),
        ("graalvm", 0x05, "jdk/internal/event/ThreadSleepEvent"),
        ("graalvm", 0x05, "a/Class"),
        ("jdk8-agent", 0x05, "a/Class"),
        ("jdk8-agent", 0xFF, "a/Class"),
    ],
)
def test_no_quirk_of_roots_excuses_what_others_refer_to(profile: str, tag: int, name: str, tmp_path: Path) -> None:
    """Else the dump would be incomplete without a finding that says why."""
    root = struct.pack(">BQ", tag, 0x3008)
    for more, severity in ((object_array(0x2008, OBJECTS, [0x3008]), "warning"), (b"", "note")):
        data = dump(more + root)
        heap = data.index(b"\x1c", 31)
        data = data[:heap] + utf8(9, name) + load_class(9, 0x3008, 9) + data[heap:]
        (tmp_path / "dump").write_bytes(data)
        for argument in ("dump", "-"):
            done = run("--profile", profile, "--all", "--format", "json", argument, cwd=tmp_path, stdin=data)
            found = json.loads(done.out)["files"][0]
            assert found["missing_objects"] == (severity == "warning"), (argument, found)
            assert [one["severity"] for one in found["findings"] if one["rule"] == "REF-001"] == [severity], argument
            assert ("others refer to it, too" in done.out) == (severity == "warning")


def test_an_array_without_a_root_is_no_second_list_of_roots_of_an_archive(tmp_path: Path) -> None:
    """HotSpot's list has a root. Something that is lost may have named the other array, whose element is missing."""
    archived = [0x5000 + 8 * n for n in range(6)]
    data = dump(
        object_array(0x2008, OBJECTS, archived), object_array(0x3008, OBJECTS, [0x6000]), struct.pack(">BQQ", 0x01, 0x2008, 0)
    )
    (tmp_path / "dump").write_bytes(data)
    for profile, missing in (("hotspot", 1), ("sa", 6)):  # and the serviceability agent's has none
        for argument in ("dump", "-"):
            done = run("--profile", profile, "--format", "json", argument, cwd=tmp_path, stdin=data)
            found = json.loads(done.out)["files"][0]
            assert (done.status, found["missing_objects"], found["warnings"]) == (1, missing, missing)


@pytest.mark.parametrize(
    ("count", "is_named", "is_undecided"),
    some([(600_000, False, False), (900_000, False, True), (900_000, True, False), (1_300_000, True, True)]),
)
def test_a_pipe_does_not_decide_what_it_cannot_keep(count: int, is_named: bool, is_undecided: bool, tmp_path: Path) -> None:
    """4 MiB of elements that are not defined yet, and a million of IDs in arrays that something names. A file decides."""
    elements = [0x1000000 + 8 * n for n in random.sample(range(1 << 32), count)]
    held = 0x3008 if is_named else 0x2008
    first = object_array(0x3008, OBJECTS, [0x2008]) if is_named else b""
    data = dump(first, object_array(0x2008, OBJECTS, elements), struct.pack(">BQQ", 0x01, held, 0))
    (tmp_path / "dump").write_bytes(data)
    profile = ("--profile", "hotspot", "--max-errors", "1")
    piped, read = (
        json.loads(run(*profile, "--format", "json", one, cwd=tmp_path, stdin=data).out)["files"][0] for one in ("-", "dump")
    )
    assert (piped["missing_undecided"], read["missing_undecided"]) == (is_undecided, False)
    assert (read["incomplete"], read["missing_objects"]) == (is_named, count * is_named)
    assert (piped["incomplete"], piped["missing_objects"]) == ((True, 0) if is_undecided else (is_named, count * is_named))
    done = run(*profile, "-", stdin=data)
    assert done.status == int(is_undecided or is_named)
    assert ("undecided: whether objects are missing: a pipe can be read only once, a file decides" in done.out) == is_undecided
    assert (": incomplete, objects may be missing, " in done.out) == is_undecided
    assert run(*profile, "--allow-incomplete", "-", stdin=data).status == 0


# ---- GraalVM Insight -------------------------------------------------------------------------------------------------


def insight(thread_trace: int = 21) -> bytes:
    """IDs count strings, classes and objects alike; the ID of a class is its serial, and that of its trace."""

    def u4(*values: int) -> bytes:
        return struct.pack(f">{len(values)}I", *values)

    def name(string_id: int, text: str) -> bytes:
        return record(0x01, u4(string_id) + text.encode())

    names = ["java.lang.Object", "char[]", "java.lang.String", "java.lang.Thread"]
    data = b"JAVA PROFILE 1.0.1\0" + struct.pack(">IQ", 4, 1700000000000)
    for n, text in enumerate(names):
        data += name(2 * n + 2, text) + record(0x02, u4(2 * n + 1, 2 * n + 1, 0, 2 * n + 2))
    data += name(18, "run") + name(19, "") + name(20, "x.js") + name(22, "main")
    data += record(0x04, u4(17, 18, 19, 20, 1, 5)) + record(0x05, u4(21, 16, 1, 17)) + record(0x0A, u4(16, 16, 21, 22, 0, 0))
    heap = b""
    for n in range(4):
        heap += b"\x20" + u4(2 * n + 1, 2 * n + 1, 1 if n else 0) + u4(0, 0, 0, 0, 0, 0) + struct.pack(">HHH", 0, 0, 0)
    heap += b"\x23" + u4(14, 14, 4) + b"\x05" + "main".encode("utf-16-be")
    heap += b"\x21" + u4(15, 15, 5, 0) + b"\x21" + u4(16, 16, 9 - 2, 0)
    heap += b"\x08" + u4(16, 16, thread_trace)
    return data + record(0x0C, heap)


def test_insight_is_recognised_and_its_traces_are_excused(tmp_path: Path) -> None:
    for found in (check(insight(), tmp_path), check_pipe(insight())):
        assert found["producer"] == "GraalVM Insight"
        assert (found["status"], found["errors"], found["warnings"]) == (0, 0, 0)
        assert severities(found)["STK-012"] == "note"
    found = check(insight(thread_trace=77), tmp_path)
    traces = [one["severity"] for one in found["findings"] if one["rule"] == "STK-012"]
    assert sorted(set(traces)) == ["note", "warning"]
    assert traces.count("warning") == 1  # that of the thread


def test_missing_traces_of_other_producers_are_not_excused(tmp_path: Path) -> None:
    """A native image has serials of their own."""
    (tmp_path / "dump").write_bytes(dump(struct.pack(">BQIQI", 0x21, 0x2000, 9, OBJECT, 0)))
    done = run("--profile", "graalvm", "--format", "json", "dump", cwd=tmp_path)
    assert severities(json.loads(done.out)["files"][0])["STK-012"] == "warning"


# ---- Android ---------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(HPROF_CONV is None, reason="hprof-conv is not installed")
def test_what_hprof_conv_makes_is_recognised(tmp_path: Path) -> None:
    if "HPROF_GEN" not in os.environ:
        pytest.skip("needs hprof-gen")
    subprocess.run([os.environ["HPROF_GEN"], "--like", "android", "--objects", "300", "-o", tmp_path / "android"], check=True)
    assert HPROF_CONV is not None
    subprocess.run([HPROF_CONV, tmp_path / "android", tmp_path / "converted"], check=True)
    data = (tmp_path / "converted").read_bytes()
    for found in (check(data, tmp_path), check_pipe(data)):
        assert found["producer"] == "Android, converted to 1.0.2"
        assert (found["status"], found["errors"]) == (0, 0)


def test_hprof_gen_converts_dumps_of_android(tmp_path: Path) -> None:
    if "HPROF_GEN" not in os.environ:
        pytest.skip("needs hprof-gen")
    gen = os.environ["HPROF_GEN"]
    subprocess.run([gen, "--like", "android", "--objects", "300", "-o", tmp_path / "android"], check=True)
    subprocess.run([gen, "--from", tmp_path / "android", "--dump-version", "1.0.2", "-o", tmp_path / "converted"], check=True)
    found = check((tmp_path / "converted").read_bytes(), tmp_path)
    assert (found["status"], found["errors"], found["producer"]) == (0, 0, "Android, converted to 1.0.2")


def test_a_lost_header_of_android_is_made_anew(tmp_path: Path) -> None:
    if "HPROF_GEN" not in os.environ:
        pytest.skip("needs hprof-gen")
    at = random.SystemRandom().randrange(1, 4096)
    subprocess.run([os.environ["HPROF_GEN"], "--like", "android", "--objects", "3000", "-o", tmp_path / "android"], check=True)
    data = (tmp_path / "android").read_bytes()
    infos = check(data, tmp_path)["counts"]["HEAP_DUMP_INFO"]
    for damaged in (bytes(4096) + data[4096:], data[at:]):
        (tmp_path / "damaged").write_bytes(damaged)
        assert run("--profile", "auto", "--repair", "copy", "damaged", cwd=tmp_path).status == 0, at
        copy = (tmp_path / "copy").read_bytes()
        assert (copy[:18], check(copy, tmp_path)["counts"]["HEAP_DUMP_INFO"]) == (b"JAVA PROFILE 1.0.3", infos), at


# ---- HotSpot ---------------------------------------------------------------------------------------------------------


def test_flat_values_have_small_ids(tmp_path: Path) -> None:
    """JDK 28 writes the values in flat fields and arrays as instances of their own, whose IDs count from 1."""
    flat = [instance(n, OBJECT) for n in range(1, 4)]
    data = dump(*flat, object_array(0x2000, OBJECTS, [1, 2, 3, 0]), struct.pack(">BQ", 0x05, 0x2000))
    (tmp_path / "dump").write_bytes(data)
    done = run("--profile", "hotspot", "--format", "json", "dump", cwd=tmp_path)
    found = json.loads(done.out)["files"][0]
    assert (done.status, found["warnings"], found["complete"], found["missing_objects"]) == (0, 0, True, 0)


@pytest.mark.skipif(IS_SANITIZED, reason="4 GiB")
def test_an_array_of_more_than_4_gib_in_a_segment(tmp_path: Path) -> None:
    """Its length does not fit into 32 bits. The array is left out, all else is kept."""
    ints, end = (1 << 30) + 100, record(0x2C, b"")
    head = struct.pack(">BQIIB", 0x23, 0x3000, 0, ints, 10)
    begin = VALID[: -len(end)] + struct.pack(">BII", 0x1C, 0, (len(head) + 4 * ints) & 0xFFFFFFFF) + head
    after = record(0x1C, b"".join(instance(0x4000 + 8 * n, OBJECT) for n in range(50)) + struct.pack(">BQ", 0x05, 0x4000)) + end
    with (tmp_path / "large").open("wb") as file:
        file.write(begin)
        file.seek(4 * ints, os.SEEK_CUR)
        file.write(after)
    text = run("large", cwd=tmp_path).out
    assert "error[REC-012]: HEAP_DUMP_SEGMENT has a length that ends within a sub-record" in text
    assert "likely: a wrapped length: an array is larger than 4 GiB, too large for one HEAP_DUMP_SEGMENT" in text
    assert run("--repair", "copy", "large", cwd=tmp_path).status == 0
    copy = (tmp_path / "copy").read_bytes()
    assert copy == VALID[: -len(end)] + after
    assert run("copy", cwd=tmp_path).status == 0


@pytest.mark.parametrize("cut", [1 << 19, 1 << 20, 5 << 19, 3 << 20])
def test_a_dump_that_is_cut_within_a_large_array(cut: int, tmp_path: Path) -> None:
    """HotSpot gives a large array a segment of its own. What is there of it is more than recovery sees, and leads to the end of the
    segment, but not of the dump."""
    end = record(0x2C, b"")
    whole = VALID[: -len(end)]
    array = record(0x1C, object_array(0x3000, OBJECTS, [0x20] * (1 << 19)))  # 4 MiB
    data = whole + array[:cut]
    for found in (check(data, tmp_path), check(data, tmp_path, "--jobs", "1"), check_pipe(data)):
        assert (found["status"], found["complete"], found["errors"]) == (1, False, 1)
        assert (found["findings"][0]["rule"], found["findings"][0]["offset"]) == ("REC-002", len(whole) + 5)
    assert run("--repair", "copy", "dump", cwd=tmp_path).status == 0
    assert (tmp_path / "copy").read_bytes() == VALID


@pytest.mark.parametrize("what", [*(["made"] if "HPROF_GEN" in os.environ else []), *GOLD])
def test_a_dump_that_is_cut_anywhere_has_one_error(what: str, tmp_path: Path) -> None:
    """Recovery is most easily misled by classes: a row of static fields resembles a row of roots."""
    if what == "made":
        made = tmp_path / "made.hprof"
        options = ["--quiet", "--like=hotspot", "--objects=3000", f"--output={made}"]
        subprocess.run([os.environ["HPROF_GEN"], *options], check=True)
        whole = made.read_bytes()
    else:
        whole = gold.read(SOURCE, what)
    seed = random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    files = [tmp_path / f"{cut}.hprof" for cut in {dice.randrange(2000, len(whole)) for _ in range(30)}]
    for file in files:
        file.write_bytes(whole[: int(file.stem)])
    done = subprocess.run([TOOL, "--format", "json", *files], capture_output=True, text=True, check=False)
    for found in json.loads(done.stdout)["files"]:
        errors = [one["rule"] for one in found["findings"] if one["severity"] == "error"]
        assert len(errors) <= 1, (seed, found["file"], errors)  # none where the file ends with a record
        # What ends with a record of 1.0.1 may be a whole dump: nothing says that there is more.
        assert not found["complete"] or (not errors and what == "agent8"), (seed, found["file"])


def test_a_record_of_unknown_tag_does_not_lead_into_the_heap_dump(tmp_path: Path) -> None:
    """Two bytes of a string are missing. What follows it looks like a record of 786,432 bytes, which ends within the heap dump,
    where the next one seems to hold sub-records."""
    whole = gold.read(SOURCE, "jdk8")
    found = check(whole[:157239] + whole[157241:], tmp_path)
    assert [one["rule"] for one in found["findings"] if one["severity"] == "error"] == ["REC-002"]
    assert found["skipped"] < 100
    assert run("--repair", "copy", "dump", cwd=tmp_path).status == 0
    assert (tmp_path / "copy").stat().st_size > len(whole) - 100


@pytest.mark.parametrize("text", [b"!java/lang/Object;()V", b'"java/lang/%s'])
def test_text_is_no_object_that_leads_into_the_heap_dump(text: bytes, tmp_path: Path) -> None:
    """After a damaged header of a string there is text which looks like an instance or array of 500 KB, and ends where an object
    begins. No class is known yet."""
    whole = gold.read(SOURCE, "jdk25")
    broken = bytearray(whole)
    classes = check(whole, tmp_path)["counts"]["CLASS_DUMP"]
    body, end = next((body, end) for tag, body, end in record_offsets(whole) if tag in HEAPS)
    strings = [(body + 8, end) for tag, body, end in record_offsets(whole) if tag == 1 and end - body > 33]
    starts = [start for _, start, _ in objects(whole, body, end, 8)][:100]
    at, target = next((at, to) for at, _ in strings for to in starts if to - at < 500_000 and (to - at - 25) % 8 == 0)
    number = target - at - 25
    broken[at : at + len(text) + 4] = text + struct.pack(">I", number if text.startswith(b"!") else number // 8)
    broken[at - 12] = 0x7F  # the length of this string
    found = check(bytes(broken), tmp_path)
    assert [one["rule"] for one in found["findings"] if one["severity"] == "error"] == ["REC-002"]
    assert found["counts"]["CLASS_DUMP"] == classes and found["skipped"] < 1000


def test_the_end_of_a_dump_is_not_that_of_a_dump_in_an_array(tmp_path: Path) -> None:
    """As many bytes are missing as a HEAP_DUMP_END has, so that the heap dump record ends with the dump."""
    whole = gold.read(SOURCE, "jdk8")
    found = check(whole[:1006899] + whole[1006908:], tmp_path)
    assert {one["rule"] for one in found["findings"] if one["severity"] == "error"} == {"REC-013"}
    assert found["skipped"] < 1000


# ---- The serviceability agent ----------------------------------------------------------------------------------------

PROGRAM = """
public class Parked {
    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < 2000; i++) {
            Object own = new Object[] {"only the stack of this thread has it " + i};
            Thread.ofVirtual().start(() -> {
                Object kept = new Object[] {own, new StringBuilder("and this")};
                try {
                    Thread.sleep(1000000);
                } catch (InterruptedException e) {
                    System.out.println(kept);
                }
            });
        }
        System.out.println("ready");
        System.out.flush();
        Thread.sleep(1000000);
    }
}
"""


@pytest.mark.skipif(JDK is None or "HPROF_SLOW" in os.environ, reason="no JDK of 22 or later")
def test_the_serviceability_agent_leaves_out_what_virtual_threads_hold(tmp_path: Path) -> None:
    """It walks the heap without the frames of threads that are not mounted, and dumps references to objects that it leaves out; or
    it dumps all. The report agrees with the IDs in the dump."""
    (tmp_path / "Parked.java").write_text(PROGRAM)
    subprocess.run([f"{JDK}/bin/javac", "Parked.java"], cwd=tmp_path, check=True)
    vm = subprocess.Popen(
        [f"{JDK}/bin/java", "-Xmx200m", "-XX:+UseSerialGC", "Parked"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert vm.stdout is not None
        assert vm.stdout.readline() == b"ready\n"
        done = subprocess.run(
            [f"{JDK}/bin/jhsdb", "jmap", "--binaryheap", "--dumpfile", tmp_path / "sa", "--pid", str(vm.pid)],
            check=False,
            capture_output=True,
            timeout=300,
        )
    finally:
        vm.kill()
        vm.wait()
    if done.returncode or not (tmp_path / "sa").exists():
        pytest.skip("the serviceability agent may not attach here")
    found = json.loads(run("--format", "json", "sa", cwd=tmp_path).out)["files"][0]
    assert (found["producer"], found["errors"]) == ("the serviceability agent (jhsdb jmap)", 0)
    lacking = arrays_that_lack_elements((tmp_path / "sa").read_bytes())
    if len(lacking) > 1:  # one may be the list of roots of the archive
        assert found["missing_objects"] >= len(set().union(*lacking))
    assert found["complete"] == (found["missing_objects"] == 0) == (found["status"] == 0)
    assert f"sa: {'valid' if found['complete'] else 'incomplete, at least'}" in run("sa", cwd=tmp_path).out


def arrays_that_lack_elements(data: bytes) -> list[set[int]]:
    """Of each object array, the elements that are not dumped."""
    shapes, defined, arrays = Shapes(8), set[int](), list[set[int]]()
    for tag, at, end in record_offsets(data):
        while tag in HEAPS and at < end:
            if 0x20 <= data[at] <= 0x23:
                defined.add(int.from_bytes(data[at + 1 : at + 9], "big"))
            if data[at] == 0x22:
                (count,) = struct.unpack_from(">I", data, at + 13)
                arrays.append(set(struct.unpack_from(f">{count}Q", data, at + 25)))
            at += shapes.size(data, at)
    return [lacking for elements in arrays if (lacking := elements - defined - {0})]
