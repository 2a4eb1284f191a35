"""What takes long is shown, and ends when the run ends early."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hprof_conformance import steps
from hprof_conformance.files import locked


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if each step took 20 seconds."""
    monkeypatch.setattr(steps, "_is_quiet", False)
    monkeypatch.setattr(steps, "_EVERY", 0.0)
    monkeypatch.setattr(steps, "stopping", threading.Event())


def test_how_many_are_done(shown: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert list(steps.each("lengths", map(len, ["a", "bc", ""]), 3)) == [1, 2, 0]
    assert capsys.readouterr().err.splitlines() == [f"lengths: {done} of 3, 0 s" for done in range(3)]


def test_a_command_and_a_lock_are_shown(shown: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert steps.run(["sh", "-c", "sleep 0.3; echo words; exit 3"], tmp_path, tmp_path / "log") == 3
    assert (tmp_path / "log").read_text(encoding="ascii") == "words\n"
    assert f"sh: its output is in {tmp_path}/log, 0 s\n" in capsys.readouterr().err
    with ThreadPoolExecutor() as pool:
        with locked(tmp_path / "built"):
            waiting = pool.submit(lambda: locked(tmp_path / "built").__enter__())
            time.sleep(0.3)
            assert not waiting.done()
        waiting.result()
    assert f"waits for another run, which builds in {tmp_path}/built, 0 s\n" in capsys.readouterr().err


def test_a_step_of_another_thread_ends_with_the_run(shown: None, tmp_path: Path) -> None:
    with ThreadPoolExecutor() as pool:
        running = pool.submit(steps.run, ["sleep", "60"], tmp_path, tmp_path / "log")
        time.sleep(0.3)
        steps.stopping.set()
        with pytest.raises(steps.StoppedError):
            running.result(timeout=10)


def wait_until(is_so: Callable[[], bool]) -> bool:
    """Within ten seconds: what is to end lasts longer."""
    ends = time.monotonic() + 10
    while not is_so() and time.monotonic() < ends:
        time.sleep(0.05)
    return is_so()


def test_what_a_step_started_ends_with_the_run(shown: None, tmp_path: Path) -> None:
    """Else a compiler goes on when nothing waits for it, and the lock of its folder is free."""
    pid = tmp_path / "pid"
    with ThreadPoolExecutor() as pool:
        running = pool.submit(steps.run, ["sh", "-c", f"sleep 60 & echo $! >{pid}; wait"], tmp_path, tmp_path / "log")
        assert wait_until(lambda: pid.exists() and pid.read_text().endswith("\n"))
        steps.stopping.set()
        with pytest.raises(steps.StoppedError):
            running.result(timeout=10)
    stat = Path("/proc", pid.read_text().strip(), "stat")

    def has_ended() -> bool:
        try:
            return ") Z " in stat.read_text()
        except (FileNotFoundError, ProcessLookupError):
            return True

    assert wait_until(has_ended)
