"""Runs readers over cases: each reader in a thread of its own, one process each."""

from __future__ import annotations

import contextlib
import errno
import glob
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path

from hprof_conformance import calibration, readers, steps
from hprof_conformance.calibration import Step
from hprof_conformance.cases import Case
from hprof_conformance.command import RefusedError
from hprof_conformance.jvms import NotBuiltError, NotHereError
from hprof_conformance.outcomes import Verdict, assess, notices_of_valid
from hprof_conformance.protocol import FieldsError, Hello, ProtocolError, Reply
from hprof_conformance.readers import Reader
from hprof_conformance.session import Limits, Session

_FEW = 5


@dataclass
class Cell:
    case: Case
    reply: Reply
    verdict: Verdict
    seconds: float


@dataclass(frozen=True)
class Cases:
    """What readers are asked. `controls` are valid dumps that do not count, for the notices of a reader."""

    chosen: list[Case]
    controls: list[Case] = field(default_factory=list)
    needs: list[list[str]] = field(default_factory=list)  # features, of all cases that there are


@dataclass
class Row:
    """A reader, and what it made of each case."""

    reader: Reader
    hello: Hello | None = None
    calibration: list[Step] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)
    why_not: str = ""  # why it did not run
    unasked: str = ""  # what it did when no answer was due: between two dumps, or at the end
    by_hand: str = ""  # the command for a shell
    starts: int = 0

    @property
    def ran(self) -> bool:
        return not self.why_not


def _why_not(error: OSError) -> str:
    script = {errno.ENOEXEC: "a script begins with a line such as #!/usr/bin/env python3", errno.ENOENT: "no such interpreter"}
    return script.get(error.errno or 0, error.strerror or str(error))


def own_commands(reader: Reader) -> tuple[list[str], str]:
    """What starts the reader, and what a shell takes to run it on FILE. A program that says hello, even a malformed hello, speaks
    the protocol; any other is started once for each dump."""
    program = [str(reader.folder)]
    with tempfile.TemporaryDirectory() as folder:
        session = Session(program, Path(folder))
        try:
            session.start()
        except FieldsError:
            pass  # the calibration reports what is wrong
        except OSError as error:
            raise RefusedError(f"{program[0]}: cannot be started: {_why_not(error)}") from error
        except ProtocolError as error:
            words = "started once for each dump, and only its exit status counts; started without a file, it said no hello"
            steps.say(f"{reader.title}: {words} ({str(error).removeprefix('no hello: ').removeprefix('crashed: ')})")
            serve = [sys.executable, "-m", "hprof_conformance.serve", "--name", reader.name, *program]
            return serve, shlex.join([*program, readers.FILE])
        finally:
            session.stop()
    return program, readers.one_request(program)


def run_reader(root: Path, build: Path, reader: Reader, cases: Cases, limits: Limits) -> Row:
    row = Row(reader)
    try:
        if reader.kind == "own":
            command, row.by_hand = own_commands(reader)
        else:
            command = readers.command(root, reader, build / reader.name)
            row.by_hand = readers.by_hand(root, reader, build / reader.name)
    except NotHereError as error:
        row.why_not = str(error)
        if isinstance(error, NotBuiltError):
            row.calibration = [Step("it is built", False, str(error))]
        return row
    folder = Path(tempfile.mkdtemp(prefix=f"hprof-{reader.name}-"))
    session = Session(command, folder, limits)
    try:
        row.calibration = calibration.calibrate(session, folder, None if reader.kind == "own" else reader, cases.needs)
        row.hello = session.hello
        failed = [step for step in row.calibration if not step.passed]
        if failed or row.hello is None:
            row.why_not = "calibration: " + "; ".join(f"{step.what}: {step.found}" for step in failed)
            return row
        chosen = steps.each(reader.title, cases.chosen, len(cases.chosen))
        replies = [(case, *_ask(session, folder, case)) for case in chosen]
        ended = session.end()
        controls = [_ask(session, folder, case)[0] for case in cases.controls]
        ended = ended or session.end()
        row.unasked = "; ".join(filter(None, [*session.between[:_FEW], ended]))
        valid = [*controls, *(reply for case, reply, _ in replies if case.is_control)]
        notices = notices_of_valid(row.hello, (reply for reply in valid if reply.outcome == "accepted"))
        row.cells = [Cell(case, reply, assess(case, row.hello, reply, notices), seconds) for case, reply, seconds in replies]
    finally:
        session.stop()
        row.starts = session.starts
        for left in folder.parent.glob(f"{glob.escape(folder.name)}*"):  # with those of dumps, where the reader still wrote
            shutil.rmtree(left, ignore_errors=True)
    return row


def _ask(session: Session, folder: Path, case: Case) -> tuple[Reply, float]:
    """The reply, and the seconds that it took."""
    with tempfile.TemporaryDirectory(prefix=folder.name, ignore_cleanup_errors=True) as own:  # the reader may still write there
        file = case.place(Path(own))
        began = time.monotonic()
        reply = session.ask(case.name, file)
        seconds = time.monotonic() - began
    with contextlib.suppress(OSError):  # it may have deleted its own folder, or delete what is in it
        for left in folder.iterdir():
            shutil.rmtree(left, ignore_errors=True) if left.is_dir() and not left.is_symlink() else left.unlink(missing_ok=True)
    return replace(reply, message=reply.message.replace(f"{own}/", "")), seconds


@contextlib.contextmanager
def running(
    root: Path, build: Path, chosen: list[Reader], cases: Cases, limits: Limits, jobs: int
) -> Iterator[Callable[[float | None], list[Row]]]:
    """Starts the readers. The caller may work beside them, and calls the result for the rows of the readers that end within so many
    seconds, or of all, in their order. The call raises what a reader has raised."""

    def one(reader: Reader) -> Row:
        row = run_reader(root, build, reader, cases, limits)
        steps.say(f"{reader.title}: {f'{len(row.cells)} cases' if row.ran else row.why_not}")
        return row

    def finished(seconds: float | None) -> list[Row]:
        done = wait(rows, seconds, FIRST_EXCEPTION).done
        return [row.result() for row in rows if row in done]

    with ThreadPoolExecutor(max_workers=jobs) as pool:
        try:
            rows = [pool.submit(one, reader) for reader in chosen]
            yield finished
        except BaseException:
            steps.stopping.set()  # else the pool waits until each reader has met all cases
            pool.shutdown(wait=False, cancel_futures=True)
            raise
