"""A program that is dumped may hang, write other bytes than text, or not be reached: the way fails, and the run goes on."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from hprof_conformance import everything, ways
from hprof_conformance.everything import FailedError, program
from hprof_conformance.jvms import Jvm


def java(folder: Path, text: str) -> Jvm:
    """A JVM that runs a script in Python in place of any program."""
    tool = folder / "bin" / "java"
    tool.parent.mkdir()
    tool.write_text(f"#!{sys.executable}\nimport sys, time\n{text}\n", encoding="utf-8")
    tool.chmod(0o755)
    return Jvm(folder)


def started(folder: Path, text: str, *commands: str) -> None:
    with program(java(folder, text), folder, [], folder) as one:
        for command in commands:
            one.send(command)


def test_a_program_that_hangs_fails_its_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(everything, "PATIENCE", 0.5)
    with pytest.raises(FailedError, match="before it was ready"):
        started(tmp_path, "time.sleep(60)")


def test_a_command_that_hangs_fails_its_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(everything, "PATIENCE", 5)
    with pytest.raises(FailedError, match="ended at 'collect'"):
        started(tmp_path, "print('ready', flush=True); time.sleep(60)", "collect")


def test_a_program_that_hangs_ends_with_its_way(tmp_path: Path) -> None:
    """Its end was waited for when the run was interrupted, too."""
    began = time.monotonic()
    with (
        pytest.raises(KeyboardInterrupt),
        program(java(tmp_path, "print('ready', flush=True); time.sleep(60)"), tmp_path, [], tmp_path),
    ):
        raise KeyboardInterrupt
    assert time.monotonic() - began < 30


def test_what_is_no_text_is_passed_over(tmp_path: Path) -> None:
    started(tmp_path, r"sys.stdout.buffer.write(b'\xff\xfe\nready\n\xff\ndone\n'); sys.stdout.flush(); sys.stdin.read()", "collect")


def test_a_dump_that_was_never_begun_is_not_interrupted(tmp_path: Path) -> None:
    """An interrupted dump of which nothing is left is fine, as the VM may delete it; one that jcmd did not reach is not."""
    jvm = java(tmp_path, "print('ready', flush=True); sys.stdin.read()")
    (tmp_path / "bin" / "jcmd").symlink_to("/bin/false")

    with program(jvm, tmp_path, [], tmp_path) as one, pytest.raises(FailedError, match="no dump was begun"):
        ways._kill(one, tmp_path / "dump.hprof", [], 1)
    with program(jvm, tmp_path, [], tmp_path) as one, pytest.raises(FailedError, match="jcmd"):
        ways._dump_to_the_limit(one, tmp_path / "dump.hprof", [])
