"""The reports for people: the formats concise and full, the verdicts alone."""

import gzip
import re
import struct
import subprocess
from pathlib import Path

import pytest
from dumps import AGENT, DUPLICATE, OBJECT, OBJECTS, VALID, class_dump, dump, instance, load_class, object_array, record, utf8
from some_cases import some
from tool import RULES, SOURCE, Arg, on_a_terminal, report, report_one, run

PATH_FREE_COLUMNS = 160
TIME = re.compile("; [0-9.]+ s(, [0-9.]+ [KMG]?B/s)?")

# ---- The format concise ----------------------------------------------------------------------------------------------


def hotspots(elements: int, *before: bytes) -> bytes:
    """A dump like those of HotSpot 17: the empty trace 1, and an Object[] of a ROOT_JNI_GLOBAL with dangling elements."""
    array = object_array(0x40, OBJECTS, [0x1000 + 8 * i for i in range(elements)])
    whole = dump(class_dump(0x50, OBJECT), *before, array, struct.pack(">BQQ", 0x01, 0x40, 0x7000))
    more = utf8(3, "java/util/HexFormat") + load_class(3, 0x50, 3) + record(0x05, struct.pack(">III", 1, 0, 0))
    heap = whole.index(b"\x1c\0\0\0\0")
    return whole[:heap] + more + whole[heap:]


def closing(done_out: str) -> str:
    return done_out.splitlines()[-1]


def test_a_valid_dump_takes_one_line(files: Path) -> None:
    assert run("valid", cwd=files).out == f"valid: valid (unknown producer, {len(VALID)} bytes, 2 objects, 0 roots)\n"
    packed = (files / "valid.gz").stat().st_size
    assert run("valid.gz", cwd=files).out == (
        f"valid.gz: valid (unknown producer, {len(VALID)} bytes, gzip {packed} bytes, 2 objects, 0 roots)\n"
    )


def test_the_default_profile_is_that_of_the_producer(files: Path) -> None:
    """`strict` by name reports what the producer's profile knows as a quirk."""
    (files / "agent").write_bytes(AGENT)
    done = run("agent", cwd=files)
    assert done.status == 0
    first, quirk = done.out.splitlines()
    assert first.startswith("agent: valid (the HPROF agent, ")
    (rule,) = report_one("agent", cwd=files)["totals"]
    assert quirk == f"  known quirk of the HPROF agent: {rule} (1); -v lists them"
    done = run("--profile", "strict", "agent", cwd=files)
    assert done.status == 1
    assert "  quirks: every error is a known quirk of the HPROF agent: --profile jdk8-agent accepts it" in done.out
    assert ", profile strict, " in closing(done.out)
    assert rule in run("--verbose", "agent", cwd=files).out.splitlines()[1]


def test_an_error_is_one_line_in_the_form_of_compilers(files: Path) -> None:
    (files / "both").write_bytes(
        dump(instance(0x20, OBJECT), instance(0x20, OBJECT), object_array(0x40, OBJECTS, [OBJECT, 0x1000, 0x1008]))
    )
    done = run("both", cwd=files)
    (duplicate, dangling_one, dangling_two) = report_one("both", cwd=files)["findings"]
    error, one, two, *ways, verdict = done.out.splitlines()
    assert error == (
        f"both:{duplicate['offset']:#x}: error[OBJ-004]: INSTANCE_DUMP 0x20 (java.lang.Object) is defined twice in this heap dump, "
        f"first at {duplicate['related_offset']:#x}"
    )
    for line, finding in ((one, dangling_one), (two, dangling_two)):
        assert line.startswith(f"both:{finding['offset']:#x}: warning[REF-002]: ")
        assert finding["found"].split(",")[0] in line
    assert ways == [
        "  readable: 3 objects, all classes; GC roots: none; at least 2 objects missing",
        "  fix: hprof-validate --repair fixed.hprof both",
        f"  look: hprof-validate --show {duplicate['offset']:#x} both",
        "  why: hprof-validate --explain OBJ-004",
    ]
    size = (files / "both").stat().st_size
    assert verdict == f"both: INVALID, 1 error, 2 warnings (unknown producer, {size} bytes)"
    assert f"  look: hprof-validate --show {duplicate['offset']} both\n" in run("--decimal", "both", cwd=files).out


