"""How a command ends: if it cannot do what was asked, with one sentence and status 2."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from hprof_conformance import steps

REFUSED, INTERRUPTED = 2, 130
IS_OF_PIP = not (Path(__file__).parents[1] / "run").exists()
NAME = "hprof-conformance" if IS_OF_PIP else "conformance/run"


class RefusedError(Exception):
    """The command cannot do what was asked; the message says why."""


def _interrupt(_number: int, _frame: object) -> None:
    """Other threads end too, while this one ends what it has started."""
    steps.stopping.set()
    raise KeyboardInterrupt


def run_command(name: str, work: Callable[[], int]) -> int:
    """The status of `work`, or of what ended it. SIGTERM ends it like Ctrl-C: readers are stopped, their folders deleted."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    try:
        status = work()
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        why, status = "interrupted", INTERRUPTED
    except BrokenPipeError:  # whoever reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return REFUSED
    except RefusedError as error:
        why, status = str(error), REFUSED
    except OSError as error:
        why, status = f"{error.filename}: {error.strerror}" if error.filename else str(error), REFUSED
        if not error.filename:  # standard output may be what failed; Python would write to it again at its end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    print(f"{name}: {why}", file=sys.stderr)
    return status


def own_program(named: str) -> Path:
    """What `--reader` or `--producer` names."""
    path = Path(named).resolve()
    if not path.exists():
        script = "; a command with arguments needs a script of its own" if " " in named else ""
        raise RefusedError(f"{named}: no such file{script}")
    if not path.is_file() or not os.access(path, os.X_OK):
        raise RefusedError(f"{named}: not an executable file")
    return path
