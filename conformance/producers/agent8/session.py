"""One connection to a producer that was told to connect here: the agent of JDK 8, or hprof-serve."""

from __future__ import annotations

import os
import select
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from socket import create_server, socket

from agent import HOST, Agent, end
from live import BinaryCheck, TextCheck
from wire import PATIENCE, Stream, StreamError


@dataclass
class Session:
    stream: Stream
    process: subprocess.Popen[bytes]
    errors: list[bytes] = field(default_factory=list)
    hearer: threading.Thread | None = None

    def order(self, letter: str, answer: str) -> None:
        """Has Truth do something."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(letter.encode())
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
            raise StreamError(f"the program does not say {answer!r}")
        heard = self.process.stdout.readline().decode().strip()
        if heard != answer:
            raise StreamError(f"the program says {heard!r}, not {answer!r}")

    def finish(self) -> int:
        """The program ends by itself; its status."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.stdin = None
        return self.wait()

    def wait(self) -> int:
        try:
            status = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise StreamError("the program does not end") from None
        if self.hearer:
            self.hearer.join(PATIENCE)
        return status

    def hangs(self) -> bool:
        """The VM goes on, and takes no processor time: with cpu=samples after 0x02 in some runs."""
        before = self.seconds()
        time.sleep(1)
        return self.process.poll() is None and self.seconds() - before < 0.05

    def said(self) -> str:
        return b"".join(self.errors).decode()

    def seconds(self) -> float:
        """Processor time of the process."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def hear(self) -> None:
        """Takes what is said on standard error, so that nobody waits for it to be read."""

        def take() -> None:
            assert self.process.stderr is not None
            self.errors.extend(self.process.stderr)

        self.hearer = threading.Thread(target=take, daemon=True)
        self.hearer.start()


def accept(server: socket, process: subprocess.Popen[bytes]) -> socket:
    server.settimeout(PATIENCE)
    try:
        connection, _ = server.accept()
    except TimeoutError:
        end(process)
        raise StreamError(f"nobody connects: {process.communicate()[1].decode()}") from None
    connection.settimeout(None)
    return connection


@contextmanager
def accepted(
    server: socket, process: subprocess.Popen[bytes], since: float, binary: bool, pieces: int, stop_at: int | None = None
) -> Iterator[Session]:
    """The producer has connected; it and the check of its stream end with the session."""
    try:
        with accept(server, process) as connection:
            check = BinaryCheck() if binary else TextCheck()
            stream = Stream(connection, binary, stop_at=stop_at, check=check, pieces=pieces, since=since)
            session = Session(stream, process)
            session.hear()
            try:
                yield session
            finally:
                session.stream.finish_check()
    finally:
        end(process)


@contextmanager
def agent_session(agent: Agent, options: str, *, stop_at: int | None = None, pieces: int = 0) -> Iterator[Session]:
    """The JVM has connected, and the program waits for orders."""
    with create_server((HOST, 0)) as server:
        command = agent.java(f"net={HOST}:{server.getsockname()[1]},{options}", "Truth", "wait")
        since = time.monotonic()
        process = agent.start(command, agent.directory())
        with accepted(server, process, since, "format=b" in options, pieces, stop_at) as session:
            assert process.stdout is not None
            if process.stdout.readline().strip() != b"ready":
                raise StreamError(f"the program does not run: {session.said()}")
            yield session


@contextmanager
def serve_session(program: Path, dump: Path, *options: str, binary: bool = True, pieces: int = 0) -> Iterator[Session]:
    """hprof-serve has connected."""
    with create_server((HOST, 0)) as server:
        form = [] if binary else ["--format", "a"]
        words = [str(program), *form, *options, f"{HOST}:{server.getsockname()[1]}", str(dump)]
        pipe, since = subprocess.PIPE, time.monotonic()
        process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
        with accepted(server, process, since, binary, pieces) as session:
            yield session
