"""Runs the tool."""

import ctypes
import errno
import fcntl
import json
import os
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable
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


def obey_permissions() -> None:
    """For preexec_fn: the tool may then read only what permissions allow, even if root runs the tests."""
    pr_capbset_drop, cap_dac_override, cap_dac_read_search = 24, 1, 2
    libc = ctypes.CDLL(None)
    for capability in (cap_dac_override, cap_dac_read_search):
        libc.prctl(pr_capbset_drop, capability, 0, 0, 0)  # Fails for other users, who need not drop it.


def on_a_terminal(
    *args: Arg,
    cwd: Path,
    environment: dict[str, str] | None = None,
    columns: int = 80,
    feed: Callable[[], None] | None = None,
    watch: Callable[[bytes, "subprocess.Popen[bytes]"], None] | None = None,
    **kwargs: Any,
) -> str:
    """What the tool prints on a terminal that is its standard output and error."""
    from terminals import terminal  # programs that import this module may not have ci on their path

    ours, theirs = terminal()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"} | (environment or {})
    shown = b""
    given: dict[str, Any] = {"stdout": theirs, "stderr": theirs} | kwargs
    with subprocess.Popen([TOOL, *args], cwd=cwd, env=env, **given) as process:
        os.close(theirs)
        if feed is not None:
            feed()
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if not select.select([ours], [], [], 1)[0]:
                continue
            try:
                piece = os.read(ours, 65536)
            except OSError as error:  # the other end was closed
                assert error.errno == errno.EIO
                break
            shown += piece
            if watch is not None:
                watch(shown, process)
        process.wait(60)
    os.close(ours)
    return shown.decode()


def report(*args: Arg, cwd: Path | None = None, stdin: bytes | int = subprocess.DEVNULL) -> Any:
    """The JSON report, by the letter of the specification unless args say otherwise, checked against its schema."""
    done = run("--profile", "strict", "--format", "json", *args, cwd=cwd, stdin=stdin)
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
