"""The checker of text output: each file of corpus/ascii has the findings of its manifest, and no bytes make it fail."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hprof_corpus import __version__
from hprof_corpus.ascii.check import check
from hprof_corpus.ascii.command import main
from hprof_corpus.ascii.findings import Findings
from hprof_corpus.ascii.grammar import Kind
from hprof_corpus.ascii.ids import IdSet
from hprof_corpus.ascii.rules import BY_ID, QUIRKS, RULES, Severity
from tests.conftest import CORPUS

ASCII = CORPUS / "ascii"
ENTRIES: list[dict[str, Any]] = json.loads((ASCII / "manifest.json").read_text(encoding="utf-8"))["files"]
VALID = sorted((ASCII / "valid").glob("*.txt"))


class Pipe(io.BytesIO):
    """Can be read once."""

    def seekable(self) -> bool:
        return False


def findings_of(data: bytes, profile: str = "strict", pipe: bool = False) -> Findings:
    findings = Findings(profile, 0)
    check(Pipe(data) if pipe else io.BytesIO(data), findings)
    return findings


def rows(findings: Findings) -> list[tuple[int, str]]:
    return sorted((one.line, one.rule.id) for one in findings.kept)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: str(entry["file"]))
def test_a_file_has_the_findings_of_the_manifest(entry: dict[str, Any]) -> None:
    data = (ASCII / entry["file"]).read_bytes()
    strict = findings_of(data)
    assert rows(strict) == [(one["line"], one["rule"]) for one in entry["findings"]]
    assert ("valid" if strict.valid else "invalid") == entry["verdict"]["strict"]
    assert ("valid" if findings_of(data, "jdk8-agent").valid else "invalid") == entry["verdict"]["jdk8-agent"]


def test_the_manifest_names_all_files() -> None:
    assert [entry["file"] for entry in ENTRIES] == sorted(path.relative_to(ASCII).as_posix() for path in ASCII.rglob("*.txt"))


def test_every_rule_has_files_that_break_it_alone() -> None:
    folders: dict[str, set[str]] = {}
    for entry in ENTRIES:
        top, folder, *_ = entry["file"].split("/")
        if top == "invalid":
            folders.setdefault(folder, set()).update(one["rule"] for one in entry["findings"])
    assert folders == {rule.id: {rule.id} for rule in RULES}


def test_the_text_lists_every_rule_in_its_clause() -> None:
    clause, listed = "", []
    for line in (CORPUS.parent / "conformance/producers/agent8/TEXT.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("### "):
            clause = line.split()[1]
        found = re.match(r"- \*\*(ASC-\d{3})\*\* ", line)
        if found:
            listed.append((found[1], clause))
    assert sorted(listed) == sorted((rule.id, rule.clause) for rule in RULES)


def test_every_quirk_has_a_file_that_the_profile_accepts() -> None:
    seen = set()
    for path in (ASCII / "jdk8-agent").glob("*.txt"):
        findings = findings_of(path.read_bytes(), "jdk8-agent")
        assert {one.severity for one in findings.kept} == {Severity.NOTE}, path
        seen |= {one.quirk for one in findings.kept}
    assert seen == set(QUIRKS)


def test_a_pipe_gives_the_same_findings_but_the_lines_of_dangling_references() -> None:
    for entry in ENTRIES:
        data = (ASCII / entry["file"]).read_bytes()
        file, pipe = rows(findings_of(data)), rows(findings_of(data, pipe=True))
        assert [row for row in file if row[1] != "ASC-042"] == [row for row in pipe if row[1] != "ASC-042"]
        assert {rule for _, rule in file} == {rule for _, rule in pipe}


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_a_truncated_file_is_invalid_unless_it_ends_after_a_whole_block(path: Path) -> None:
    data = path.read_bytes()
    preface = data.index(b"\n--------\n") + len(b"\n--------\n")
    ends = [b" END\n", b" thread 200001\n", b"thread>\n", b"--------\n", b"\n\n", b")\n", b"\t<empty>\n", b"Native method)\n"]
    for size in range(len(data)):
        findings = findings_of(data[:size])
        if size < preface or not any(data[:size].endswith(end) for end in ends):
            assert not findings.valid, size


@given(st.data())
def test_no_change_makes_the_checker_fail(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(VALID)).read_bytes()
    lines = text.splitlines(keepends=True)
    for _ in range(data.draw(st.integers(1, 4))):
        index = data.draw(st.integers(0, len(lines) - 1))
        change = data.draw(st.sampled_from(["drop", "repeat", "swap", "bytes"]))
        if change == "drop":
            lines[index] = b""
        elif change == "repeat":
            lines[index] *= 2
        elif change == "swap":
            other = data.draw(st.integers(0, len(lines) - 1))
            lines[index], lines[other] = lines[other], lines[index]
        else:
            at = data.draw(st.integers(0, len(lines[index])))
            lines[index] = lines[index][:at] + data.draw(st.binary(max_size=3)) + lines[index][at + 1 :]
    findings_of(b"".join(lines))


@given(st.binary(max_size=200))
def test_no_bytes_make_the_checker_fail(data: bytes) -> None:
    assert not findings_of(data).valid
    header = b"JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 2026\n--------\n\n"
    findings_of(header + data)


@given(st.sets(st.integers(0, 1 << 70)), st.sets(st.integers(0, 1 << 70)))
def test_an_id_set_is_a_set(first: set[int], second: set[int]) -> None:
    sets = []
    for numbers in (first, second):
        ids = IdSet()
        assert all(ids.add(number) for number in numbers)
        assert not any(ids.add(number) for number in numbers)
        sets.append(ids)
    assert all((number in sets[0]) == (number in first) for number in first | second)
    assert [len(ids) for ids in sets] == [len(first), len(second)]
    assert sorted(sets[0]) == sorted(first)
    assert sorted(sets[0].difference(sets[1])) == sorted(first - second)


def test_memory_is_bounded() -> None:
    """A bit for each ID that is defined and one for each that is named, whatever a line has."""
    header, begin, _ = VALID_HEAP.partition(b"HEAP DUMP BEGIN (12")
    count = 8_000
    body = b"".join(
        b"OBJ %x (sz=24, trace=300001, class=com.example.Node@50000011)\n\tnext\t\t%x\n" % (i, i)
        for i in range(0x60000000, 0x60000000 + count)
    )
    data = (
        header
        + begin
        + VALID_HEAP.partition(begin)[2]
        .replace(b" objects, 400", b" objects, 40000000")
        .replace(b"CLS 50000010", body + b"CLS 50000010")
    )
    stream = io.BytesIO(data)
    tracemalloc.start()
    try:
        findings = Findings()
        check(stream, findings)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert rows(findings)[0][1] == "ASC-040"
    assert len(findings.kept) == 1
    assert peak < 400_000, peak


VALID_HEAP = (ASCII / "valid" / "heap.txt").read_bytes()


def peak_of(data: bytes) -> int:
    stream = io.BytesIO(data)
    tracemalloc.start()
    try:
        check(stream, Findings(most=1))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_depend_on_the_length_of_names() -> None:
    """The figure of generator/python/README.md: what is kept of each class, and of each trace."""
    head = VALID_HEAP.partition(b"HEAP DUMP BEGIN")[0] + b"HEAP DUMP BEGIN (1 objects, 1 bytes) Thu Jan  1 00:00:01 2026\n"
    count = 5000
    peaks = []
    for length in (10, 1000):
        name = b"%0*d"
        numbers = range(0x50000000, 0x50000000 + count)
        classes = b"".join(b"CLS %x (name=%s, trace=300001)\n\tsuper\t\t%x\n" % (i, name % (length, i), i + 1) for i in numbers)
        traces = b"".join(b"TRACE %d:\n\t%s.m(A.java:1)\n" % (i, name % (length, i)) for i in numbers)
        peaks.append([peak_of(head + classes), peak_of(head.partition(b"HEAP")[0] + traces)])
    for short, long in zip(*peaks, strict=True):
        assert short < 550 * count, short
        assert long < short + 64 * count + 200_000, long


def test_memory_does_not_depend_on_the_length_of_numbers() -> None:
    head = VALID_HEAP.partition(b"THREAD")[0]
    assert peak_of(head + b"".join(b"TRACE %d%s:\n\t<empty>\n" % (i, b"7" * 60_000) for i in range(1, 100))) < 1_000_000


def test_memory_of_dangling_references_is_bounded() -> None:
    """Two bits for each."""
    head, _, tail = VALID_HEAP.partition(b"ARR 50000006")
    count = 20_000
    fields = b"".join(b"\tnext\t\t%x\n" % i for i in range(0x60000000, 0x60000000 + count))
    assert peak_of(head + fields + b"ARR 50000006" + tail) < 300_000


def test_the_observer_sees_every_record() -> None:
    seen: list[Kind] = []
    check(io.BytesIO(VALID_HEAP), Findings(), lambda kind, match: seen.append(kind))
    lines = VALID_HEAP.partition(b"--------\n\n")[2].splitlines()
    assert len(seen) == len(lines)


def run_tool(*words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "hprof_corpus.ascii.command", *words], input=stdin, capture_output=True, check=False
    )


def test_exit_statuses(tmp_path: Path) -> None:
    good, bad = str(ASCII / "valid/heap.txt"), str(ASCII / "invalid/ASC-042/field.txt")
    assert run_tool("check", good).returncode == 0
    assert run_tool("check", good, bad).returncode == 1
    assert run_tool("check", str(ASCII / "jdk8-agent/old.txt"), "--profile", "jdk8-agent").returncode == 0
    assert run_tool("check", "-", stdin=VALID_HEAP).returncode == 0
    assert run_tool("check").returncode == 2
    for words in (("--max-memory", "much"), ("--max-memory", "9" * 20), ("--max-findings", "-1")):
        assert run_tool("check", *words, good).returncode == 2
    missing = run_tool("check", str(tmp_path / "missing"), bad)
    assert missing.returncode == 3
    assert b"No such file" in missing.stderr
    assert b"ASC-042" in missing.stdout


@pytest.mark.skipif("HPROF_SANITIZED" in os.environ, reason="the limit holds for the same Python everywhere")
def test_status_4_when_memory_ends() -> None:
    scattered = b"".join(b"TRACE %d:\n\t<empty>\n" % (i << 40) for i in range(200_000))
    result = run_tool("check", "--max-memory", "24M", "-", stdin=VALID_HEAP.partition(b"THREAD")[0] + scattered)
    assert result.returncode == 4
    assert b"out of memory" in result.stderr


def test_an_interrupt_ends_it_without_a_traceback() -> None:
    words = [sys.executable, "-m", "hprof_corpus.ascii.command", "check", "missing", "-"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert b"No such file" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert (process.wait(), process.stderr.read()) == (130, b"")


def test_an_interrupt_while_modules_are_loaded_is_silent(tmp_path: Path) -> None:
    """As it is installed; here loading takes a minute."""
    package = tmp_path / "share/hprof/hprof_corpus"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("import time\nprint('loading', flush=True)\ntime.sleep(60)\n")
    (tmp_path / "bin").mkdir()
    script = shutil.copy(CORPUS.parent / "generator/python/installed_ascii.py", tmp_path / "bin")
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == b"loading\n"
        process.send_signal(signal.SIGINT)
        assert (process.wait(), process.stderr.read()) == (-signal.SIGINT, b"")


def test_reports(capsys: pytest.CaptureFixture[str]) -> None:
    bad = str(ASCII / "invalid/ASC-042/field.txt")
    assert main(["check", bad]) == 1
    text = capsys.readouterr().out
    assert re.match(rf"{re.escape(bad)}:\d+: error\[ASC-042\]: reference-dangling \(TEXT.md H.4\)\n    expected ", text)
    lines = len(Path(bad).read_bytes().splitlines())
    assert " ".join(text.split()).endswith(f"invalid: 1 error, {lines} lines, profile strict")
    assert main(["check", "--format", "json", bad, str(ASCII / "valid/sites.txt")]) == 1
    files = json.loads(capsys.readouterr().out)["files"]
    assert [file["valid"] for file in files] == [False, True]
    assert files[0]["totals"] == {"ASC-042": 1}
    assert files[0]["findings"][0]["rule"] == "ASC-042"


def test_a_binary_dump_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "heap.hprof"
    path.write_bytes(b"JAVA PROFILE 1.0.2\0\0\0\0\x08" + bytes(8))
    assert main(["check", str(path)]) == 1
    assert "found a binary dump, which hprof-validate checks\n" in capsys.readouterr().out


def test_a_rule_of_two_severities_has_one_total(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "ends.txt"
    path.write_bytes(VALID_HEAP.partition(b"THREAD")[0] + b"THREAD END (id = 200002)\nTHREAD END (id = 200009)\n")
    assert main(["check", "--format", "json", "--profile", "jdk8-agent", str(path)]) == 1
    file = json.loads(capsys.readouterr().out)["files"][0]
    assert file["totals"] == {"ASC-014": 2}
    assert [one["severity"] for one in file["findings"]] == ["note", "error"]


def test_standard_input_is_read_from_its_offset(tmp_path: Path) -> None:
    """A reference dangles, so that it is read twice."""
    data = (ASCII / "invalid/ASC-042/field.txt").read_bytes()
    path = tmp_path / "appended.txt"
    path.write_bytes(b"another file\n" * 1000 + data)
    with path.open("rb") as stream:
        os.lseek(stream.fileno(), 13_000, os.SEEK_SET)
        done = subprocess.run(
            [sys.executable, "-m", "hprof_corpus.ascii.command", "check", "--format", "json", "-"],
            stdin=stream, capture_output=True, check=False,
        )  # fmt: skip
    file = json.loads(done.stdout)["files"][0]
    assert [(one["line"], one["rule"]) for one in file["findings"]] == rows(findings_of(data))


def test_totals_are_exact_when_findings_are_capped(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "many.txt"
    path.write_bytes(VALID_HEAP.partition(b"THREAD")[0] + b"THREAD END (id = 200001)\n" * 50)
    assert main(["check", "--max-findings", "2", str(path)]) == 1
    text = capsys.readouterr().out
    assert f"{path}: error[ASC-012]: and 47 more\n" in text
    assert text.count("error[ASC-012]: thread-end-twice") == 2
    assert main(["check", str(path)]) == 1
    assert "error[ASC-012]: and 44 more" in capsys.readouterr().out


def test_a_quirk_is_explained_once_and_lines_wrap_at_words(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "names.txt"
    named = b'THREAD START (obj=5000000%d, id = 20000%d, name="two\nlines %s", group="main")\n'
    path.write_bytes(PREFACE + b"".join(named % (i, i, b"word " * 40) for i in range(1, 4)))
    assert main(["check", "--profile", "jdk8-agent", str(path)]) == 0
    text = capsys.readouterr().out
    assert (text.count("note[ASC-003]"), text.count("known of the agent")) == (3, 1)
    assert max(map(len, text.splitlines())) <= 132


PREFACE = b"JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 2026\n\n--------\n\n"
PREFACE_OF_AGENT = PREFACE.replace(b"----", b"Header for -agentlib:hprof (or -Xrunhprof) ASCII Output\n\n----", 1)


@pytest.mark.parametrize(
    ("head", "profile"), [(PREFACE, "strict"), (PREFACE_OF_AGENT, "jdk8-agent"), (b"TRACE 1:\n\t<empty>\n", "jdk8-agent")]
)
def test_auto_recognises_the_agent_of_jdk_8(head: bytes, profile: str) -> None:
    data = head + b"THREAD END (id = 200002)\n"
    auto, named = findings_of(data, "auto"), findings_of(data, profile)
    assert (auto.profile, auto.kept, auto.totals) == (profile, named.kept, named.totals)
    assert findings_of(data, "strict").profile == "strict"


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as done:
        main(["--version"])
    assert (done.value.code, capsys.readouterr().out) == (0, f"hprof-ascii {__version__}\n")


def test_lists(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(BY_ID)
    assert main(["quirks"]) == 0
    assert capsys.readouterr().out.count("\n    ") == 2 * len(QUIRKS)


def test_names_may_be_as_long_as_class_files_have_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    longest = b"N" * 65_535
    text = tmp_path / "names.txt"
    text.write_bytes(VALID_HEAP.partition(b"THREAD")[0] + b"TRACE 300001:\n\t%s.%s(%s:1)\n" % (longest, longest, longest))
    assert main(["check", str(text)]) == 0, capsys.readouterr().out


def test_a_number_may_be_as_long_as_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "long.txt"
    text.write_text("JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 " + "9" * 20_000 + "\n")
    assert main(["check", str(text)]) == 1
    assert "invalid: " in capsys.readouterr().out


def as_agent_writes(text: bytes, names: dict[bytes, bytes]) -> bytes:
    """With other names, each line in pieces of at most 1023 bytes; the method of a row is a piece by itself."""
    head, dashes, body = text.partition(b"--------\n\n")
    written = []
    for line in body.splitlines(keepends=True):
        for old, new in names.items():
            line = line.replace(old, new)
        row = re.match(rb" *\d+ +\S+% +\S+% +\d+ +\d+(?= \S+\n)", line, re.DOTALL)
        at = row.end() if row else 0
        written.append(line[:at] + line[at : at + 1023])
    return head + dashes + b"".join(written)


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
@pytest.mark.parametrize("name", [b"No\nde", b"\n\nN\n", b"N" * 2000, b"N" * 1023, (b"N" * 99 + b"\n") * 14], ids=len)
def test_whatever_a_name_is_the_profile_accepts_the_file(path: Path, name: bytes) -> None:
    data = as_agent_writes(path.read_bytes(), {b"Node": name, b"worker": name, b"FIRST": name, b"description": name})
    findings = findings_of(data, "jdk8-agent")
    assert [one for one in findings.kept if one.severity is not Severity.NOTE] == []
    assert {one.rule.id for one in findings.kept} <= {"ASC-003"}


@pytest.mark.parametrize("path", [*VALID, ASCII / "jdk8-agent/old.txt"], ids=lambda path: path.stem)
@pytest.mark.parametrize("name", [b"(N", b"N)", b"N(o)V", b")(", b"N(:1)"])
def test_a_name_may_have_parentheses(path: Path, name: bytes) -> None:
    """Also that of a source file, which is within parentheses."""
    data = path.read_bytes()
    replaced = data
    for old in (b"Node", b"worker", b"description", b"Main", b"String"):
        replaced = replaced.replace(old, name)
    assert rows(findings_of(replaced, "jdk8-agent")) == rows(findings_of(data, "jdk8-agent"))


@pytest.mark.parametrize("name", ["samples", "sites", "times"])
def test_numbers_of_any_length(name: str) -> None:
    """A number of 400 digits is more than a float holds."""
    for path in VALID:
        for row in re.finditer(rb"\d+", path.read_bytes()):
            if name in path.name and row.start() % 5 == 0:
                data = path.read_bytes()
                findings_of(data[: row.start()] + b"9" * 400 + data[row.end() :])


def test_a_line_without_the_end_of_its_names() -> None:
    """Each place where a name may end was tried with each other: this took minutes."""
    line = b'THREAD START (obj=1, id = 1, name="' + b'", group="' * 6000 + b"\n"
    findings_of(b"JAVA PROFILE 1.0.1, created Mon Nov 23 04:52:37 2026\n\n" + line * 20)


@pytest.mark.parametrize("part", [b".(", b"(", b")", b")L", b")V ", b"; ", b".m(a)V ", b"(:1)", b"<unknown callee> "])
def test_a_line_of_parentheses_that_end_no_name(part: bytes) -> None:
    """One that is as long as a line may be takes 10 ms."""
    began = time.process_time()
    for before in (b"TRACE 300001:\n\ta", b"count callee caller time\n1 a"):
        findings_of(PREFACE + before + part * (200_000 // len(part)) + b"\n")
    assert time.process_time() - began < 3


def test_lines_that_may_continue() -> None:
    """Each was joined with the lines that follow and tried as every kind of line: ten seconds for 50 kB."""
    began = time.process_time()
    begin = b"HEAP DUMP BEGIN (1 objects, 1 bytes) Thu Jan  1 00:00:01 2026\n"
    findings_of(VALID_HEAP.partition(b"THREAD")[0] + begin + b"\tstatic a\n" * 5000)
    assert time.process_time() - began < 3


@pytest.mark.parametrize("words", [f"check {VALID[0]}", "--help"])
@pytest.mark.parametrize(("to", "status"), [("| head -c 0", 0), (">/dev/full", 3), (">&-", 3)])
def test_standard_output_that_takes_nothing(words: str, to: str, status: int) -> None:
    command = f"set -o pipefail; {sys.executable} -m hprof_corpus.ascii.command {words} {to}"
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}  # else argparse is content
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=False, env=buffered)
    assert (done.returncode, b"Traceback" in done.stderr) == (status, False)


def test_the_manual_page_has_each_option_of_help(capsys: pytest.CaptureFixture[str]) -> None:
    page = (CORPUS.parent / "generator/python/hprof-ascii.1.md").read_text(encoding="utf-8")
    shown = ""
    for words in (["--help"], ["check", "--help"]):
        with pytest.raises(SystemExit):
            main(words)
        shown += capsys.readouterr().out
    assert set(re.findall(r"--[a-z-]+", page)) == set(re.findall(r"--[a-z-]+", shown))
    assert set(re.findall(r"^`hprof-ascii ([a-z]+)", page, re.MULTILINE)) == {"check", "rules", "quirks"}
    assert {"check", "rules", "quirks"} <= set(re.findall(r"[a-z]+", shown))
