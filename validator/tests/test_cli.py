"""The command line tool: every option, every exit status, and everything that a shell can do to it."""

import contextlib
import gzip
import json
import os
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest
from dumps import DUPLICATE, VALID, dangling, utf8
from tool import PROFILES, RULES, SOURCE, TOOL, Arg, catalog, obey_permissions, on_a_terminal, report, report_one, run

FORMATS = ["concise", "full", "lines", "github", "json", "jsonl", "sarif", "junit"]

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


def test_a_reached_limit_is_4_and_outweighs_all_else(files: Path) -> None:
    done = run("--max-memory", "1K", "valid", cwd=files)
    assert done.status == 4
    assert done.err.startswith("hprof-validate: valid: ")
    assert done.out.startswith("valid: not checked to the end (no header was read, ")
    assert (done.out + done.err).count("memory limit") == 1
    run("--max-memory", "1K", "--output", "report", "valid", cwd=files)
    assert "memory limit" in (files / "report").read_text()
    assert run("--max-memory", "1K", "missing", "valid", "duplicate", cwd=files).status == 4
    assert report_one("--max-memory", "1K", "valid", cwd=files)["failure"]
    assert run("--max-memory", "1G", "valid", cwd=files).status == 0


def test_what_cannot_be_opened_is_named_on_standard_error(files: Path) -> None:
    done = run("missing", cwd=files)
    assert (done.out, done.err) == ("", "hprof-validate: missing: No such file or directory\n")
    done = run(".", cwd=files)
    assert (done.out, done.err) == ("", "hprof-validate: .: a directory without files whose names end in .hprof or .hprof.gz\n")
    file = report_one("missing", cwd=files)
    assert (file["status"], file["valid"], file["failure"]) == (3, False, "No such file or directory")
    assert file["findings"] == []


def test_a_file_without_permission(files: Path) -> None:
    (files / "valid").chmod(0)
    done = run("valid", cwd=files, preexec_fn=obey_permissions)
    assert (done.status, done.out, done.err) == (3, "", "hprof-validate: valid: Permission denied\n")


def test_an_empty_file(files: Path) -> None:
    (files / "empty").touch()
    file = report_one("empty", cwd=files)
    assert (file["status"], file["failure"], file["totals"]) == (1, None, {"HDR-005": 1})


def test_a_file_that_fails_while_it_is_read() -> None:
    done = run("/proc/self/mem")
    assert (done.status, done.out) == (3, "")
    assert done.err == "hprof-validate: /proc/self/mem: cannot be read: Input/output error\n"


# ---- Standard input, pipes -------------------------------------------------------------------------------------------


def test_standard_input(files: Path) -> None:
    done = run("-", stdin=VALID)
    assert done.status == 0
    assert done.out.startswith("standard input: valid (unknown producer, ")
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
    """Standard input and output, whose other ends are slow."""
    (files / "many").write_bytes(dangling(20000))
    many = (files / "many").read_bytes()
    expected = run("--profile", "strict", "--format", "json", "--max-errors", "0", "-", stdin=many)
    in_reading, in_writing = os.pipe()
    out_reading, out_writing = os.pipe()
    os.set_blocking(in_reading, False)
    os.set_blocking(out_writing, False)
    args = [TOOL, "--profile", "strict", "--format", "json", "--max-errors", "0", "-"]
    with subprocess.Popen(args, stdin=in_reading, stdout=out_writing) as process:
        os.close(in_reading)
        os.close(out_writing)
        with os.fdopen(in_writing, "wb") as stream:
            time.sleep(0.1)
            stream.write(many[:1000])
            stream.flush()
            time.sleep(0.1)
            stream.write(many[1000:])
        time.sleep(0.2)
        with os.fdopen(out_reading, "rb") as stream:
            assert stream.read() == expected.raw
    assert process.returncode == expected.status == 0


