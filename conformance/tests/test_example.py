"""The example reader, in two languages, written from PROTOCOL.md alone."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from built import ROOT

EXAMPLE = ROOT / "conformance" / "example"
LOSS = {"cursor.bytes(cursor.number(4))": "bytes(len(cursor.bytes(cursor.number(4))))"}
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


def changed(folder: Path, replace: dict[str, str]) -> Path:
    source = (EXAMPLE / "reader.py").read_text(encoding="utf-8")
    for old, new in replace.items():
        assert old in source
        source = source.replace(old, new)
    reader = folder / "mine"
    reader.write_text(source, encoding="utf-8")
    reader.chmod(0o755)
    return reader


def run_on_fields(reader: Path, folder: Path, *options: str) -> tuple[int, str]:
    words = [*("--quiet", "--reader", str(reader), "--report", str(folder / "report"), "--cases", "valid/fields-*"), *options]
    command = [sys.executable, "-m", "hprof_conformance.main", *words]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.returncode, found.stdout


@pytest.fixture(scope="module")
def failures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What --update writes of the reader, which nothing surprises then."""
    folder = tmp_path_factory.mktemp("known")
    known = folder / "known.toml"
    assert run_on_fields(changed(folder, {}), folder, "--failures", str(known), "--update")[0] == 0
    assert run_on_fields(changed(folder, {}), folder, "--failures", str(known))[0] == 0
    return known


def test_a_loss_in_it_is_found(tmp_path: Path) -> None:
    """Else the test above would show nothing."""
    status, out = run_on_fields(changed(tmp_path, LOSS), tmp_path)
    assert status == 1 and "instance_bytes" in out


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"counts": ["strings", ', '"counts": [', "the hello: no longer compared: strings"),
        ('"references": "exact"', '"references": "resolved"', "the hello: no longer the form of references: exact"),
        ('"unsupported": {', '"unsupported": {"id-size-4": "too small", ', "the hello: no longer supported: id-size-4"),
    ],
)
def test_what_was_compared_still_is(old: str, new: str, words: str, failures: Path, tmp_path: Path) -> None:
    """Nothing is wrong in what is not compared, so a reader that lost its hello would pass."""
    known = Path(shutil.copy(failures, tmp_path))
    reader = changed(tmp_path, {old: new})
    assert run_on_fields(reader, tmp_path)[0] == 0
    for update in ([], ["--update"]):
        status, out = run_on_fields(reader, tmp_path, "--failures", str(known), *update)
        assert status == 1 and words in out, out


def test_a_line_before_the_hello_is_named(tmp_path: Path) -> None:
    """Else only the exit status of the reader would count."""
    status, out = run_on_fields(
        changed(tmp_path, {"    print(json.dumps(HELLO": "    print('a line')\n    print(json.dumps(HELLO"}), tmp_path
    )
    assert status == 1 and "writes something else before its hello: a line" in out


def test_another_version_of_ones_own_reader_fails_as_well(failures: Path, tmp_path: Path) -> None:
    known = Path(shutil.copy(failures, tmp_path))
    other = {'"version": "1"': '"version": "2"'}
    assert run_on_fields(changed(tmp_path, other), tmp_path, "--failures", str(known))[0] == 0
    reader = changed(tmp_path, {**LOSS, **other})
    assert run_on_fields(reader, tmp_path, "--failures", str(known))[0] == 1
