"""An author of a reader has PROTOCOL.md alone: its adapter runs, and its conversation is true."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from built import ROOT

from hprof_conformance import cases
from hprof_conformance.protocol import COUNTS, SCHEMA, Entry, parse_hello, parse_reply
from hprof_corpus.assembler import assemble
from hprof_corpus.digest import Content, identity
from hprof_corpus.truth import ROOTS, holds

PAGE = (ROOT / "conformance" / "PROTOCOL.md").read_text(encoding="utf-8")
SECTION = PAGE.split("### 2.6 A complete adapter")[1]
READER = """
from hprof_corpus.truth import holds
from hprof_corpus.walk import FramingError as MalformedError
from pathlib import Path

def counts(file):
    found = holds(memoryview(Path(file).read_bytes())).counts()
    return found["classes"], found["instances"], found["roots"]
"""


def block(kind: str) -> str:
    (found,) = re.findall(rf"```{kind}\n(.*?)```", SECTION, re.DOTALL)
    assert isinstance(found, str)
    return found


def run(adapter: str, folder: Path, some: str = "valid/all-roots-*,REC-015") -> tuple[int, str]:
    (folder / "my_reader.py").write_text(READER, encoding="utf-8")
    program = folder / "my-adapter"
    program.write_text(adapter.replace("/usr/bin/env python3", sys.executable), encoding="utf-8")
    program.chmod(0o755)
    command = [sys.executable, "-m", "hprof_conformance.main", "--reader", str(program), "--report", str(folder / "report")]
    found = subprocess.run([*command, "--cases", some], capture_output=True, text=True, check=False)
    return found.returncode, found.stdout + found.stderr


def test_the_adapter_passes(tmp_path: Path) -> None:
    status, out = run(block("python"), tmp_path)
    assert status == 0, out
    scores = json.loads((tmp_path / "report" / "report.json").read_text())["readers"][0]["scores"]
    assert scores["valid_counts_right"] == scores["valid"] > 0
    assert scores["invalid_rejected"] == scores["invalid"] > 0


@pytest.mark.parametrize(
    ("old", "new", "status", "words"),
    [
        ('"bugs": "https://example.org/bugs",', "", 1, "calibration: hello: hello: 'bugs' is a required property"),
        ('"roots"],', '"rots"],', 1, "hello: counts: 2: 'rots' is not one of"),
        ("print(json.dumps(HELLO)", 'print("Hello")\nprint(json.dumps(HELLO)', 1, "writes something else before its hello: Hello"),
        ('"roots": roots}', '"roots": roots - 1}', 1, "a tiny dump, its counts known: roots is 2, not 3"),
        ('"roots": roots}', '"root": roots}', 1, "breach of the protocol: reply: counts: 'root' is not one of"),
        ('"classes": classes, ', "", 1, "classes is not given, not 6"),
        ('["classes", "instances", "roots"]', '["classes", "instances"]', 1, "roots is 3, not in the hello"),
        # by the time of the next request the second line is there, or it is not
        ("for line in sys.stdin:", "for line in sys.stdin:\n  for _ in range(2):", 1, ", answered | that nobody asked for"),
        ("#!", "", 2, "cannot be started: a script begins with a line such as #!"),
        ("#!", "#!/nonexistent", 2, "cannot be started: no such interpreter"),
    ],
)
def test_a_slip_in_the_adapter_is_named(old: str, new: str, status: int, words: str, tmp_path: Path) -> None:
    adapter = block("python")
    assert old in adapter
    found, out = run(adapter.replace(old, new), tmp_path, "valid/all-roots-101-id4")
    assert (found, any(one in out for one in words.split("|"))) == (status, True), out


def test_the_conversation_is_true() -> None:
    hello_line, request, reply_line = block("json").replace("\n ", " ").splitlines()
    text = PAGE.split("#### 1. One class")[1].split("```\n")[1]
    data = memoryview(assemble(text).file.to_bytes())
    hello, asked = parse_hello(hello_line), json.loads(request)
    reply = parse_reply(reply_line, asked["case"])
    known = cases.counts_of(holds(data))
    assert reply.counts == {name: known[name] for name in hello.counts} != {}
    truth = identity(Content(data), "exact")
    sums = {name: Entry(truth[name].count, f"{truth[name].sum:032x}") for name in hello.digests}
    assert reply.digests == sums != {}


def test_the_page_names_each_count() -> None:
    table = PAGE.split("| count | counts |")[1].split("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == {*COUNTS} - {*ROOTS} | {"ROOT_JNI_GLOBAL"}


def test_the_page_names_each_field() -> None:
    table = PAGE.split("| field | |")[1].split("\n\n")[0]
    named = set(re.findall(r"`(\w+)`", "".join(line.split("|")[1] for line in table.splitlines() if "|" in line)))
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))["$defs"]
    fields = {*schema["hello"]["properties"], *schema["reply"]["properties"]} - {"protocol", "case"}
    assert named == fields


def test_names_of_cases_are_listed_and_a_command_with_arguments_is_refused() -> None:
    command = [sys.executable, "-m", "hprof_conformance.main"]
    found = subprocess.run([*command, "--list", "--cases", "valid/all-roots-101-*"], capture_output=True, text=True, check=False)
    assert found.stdout.split() == ["valid/all-roots-101-id4", "valid/all-roots-101-id8"]
    found = subprocess.run([*command, "--reader", "python3 reader.py"], capture_output=True, text=True, check=False)
    assert (found.returncode, "needs a script of its own" in found.stderr) == (2, True), found.stderr