@pytest.mark.parametrize("count", [5, 6, 457])
def test_more_than_five_of_a_rule_are_folded(count: int, files: Path) -> None:
    (files / "same").write_bytes(dump(*[instance(0x20, OBJECT)] * (count + 1)))
    out = run("same", cwd=files).out
    lines = re.findall(r"^same:0x[0-9a-f]+: error\[OBJ-004\]: ", out, re.MULTILINE)
    assert len(lines) == 5
    assert re.findall(r"^same: error\[OBJ-004\]: and (.*) more$", out, re.MULTILINE) == ([str(count - 5)] if count > 5 else [])
    assert f"same: INVALID, {count} errors (" in out


def test_quirks_are_not_counted_in_what_is_folded(files: Path) -> None:
    """One reference of an instance dangles; the elements of the one array are a quirk."""
    (files / "hs").write_bytes(hotspots(460))
    first, quirk = run("hs", cwd=files).out.splitlines()
    assert first.startswith("hs: valid (HotSpot 17 to 20, ")
    assert quirk == "  known quirk of HotSpot 17 to 20: REF-002 (460); -v lists them"


def test_large_numbers_have_groups(files: Path) -> None:
    """Also the numbers of bytes in a sentence; IDs, serials and values have none."""
    whole = dump(*(instance(0x1000 + 8 * i, OBJECT) for i in range(12345)))
    (files / "whole").write_bytes(whole)
    assert ", 12,345 objects, 0 roots)" in run("whole", cwd=files).out
    segment = whole.index(b"\x1c\0\0\0\0")
    longer = whole[: segment + 5] + struct.pack(">I", len(whole) - segment - 9 + 836604) + whole[segment + 9 :]
    (files / "cut").write_bytes(longer[:-12])
    assert "error[REC-002]: segment 1 ends 836,616 bytes after the end of the file\n" in run("cut", cwd=files).out


def test_a_truncated_dump(files: Path) -> None:
    (files / "cut").write_bytes(hotspots(460, instance(0x20, OBJECT))[:-1500])
    done = run("cut", cwd=files)
    assert done.status == 1
    error, readable, likely, fix, verdict = done.out.splitlines()
    assert re.fullmatch(r"cut:0x[0-9a-f]+: error\[REC-002\]: segment 1 ends [0-9,]+ bytes after the end of the file", error)
    assert readable == "  readable: 1 object, all classes; GC roots: none, they were in the missing tail"
    assert likely == "  likely: the disk was full, the VM was killed, or a copy was cut short"
    assert fix == "  fix: hprof-validate --repair fixed.hprof cut"
    size = (files / "cut").stat().st_size
    assert re.fullmatch(rf"cut: INVALID, 1 error \([^,]*, {size / 1000:.2f} KB\)", verdict)
    assert run(*fix.split()[2:], cwd=files).status == 0


def test_the_line_about_what_is_readable_has_what_was_not_checked(files: Path) -> None:
    (files / "broken").write_bytes(dump(instance(0x20, OBJECT), b"\x66" + bytes(30)))  # REC-013
    (line,) = re.findall("^  readable: .*$", run("broken", cwd=files).out, re.MULTILINE)
    skipped = report_one("broken", cwd=files)["skipped"]
    assert line == f"  readable: 1 object, all classes; GC roots: none in what was checked; {skipped} bytes not checked"


def test_a_file_that_is_not_a_dump() -> None:
    error, *_, verdict = run("-", stdin=b"PK\3\4 an archive of some kind").out.splitlines()
    assert error == "standard input:0x0: error[HDR-001]: not an HPROF dump: a zip or jar file: 'unzip' unpacks it"
    assert verdict == "standard input: INVALID, 1 error (no header of an HPROF dump, 28 bytes)"


