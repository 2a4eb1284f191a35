"""The gate for the CI of others: what a build with good and with malformed dumps gets."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from built import ROOT, TOOL, needs_tool

from hprof_conformance import gold
from hprof_corpus.walk import read_header, records

GOOD = ROOT / "corpus" / "valid" / "names-odd.hprof"
BAD = ROOT / "corpus" / "invalid" / "OBJ-004" / "two-instances-102-id8.hprof"
WARNING = ROOT / "corpus" / "warning" / "REF-002" / "instance-field-102-id8.hprof"

SEGMENT = 0x1C

pytestmark = needs_tool


def gate(folder: Path, *arguments: object, options: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HPROF_VALIDATE": str(TOOL), "HPROF_OPTIONS": options}
    command = [str(one) for one in (ROOT / "conformance" / "gate", *arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder, check=False)


def test_good_dumps_pass_and_leave_reports(tmp_path: Path) -> None:
    assert gate(tmp_path, "strict", "report", GOOD).returncode == 0
    assert json.loads((tmp_path / "report/hprof.sarif").read_text())["runs"][0]["results"] == []
    assert ElementTree.parse(tmp_path / "report/hprof.xml").getroot().tag == "testsuites"


def test_a_malformed_dump_fails_and_is_in_the_reports(tmp_path: Path) -> None:
    found = gate(tmp_path, "strict", "report", GOOD, BAD)
    assert found.returncode == 1 and "OBJ-004" in found.stdout
    results = json.loads((tmp_path / "report/hprof.sarif").read_text())["runs"][0]["results"]
    assert [one["ruleId"] for one in results] == ["OBJ-004"]
    assert ElementTree.parse(tmp_path / "report/hprof.xml").getroot().find(".//failure") is not None


def test_warnings_fail_if_asked(tmp_path: Path) -> None:
    assert gate(tmp_path, "strict", "report", WARNING).returncode == 0
    assert gate(tmp_path, "strict", "report", WARNING, options="--werror").returncode == 1


def test_an_incomplete_dump_does_not_pass(tmp_path: Path) -> None:
    """A HotSpot's dump that has lost a segment: nothing is wrong but that objects are missing."""
    data = gold.read(ROOT, "jdk25")
    header = read_header(data)
    assert header is not None
    *_, lost = (record for record in records(data, header.size) if record.tag == SEGMENT)
    (tmp_path / "lost.hprof").write_bytes(data[: lost.at] + data[lost.end :])
    found = gate(tmp_path, "auto", "report", "lost.hprof")
    assert found.returncode == 1 and "lost.hprof: incomplete" in found.stdout, found.stdout
    assert gate(tmp_path, "auto", "report", "lost.hprof", options="--allow-incomplete").returncode == 0


def test_wrong_usage(tmp_path: Path) -> None:
    assert gate(tmp_path, "strict").returncode == 2
    assert gate(tmp_path, "no-such-profile", "report", GOOD).returncode == 2
    assert not list((tmp_path / "report").iterdir())


def test_a_report_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert gate(tmp_path, "strict", "file", GOOD).returncode == 2
    (tmp_path / "report" / "hprof.xml").mkdir(parents=True)
    assert gate(tmp_path, "strict", "report", GOOD).returncode == 2


def test_a_tool_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("test_gate.TOOL", Path("/nonexistent"))
    found = gate(tmp_path, "strict", "report", GOOD)
    assert (found.returncode, found.stderr) == (2, "conformance/gate: /nonexistent: not found; HPROF_VALIDATE may name it\n")
