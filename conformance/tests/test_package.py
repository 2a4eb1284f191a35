"""The wheel in an environment of its own, away from the source tree: neither Maven nor Cargo nor a compiler takes part."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from built import ROOT, reads_records

EXAMPLE = ROOT / "conformance" / "example"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The environment, in which is what pip puts there."""
    folder = tmp_path_factory.mktemp("package")
    environment = folder / "venv"
    venv.create(environment, with_pip=False)
    pip = [sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python3"), "--disable-pip-version-check", "--quiet"]
    run = subprocess.run([*pip, "install", str(ROOT / "conformance")], capture_output=True, text=True, check=False)
    if "No module named pip" in run.stderr or "No matching distribution found for" in run.stderr:
        pytest.skip("there is no pip, or no index that has setuptools and jsonschema")
    assert run.returncode == 0, run.stderr
    return environment


def run(installed: Path, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """No other program than Python is found. All tests have one home, where runs keep the truth about dumps."""
    environment = {"PATH": f"{installed}/bin", "HOME": str(installed), "LC_ALL": "C.UTF-8"}
    command = [str(installed / "bin" / "hprof-conformance"), "--quiet", *options]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_a_reader_of_ones_own_meets_the_corpus_and_the_gold_dumps(installed: Path, tmp_path: Path) -> None:
    found = run(installed, tmp_path, "--reader", str(EXAMPLE / "reader.py"), "--cases", "valid/arrays-*,gold/sa17,REC-007")
    assert found.returncode == 0, found.stdout + found.stderr
    report = json.loads((tmp_path / "hprof-conformance-report" / "report.json").read_text())
    assert any(one["real"] for one in report["cases"]) and len(report["cases"]) > 5
    assert all(Path(one["file"]).is_absolute() and Path(one["file"]).exists() for one in report["cases"])
    assert not (tmp_path / "build").exists()


def test_the_lines_for_the_ci_of_a_reader_work_as_the_readme_has_them(installed: Path, tmp_path: Path) -> None:
    """Beside `pip install`, which the fixture ran, and on some of the cases."""
    section = (ROOT / "conformance" / "README.md").read_text(encoding="utf-8").split("**The CI of a reader**")[1]
    lines = re.findall("^    - run: (.*)", section.split("\n\n[")[0], re.MULTILINE)
    assert lines[0] == "pip install hprof/conformance" and len(lines) == 2
    shutil.copy(EXAMPLE / "reader.py", tmp_path / "my-reader")
    environment = {"PATH": f"{installed}/bin:/usr/bin:/bin", "HOME": str(installed), "LC_ALL": "C.UTF-8"}
    command = ["bash", "-ec", f"{lines[1]} --quiet --cases 'valid/arrays-*,gold/sa17'"]
    found = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert found.returncode == 0 and (tmp_path / "matrix" / "junit.xml").exists(), found.stdout + found.stderr


def test_what_is_known_to_be_wrong_is_listed_and_moves_on_purpose(installed: Path, tmp_path: Path) -> None:
    reader = reads_records(tmp_path / "mine", "bytes")
    options = ["--reader", str(reader), "--cases", "valid/arrays-all-types-*", "--failures", str(tmp_path / "known.toml")]
    assert run(installed, tmp_path, *options[:-2]).returncode == 1
    mistyped = run(installed, tmp_path, *options)
    assert mistyped.returncode == 2 and "known.toml: no such file; --update makes it" in mistyped.stderr
    accept = ["--update", "--accept", "valid/arrays-*", "--reason", "it knows no bytes"]
    assert run(installed, tmp_path, *options, *accept).returncode == 0
    assert "it knows no bytes" in (tmp_path / "known.toml").read_text()
    assert run(installed, tmp_path, *options).returncode == 0


def test_help_and_the_list_need_nothing(installed: Path, tmp_path: Path) -> None:
    listed = run(installed, tmp_path, "--list")
    assert listed.returncode == 0 and "gridkit" in listed.stdout
    text = run(installed, tmp_path, "--help").stdout
    assert "--failures" in text and "hprof-conformance --reader ./my-reader" in text and "conformance/run" not in text


def test_readers_of_the_project_need_its_source_tree(installed: Path, tmp_path: Path) -> None:
    found = run(installed, tmp_path, "--readers", "jol")
    assert found.returncode == 2 and "--reader" in found.stderr


@pytest.mark.skipif(not Path("/usr/bin/python3").exists(), reason="there is no other Python")
def test_conformance_run_answers_at_once(tmp_path: Path) -> None:
    """Without an environment, which a run would make first."""
    for option in ("--help", "--list"):
        environment = {**os.environ, "PATH": "/usr/bin:/bin"}
        environment.pop("HPROF_PYTHON", None)
        program = str(ROOT / "conformance" / "run")
        found = subprocess.run([program, option], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert found.returncode == 0 and len(found.stdout.splitlines()) > 10, found.stderr