def test_the_size_of_what_is_no_dump(tmp_path: Path) -> None:
    """Few bytes of it are read: a file has its size, of a stream nothing is known."""
    data = b"no dump at all, " * 6_250
    (tmp_path / "file").write_bytes(data)
    (tmp_path / "packed").write_bytes(gzip.compress(data, 0))
    assert run("file", cwd=tmp_path).out.endswith("file: INVALID, 1 error (no header of an HPROF dump, 100 KB)\n")
    assert run("-", stdin=data).out.endswith("standard input: INVALID, 1 error (no header of an HPROF dump)\n")
    assert re.search(r"INVALID, 1 error \(no header of an HPROF dump, gzip 100 KB\)\n$", run("packed", cwd=tmp_path).out)


def test_two_files_joined(files: Path) -> None:
    dump = (files / "valid").read_bytes()
    (files / "joined").write_bytes(dump * 2)
    done = run("joined", cwd=files)
    assert done.status == 1
    assert f"  likely: another dump begins at 0x{len(dump):x}: two files were joined; check each by itself\n" in done.out


def test_several_files_have_a_total(files: Path) -> None:
    lines = run("missing", "valid", "duplicate", cwd=files).out.splitlines()
    assert lines[0].startswith("valid: valid (")
    assert lines[-2:] == ["", "3 files: 1 valid, 1 invalid, 1 not readable"]


def test_a_dump_from_which_objects_are_missing_is_incomplete(files: Path) -> None:
    """Not by the letter of the specification, and not if options allow it."""
    done = run("dangling", cwd=files)
    *_, readable, likely, _, _, verdict = done.out.splitlines()
    size = (files / "dangling").stat().st_size
    assert likely.startswith("  likely: a whole segment or part of the heap dump was lost")
    assert (done.status, readable) == (1, "  readable: 1 object, all classes; GC roots: 1; at least 30 objects missing")
    assert verdict == f"dangling: incomplete, at least 30 objects are missing, 30 warnings (unknown producer, {size} bytes)"
    done = run("--allow-incomplete", "dangling", cwd=files)
    assert done.status == 0
    assert closing(done.out).startswith("dangling: incomplete, at least 30 objects are missing, which is allowed, 30 warnings (")
    done = run("--profile", "strict", "dangling", cwd=files)
    assert done.status == 0
    assert closing(done.out).startswith("dangling: valid, 30 warnings (")
    done = run("dangling", "valid", "duplicate", cwd=files)
    assert done.out.endswith("\n3 files: 1 valid, 1 incomplete, 1 invalid\n")


def test_a_dump_without_its_end_is_incomplete(files: Path) -> None:
    (files / "no-end").write_bytes(VALID[: -len(record(0x2C, b""))])
    done = run("no-end", cwd=files)
    assert done.status == 1
    assert "no-end: incomplete, the end of the heap dump is missing, 1 error (" in done.out
    (files / "names").write_bytes(VALID[: VALID.index(b"\x1c\0\0\0\0")])
    done = run("names", cwd=files)
    assert done.status == 1
    assert "names: incomplete, the heap dump is missing, 1 error (" in done.out
    assert "  fix: " not in done.out  # a copy would hold nothing


def test_an_invalid_dump_is_not_called_incomplete(files: Path) -> None:
    for name in ("valid", "duplicate", "truncated"):
        assert "incomplete" not in run(name, cwd=files).out


@pytest.mark.parametrize(
    ("name", "shown"),
    [("a b", "'a b'"), ("it's", "'it'\\''s'"), ("$HOME", "'$HOME'"), ("-v", "./-v"), ("two\nlines", "FILE"), ("x;y", "'x;y'")],
)
def test_commands_can_be_pasted_into_a_shell(name: str, shown: str, files: Path) -> None:
    (files / name).write_bytes(DUPLICATE)
    fix, look = re.findall("^  (?:fix|look): (.*)$", run("--", name, cwd=files).out, re.MULTILINE)
    assert fix == f"hprof-validate --repair fixed.hprof {shown}"
    assert look.endswith(f" {shown}")


