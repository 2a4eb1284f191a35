"""producers/java/Everything.java: a program that waits to be dumped, and says what it holds."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hprof_conformance import jvms
from hprof_conformance.facts import FILLERS, Fact, parse
from hprof_conformance.jvms import Jvm
from hprof_corpus.digest import class_name

PATIENCE = 120.0
_ENVIRONMENT = {**os.environ, "LC_ALL": "C.UTF-8"}  # names of class files are not ASCII
_HISTOGRAM = re.compile(r"\s*\d+:\s+(\d+)\s+\d+\s+(\S+)")


class FailedError(Exception):
    """A producer did not write a dump; the message says what it said."""


def do(command: list[str], environment: dict[str, str] | None = None) -> str:
    """Its output. Raises FailedError."""
    run = subprocess.run(
        command, capture_output=True, text=True, errors="replace", check=False, timeout=PATIENCE, env=environment
    )
    if run.returncode:
        raise FailedError(f"{' '.join(command)} ended with {run.returncode}: {(run.stderr or run.stdout).strip()[-300:]}")
    return run.stdout


def compile_into(root: Path, build: Path, folder: Path) -> Path:
    """A copy of the classes. Only those of Modern.java need a JVM that is younger than 8."""
    made = build / "everything"
    sources = root / "conformance" / "producers" / "java"
    newest = max(path.stat().st_mtime for path in sources.glob("*.java"))
    if not (made / "Modern.class").exists() or (made / "Modern.class").stat().st_mtime < newest:
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir(parents=True)
        for source, version in (("Everything", ["-source", "8", "-target", "8"]), ("Modern", ["--release", "17"])):
            javac, file = str(jvms.any_home(root) / "bin" / "javac"), str(sources / f"{source}.java")
            do([javac, "-nowarn", "-encoding", "UTF-8", *version, "-d", str(made), file], _ENVIRONMENT)
    return Path(shutil.copytree(made, folder / "classes"))


def _start_of(log: Path) -> str:
    """The first line of a JVM's errors has the reason."""
    return log.read_text(encoding="utf-8", errors="replace").strip()[:300] or "no message"


class Program:
    """Everything.java, running."""

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
        return found


def agreed(before: Counter[str], after: Counter[str]) -> list[Fact]:
    """What two histograms say alike holds for a dump made between them. Class objects are CLASS_DUMPs; a filler is unused memory,
    which some versions dump as an int[]."""
    fillers = max(found[filler] for filler in FILLERS for found in (before, after))
    return [
        Fact("objects", [name, str(number), str(number + (fillers if name == "[I" else 0))])
        for name, number in before.items()
        if after[name] == number and name not in ("java/lang/Class", *FILLERS)
    ]


@contextmanager
def program(jvm: Jvm, classes: Path, options: list[str], folder: Path, *arguments: str, through: str = "") -> Iterator[Program]:
    """`through`: a command of bash that the JVM inherits a limit from."""
    java = [*jvm.command("java"), "-Dfile.encoding=UTF-8", *options, "-cp", jvm.inside(classes), "Everything", *arguments]
    command = ["bash", "-c", f'{through} && exec "$@"', "bash", *java] if through else java
    log = folder / "program.log"
    with log.open("w", encoding="utf-8") as errors:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=folder,
            encoding="utf-8",
            text=True,
            env=_ENVIRONMENT,
        )
    try:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            if line == "ready\n":
                break
            if "\t" in line:
                lines.append(line.rstrip("\n"))
        else:
            raise FailedError(f"the program ended before it was ready: {_start_of(log)}")
        yield Program(jvm, process, log, parse(lines))
    finally:
        assert process.stdin is not None
        with suppress(BrokenPipeError):
            process.stdin.close()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
