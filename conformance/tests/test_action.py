"""The steps of action.yml, run as the runner of GitHub would: their text, with the inputs put in. HPROF_ACTION=1 runs the one that
builds the tool, too; otherwise the tool that is built already takes its place."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

from built import ROOT, TOOL, needs_tool
from ruamel.yaml import YAML

ACTION: dict[str, Any] = YAML(typ="safe").load(ROOT / "conformance" / "action.yml")

pytestmark = needs_tool


def put_in(text: str, inputs: dict[str, str]) -> str:
    return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: inputs[found[1]], text)


def act(folder: Path, **given: str) -> subprocess.CompletedProcess[str]:
    """The last step that ran, as in a job that ends with the first step that fails."""
    inputs = {name: str(given.get(name, one.get("default", ""))) for name, one in ACTION["inputs"].items()}
    runner = {"GITHUB_ACTION_PATH": str(ROOT / "conformance"), "RUNNER_TEMP": str(folder / "temp")}
    for step in ACTION["runs"]["steps"]:
        assert step["shell"] == "bash"
        if step["name"].startswith("Build") and not os.environ.get("HPROF_ACTION"):
            (folder / "temp/hprof").mkdir(parents=True)
            (folder / "temp/hprof/validator").symlink_to(TOOL.parent)
            continue
        own = {name: put_in(text, inputs) for name, text in step.get("env", {}).items()}
        script = folder / "step.sh"
        script.write_text(put_in(step["run"], inputs), encoding="utf-8")
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]  # GitHub's documentation of `shell: bash`
        done = subprocess.run(command, cwd=folder, env={**os.environ, **runner, **own}, capture_output=True, text=True, check=False)
        if done.returncode:
            break
    return done


def dumps(folder: Path, *names: str) -> None:
    for name in names:
        (folder / Path(name).name).write_bytes((ROOT / "corpus" / name).read_bytes())


def test_good_dumps_pass(tmp_path: Path) -> None:
    dumps(tmp_path, "valid/names-odd.hprof", "valid/interface.hprof")
    done = act(tmp_path, files="*.hprof")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((tmp_path / "hprof-report/hprof.sarif").read_text())["runs"][0]["results"] == []


def test_a_malformed_dump_fails_the_job(tmp_path: Path) -> None:
    dumps(tmp_path, "valid/names-odd.hprof", "invalid/OBJ-004/two-instances-102-id8.hprof")
    done = act(tmp_path, files="*.hprof", profile="strict", report="found")
    assert done.returncode == 1 and "OBJ-004" in done.stdout
    assert (tmp_path / "found/hprof.xml").exists()


def test_options_reach_the_tool(tmp_path: Path) -> None:
    dumps(tmp_path, "warning/CLS-004/array-class-102-id4.hprof")
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    assert act(first, files=f"{tmp_path}/*.hprof", profile="strict").returncode == 0
    assert act(second, files=f"{tmp_path}/*.hprof", profile="strict", options="--werror").returncode == 1


def test_a_file_that_is_not_there_fails_the_job(tmp_path: Path) -> None:
    assert act(tmp_path, files="none.hprof").returncode != 0