def test_the_copy_has_another_name_than_the_dump(files: Path) -> None:
    (files / "fixed.hprof").write_bytes(DUPLICATE)
    assert "--repair fixed-again.hprof fixed.hprof\n" in run("fixed.hprof", cwd=files).out


# ---- The next command ------------------------------------------------------------------------------------------------


def ways_in(out: str) -> dict[str, str]:
    """The commands that a report names, by what they do."""
    return dict(re.findall("^  (fix|try|look|why): hprof-validate (.*)$", out, re.MULTILINE))


def ways_on(*args: Arg, cwd: Path, stdin: bytes | int = subprocess.DEVNULL) -> dict[str, str]:
    return ways_in(run(*args, cwd=cwd, stdin=stdin).out)


def test_commands_are_named_where_they_help(files: Path) -> None:
    for name in ("valid", "valid.gz", "missing"):
        assert ways_on(name, cwd=files) == {}
    for name, rule in (("warning", "HDR-006"), ("dangling", "REF-002")):
        finding = report_one(name, cwd=files)["findings"][0]
        assert finding["rule"] == rule
        assert ways_on(name, cwd=files) == {"look": f"--show {finding['offset']:#x} {name}", "why": f"--explain {rule}"}
    (files / "no dump").write_text("a text of more than 31 characters, which is no dump\n")
    assert ways_on("no dump", cwd=files) == {"look": "--show 0x0 'no dump'", "why": "--explain HDR-001"}
    (files / "empty").touch()
    assert ways_on("empty", cwd=files) == {}
    assert ways_on("-", cwd=files, stdin=DUPLICATE) == {"fix": "--repair fixed.hprof -", "why": "--explain OBJ-004"}
    (files / "agent").write_bytes(AGENT)
    assert ways_on("--profile", "strict", "agent", cwd=files).keys() == {"look", "why"}  # a profile accepts it
    assert ways_on("--werror", "dangling", cwd=files).keys() == {"look", "why"}  # a copy has the warnings, too
    assert ways_on("--max-memory", "1K", "duplicate", cwd=files) == {}
    packed = bytearray(gzip.compress(DUPLICATE) + gzip.compress(record(0x01, bytes(9))))
    packed[-8] ^= 1
    (files / "damaged.gz").write_bytes(packed)
    assert ways_on("--disable", "OBJ-004", "damaged.gz", cwd=files)["fix"] == "--repair fixed.hprof damaged.gz"


def test_commands_of_a_report_work(tmp_path: Path) -> None:
    """On every invalid dump of the corpus: --repair makes a copy, if one object is left, and --show shows the offset."""
    repaired = 0
    paths = some(sorted((SOURCE / "corpus/invalid").rglob("*.hprof")))
    out = run("--profile", "strict", *paths).out
    for path in paths:
        before, out = re.split(rf"^{re.escape(str(path))}: (?:INVALID|incomplete), .*\n", out, maxsplit=1, flags=re.MULTILINE)
        ways = ways_in(before)
        if "look" in ways:
            assert run(*ways["look"].split(), cwd=tmp_path).status in (0, 1), path
        if "fix" in ways:
            done = run("--profile", "strict", *ways["fix"].split(), cwd=tmp_path)
            repaired += done.status == 0
            assert done.status == 0 or "no object can be read" in done.err, path
        if "try" in ways:
            assert run("--profile", "strict", *ways["try"].split(), cwd=tmp_path).status in (0, 1), path
    assert repaired > len(paths) / 5


@pytest.mark.parametrize("form", ["concise", "full"])
def test_commands_are_about_the_gravest_finding(form: str, files: Path) -> None:
    """The warning precedes the errors in the file."""
    (files / "two").write_bytes(dump(instance(0x20, OBJECT), instance(0x20, OBJECT), instance(0, OBJECT), timestamp=0))
    out = run("--format", form, "two", cwd=files).out
    assert re.findall(r"^two:0x[0-9a-f]+: (\w+)\[", out, re.MULTILINE) == ["warning", "error", "error"]
    assert "  why: hprof-validate --explain OBJ-004\n" in out


