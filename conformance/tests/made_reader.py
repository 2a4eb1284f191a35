"""A reader for tests, its behaviour named by its argument: what the real ones do, on purpose."""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
import time
from pathlib import Path


def say(message: dict[str, object]) -> None:
    print(json.dumps(message), flush=True)


def hello(**changes: object) -> None:
    found: dict[str, object] = {
        "protocol": 1,
        "name": "test",
        "version": "1",
        "bugs": "",
        "unsupported": {},
        "counts": ["instances"],
        "digests": [],
        "references": "exact",
    }
    say({**found, **changes})


def daemon(pid_file: Path) -> None:
    """Its parent ends at once; it has a session and an environment of its own, and 200 MB."""
    if not os.fork():
        os.setsid()
        if os.fork():
            os._exit(0)
        os.chdir("/")
        pid_file.write_text(str(os.getpid()), encoding="ascii")
        os.execve(sys.executable, ["daemon", "-c", "import time; kept = bytearray(200 << 20); time.sleep(60)"], {})
    os.wait()


def answer(how: str, case: str, file: Path) -> None:
    if how == "crash":
        print("Segmentation fault, as it were", file=sys.stderr)
        os.abort()
    if how == "hang":
        time.sleep(60)
    if how == "memory":
        kept = bytearray(200 << 20)
        time.sleep(60)
        del kept
    if how == "daemon":
        daemon(file.parent / "daemon.pid")
        time.sleep(60)
    if how == "daemon-and-crash":
        pid_file = file.parent / "daemon.pid"
        time.sleep(0.05)  # the runner looks at once, and again after 0.1 s
        daemon(pid_file)
        while not pid_file.exists() or not pid_file.read_text(encoding="ascii"):
            time.sleep(0.001)
        os.abort()
    if how == "out-of-memory":
        sys.exit("java.lang.OutOfMemoryError: Java heap space")
    if how == "errors":  # it goes on
        print("java.lang.OutOfMemoryError: Java heap space", file=sys.stderr)
    if how == "breach":
        print("reading the dump", flush=True)
    if how == "other-case":
        case = "another"
    if how in ("ends", "any-order", "another-hello"):
        sys.exit(3)
    if how == "closes":
        os.close(1)
        time.sleep(60)
    if how == "nested":
        print("[" * 1000000, flush=True)
    if how == "endless-line":
        while True:
            sys.stdout.write("x" * (1 << 16))
    if how == "endless-errors":
        while True:
            sys.stderr.write("x" * (1 << 16))
    if how == "surrogate":
        say({"case": case, "outcome": "crashed", "message": "\ud800"})
        return
    if how == "leaves-child":
        if os.fork():
            sys.exit(3)
        os.setsid()
        time.sleep(5)
    if how == "deletes":
        shutil.rmtree(file.parent)
        sys.exit(3)
    say({"case": case, "outcome": "accepted", "counts": {"instances": file.stat().st_size}, "digests": {}})
    if how.startswith("later-"):
        time.sleep(0.2)  # the runner asks for the next dump at once
    if how == "later-hang":
        time.sleep(60)
    if how == "later-status":
        sys.exit(3)
    if how in ("abort-after", "later-abort"):
        os.abort()
    if how == "garbage-after":
        print("and one thing more", flush=True)
    if how == "folder-replaced":
        own = Path.cwd()
        shutil.rmtree(own)
        own.write_text("a file", encoding="ascii")
        sys.exit(3)


def main() -> None:
    how = sys.argv[1]
    if how == "silent":
        time.sleep(60)
    if how == "no-hello":
        say({"name": "test"})
    elif how == "any-order":
        names = ["instances", "classes", "strings", "roots", "objects", "ends"]
        hello(counts=random.sample(names, len(names)))
    elif how == "another-hello":
        hello(version=str(time.time_ns()))
    else:
        hello()
    for line in sys.stdin:
        asked = json.loads(line)
        # Only the dump called `bad` is met with what the argument names; the one called `worse` ends each reader.
        answer({"bad": how, "worse": "ends"}.get(Path(asked["file"]).name, "well"), asked["case"], Path(asked["file"]))


main()
