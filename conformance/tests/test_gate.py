"""The gate for the CI of others: what a build with good and with malformed dumps gets."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = os.environ.get("HPROF_VALIDATE", str(ROOT / "build" / "release" / "validator" / "hprof-validate"))
GOOD = ROOT / "corpus" / "valid" / "names-odd.hprof"

pytestmark = pytest.mark.skipif(not Path(TOOL).exists(), reason="hprof-validate is not built")


def gate(folder: Path, *arguments: object, options: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HPROF_VALIDATE": TOOL, "HPROF_OPTIONS": options}
    command = [str(one) for one in (ROOT / "conformance" / "gate", *arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder, check=False)


def bad() -> Path:
    return next(iter(sorted((ROOT / "corpus/invalid/OBJ-004").glob("*.hprof"))))


def test_good_dumps_pass_and_leave_reports(tmp_path: Path) -> None:
    assert gate(tmp_path, "strict", "report", GOOD).returncode == 0
    assert json.loads((tmp_path / "report/hprof.sarif").read_text())["runs"][0]["results"] == []
    assert ElementTree.parse(tmp_path / "report/hprof.xml").getroot().tag == "testsuites"


def test_a_malformed_dump_fails_and_is_in_the_reports(tmp_path: Path) -> None:
    found = gate(tmp_path, "strict", "report", GOOD, bad())
    assert found.returncode == 1 and "OBJ-004" in found.stdout
    results = json.loads((tmp_path / "report/hprof.sarif").read_text())["runs"][0]["results"]
    assert [one["ruleId"] for one in results] == ["OBJ-004"]
    assert ElementTree.parse(tmp_path / "report/hprof.xml").getroot().find(".//failure") is not None


def test_warnings_fail_if_asked(tmp_path: Path) -> None:
    warning = next(iter(sorted((ROOT / "corpus/warning/REF-002").glob("*.hprof"))))
    assert gate(tmp_path, "strict", "report", warning).returncode == 0
    assert gate(tmp_path, "strict", "report", warning, options="--werror").returncode == 1


def test_wrong_usage(tmp_path: Path) -> None:
    assert gate(tmp_path, "strict").returncode == 2
    assert gate(tmp_path, "no-such-profile", "report", GOOD).returncode == 2
    assert not list((tmp_path / "report").iterdir())