def test_commands_are_rather_about_no_known_quirk(files: Path) -> None:
    """Of two warnings, the first is a known quirk of the agent, which its profile accepts."""
    (files / "ends").write_bytes(AGENT[:46] + record(0x0B, b"\0\0\0\7") + record(0x01, bytes(4) + b"x"))  # THR-005, STR-002
    assert report_one("ends", cwd=files)["totals"] == {"STR-002": 1, "THR-005": 1}
    for form in ("concise", "full"):
        out = run("--profile", "strict", "--format", form, "ends", cwd=files).out
        assert "1 of 2 errors and warnings are known quirks of the HPROF agent" in out
        assert "  why: hprof-validate --explain STR-002\n" in out


# ---- Sentences -------------------------------------------------------------------------------------------------------


def test_each_rule_has_a_sentence() -> None:
    text = (SOURCE / "validator/cli/sentences.def").read_text()
    named = ["-".join(name) for name in re.findall(r"^SENTENCE\((\w+), (\d+), ", text, re.MULTILINE)]
    assert sorted(named) == sorted(rule["id"] for rule in RULES)


def test_each_finding_of_the_corpus_is_a_sentence_with_what_was_found() -> None:
    """Every finding, compared with the report in JSON."""
    paths = [path for folder in ("invalid", "warning") for path in sorted((SOURCE / "corpus" / folder).rglob("*.hprof"))]
    found = [(one["file"], finding) for one in report("--max-errors", "0", *paths)["files"] for finding in one["findings"]]
    out = run("--profile", "strict", "--max-errors", "0", *paths).out
    lines = [line for line in out.splitlines() if re.match(r"[^ :]+(:0x[0-9a-f]+)?: \w+\[", line)]
    assert len(lines) == len(found)
    for line, (path, finding) in zip(lines, found, strict=True):
        place = "" if finding["offset"] is None else f":{finding['offset']:#x}"
        assert line.startswith(f"{path}{place}: {finding['severity']}[{finding['rule']}]: ")
        assert "%" not in line and "  " not in line
    assert len({finding["rule"] for _, finding in found}) > 90


