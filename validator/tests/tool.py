"""Runs the tool, for tests of what it is asked and of what it answers."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import jsonschema

TOOL = os.environ["HPROF_VALIDATE"]
SOURCE = Path(__file__).resolve().parents[2]
REPORT_SCHEMA = json.loads((SOURCE / "validator/report.schema.json").read_text())

Arg = str | bytes | Path


class Done:
    def __init__(self, process: "subprocess.CompletedProcess[bytes]") -> None:
        self.status = process.returncode
        self.raw = process.stdout
        self.out = process.stdout.decode() if process.stdout is not None else ""
        self.err = process.stderr.decode()


def run(*args: Arg, cwd: Path | None = None, stdin: bytes | int = subprocess.DEVNULL, **kwargs: Any) -> Done:
    given: dict[str, Any] = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
    given |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | kwargs
    return Done(subprocess.run([TOOL, *args], cwd=cwd, timeout=60, check=False, **given))


def report(*args: Arg, cwd: Path | None = None, stdin: bytes | int = subprocess.DEVNULL) -> Any:
    """The JSON report, checked against its schema."""
    done = run("--format", "json", *args, cwd=cwd, stdin=stdin)
    assert done.status in (0, 1, 3, 4), done.err
    value = json.loads(done.out)
    jsonschema.Draft202012Validator(REPORT_SCHEMA).validate(value)
    assert done.status == max(file["status"] for file in value["files"])
    return value


def report_one(*args: Arg, cwd: Path | None = None, stdin: bytes | int = subprocess.DEVNULL) -> Any:
    (file,) = report(*args, cwd=cwd, stdin=stdin)["files"]
    return file


def catalog(*args: str) -> Any:
    done = run(*args, "--format", "json")
    assert (done.status, done.err) == (0, "")
    return json.loads(done.out)


RULES: list[dict[str, Any]] = catalog("--list-rules")["rules"]
PROFILES: list[dict[str, Any]] = catalog("--list-profiles")["profiles"]
