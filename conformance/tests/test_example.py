"""The example reader, in two languages, written from PROTOCOL.md alone: the five lines of its gate, as README.md has them, pass."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from built import ROOT

EXAMPLE = ROOT / "conformance" / "example"
SOME = "valid/*-102-*,REC-007,REC-015,gold/sa17"


@pytest.mark.parametrize("name", ["reader.py", "reader.mjs"])
def test_nothing_surprises(name: str, tmp_path: Path) -> None:
    if name.endswith("mjs") and not shutil.which("node"):
        pytest.skip("there is no Node.js")
    report = tmp_path / "report"
    command = [sys.executable, "-m", "hprof_conformance.main", "--quiet", "--reader", str(EXAMPLE / name)]
    run = subprocess.run([*command, "--cases", SOME, "--report", str(report)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    scores = json.loads((report / "report.json").read_text())["readers"][0]["scores"]
    assert scores["content_right"] == scores["content"] > 0 and scores["real_right"] == 1
    assert scores["invalid_rejected"] > 0 and scores["silent_losses"] == 0


def test_a_loss_in_it_is_found(tmp_path: Path) -> None:
    """Else the test above would show nothing."""
    source = (EXAMPLE / "reader.py").read_text(encoding="utf-8")
    right = "cursor.bytes(cursor.number(4))"
    assert right in source
    bad = tmp_path / "bad"
    bad.write_text(source.replace(right, f"bytes(len({right}))"), encoding="utf-8")
    bad.chmod(0o755)
    command = [
        sys.executable,
        "-m",
        "hprof_conformance.main",
        "--quiet",
        "--reader",
        str(bad),
        "--report",
        str(tmp_path / "report"),
    ]
    run = subprocess.run([*command, "--cases", "valid/fields-*"], capture_output=True, text=True, check=False)
    assert run.returncode == 1 and "instance_bytes" in run.stdout