# ---- Widths ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["concise", "full"])
@pytest.mark.parametrize("length", [45, 160, 3000])
def test_no_line_is_wider_than_160_columns_without_its_path(form: str, length: int, files: Path) -> None:
    """Names of classes are cut in the middle, where they are wider than a line."""
    name = "com/example/" + "Wide\u00e9" * (length // 5) + "/End"
    whole = dump(instance(0x20, OBJECT), instance(0x20, OBJECT)).replace(b"\0\0\0\x18java/lang/Object", b"")
    text = name.encode()
    before = whole.index(b"java/lang/Object") - 8 - 9
    old = 9 + 8 + len("java/lang/Object")
    renamed = whole[:before] + record(0x01, whole[before + 9 : before + 17] + text) + whole[before + old :]
    path = files / ("p" * 120) / "dump"
    path.parent.mkdir()
    path.write_bytes(renamed)
    done = run("--format", form, path)
    assert done.status == 1
    lines = [line.removeprefix(str(path)) for line in done.out.splitlines() if "hprof-validate --" not in line]
    assert max(map(len, lines)) <= PATH_FREE_COLUMNS
    (error,) = [line for line in lines if "error[OBJ-004]" in line]
    assert "com.example." in error
    assert "End)" in error or length == 3000  # so long a name is not kept
    assert ("..." in error) == (length > 45)
    for whole_form in ("lines", "github", "json") if length < 3000 else ():
        assert name.replace("/", ".") in run("--format", whole_form, path).out


@pytest.mark.parametrize("columns", [60, 80, 132])
@pytest.mark.parametrize("args", [[], ["--verbose"], ["--quiet"], ["--list-rules"], ["--list-profiles"], ["--explain", "REF-002"]])
def test_text_respects_the_width_of_the_terminal(files: Path, columns: int, args: list[str]) -> None:
    names = [] if args[:1] in (["--list-rules"], ["--list-profiles"], ["--explain"]) else ["duplicate", "dangling", "truncated"]
    shown = on_a_terminal(*args, "--color=never", *names, cwd=files, columns=columns).replace("\r", "")
    prose = shown.split("\nExample\n")[0].splitlines()
    assert len(prose) > 2
    assert [line for line in prose if len(line) > columns] == []
    if names:  # the same words as on one line
        whole = run(*args, *names, cwd=files).out
        assert TIME.sub("", " ".join(shown.split())) == TIME.sub("", " ".join(whole.split()))


# ---- The format full -------------------------------------------------------------------------------------------------


def test_full(files: Path) -> None:
    done = run("--verbose", "duplicate", cwd=files)
    assert done.err == ""
    for name in ("full", "text-full"):
        assert TIME.sub("", run("--format", name, "duplicate", cwd=files).out) == TIME.sub("", done.out)
    assert TIME.sub("", run("--format", "text", "duplicate", cwd=files).out) == TIME.sub("", run("duplicate", cwd=files).out)
    first, finding, where, detail, fix, look, why, checked, verdict = done.out.splitlines()
    assert first == (
        "duplicate: JAVA PROFILE 1.0.2, 8-byte IDs, 2026-11-24 12:00:03 UTC, profile strict (auto: looks like no known producer)"
    )
    assert re.fullmatch(r"duplicate:0x[0-9a-f]+: error\[OBJ-004\]: INSTANCE_DUMP 0x20 .*, first at 0x[0-9a-f]+", finding)
    assert re.fullmatch(
        r"    expected .*; found .*, first at 0x[0-9a-f]+ \(object-id-duplicate, SPEC 6\.4\.2\)",
        detail,
    )
    assert where == "    HEAP_DUMP_SEGMENT #1 > INSTANCE_DUMP 0x20 (java.lang.Object)"
    assert [line.split()[0] for line in (fix, look, why)] == ["fix:", "look:", "why:"]
    assert re.fullmatch(r"  checked: well-formed to the end; 0 references; [0-9.]+ s", checked)
    assert verdict == closing(run("duplicate", cwd=files).out)


def test_full_explains_a_quirk_once_for_findings_in_a_row(files: Path) -> None:
    (quirk,) = {finding["quirk"] for finding in report_one("--profile", "hotspot", "dangling", cwd=files)["findings"]}
    assert run("--profile", "hotspot", "--verbose", "dangling", cwd=files).out.count(quirk) == 1


def test_full_reports_skipped_bytes() -> None:
    broken = dump(instance(0x20, OBJECT), b"\x66" + bytes(30))  # REC-013
    assert re.search("  checked: well-formed up to 0x[0-9a-f]+, [0-9]+ bytes not checked; ", run("-v", "-", stdin=broken).out)


def test_full_has_the_rate_of_a_large_dump(files: Path) -> None:
    """20 MB, read twice to find the offset of the dangling reference."""
    (files / "large").write_bytes(dump(object_array(0x40, OBJECTS, [0x1000] + [0] * 2500000)))
    done = run("-v", "--progress", "always", "large", cwd=files)
    assert ", 20.0 MB, 1 object, 0 roots)" in done.out
    assert re.search(r"; 2,500,001 references; [0-9.]+ s, [0-9.]+ [MG]B/s$", done.out, re.MULTILINE)
    assert re.search(r"\rlarge: \[[#.]{20}\] [0-9.]+ MB of 20\.0 MB, [0-9.]+ [MG]B/s, [0-9]:[0-9]{2} left", done.err)


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
def test_full_has_the_time_of_the_dump(timestamp: int, shown: str) -> None:
    assert f", 8-byte IDs, {shown}, " in run("-v", "-", stdin=dump(timestamp=timestamp)).out


@pytest.mark.parametrize(
    ("args", "name", "profile"),
    [
        (["--profile", "strict"], "valid", "profile strict"),
        ([], "valid", "profile strict (auto: looks like no known producer)"),
        (["--profile", "auto"], "agent", "profile jdk8-agent (auto)"),
        (["--profile", "mat"], "agent", "profile mat"),
    ],
)
def test_full_always_names_the_profile(files: Path, args: list[str], name: str, profile: str) -> None:
    (files / "agent").write_bytes(AGENT)
    assert run("-v", *args, name, cwd=files).out.splitlines()[0].endswith(f", {profile}")


# ---- Hints -----------------------------------------------------------------------------------------------------------


def hint(name: str, cwd: Path) -> str:
    """The hint of the text report, or ""; other reports have the same, also on a pipe."""
    shown: str = [*re.findall("^  likely: (.*)$", run(name, cwd=cwd).out, re.MULTILINE), ""][0]
    assert (report_one(name, cwd=cwd)["hint"] or "") == shown
    assert (report_one("-", stdin=(cwd / name).read_bytes())["hint"] or "") == shown
    return shown


def javas_own() -> bytes:
    """A dump of some size, with IDs like addresses and realistic texts."""
    objects = [instance(0x7F31C0000000 + 16 * i, OBJECT) for i in range(2000)]
    return dump(*objects, object_array(0x7F31D0000A0D, OBJECTS, [0x7F31C0000000 + 16 * i for i in range(2000)]))


@pytest.mark.parametrize("tail", [bytes(21), b"some words of a log\n\n", b"\n", bytes(range(200, 221)), b"\r\n"])
def test_the_hint_names_appended_bytes(files: Path, tail: bytes) -> None:
    (files / "appended").write_bytes(VALID + tail)
    assert hint("appended", files).startswith("bytes follow the end of the dump: something was appended to it")
    (files / "appended").write_bytes(VALID)
    assert hint("appended", files) == ""


def test_the_hint_names_a_transfer_as_text(files: Path) -> None:
    (files / "lines").write_bytes(javas_own().replace(b"\n", b"\r\n"))
    assert hint("lines", files).startswith("transferred as text: each LF became CR LF")
    (files / "decoded").write_bytes(javas_own().decode("utf-8", "replace").encode())
    assert hint("decoded", files).startswith("transferred as text: bytes that are not UTF-8 were replaced by U+FFFD")
    (files / "packed").write_bytes(gzip.compress(javas_own()).decode("utf-8", "replace").encode())
    assert hint("packed", files).startswith("transferred as text: bytes that are not UTF-8 were replaced by U+FFFD")
    for whole in (javas_own(), javas_own()[:-100]):
        (files / "binary").write_bytes(whole)
        assert "text" not in hint("binary", files)


TAIL = "the disk was full, the VM was killed, or a copy was cut short"


def test_the_hint_names_a_truncated_tail_only_if_it_is_certain(files: Path) -> None:
    """The same rule is broken by a truncated record and by a length that leads beyond the end."""
    whole = javas_own()
    segment = whole.index(b"\x1c\0\0\0\0")
    text = whole.index(b"java/lang/Object") - 8 - 9  # the record of this string

    def with_length(record_at: int, length: int) -> bytes:
        return whole[: record_at + 5] + struct.pack(">I", length) + whole[record_at + 9 :]

    (files / "within").write_bytes(whole[:-100])
    (files / "segment").write_bytes(with_length(segment, 1 << 30))
    (files / "string").write_bytes(with_length(text, 1 << 30))
    (files / "names").write_bytes(whole[: text + 12])
    (files / "at-the-end").write_bytes(with_length(segment, len(whole) - segment - 9)[:-9])
    for name in ("within", "segment", "string", "names"):
        assert report_one(name, cwd=files)["totals"] == {"REC-002": 1}
    assert hint("within", files) == TAIL
    for name in ("segment", "string"):
        assert "a length is wrong" in hint(name, files)
    for name, data in (("header", whole[: segment + 4]), ("appended", AGENT + b"\n")):
        (files / name).write_bytes(data)
        assert report_one(name, cwd=files)["totals"]["REC-001"] == 1
    assert hint("appended", files).endswith("), or other bytes were appended")
    for name in ("names", "header"):  # so does the first file of a dump in parts end
        assert hint(name, files).endswith(") before its objects: they may be in parts, FILE.p0 and so on")
