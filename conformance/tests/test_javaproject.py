"""Several threads, and several runs, may build the same project at the same time. A step that takes long is shown."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from built import ROOT

from hprof_conformance import javaproject, jvms, steps, tools
from hprof_conformance.files import locked
from hprof_conformance.jvms import NotBuiltError, NotHereError


def _tools(folder: Path, *names: str) -> Path:
    """A folder of programs with these names. Each fails if another one works at the same time, and appends to a list of calls."""
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
    for name in names:
        (bin_folder / name).write_text(script)
        (bin_folder / name).chmod(0o755)
    return bin_folder


def test_two_threads_build_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{_tools(tmp_path, 'mvn', 'javac')}{os.pathsep}{os.environ['PATH']}")
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
    with pytest.raises(NotBuiltError, match="sh ended with 3: no such crate"):
        jvms.install(["sh", "-c", "sleep 1; echo no such crate; exit 3"], tmp_path, log)
    assert said and all(words.startswith("sh: ") and str(log) in words for words in said)


def test_who_may_not_install_is_not_at_fault(tmp_path: Path) -> None:
    with pytest.raises(NotHereError, match="install these packages first") as found:
        jvms.install(["sh", "-c", "echo install these packages first; exit 77"], tmp_path, tmp_path / "log")
    assert not isinstance(found.value, NotBuiltError)


def _sid(folder: Path) -> Path:
    return jvms.in_sid(ROOT, 8).root


@pytest.mark.parametrize(
    ("made", "make"),
    [
        ("build/conformance/tools", tools._build_tools),
        pytest.param("sid", _sid, marks=pytest.mark.skipif(os.geteuid() != 0, reason="only root sets it up")),
    ],
)
def test_what_another_run_makes_is_waited_for(
    made: str, make: Callable[[Path], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sid/usr/lib/jvm/java-8-openjdk-amd64/bin").mkdir(parents=True)
    (tmp_path / "sid/usr/lib/jvm/java-8-openjdk-amd64/bin/javac").touch()
    monkeypatch.setenv("HPROF_JDK_ROOT", str(tmp_path / "sid"))
    calls: list[object] = []
    monkeypatch.setattr(jvms, "install", lambda *call: calls.append(call))
    with ThreadPoolExecutor() as pool:
        with locked(tmp_path / made):
            waiting = pool.submit(make, tmp_path)
            with pytest.raises(TimeoutError):
                waiting.result(timeout=0.3)
            assert not calls
        assert waiting.result(timeout=10) == tmp_path / made and calls


def _script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def _both(command: Path | str, tools: Path, *arguments: str) -> list[int]:
    """The statuses of two runs at the same time."""
    environment = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "HPROF_PYTHON": ""}
    runs = [subprocess.Popen([command, *arguments], env=environment) for _ in range(2)]
    return [run.wait(60) for run in runs]


@pytest.mark.skipif(os.geteuid() != 0, reason="sudo would have another PATH")
def test_two_scripts_install_packages_one_after_the_other(tmp_path: Path) -> None:
    """apt-get waits for the lock of dpkg if an option says so, but an update fails if another one runs."""
    _script(tmp_path / "apt-get", f'test "$1" != update || {{ mkdir {tmp_path}/busy && sleep 0.2 && rmdir {tmp_path}/busy; }}')
    _script(tmp_path / "dpkg-query", "exit 1")
    assert _both(ROOT / "ci" / "packages", tmp_path, "gcc") == [0, 0]


def test_a_root_whose_making_was_ended_is_made_anew(tmp_path: Path) -> None:
    _script(tmp_path / "dpkg-query", "printf installed")
    _script(tmp_path / "debootstrap", 'mkdir -p "$3/etc" && touch "$3/etc/debian_version" && exit 9')
    command: list[str | Path] = [ROOT / "conformance/producers/hotspot/setup-root", tmp_path / "root", "8"]
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    assert [subprocess.run(command, env=environment, check=False).returncode for _ in range(2)] == [9, 9]


def test_two_runs_make_one_environment(tmp_path: Path) -> None:
    """A copy of conformance/run, and programs in place of those that it calls."""
    (tmp_path / "ci").mkdir()
    (tmp_path / "conformance").mkdir()
    for name in ("run", "python", "builders"):
        shutil.copy(ROOT / "conformance" / name, tmp_path / "conformance")
    (tmp_path / "conformance" / "requirements.txt").write_text("pytest\n")
    tools = _tools(tmp_path, "packages", "cargo", "mvn")
    (tools / "packages").rename(tmp_path / "ci" / "packages")
    _script(
        tools / "python3", 'if test "$2" = venv; then mkdir -p "$4/bin"; ln -s "$0" "$4/bin/pip"; ln -s "$0" "$4/bin/python3"; fi'
    )
    assert _both(tmp_path / "conformance" / "run", tools) == [0, 0]
    assert (tmp_path / "calls").read_text().split() == ["packages"]
