"""producers/java: programs that wait to be dumped, and say what they hold."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from hprof_conformance import jvms, steps
from hprof_conformance.facts import FILLERS, Fact, parse
from hprof_conformance.files import locked
from hprof_conformance.jvms import Jvm
from hprof_corpus.digest import class_name

PATIENCE = 120.0
_ENVIRONMENT = {**os.environ, "LC_ALL": "C.UTF-8"}  # names of class files are not ASCII
_OLD = ("Program", "Everything", "Odd", "Large")  # what a JVM of Java 8 loads
_HISTOGRAM = re.compile(r"\s*\d+:\s+(\d+)\s+\d+\s+(\S+)")


class FailedError(Exception):
    """A producer did not write a dump; the message says what it said."""


def do(command: list[str], environment: dict[str, str] | None = None) -> str:
    """Its output. What it started, and left, is ended. Raises FailedError, and TimeoutExpired."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:  # no pipes, which what it started would keep open
        with steps.started(command, out, error, environment=environment) as process:
            status = process.wait(PATIENCE)
        said, wrong = (_text(one) for one in (out, error))
    if status:
        raise FailedError(f"{' '.join(command)} ended with {status}: {(wrong or said).strip()[-300:]}")
    return said


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")


def compile_into(root: Path, build: Path, folder: Path) -> Path:
    """A copy of the classes. Only those of Modern.java need a JVM that is younger than 8."""
    made = build / "everything"
    sources = root / "conformance" / "producers" / "java"
    newest = max(path.stat().st_mtime for path in sources.glob("*.java"))
    with locked(made):
        if not (made / "Modern.class").exists() or (made / "Modern.class").stat().st_mtime < newest:
            shutil.rmtree(made, ignore_errors=True)
            made.mkdir(parents=True)
            javac = str(jvms.any_home(root) / "bin" / "javac")
            for names, version in ((_OLD, ["-source", "8", "-target", "8"]), (["Modern"], ["--release", "17"])):
                files = [str(sources / f"{name}.java") for name in names]
                do([javac, "-nowarn", "-encoding", "UTF-8", *version, "-d", str(made), *files], _ENVIRONMENT)
        return Path(shutil.copytree(made, folder / "classes"))


def text_of(log: Path) -> str:
    """What a JVM printed: anything."""
    return log.read_text(encoding="utf-8", errors="replace").strip()


def _start_of(log: Path) -> str:
    """The first line of a JVM's errors has the reason."""
    return text_of(log)[:300] or "no message"


@contextmanager
def _in_time(process: subprocess.Popen[str]) -> Iterator[None]:
    """What the block reads from the process ends after PATIENCE, with the process."""
    timer = threading.Timer(PATIENCE, process.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class Program:
    """Everything.java, Odd.java or Large.java, running."""

    def __init__(self, jvm: Jvm, process: subprocess.Popen[str], log: Path, said: list[Fact]) -> None:
        self.jvm = jvm
        self.process = process
        self.log = log  # its standard error
        self.facts = said

    @property
    def pid(self) -> int:
        return self.process.pid

    def send(self, command: str) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        with _in_time(self.process):
            for line in self.process.stdout:  # the JVM writes there too, of the dumps that it makes
                if line == "done\n":
                    return
        raise FailedError(f"the program ended at '{command}': {_start_of(self.log)}")

    def jcmd(self, *words: str) -> list[str]:
        return [*self.jvm.command("jcmd"), str(self.pid), *words]

    def histogram(self) -> Counter[str]:
        """The VM's own word for how many objects of each class there are. Hidden classes have other names in a dump."""
        found: Counter[str] = Counter()
        for line in do(self.jcmd("GC.class_histogram")).splitlines():
            match = _HISTOGRAM.match(line)
            if match and "/" not in match[2]:
                found[class_name(match[2])] += int(match[1])
        if not found:
            raise FailedError("GC.class_histogram lists no class")
        return found


def agreed(before: Counter[str], after: Counter[str], undumped: Counter[str] | None = None) -> list[Fact]:
    """What two histograms say alike holds for a dump made between them. Class objects are CLASS_DUMPs; a filler is unused memory,
    which some versions dump as an int[]. `undumped` are objects of the VM itself that it leaves out on purpose."""
    fillers = max(found[filler] for filler in FILLERS for found in (before, after))
    kept = undumped or Counter()
    return [
        Fact("objects", [name, str(number - kept[name]), str(number + (fillers if name == "[I" else 0))])
        for name, number in before.items()
        if after[name] == number and name not in ("java/lang/Class", *FILLERS)
    ]


def limited(limit: str) -> tuple[str, ...]:
    """Starts a command with a limit of ulimit."""
    return "bash", "-c", f'ulimit {limit} && exec "$@"', "bash"


@functools.cache
def steady() -> tuple[str, ...]:
    """Starts a command at the same addresses each time, where that is allowed."""
    command = ("setarch", "--addr-no-randomize")
    try:
        allowed = subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        allowed = False
    return command if allowed else ()


@contextmanager
def program(
    jvm: Jvm,
    classes: Path,
    options: list[str],
    folder: Path,
    *arguments: str,
    main: str = "Everything",
    through: tuple[str, ...] = (),
) -> Iterator[Program]:
    """`through`: a command that starts the JVM, such as one that sets a limit."""
    java = [*jvm.command("java"), "-Dfile.encoding=UTF-8", *options, "-cp", jvm.inside(classes), main, *arguments]
    log = folder / "program.log"
    with log.open("w", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [*through, *java],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=folder,
            encoding="utf-8",
            errors="replace",
            env=_ENVIRONMENT,
        )
    try:
        assert process.stdout is not None
        lines = []
        with _in_time(process):
            for line in process.stdout:
                if line == "ready\n":
                    break
                if "\t" in line:
                    lines.append(line.rstrip("\n"))
            else:
                raise FailedError(f"the program ended before it was ready: {_start_of(log)}")
        yield Program(jvm, process, log, parse(lines))
    except BaseException:
        process.kill()  # nobody needs what it still does, and it may hang
        raise
    finally:
        assert process.stdin is not None
        with suppress(BrokenPipeError):
            process.stdin.close()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
