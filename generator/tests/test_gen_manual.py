"""The commands in hprof-gen's manual page do what it says."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

GENERATOR = os.environ["HPROF_GEN"]
VALIDATOR = os.environ["HPROF_VALIDATE"]
PAGE = (Path(__file__).resolve().parents[1] / "cli/hprof-gen.1.md").read_text()
MILLION, ANSWERS, DANGLING, LOST, FIT, LOOP = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in which the author of a reader types the commands."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/hprof-gen").symlink_to(GENERATOR)
    (tmp_path / "bin/your-reader").write_text(f'#!/bin/sh\necho read >>read\nexec "{VALIDATOR}" --profile strict -qq "$@"\n')
    (tmp_path / "bin/your-reader").chmod(0o755)
    return tmp_path


def shell(command: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False
    )


def totals_of(dump: Path) -> dict[str, int]:
    report = subprocess.run([VALIDATOR, "--profile=strict", "--format=json", dump], stdout=subprocess.PIPE, check=False).stdout
    totals: dict[str, int] = json.loads(report)["files"][0]["totals"]
    return totals


def test_a_million(folder: Path) -> None:
    assert shell(MILLION, folder).returncode == 0
    assert json.loads((folder / "million.json").read_text())["objects"] == 1000000
    assert totals_of(folder / "million.hprof") == {}


def test_answers(folder: Path) -> None:
    assert shell(ANSWERS, folder).returncode == 0
    answers = json.loads((folder / "web.json").read_text())["answers"]
    assert 0 < answers["reachable"]["objects"] <= 100000 == sum(row["objects"] for row in answers["shallow"])
    assert totals_of(folder / "web.hprof").keys() <= {"REF-001", "REF-002"}  # what HotSpot's archive leaves


def test_dangling(folder: Path) -> None:
    assert shell(DANGLING, folder).returncode == 0
    (violation,) = json.loads((folder / "dangling.json").read_text())["violations"]
    assert violation["rule"] == "REF-002"
    assert totals_of(folder / "dangling.hprof") == {"REF-002": 1}


def test_lost(folder: Path) -> None:
    subprocess.run([GENERATOR, "--objects=20000", "-o", folder / "heap.hprof"], check=True)
    assert shell(LOST, folder).returncode == 0
    lost = json.loads((folder / "lost.json").read_text())["damage"]
    assert (folder / "heap.hprof").stat().st_size - (folder / "lost.hprof").stat().st_size == 65536
    assert sum(entry["bytes"] for entry in lost["not_whole"] if entry["state"] == "lost") <= 65536
    assert lost["damaged"] in (1, 2)


def test_fit(folder: Path) -> None:
    subprocess.run([GENERATOR, "--objects=20000", "-o", folder / "heap.hprof"], check=True)
    assert shell(FIT, folder).returncode == 0
    assert "objects 20000\n" in (folder / "heap.profile").read_text()


def test_loop(folder: Path) -> None:
    """Every fault is planted or refused with a reason. The reader here is the validator, which reports errors."""
    rows = subprocess.run([GENERATOR, "--list-violations"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    done = shell(LOOP, folder)
    lines = done.stdout.splitlines()
    assert [line.split()[:2] for line in lines[: len(rows)]] == [row.split()[:2] for row in rows]
    refused = [line for line in lines[: len(rows)] if " - " in line]
    made = (folder / "read").read_text().count("read")
    assert made + len(refused) == len(rows)
    assert made > 0.9 * len(rows), refused
    assert {line.split()[-1] for line in lines[len(rows) :]} == {"1"}
    assert "faults/OBJ-004-" in done.stdout
    assert done.stderr == ""
