"""Runs a reader, and ends as it ends: `keeper.py PIPE COMMAND...`. What the reader started ends first. PIPE is the descriptor on
which it says why the command cannot be started: the number of the error.

A process whose parent has ended becomes a child of the keeper, even one in a session of its own, so none outlives the reader.
session.py starts this file alone, so that it begins at once.
"""

import ctypes
import os
import resource
import signal
import sys
from pathlib import Path

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36  # <linux/prctl.h>


def _start(pipe: int, command: list[str]) -> int:
    pid = os.fork()
    if pid:
        os.closerange(0, pipe + 1)  # they end with the reader
        return pid
    os.set_inheritable(pipe, False)
    try:
        os.setsid()
        os.execvp(command[0], command)
    except OSError as error:
        os.write(pipe, str(error.errno).encode())
    os._exit(127)


def _descendants() -> list[int]:
    children: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                stat = Path(entry.path, "stat").read_text(encoding="utf-8", errors="replace")
            except OSError:  # it has ended
                continue
            children.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(int(entry.name))
    found = [os.getpid()]
    for pid in found:
        found += children.get(pid, [])
    return found[1:]


def _end_all() -> None:
    while True:
        for pid in _descendants():  # which may start another one before it ends
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
        try:
            os.wait()
        except ChildProcessError:  # there is none
            return


def _give_up(_number: int, _frame: object) -> None:
    _end_all()
    os._exit(128 + signal.SIGTERM)


def main() -> None:
    signal.signal(signal.SIGTERM, _give_up)
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # When the thread ends that has started this process: a session begins and ends in one thread of the run.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    reader = _start(int(sys.argv[1]), sys.argv[2:])
    signal.signal(signal.SIGQUIT, lambda *_: os.kill(reader, signal.SIGQUIT))  # it asks a JVM for its stacks
    ended = status = 0
    while ended != reader:
        ended, status = os.wait()
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    _end_all()
    if os.WIFSIGNALED(status):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.waitstatus_to_exitcode(status))


main()
