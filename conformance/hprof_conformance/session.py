"""A reader's process: started when needed, and again after a crash, a hang, or too much memory. keeper.py runs it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import secrets
import selectors
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from hprof_conformance import steps
from hprof_conformance.protocol import FieldsError, Hello, ProtocolError, Reply, parse_hello, parse_reply, request

MOST_MEMORY = 4 << 30
LARGE_FILE = 1 << 20
MOST_IN_A_LINE = 16 << 20
MOST_ERRORS = 1 << 30  # on standard error, of one process
_LAST_ERRORS = 1 << 20  # enough for the stacks of a JVM
_START_TIMEOUT = 60.0
_LINES_BEFORE_HELLO = 5
_POLL = 0.1
_PATIENCE = 10.0  # for the stacks of a JVM, and for the end of a process that no longer answers
_STACK = re.compile(r'^"main" .*\n.*\n((?:\t.*\n)+)', re.MULTILINE)
_METHOD = re.compile(r"^\tat (?:\S+/)?((?:\w+\.)+)([\w$<>]+\.[\w$<>]+)\(\S+:(\d+)\)", re.MULTILINE)
_OF_JAVA = re.compile(r"(?:java|jdk\.internal|sun|kotlin)\.")
_DEPTH = 3
_KEEPER = [sys.executable, "-I", "-S", str(Path(__file__).with_name("keeper.py"))]
_ERROR = re.compile(r"(?=\S).*(?:panic|exception|error)", re.IGNORECASE)
_LONGEST_MESSAGE = 300


@dataclass(frozen=True)
class Limits:
    seconds: float = 10.0  # for a file under 1 MB
    seconds_large: float = 60.0  # and for a compressed one, whatever its size
    memory: int = MOST_MEMORY

    def for_file(self, file: Path) -> float:
        is_small = file.stat().st_size < LARGE_FILE and file.suffix != ".gz"
        return self.seconds if is_small else self.seconds_large


Family = set[tuple[int, int]]  # processes, each with the time of its start, because numbers are given again


def _family(leader: int, known: Family) -> Family:
    """The processes of `known` that still run, and all that descend from the leader or from one of them, without the leader."""
    found: dict[int, tuple[int, int]] = {}  # parent, and when it was started
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                words = Path(entry.path, "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
            if words[0] != "Z":
                found[int(entry.name)] = int(words[1]), int(words[19])
    family = {leader, *(pid for pid, (_, when) in found.items() if (pid, when) in known)}
    while more := {pid for pid, (parent, _) in found.items() if parent in family} - family:
        family |= more
    return {(pid, found[pid][1]) for pid in family - {leader}}


def _pages(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    except (OSError, IndexError):
        return 0


def _own_share(pid: int) -> int:
    """Bytes; memory that processes share counts in parts."""
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in rollup.splitlines() if line.startswith("Pss:")), 0)


def _resident(family: Family, limit: int) -> int:
    """Bytes that processes hold in memory. What they share is only counted once if the sum is beyond the limit, because that takes
    longer."""
    pids = [pid for pid, _ in family]
    found = sum(map(_pages, pids)) * os.sysconf("SC_PAGESIZE")
    return found if found <= limit else sum(map(_own_share, pids))


def _unread(pipe: IO[bytes]) -> int:
    """How many bytes of what was written nobody has read, even if no process is left that could."""
    (found,) = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))
    return int(found)


def error_line(errors: str) -> str:
    """The line that says why a program ended: in some languages the stack follows it."""
    lines = errors.strip().splitlines()
    at = max((i for i, line in enumerate(lines) if _ERROR.match(line)), default=len(lines) - 1)
    more = lines[at].endswith(":") if lines else False  # as in Rust, whose message is on the next line
    return " ".join(lines[at : at + 1 + more])[:_LONGEST_MESSAGE]


def _how(status: int) -> str:
    return f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"


class Session:
    def __init__(self, command: list[str], directory: Path, limits: Limits | None = None) -> None:
        """`directory` is for what the reader writes. When the run ends early, waiting for the reader raises StoppedError."""
        self._command = command
        self._directory = directory
        self._limits = limits or Limits()
        self._process: subprocess.Popen[bytes] | None = None
        self._pending = b""
        self._errors = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 # has no name, so the reader cannot replace it
        self._errors_from = 0  # where those of the case begin
        self._family: Family = set()  # of the process, as it was last seen
        self._case = ""  # that was asked last
        self._sent = 0  # bytes of the request
        self._took_request = True  # the process has read some of it
        self.hello: Hello | None = None
        self.starts = 0
        self.between: list[str] = []  # what a process did after its last answer; the next dump is not to blame

    def start(self) -> Hello:
        """Raises ProtocolError if the reader does not say hello."""
        if self._process is None:
            self.starts += 1
            self._directory.mkdir(exist_ok=True)  # the reader may have deleted it
            self._errors.seek(0)
            self._errors.truncate()
            self._errors_from = 0
            self._process = self._started()
            self._pending = b""
            line = self._line(_START_TIMEOUT, f"{Path(self._command[0]).name}: no hello yet")
            if isinstance(line, Reply):
                flushed = "; is the line flushed?" if line.outcome == "hung" else ""
                raise ProtocolError(f"no hello: {line.outcome}: {line.message}{flushed}")
            try:
                hello = parse_hello(line)
            except FieldsError:
                raise
            except ProtocolError as error:
                if self._says_hello_later():
                    raise FieldsError(f"writes something else before its hello: {line[:_LONGEST_MESSAGE]}") from error
                raise
            if self.hello is not None and (other := hello.differs(self.hello)):
                self.stop()
                raise ProtocolError(f"another hello than at the first start: {', '.join(other)}")
            self.hello = self.hello or hello
        assert self.hello is not None
        return self.hello

    def _says_hello_later(self) -> bool:
        """Whether one of the next lines is a hello, even a malformed one."""
        for _ in range(_LINES_BEFORE_HELLO):
            line = self._line(_PATIENCE, "another line")
            if isinstance(line, Reply):
                return False
            with contextlib.suppress(ValueError):
                found = json.loads(line)
                if isinstance(found, dict) and "protocol" in found:
                    return True
        return False

    def _started(self) -> subprocess.Popen[bytes]:
        """Raises OSError if the command cannot be started."""
        why, pipe = os.pipe()
        with os.fdopen(why, "rb") as error:
            try:
                process = subprocess.Popen(
                    [*_KEEPER, str(pipe), *self._command],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._errors,
                    cwd=self._directory,
                    start_new_session=True,
                    pass_fds=[pipe],
                )
            finally:
                os.close(pipe)
            said = error.read()  # ends when the command has started
        if said:
            process.communicate()
            raise OSError(int(said), os.strerror(int(said)), self._command[0])
        return process

    def ask(self, case: str, file: Path) -> Reply:
        """Never raises for what a reader does: a crash, a hang and a breach of the protocol are replies too."""
        seconds = self._limits.for_file(file)  # before the reader can delete the file
        if said := self._unasked():
            self._blame_last_case(said)
        is_new = self._process is None
        reply = self._asked(case, file, seconds)
        if not (is_new or self._took_request):  # so the dump cannot be why, and is as it was
            self._blame_last_case(reply.message)
            reply = self._asked(case, file, seconds)
        self._case = case
        return reply

    def _blame_last_case(self, said: str) -> None:
        self.between.append(f"after {self._case}: {said}")
        self.stop()

    def _asked(self, case: str, file: Path, seconds: float) -> Reply:
        self._sent, self._took_request = 0, True
        try:
            self.start()
            process = self._process
            assert process is not None and process.stdin is not None
            self._errors_from = os.fstat(self._errors.fileno()).st_size
            asked = secrets.token_hex(8)  # the name of a case says what a reader should make of it
            line = request(asked, file).encode()
            process.stdin.write(line)
            process.stdin.flush()
            self._sent = len(line)
            answer = self._line(seconds, f"{case}: no answer yet")
            return replace(answer if isinstance(answer, Reply) else parse_reply(answer, asked), case=case)
        except BrokenPipeError:
            return replace(self._ended(), case=case)
        except ProtocolError as error:
            self.stop()
            return Reply(case, "crashed", f"breach of the protocol: {error}")
        except OSError as error:  # it has replaced its folder by a file
            self.stop()
            return Reply(case, "crashed", f"cannot be started again: {error.strerror}")

    def _unasked(self, may_end: bool = False) -> str:
        """What the process did since its last answer, at a moment when nothing is due; empty if nothing, or if it ended with
        status 0 and may."""
        process = self._process
        if process is None or process.stdout is None:
            return ""
        more = self._pending
        os.set_blocking(process.stdout.fileno(), False)
        with contextlib.suppress(BlockingIOError):  # it waits, or a child of it keeps the pipe open
            more += os.read(process.stdout.fileno(), _LONGEST_MESSAGE)
        os.set_blocking(process.stdout.fileno(), True)
        if more:
            return f"wrote a line that nobody asked for: {more[:_LONGEST_MESSAGE].decode('utf-8', 'replace').strip()}"
        status = process.poll()
        return "" if status is None or (may_end and status == 0) else f"ended with {_how(status)}"

    def end(self) -> str:
        """Closes the reader's standard input. Empty if the process then ends with status 0, and wrote nothing; else what it did."""
        process = self._process
        if process is None or process.stdin is None:
            return ""
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        try:
            process.wait(_PATIENCE)
            said = self._unasked(may_end=True)
        except subprocess.TimeoutExpired:
            return f"did not end within {_PATIENCE:g} s after its input had ended"
        finally:
            self.stop()
        return f"{said} after its input had ended" if said else ""

    def stop(self) -> None:
        """Ends the process and all that it started."""
        process = self._process
        self._process = None
        if process is None:
            return
        if process.stdin is not None and not process.stdin.closed:
            self._took_request = _unread(process.stdin) < self._sent
        until = time.monotonic() + _PATIENCE
        while (family := _family(process.pid, self._family)) and time.monotonic() < until:
            for pid, _ in family:  # which may start another one before it ends
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
        self._family = set()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_PATIENCE)  # the keeper ends after all others
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()

    def _line(self, seconds: float, waiting: str) -> str | Reply:
        """The next line, or why there is none."""
        step = steps.Step()
        process = self._process
        assert process is not None and process.stdout is not None
        until = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._pending:
                if steps.stopping.is_set():
                    raise steps.StoppedError
                step.goes_on(waiting)
                self._family = _family(process.pid, self._family)
                if _resident(self._family, self._limits.memory) > self._limits.memory:
                    self.stop()
                    return Reply("", "out of memory", f"more than {self._limits.memory} bytes")
                if os.fstat(self._errors.fileno()).st_size > MOST_ERRORS:
                    self.stop()
                    return Reply("", "crashed", f"more than {MOST_ERRORS} bytes on standard error")
                if len(self._pending) > MOST_IN_A_LINE:
                    self.stop()
                    return Reply("", "crashed", f"a line of more than {MOST_IN_A_LINE} bytes on standard output")
                left = until - time.monotonic()
                has_ended = process.poll() is not None  # a child of it may keep the pipe open
                if selector.select(min(max(left, 0.0), _POLL)):
                    data = os.read(process.stdout.fileno(), 1 << 16)
                    if not data:
                        return self._ended()
                    self._pending += data
                elif has_ended:
                    return self._ended()
                if left <= 0 and b"\n" not in self._pending:  # after a last look: a busy machine may have delayed the others
                    where = self._where()
                    self.stop()
                    return Reply("", "hung", f"no answer after {seconds:g} s{where}")
        line, _, self._pending = self._pending.partition(b"\n")
        try:
            return line.decode()
        except UnicodeDecodeError as error:
            raise ProtocolError(f"no UTF-8 at byte {error.start} of a line") from error

    def _last_errors(self) -> str:
        """Of this case. The reader shares the position in the file, so it stays."""
        file = self._errors.fileno()
        begin = max(os.fstat(file).st_size - _LAST_ERRORS, self._errors_from)
        return os.pread(file, _LAST_ERRORS, begin).decode("utf-8", "replace")

    def _where(self) -> str:
        """The methods that a JVM is in, the innermost first. SIGQUIT asks it for its stacks; readers.py lets it print them to
        standard error."""
        process = self._process
        if process is None or Path(self._command[0]).name != "java":
            return ""
        process.send_signal(signal.SIGQUIT)
        until = time.monotonic() + _PATIENCE
        while not (found := _STACK.search(self._last_errors())):
            if time.monotonic() > until:
                return ""
            time.sleep(_POLL)
        methods = [f"{name}:{line}" for package, name, line in _METHOD.findall(found[1]) if not _OF_JAVA.match(package)]
        return f" at {' from '.join(methods[:_DEPTH])}" if methods else ""

    def _ended(self) -> Reply:
        """The process closed its end of a pipe where a line was due."""
        process = self._process
        assert process is not None
        try:
            status = process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self.stop()
            return Reply("", "crashed", "closed its standard input or output, and did not end")
        self.stop()
        errors = self._last_errors()
        outcome = "out of memory" if "OutOfMemoryError" in errors else "crashed"
        return Reply("", outcome, f"ended with {_how(status)}: {error_line(errors) or 'nothing on standard error'}")