def test_a_fifo(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with subprocess.Popen([TOOL, fifo], stdout=subprocess.PIPE) as process:
        fifo.write_bytes(VALID)
        assert process.wait(60) == 0


def test_a_stream_without_a_header_ends_after_the_header() -> None:
    """The other end of the pipe stays open, and writes more as long as the tool reads."""
    with subprocess.Popen([TOOL, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin and process.stdout
        with contextlib.suppress(BrokenPipeError):
            for _ in range(1 << 12):
                process.stdin.write(b"no dump, " * 8000)
        assert process.wait(60) == 1
        assert b"error[HDR-001]: not an HPROF dump: " in process.stdout.read()
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()


def test_a_socket(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        done = run("socket", cwd=tmp_path)
    assert (done.status, done.out, done.err) == (3, "", "hprof-validate: socket: No such device or address\n")


def test_a_pipe_gives_what_a_file_gives(files: Path) -> None:
    for name in ("valid", "duplicate", "warning", "truncated", "dangling", "valid.gz"):
        file, pipe = report_one(name, cwd=files), report_one("-", stdin=(files / name).read_bytes())
        assert pipe.pop("file") == "-"
        assert file.pop("file") == name
        for one, other in zip(file["findings"], pipe["findings"], strict=True):
            if other["rule"] == "REF-002" and other["offset"] is None:
                other["offset"] = one["offset"]
                one["found"] = one["found"].partition("; named by ")[0]
            if other["related_offset"] is None:
                other["related_offset"] = one["related_offset"]
        assert pipe == file


# ---- Wrong usage -----------------------------------------------------------------------------------------------------


def wrong_usage(*args: Arg, cwd: Path | None = None) -> str:
    """The sentence that reports a wrong command line."""
    done = run(*args, cwd=cwd)
    assert (done.status, done.out) == (2, "")
    sentence, hint = done.err.splitlines()
    assert hint == "Try 'hprof-validate --help'."
    assert sentence.startswith("hprof-validate: ")
    return sentence.removeprefix("hprof-validate: ")


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ([], "no FILE is given; - is standard input"),
        (["--"], "no FILE is given; - is standard input"),
        (
            ["--profile", "jdk9", "x"],
            "no profile is called 'jdk9' (there are strict, auto, hotspot, jdk8-agent, jvmpi-agent, sa, android, graalvm, mat)",
        ),
        (
            ["--profile", "hotpsot", "x"],
            "no profile is called 'hotpsot' (there are strict, auto, hotspot, jdk8-agent, jvmpi-agent, sa, android, graalvm, mat)"
            "; did you mean 'hotspot'?",
        ),
        (["--format", "xml", "x"], "--format takes concise, full, lines, github, json, jsonl, sarif, junit or html, not 'xml'"),
        (
            ["-f", "Jsno", "x"],
            "--format takes concise, full, lines, github, json, jsonl, sarif, junit or html, not 'Jsno'; did you mean 'json'?",
        ),
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
        (
            ["--disable", "OBJ-999", "x"],
            "no rule or family is called 'OBJ-999' (--list-rules shows them all); did you mean 'OBJ-009'?",
        ),
        (["--disable", "x" * 70, "x"], f"no rule or family is called '{'x' * 70}' (--list-rules shows them all)"),
        (
            ["--disable", "OBJ-004,,REF", "x"],
            "--disable takes rules or families with commas between, not 'OBJ-004,,REF'",
        ),
        (["--select", "OBJ,", "x"], "--select takes rules or families with commas between, not 'OBJ,'"),
        (["--ignore", "", "x"], "--ignore takes rules or families with commas between, not ''"),
        (["--warn", "", "x"], "--warn takes rules or families with commas between, not ''"),
        (["--error", "OBJ-004,", "x"], "--error takes rules or families with commas between, not 'OBJ-004,'"),
        (
            ["--disable", "rec-013", "x"],
            "REC-013 is about framing and cannot be disabled or softened: nothing after such an error can be checked",
        ),
        (
            ["--warn", "header-magic", "x"],
            "HDR-001 is about framing and cannot be disabled or softened: nothing after such an error can be checked",
        ),
        (
            ["--explain", "OBJ-4"],
            "no rule or family is called 'OBJ-4' (--list-rules shows them all); did you mean 'OBJ-004'?",
        ),
        (
            ["--disable", "class-id-reloded", "x"],
            "no rule or family is called 'class-id-reloded' (--list-rules shows them all); did you mean 'class-id-reloaded'?",
        ),
        (["--explain", "OBJ-004", "x"], "--explain, --list-rules and --list-profiles take no FILE, such as 'x'"),
        (
            ["--list-rules", "--list-profiles"],
            "--show, --repair, --stats, --explain, --list-rules and --list-profiles do not go together",
        ),
        (
            ["--list-rules", "--format", "sarif"],
            "--explain, --list-rules and --list-profiles have the formats concise and json only",
        ),
        (["--nonsense"], "there is no option '--nonsense'"),
        (["--stdin-name", "x", "y"], "--stdin-name 'x' names standard input, and no FILE is -"),
        (["--stdin-name", "x", "--show", "0", "-"], "--stdin-name is for files that are checked"),
        (["--max", "3"], "'--max' is short for --max-errors and --max-memory"),
        (["--list"], "'--list' is short for --list-rules and --list-profiles"),
        (["--="], "there is no option '--='"),
        (["--proifle", "auto", "x"], "there is no option '--proifle'; did you mean '--profile'?"),
        (["--maxerrors=3", "x"], "there is no option '--maxerrors=3'; did you mean '--max-errors'?"),
        (["-profile", "auto", "x"], "there is no option '-p'; did you mean '--profile'?"),
        (["--quiet", "-xh"], "there is no option '-x'"),
        (["--quiet=yes"], "option '--quiet=yes' takes no argument"),
        (["--help=yes"], "option '--help=yes' takes no argument"),
        (["--profile"], "option '--profile' needs an argument"),
        (
            ["--format", "x\n\x1b[31m", "x"],
            r"--format takes concise, full, lines, github, json, jsonl, sarif, junit or html, not 'x\n\x1b[31m'",
        ),
    ],
)
def test_wrong_usage(args: list[str], sentence: str) -> None:
    assert wrong_usage(*args) == sentence


@pytest.mark.parametrize("size", ["", "0", "0G", "-1", "0.0001K", "G", "2GB", "2 G", "1X", "16777216T", "18446744073709551616"])
def test_wrong_sizes(size: str) -> None:
    assert wrong_usage("--max-memory", size, "x") == (
        "--max-memory takes a size above 0 in bytes, or with K, M, G or T (of 1024) such as 512M or 2G, not '" + size + "'"
    )


@pytest.mark.parametrize(
    "size", ["4000000000", "4e9", "1.5G", "1.1G", "16777215T", "512M", "2G", "2g", "4000000k", "18446744073709551615"]
)
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
        (["--ignore", "OBJ-004"], None),
        (["--ignore", "OBJ-004", "--error", "OBJ"], "error"),
        (["--select", "OBJ"], "error"),
        (["--select", "REF"], None),
        (["--select", "REF,OBJ-004"], "error"),
        (["--select", "REF", "--select", "OBJ"], "error"),
        (["--select", "OBJ", "--select", "REF"], None),
        (["--select", "OBJ", "--ignore", "OBJ-004"], None),
        (["--ignore", "OBJ-004", "--select", "OBJ"], "error"),
        (["--warn", "OBJ-004", "--select", "OBJ"], "warning"),
        (["--error", "GZ,HDR-001"], "error"),
        (["--disable", "HDR"], "error"),
        (["--disable", "gz"], "error"),
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
        used = report_one("--profile", profile["name"], "valid", cwd=files)["profile"]
        assert used == profile["name"] or profile["name"] == "auto"
    assert run("--profile", "mat", "valid", cwd=files).out.startswith("valid: valid (unknown producer, profile mat, ")
    notes = report_one("--profile", "hotspot", "dangling", cwd=files)
    assert (notes["notes"], notes["warnings"]) == (30, 0)
    assert notes["findings"][0]["quirk"]


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
    for form, count in (("full", shown), ("concise", shown if args else 5)):
        text = run("--profile", "strict", "--format", form, *args, "dangling", cwd=files).out
        assert len(re.findall(r"^dangling:0x[0-9a-f]+: warning\[REF-002\]: ", text, re.MULTILINE)) == count
        assert (f"dangling: warning[REF-002]: and {30 - count} more\n" in text) == (count < 30)
        assert "dangling: valid, 30 warnings (" in text


# ---- --quiet ---------------------------------------------------------------------------------------------------------


def test_quiet_keeps_the_verdict(files: Path) -> None:
    for args in (["--quiet"], ["-q", "--verbose"], ["-q", "--format", "full"], ["-q", "--format", "lines"]):
        done = run(*args, "duplicate", "valid", cwd=files)
        assert (done.status, done.err) == (1, "")
        duplicate, valid = done.out.splitlines()
        assert duplicate == f"duplicate: INVALID, 1 error: OBJ-004 (unknown producer, {len(DUPLICATE)} bytes, 2 objects, 0 roots)"
        assert valid == f"valid: valid (unknown producer, {len(VALID)} bytes, 2 objects, 0 roots)"
    done = run("--quiet", "missing", cwd=files)
    assert (done.status, done.out, done.err) == (3, "", "hprof-validate: missing: No such file or directory\n")


def test_quiet_leaves_reports_for_programs_complete(files: Path) -> None:
    for name in ("json", "sarif", "github"):
        args = ("--format", name, "duplicate")
        assert run("--quiet", *args, cwd=files).out == run(*args, cwd=files).out != ""


def test_quiet_twice_prints_nothing_on_standard_output(files: Path) -> None:
    for args in ([], ["--format", "json"], ["--format", "junit"]):
        for quiet in (["-qq"], ["--quiet", "--quiet"]):
            done = run(*quiet, *args, "duplicate", cwd=files)
            assert (done.status, done.out, done.err) == (1, "", "")
    done = run("-qq", "missing", cwd=files)
    assert (done.status, done.out, done.err) == (3, "", "hprof-validate: missing: No such file or directory\n")


def test_quiet_needs_no_standard_output(files: Path) -> None:
    assert run("-qq", "valid", cwd=files, preexec_fn=lambda: os.close(1)).status == 0


def test_quiet_writes_to_an_output_file(files: Path) -> None:
    done = run("--quiet", "--format", "json", "--output", "report", "duplicate", cwd=files)
    assert (done.status, done.out, done.err) == (1, "", "")
    assert json.loads((files / "report").read_text())["files"][0]["totals"] == {"OBJ-004": 1}
    whole = run("duplicate", cwd=files).out.splitlines()
    done = run("-qq", "--output", "report", "duplicate", cwd=files)
    assert (done.status, done.out, done.err) == (1, "", "")
    assert (files / "report").read_text().splitlines() == whole


# ---- Output ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args",
    [
        *(["--format", form, "duplicate"] for form in FORMATS),
        ["--help"],
        ["--version"],
        ["--list-rules"],
        ["--list-profiles"],
        ["--explain", "OBJ"],
    ],
)
def test_an_output_that_cannot_be_written_is_3(files: Path, args: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = run(*args, cwd=files, stdout=full)
    assert (done.status, done.err) == (3, "hprof-validate: standard output: No space left on device\n")
    done = run(*args, cwd=files, preexec_fn=lambda: os.close(1))
    assert (done.status, done.err) == (3, "hprof-validate: standard output: Bad file descriptor\n")


@pytest.mark.parametrize("name", FORMATS)
def test_a_reader_that_goes_away(files: Path, name: str) -> None:
    """Status 3 without a message, or a graver status."""
    (files / "many").write_bytes(dangling(20000))
    for file in ("many", "duplicate"):
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

    # The limit also truncates what a build for coverage writes.
    env = dict(os.environ, GCOV_PREFIX=str(files / "coverage"))
    done = run("--verbose", "--output", "report", "valid", cwd=files, preexec_fn=limit, env=env)
    assert done.status == 3
    assert done.err.startswith("hprof-validate: report: File too large\n")


def test_output(files: Path) -> None:
    (files / "report").write_text("old " * 10000)
    done = run("--output", "report", "valid", cwd=files)
    assert (done.status, done.out, done.err) == (0, "", "")
    assert (files / "report").read_text().startswith("valid: valid (unknown producer, ")
    assert run("--output", "-", "valid", cwd=files).out.startswith("valid: valid (unknown producer, ")
    assert run("--output", "/dev/stdout", "valid", cwd=files).out.startswith("valid: valid (unknown producer, ")
    assert run("--list-rules", "--output", "rules", cwd=files).out == ""
    assert (files / "rules").read_text() == run("--list-rules").out


def test_output_to_a_file_names_files_that_cannot_be_read(files: Path) -> None:
    run("--output", "report", "missing", "valid", cwd=files)
    assert (files / "report").read_text().startswith("missing: No such file or directory\nvalid: valid (")


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
    """Opening it would wait for the tool itself."""
    os.mkfifo(files / "fifo")
    assert wrong_usage("--output", "fifo", "fifo", cwd=files) == "the output would overwrite the input 'fifo'"


def test_output_is_replaced_when_it_is_complete(files: Path) -> None:
    """Until then the old file stays, also after a signal and after a failed write, which leave no other file."""
    (files / "report").write_text("old")
    (files / "report").chmod(0o640)
    (files / "link").symlink_to("report")
    before = sorted(files.iterdir())
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with subprocess.Popen([TOOL, "--output", "link", "-"], cwd=files, stdin=subprocess.PIPE) as process:
            assert process.stdin is not None
            process.stdin.write(VALID[:100])
            process.stdin.flush()
            deadline = time.monotonic() + 60
            while sorted(files.iterdir()) == before and time.monotonic() < deadline:
                time.sleep(0.01)
            assert (files / "report").read_text() == "old"
            process.send_signal(number)
            assert process.wait(60) == -number
        assert (files / "report").read_text() == "old"
        assert sorted(files.iterdir()) == before
    assert run("--output", "link", "valid", cwd=files).status == 0
    assert (files / "report").read_text().startswith("valid: valid (")
    assert (files / "report").stat().st_mode & 0o777 == 0o640
    assert (files / "link").is_symlink()
    assert sorted(files.iterdir()) == before


def test_output_to_what_standard_output_writes_to(files: Path) -> None:
    with (files / "log").open("ab") as stream:
        stream.write(b"first line\n")
        stream.flush()
        assert run("--output", "/dev/stdout", "valid", cwd=files, stdout=stream).status == 0
    assert (files / "log").read_text().startswith("valid: valid (")


def test_wrong_usage_leaves_an_output_alone(files: Path) -> None:
    (files / "report").write_text("old")
    wrong_usage("--output", "report", "--jobs", "0", "valid", cwd=files)
    wrong_usage("--output", "report", cwd=files)
    assert (files / "report").read_text() == "old"


# ---- gzip ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["checksum", "data"])
def test_bytes_before_a_damaged_member_are_checked(files: Path, fault: str) -> None:
    sound = gzip.compress((files / "duplicate").read_bytes())
    damaged = bytearray(gzip.compress(b"\x01" + bytes(7) + b"\x09" + bytes(9)))
    damaged[-8 if fault == "checksum" else 10] ^= 6
    (files / "damaged").write_bytes(sound + damaged)
    (report,) = json.loads(run("--format", "json", "damaged", cwd=files).raw)["files"]
    assert set(report["totals"]) == {"OBJ-004", "GZ-003" if fault == "checksum" else "GZ-002"}


# ---- Names of files --------------------------------------------------------------------------------------------------


def test_names_with_a_leading_dash(files: Path) -> None:
    (files / "--quiet").write_bytes(VALID)
    assert run("--", "--quiet", cwd=files).out.startswith("--quiet: valid (")
    assert run("./--quiet", cwd=files).out.startswith("./--quiet: valid (")
    (files / "-").write_bytes(DUPLICATE)
    assert run("./-", cwd=files).status == 1


def test_options_may_follow_files(files: Path) -> None:
    assert run("duplicate", "--disable", "OBJ-004", cwd=files).status == 0


# ---- Colours and progress --------------------------------------------------------------------------------------------


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


def test_progress_shows_the_end_of_a_long_path(files: Path) -> None:
    folder = files / ("d" * 100) / "e"
    folder.mkdir(parents=True)
    (folder / "heap\u00e9.hprof").write_bytes(VALID)
    shown = on_a_terminal("--progress=always", folder / "heap\u00e9.hprof", cwd=files, columns=100, stdout=subprocess.DEVNULL)
    assert re.search("\r[.]{3}[d/]*/e/heap\u00e9.hprof: \\[", shown)
    shown = on_a_terminal("--progress=always", folder / "heap\u00e9.hprof", cwd=files, columns=65, stdout=subprocess.DEVNULL)
    assert "hprof: [" in shown or "\r[" in shown


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_progress_is_wiped_off_by_a_signal(files: Path, number: int) -> None:
    """A dump through a pipe that stops when the bar appears."""
    reading, writing = os.pipe()

    def feed() -> None:
        os.close(reading)
        with os.fdopen(writing, "wb", closefd=False) as stream:
            stream.write(VALID[:-9] + b"".join(utf8(99 + i, "x" * (4 << 20)) for i in range(4)))

    def interrupt(shown: bytes, process: "subprocess.Popen[bytes]") -> None:
        if b"B/s" in shown:
            process.send_signal(number)

    shown = on_a_terminal("--progress=always", "-", cwd=files, stdin=reading, stdout=subprocess.DEVNULL, feed=feed, watch=interrupt)
    os.close(writing)
    assert "B/s" in shown
    assert shown.endswith("\r\x1b[K")


def test_progress_comes_by_itself_after_a_second(files: Path) -> None:
    """A long dump that arrives slowly."""
    reading, writing = os.pipe()

    def feed() -> None:
        os.close(reading)
        with os.fdopen(writing, "wb") as stream:
            stream.write(VALID[:-9])
            for _ in range(14):
                stream.write(utf8(99, "x" * (3 << 20)))
                stream.flush()
                time.sleep(0.1)

    shown = on_a_terminal("-", cwd=files, stdin=reading, stdout=subprocess.DEVNULL, feed=feed)
    assert re.search(r"\rstandard input: [0-9.]+ MB, [0-9.]+ [KMG]B/s", shown)
    assert shown.endswith("\r\x1b[K")


# ---- The catalog -----------------------------------------------------------------------------------------------------


def test_list_rules(files: Path) -> None:
    lines = run("--list-rules").out.splitlines()
    assert lines[0].split()[0] == "RULE"
    assert [line.split()[0] for line in lines[1:]] == [rule["id"] for rule in RULES]
    text = (SOURCE / "validator/src/findings/rules.def").read_text()
    named = re.findall(r"^RULE\(([A-Z]+)[_, ]+([0-9]+),", text, re.MULTILINE)
    assert [rule["id"] for rule in RULES] == [f"{family}-{number}" for family, number in named]
    for rule in RULES:
        assert rule["link"] == f"SPEC.md#{rule['id'].lower()}"
        assert all(
            rule[key] for key in ("id", "name", "family", "clause", "rows", "summary", "why", "producers", "readers", "example")
        )


def test_list_profiles() -> None:
    names = [profile["name"] for profile in PROFILES]
    assert names == ["strict", "auto", "hotspot", "jdk8-agent", "jvmpi-agent", "sa", "android", "graalvm", "mat"]
    text = run("--list-profiles").out
    for profile in PROFILES:
        assert re.search(f"^{profile['name']} ", text, re.MULTILINE)
        for quirk in profile["quirks"]:
            assert quirk["rule"] in text
    assert all(len(line) <= 100 for line in text.splitlines())


def test_what_strict_accepts_is_valid_in_every_profile() -> None:
    """RULES.md M.5: a profile may make errors of warnings, but not of what breaks no rule."""
    folders = [SOURCE / "corpus/valid", SOURCE / "corpus/either"]
    clean = [file["file"] for file in report(*folders)["files"] if not file["errors"] and not file["warnings"]]
    assert len(clean) > 100
    for profile in PROFILES:
        checked = json.loads(run("--profile", profile["name"], "--format", "json", *clean).out)["files"]
        assert [file["file"] for file in checked if not file["valid"]] == [], profile["name"]


def test_no_profile_makes_an_error_of_what_strict_accepts() -> None:
    """All profiles see the same findings, so this says it of every dump."""
    grades = ["off", "warning", "error"]
    strict = {rule["id"]: grades.index(rule["severity"]) for rule in RULES}
    accepted = {rule for rule, grade in strict.items() if grades[grade] == "off"}
    assert accepted
    assert [rule["id"] for rule in RULES if grades.index(rule["lax"]) > strict[rule["id"]]] == []
    hard = {quirk["rule"] for profile in PROFILES for quirk in profile["quirks"] if quirk["severity"] == "error"}
    assert hard
    assert hard & accepted == set()


@pytest.mark.parametrize("name", ["OBJ-004", "obj-004", "Object-Id-Duplicate"])
def test_explain(name: str) -> None:
    lines = run("--explain", name).out.splitlines()
    (rule,) = [rule for rule in RULES if rule["id"] == "OBJ-004"]
    assert lines[0] == "OBJ-004 object-id-duplicate"
    assert f"    {rule['summary']}" in lines
    assert f"    SPEC.md#obj-004, section {rule['clause']}" in lines
    for title in ("Severity", "Why", "Producers", "Readers", "Example"):
        assert title in lines
    for profile in PROFILES:
        counts_as = "as in the profile of the likely producer" if profile["name"] == "auto" else "error"
        assert any(line.startswith(f"    {profile['name']:12}{counts_as}") for line in lines)


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


def test_short_options(files: Path) -> None:
    done = run("-q", "-j", "2", "-f", "json", "-o", "report", "duplicate", cwd=files)
    assert (done.status, done.out, done.err) == (1, "", "")
    assert json.loads((files / "report").read_text())["files"][0]["totals"] == {"OBJ-004": 1}


def test_help_fits_the_terminal(tmp_path: Path) -> None:
    assert max(len(line) for line in run("--help").out.splitlines()) <= 80
    for columns in (60, 80, 100):
        shown = on_a_terminal("--help", cwd=tmp_path, columns=columns).replace("\r", "").splitlines()
        assert columns - 20 < max(len(line) for line in shown) <= columns


def test_help_and_version(files: Path) -> None:
    done = run("--help")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("Usage: hprof-validate [OPTION]... FILE...\n")
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
