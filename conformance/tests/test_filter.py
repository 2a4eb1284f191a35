"""A program that reads a dump and writes one: what it drops is found, and so is a secret that a redactor leaves."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from built import ROOT, needs_tool

from hprof_conformance import producers, ways
from hprof_conformance.expectations import outcome_of_dump
from hprof_conformance.secrets import planted

REDACTOR = ROOT / "conformance" / "example" / "redact.py"
CASES = "planted,gold/sa17,valid/arrays-all-types-*,valid/fields-all-types-*,valid/statics-*"


def run(command: str, folder: Path) -> tuple[int, dict[str, str]]:
    """The status, and by case what the content is."""
    program = [sys.executable, "-m", "hprof_conformance.main", "--quiet", "--filter", command, "--cases", CASES]
    found = subprocess.run([*program, "--report", str(folder / "report")], capture_output=True, text=True, check=False)
    made = json.loads((folder / "report" / "report.json").read_text())["producers"][0]
    assert made["ran"], found.stdout + found.stderr
    return found.returncode, {one["how"]: one["content"] for one in made["dumps"]}


def changed(folder: Path, old: str, new: str) -> str:
    source = REDACTOR.read_text(encoding="utf-8")
    assert old in source
    copy = folder / "redact"
    copy.write_text(source.replace(old, new), encoding="utf-8")
    copy.chmod(0o755)
    return str(copy)


@needs_tool
def test_the_redactor_of_the_example_passes(tmp_path: Path) -> None:
    status, content = run(f"{REDACTOR} IN OUT", tmp_path)
    assert status == 0, content
    assert set(content.values()) == {""} and "planted" in content and "gold/sa17" in content


@needs_tool
def test_a_copy_passes(tmp_path: Path) -> None:
    assert run("/bin/cp", tmp_path)[0] == 0


@needs_tool
@pytest.mark.parametrize(
    ("old", "new", "case", "words"),
    [
        ("out.blank(width)  # a static field", "out.keep(width)", "planted", "a static long: the secret"),
        ("out.blank(number * WIDTHS[kind])", "out.keep(number * WIDTHS[kind])", "planted", "a String of char: the secret"),
        ("out.keep(number * out.id_size)", "out.blank(number * out.id_size)", "gold/sa17", "object_arrays"),
        ("out.keep(ids * out.id_size + more)", "out.blank(ids * out.id_size + more)", "gold/sa17", "roots: "),
    ],
)
def test_what_it_leaves_and_what_it_loses_is_found(old: str, new: str, case: str, words: str, tmp_path: Path) -> None:
    status, content = run(changed(tmp_path, old, new), tmp_path)
    assert status == 1 and words in content[case], content


def test_secrets_are_fresh_and_all_in_the_dump() -> None:
    first, second = planted(1), planted(2)
    assert first.left_in(first.dump) == list(first.secrets) and not second.left_in(first.dump)


@needs_tool
def test_a_dump_from_which_objects_are_missing_is_not_invalid() -> None:
    """Its outcome names the finding, so that nobody reads that the producer breaks the format."""
    file = ROOT / "corpus/warning/REF-002/segment-lost-102-id8.hprof"
    found = producers.check(ways.built(ROOT, "hprof-validate", "validator"), ways.Dump("plain", file, "hotspot"), says=False)
    assert not found["fine"]
    assert outcome_of_dump(found) == "REF-002"
