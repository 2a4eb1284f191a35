"""Several threads, and several runs, may build the same project at the same time. A step that takes long is shown."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hprof_conformance import javaproject, steps
from hprof_conformance.files import locked
from hprof_conformance.jvms import NotHereError


def _tools(folder: Path) -> Path:
    """Programs in place of Maven and javac. Each fails if another one works at the same time, and appends to a list of calls."""
    script = f"""#!{sys.executable}
import os, sys, time
from pathlib import Path
folder = Path({str(folder)!r})
os.close(os.open(folder / "busy", os.O_CREAT | os.O_EXCL))
time.sleep(0.2)
with (folder / "calls").open("a") as calls:
    calls.write(Path(sys.argv[0]).name + "\\n")
(folder / "busy").unlink()
"""
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    for name in ("mvn", "javac"):
        (bin_folder / name).write_text(script)
        (bin_folder / name).chmod(0o755)
    return bin_folder


def test_two_threads_build_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{_tools(tmp_path)}{os.pathsep}{os.environ['PATH']}")
    source, pom = tmp_path / "A.java", tmp_path / "pom.xml"
    source.write_text("class A {}")
    pom.write_text("<project/>")
    failed: list[BaseException] = []

    def build() -> None:
        try:
            javaproject.build(tmp_path, [source], pom, tmp_path / "made")
        except BaseException as error:  # for the test
            failed.append(error)

    threads = [threading.Thread(target=build) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert (tmp_path / "calls").read_text().split() == ["mvn", "javac"]


def test_another_process_waits_for_the_lock(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    code = f"from pathlib import Path; from hprof_conformance.files import locked\nwith locked(Path({str(folder)!r})): print('in')"
    with locked(folder):
        other = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        with pytest.raises(subprocess.TimeoutExpired):
            other.wait(1)
    assert other.communicate(timeout=60)[0] == "in\n"


def test_a_step_that_takes_long_is_shown_and_one_that_fails_says_how(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "_EVERY", 0.2)
    said: list[str] = []
    monkeypatch.setattr(steps, "say", said.append)
    log = tmp_path / "log"
    with pytest.raises(NotHereError, match="sh ended with 3: no such crate"):
        javaproject.install(["sh", "-c", "sleep 1; echo no such crate; exit 3"], tmp_path, log)
    assert said and all(words.startswith("sh: ") and str(log) in words for words in said)
