"""Runs Java programs with the HPROF agent of JDK 8, in a root made by setup-root."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from socket import create_server, socket

HERE = Path(__file__).resolve().parent
JDK = "/usr/lib/jvm/java-8-openjdk-amd64"
LIMIT = 120  # seconds of a run
NO_PREFACE = b"(The preface of the JDK is left out.)\n"
HOST = "127.0.0.1"


class AgentError(Exception):
    """The agent cannot be run at all."""


@dataclass
class Run:
    """One run of a program. `files` are those that it left behind, by name."""

    status: int
    output: str
    errors: str
    directory: Path
    files: dict[str, Path] = field(default_factory=dict)

    @property
    def only_file(self) -> Path | None:
        return next(iter(self.files.values())) if len(self.files) == 1 else None


class Agent:
    def __init__(self, root: Path, work: Path) -> None:
        """`work` is a directory below `root`."""
        self.root, self.work = root, work
        self.count = 0

    def inside(self, path: Path) -> str:
        return "/" + str(path.relative_to(self.root))

    def java(self, options: str | None, program: str, *arguments: str, heap: str = "64m", xrun: bool = False) -> list[str]:
        agent = [] if options is None else [f"-Xrunhprof:{options}" if xrun else f"-agentlib:hprof={options}"]
        classes = self.inside(self.work / "classes")
        return [f"{JDK}/bin/java", f"-Xmx{heap}", *agent, "-cp", classes, program, *arguments]

    def start(self, command: list[str], directory: Path) -> subprocess.Popen[bytes]:
        shell = 'cd "$1" && shift && exec "$@"'
        words = ["chroot", str(self.root), "/bin/sh", "-c", shell, "sh", self.inside(directory), *command]
        pipe = subprocess.PIPE
        return subprocess.Popen(words, start_new_session=True, stdin=pipe, stdout=pipe, stderr=pipe)

    def directory(self) -> Path:
        self.count += 1
        directory = self.work / f"run-{self.count}"
        directory.mkdir()
        return directory

    def run(
        self,
        options: str,
        program: str = "Truth",
        *arguments: str,
        heap: str = "64m",
        xrun: bool = False,
        before: dict[str, str] | None = None,
        quit_after: str | None = None,
    ) -> Run:
        """`before` are files that are there already; `quit_after` is the output after which the JVM gets a SIGQUIT."""
        directory = self.directory()
        for name, text in (before or {}).items():
            (directory / name).write_text(text, encoding="utf-8")
        command = self.java(options, program, *arguments, heap=heap, xrun=xrun)
        process = self.start(command, directory)
        heard = b""
        try:
            if quit_after is not None:
                heard = self._quit(process, quit_after)
            output, errors = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            end(process)
            raise AgentError(f"{' '.join(command)} took more than {LIMIT} s") from None
        files = {path.name: path for path in sorted(directory.iterdir())}
        return Run(process.returncode, (heard + output).decode(), errors.decode(), directory, files)

    def run_sending(self, options: str) -> Run:
        """The agent sends its output to a socket; the output becomes the file `received`."""
        with create_server((HOST, 0)) as server, ThreadPoolExecutor(1) as pool:
            server.settimeout(LIMIT)
            sent = pool.submit(_take, server)
            run = self.run(f"net={HOST}:{server.getsockname()[1]},{options}")
            received = run.directory / "received"
            received.write_bytes(sent.result())
        run.files[received.name] = received
        return run

    def _quit(self, process: subprocess.Popen[bytes], word: str) -> bytes:
        assert process.stdout is not None and process.stderr is not None
        heard = process.stdout.readline()
        if heard.decode().strip() != word:
            return heard
        os.kill(process.pid, signal.SIGQUIT)
        while b"done" not in (line := process.stderr.readline()):  # the dump is written
            if not line:
                break
        return heard


def _take(server: socket) -> bytes:
    connection, _ = server.accept()
    with connection:
        return b"".join(iter(lambda: connection.recv(1 << 16), b""))


def without_preface(text: bytes) -> bytes:
    """The preface is the JDK's."""
    if b"\n--------\n" not in text:
        return text
    header, _, rest = text.partition(b"\n\n")
    return header + b"\n\n" + NO_PREFACE + b"\n--------\n" + rest.partition(b"\n--------\n")[2]


def end(process: subprocess.Popen[bytes]) -> None:
    """The JVM is alone in its session."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextmanager
def ready_agent(root: Path) -> Iterator[Agent]:
    """With the programs of this directory compiled."""
    if not (root / JDK[1:] / "bin/javac").exists():
        raise AgentError(f"{root} has no JDK 8: see conformance/producers/agent8/setup-root")
    if not (root / "proc/self").exists():
        raise AgentError(f"{root}/proc is not mounted: setup-root mounts it")
    work = Path(tempfile.mkdtemp(prefix="agent8-", dir=root / "tmp"))
    try:
        (work / "classes").mkdir()
        for source in HERE.glob("*.java"):
            shutil.copy(source, work)
        agent = Agent(root, work)
        sources = [agent.inside(path) for path in sorted(work.glob("*.java"))]
        words = [f"{JDK}/bin/javac", "-encoding", "UTF-8", "-d", agent.inside(work / "classes"), *sources]
        subprocess.run(["chroot", str(root), *words], check=True)
        yield agent
    finally:
        shutil.rmtree(work)
