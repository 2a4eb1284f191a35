"""Runs Java programs with the agent of generator/agent, on the JDK of this machine, or on those of a root (HPROF_AGENT_ROOT)."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
AGENT8 = TREE / "conformance/producers/agent8"
sys.path.insert(0, str(AGENT8))

from facts import Facts, read_binary, read_text  # noqa: E402

from hprof_corpus.ascii.rules import Severity  # noqa: E402

AGENT = os.environ.get("HPROF_AGENT", "")
VALIDATE = os.environ.get("HPROF_VALIDATE", "")
LIMIT = 300
OLDEST = 11
SOURCES = [*AGENT8.glob("*.java"), *(Path(__file__).parent / "agent").glob("*.java")]
NEEDS = {"Swarm.java": 21, "Virtual.java": 21}  # the first JDK that compiles it


@dataclass(frozen=True)
class Jdk:
    version: int
    home: str  # as seen within the root
    root: str = ""

    def __str__(self) -> str:
        return f"jdk{self.version}"


def _version(home: Path) -> int:
    """0 if the agent cannot be loaded into it: it is of another machine, as a JDK of 32 bits."""
    release = (home / "release").read_text(encoding="utf-8")
    found = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', release, re.MULTILINE)
    machine = re.search(r'^OS_ARCH="(.*)"', release, re.MULTILINE)
    return int(found[1]) if found and machine and machine[1] == platform.machine() else 0


@cache
def jdks() -> list[Jdk]:
    root = os.environ.get("HPROF_AGENT_ROOT", "")
    if root:
        homes = [
            path
            for path in Path(root, "usr/lib/jvm").glob("java-*-openjdk*")
            if not path.is_symlink() and (path / "release").exists()
        ]
        found = [Jdk(_version(home), "/" + str(home.relative_to(root)), root) for home in homes]
        return sorted((jdk for jdk in found if jdk.version >= OLDEST), key=lambda jdk: jdk.version)
    home = (
        os.environ.get("HPROF_JDK") or subprocess.run([TREE / "ci/jdk"], capture_output=True, text=True, check=True).stdout.strip()
    )
    return [Jdk(_version(Path(home)), home)] if _version(Path(home)) >= OLDEST else []


@dataclass
class Run:
    status: int
    output: str
    errors: str
    directory: Path
    files: dict[str, Path] = field(default_factory=dict)

    @property
    def said(self) -> list[str]:
        """The lines of the agent on standard error."""
        return [line for line in self.errors.splitlines() if line.startswith("HPROF")]


def sanitizer() -> dict[str, str]:
    """A library with ASan needs its runtime first."""
    if "HPROF_SANITIZED" not in os.environ:
        return {}
    asan, ubsan = (
        subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()
        for name in ("libasan.so", "libubsan.so")
    )
    return {"LD_PRELOAD": f"{asan} {ubsan}", "ASAN_OPTIONS": "handle_segv=0:detect_leaks=0:exitcode=99"}


def what_threads_do(pid: int) -> list[str]:
    """Of each thread its name, its state, and where in the kernel it waits."""
    found = []
    for task in sorted(Path(f"/proc/{pid}/task").glob("*")):
        with contextlib.suppress(OSError):
            words = [(task / name).read_text().strip() for name in ("comm", "wchan", "syscall")]
            found.append(f"{task.name} {' '.join(words)} {re.findall('State:.*', (task / 'status').read_text())}")
    return found


class Java:
    """One JDK, with the programs compiled, and a directory below its root."""

    def __init__(self, jdk: Jdk, work: Path) -> None:
        self.jdk, self.work, self.count = jdk, work, 0
        (work / "classes").mkdir()
        shutil.copy(AGENT, work / "libhprof.so")
        sources = [path for path in SOURCES if NEEDS.get(path.name, 0) <= jdk.version]
        for source in sources:
            shutil.copy(source, work)
        names = [self.inside(work / source.name) for source in sources]
        words = [f"{jdk.home}/bin/javac", "-encoding", "UTF-8", "-nowarn", "-d", self.inside(work / "classes"), *names]
        subprocess.run(self.within(words, work), check=True, capture_output=True)

    def inside(self, path: Path) -> str:
        return "/" + str(path.relative_to(self.jdk.root)) if self.jdk.root else str(path)

    def within(self, words: list[str], directory: Path) -> list[str]:
        if not self.jdk.root:
            return ["env", "--chdir", str(directory), *words]
        shell = 'cd "$1" && shift && exec "$@"'
        return ["chroot", self.jdk.root, "/bin/sh", "-c", shell, "sh", self.inside(directory), *words]

    def directory(self) -> Path:
        self.count += 1
        directory = self.work / f"run-{self.count}"
        directory.mkdir()
        return directory

    def command(self, options: str | None, *program: str, java: tuple[str, ...] = ()) -> list[str]:
        agent = [] if options is None else [f"-agentpath:{self.inside(self.work / 'libhprof.so')}={options}"]
        heap = [] if any(word.startswith("-Xmx") for word in java) else ["-Xmx256m"]
        return [f"{self.jdk.home}/bin/java", *heap, *agent, *java, "-cp", self.inside(self.work / "classes"), *program]

    def start(self, words: list[str], directory: Path) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        environment = {**os.environ, **sanitizer()}
        return subprocess.Popen(self.within(words, directory), stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment)

    @contextmanager
    def ended_in_time(self, process: subprocess.Popen[str], limit: int = LIMIT) -> Iterator[None]:
        """Kills a VM that still runs when the time is over, so that what waits for its output goes on; then says what its threads
        did."""
        hung: list[str] = []

        def end() -> None:
            hung.extend(what_threads_do(process.pid))
            process.kill()

        timer = threading.Timer(limit, end)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            process.kill()
            process.communicate()
            if hung:
                print(f"killed after {limit} s; its threads:", *hung, sep="\n")

    def run(
        self,
        options: str | None,
        *program: str,
        java: tuple[str, ...] = (),
        before: dict[str, str] | None = None,
        limit: int = LIMIT,
    ) -> Run:
        directory = self.directory()
        for name, text in (before or {}).items():
            (directory / name).write_text(text, encoding="utf-8")
            (directory / name).chmod(0o644)
        process = self.start(self.command(options, *(program or ("Truth",)), java=java), directory)
        try:
            output, errors = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return Run(process.returncode, output, errors, directory, {path.name: path for path in sorted(directory.iterdir())})


@contextmanager
def ready_java(jdk: Jdk) -> Iterator[Java]:
    work = Path(tempfile.mkdtemp(prefix="agent-", dir=Path(jdk.root, "tmp") if jdk.root else None))
    try:
        yield Java(jdk, work)
    finally:
        shutil.rmtree(work)


def errors_of(path: Path) -> list[str]:
    """What hprof-validate or hprof-ascii reports, in the profile strict."""
    if path.suffix == ".hprof" or (path.name.startswith("java.hprof") and path.suffix != ".txt"):
        done = subprocess.run([VALIDATE, "--profile", "strict", path], capture_output=True, text=True, check=False)
        return [] if done.returncode == 0 else done.stdout.splitlines() or [f"status {done.returncode}"]
    return _read_text(path, path.stat().st_mtime_ns)[1]


@lru_cache(maxsize=4)
def _read_text(path: Path, _: int) -> tuple[Facts, list[str]]:
    """With the errors. The time of the file is in the key: a test may write a file again."""
    facts, findings = read_text(path)
    errors = [one for one in findings.kept if one.severity is Severity.ERROR]
    return facts, [f"{one.line}: {one.rule.id}: expected {one.expected}; found {one.found}" for one in errors]


def facts_of(path: Path) -> Facts:
    return read_binary(path) if path.suffix == ".hprof" else _read_text(path, path.stat().st_mtime_ns)[0]
