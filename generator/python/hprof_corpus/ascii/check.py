"""Checks text output from its first line to its last, in one pass; a second one finds the lines of dangling references."""

from __future__ import annotations

import calendar
import re
from typing import BinaryIO

from hprof_corpus.ascii.findings import Findings, show
from hprof_corpus.ascii.grammar import OUTSIDE, PREFACE_END, ROWS, Kind, match, match_open
from hprof_corpus.ascii.heap import REFERENCES, HeapDump
from hprof_corpus.ascii.ids import IdSet
from hprof_corpus.ascii.lines import MOST_AT_ONCE, Line, Lines
from hprof_corpus.ascii.monitors import MonitorDump, check_wait
from hprof_corpus.ascii.state import AGENT_THREADS, Block, Life, Observer, State, brief
from hprof_corpus.ascii.tables import Ranked, Sites

MONTHS = [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"]

DAYS = [b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun"]

_BEGINS = (Kind.HEAP_BEGIN, Kind.SITES_BEGIN, Kind.CPU_BEGIN, Kind.MONITOR_TIME_BEGIN, Kind.MONITOR_DUMP_BEGIN)
_ENDS = (Kind.HEAP_END, Kind.SITES_END, Kind.CPU_END, Kind.MONITOR_TIME_END, Kind.MONITOR_DUMP_END)
_WAITS = (Kind.SLEEP, Kind.WAIT, Kind.WAITED, Kind.EXIT)


_BINARY = re.compile(rb"JAVA PROFILE [0-9.]+\0")  # how a binary dump begins
_PREFACE_OF_AGENT = b"Header for -agentlib:hprof"  # in jvm.hprof.txt of JDK 5 to 8


def _exists(weekday: bytes, month: int, day: int, time: bytes, year: int) -> bool:
    """The calendar repeats every 400 years."""
    year = year % 400 + 2000
    hour, minute, second = map(int, time.split(b":"))
    if hour > 23 or minute > 59 or second > 60 or not 1 <= day <= calendar.monthrange(year, month)[1]:
        return False
    return calendar.weekday(year, month, day) == DAYS.index(weekday)


def _method_of(frame: re.Match[bytes]) -> bytes | None:
    """None if it is not known, because the line is cut, or the source may begin at one parenthesis or another."""
    return brief(frame[1] + b"." + frame[2]) if frame[2] and frame[0].count(b"(") == 1 else None


class _Trace:
    """TRACE has no END: it lasts as long as lines are indented."""

    kinds: tuple[Kind, ...] = (Kind.FRAME, Kind.NO_FRAMES)
    end_kind: Kind | None = None

    def __init__(self, state: State, found: re.Match[bytes]) -> None:
        self.state, self.begin, self.serial = state, state.line, int(found[1])
        self.frames, self.empty = 0, False
        if self.serial in state.traces:
            state.report("ASC-020", "a trace that is not yet defined", f"trace {self.serial}")
        state.traces[self.serial] = b""
        if found[2] is not None:
            state.use_thread(found[2])

    def line(self, kind: Kind, found: re.Match[bytes]) -> None:
        if kind is Kind.NO_FRAMES:
            self.empty = True
        else:
            if not self.frames:
                self.state.traces[self.serial] = _method_of(found)
            self.frames += 1

    def end(self, found: re.Match[bytes] | None) -> None:
        if self.empty == bool(self.frames):
            texts = ("frames and <empty>", "no line") if self.empty else ("no line", "no line")
            self.state.report("ASC-022", "frames, or the line <empty>", texts[0], "", self.begin)


class _OldTable:
    """The table of cpu=old has no END: it lasts until the end of the file or another table."""

    kinds: tuple[Kind, ...] = (Kind.OLD_CALL,)
    end_kind: Kind | None = None

    def __init__(self, state: State) -> None:
        self.state = state
        self.last: int | None = None

    def line(self, kind: Kind, found: re.Match[bytes]) -> None:
        count = int(found[1])
        if self.last is not None and count > self.last:
            self.state.report("ASC-031", f"at most {self.last} calls, as in the row above", str(count))
        self.last = count

    def end(self, found: re.Match[bytes] | None) -> None:
        pass


class Checker:
    def __init__(self, lines: Lines, findings: Findings, observer: Observer | None) -> None:
        self.lines = lines
        self.state = State(findings)
        self.observer = observer
        self.block: Block | None = None
        self.dangling: list[tuple[int, int, IdSet]] = []  # first and last line of a heap dump, and the IDs
        self.lost = False  # from a line that is misplaced outside blocks to the next one that belongs there

    def line(self, line: Line) -> None:
        if self._take(line):
            if line.cut:
                self._broken(line.text, "cut")
            return
        joined = self.lines.join(line)
        if joined and self._take(joined):
            self._broken(joined.text, "cut" if joined.cut else "newline")
        elif not self.lost:
            self._stray((joined or line).text)

    def _take(self, line: Line) -> bool:
        """False if this line is not allowed here."""
        block, text, find = self.block, line.text, match_open if line.cut else match
        if block is not None:
            found = find(text, block.kinds)
            if found and found[0] in ROWS and not line.cut:
                found = self._whole_row(line, found)
            if found:
                block.line(*found)
                self._observe(*found)
                return True
            end = block.end_kind and match(text, (block.end_kind,))
            if end:
                self._observe(*end)
                self._end(end[1])
                return True
        found = find(text, OUTSIDE)
        if found:
            self._outside(*found)
        return found is not None

    def _whole_row(self, line: Line, found: tuple[Kind, re.Match[bytes]]) -> tuple[Kind, re.Match[bytes]]:
        row = self.lines.extend(line)
        whole = None if row.text == line.text else match(row.text, (found[0],))
        if whole:
            self._broken(row.text, "cut" if row.cut else "newline")
        return whole or found

    def _broken(self, text: bytes, shape: str) -> None:
        how = {"cut": f"{len(text)} bytes and no newline", "newline": "a newline in a name"}[shape]
        self.state.report("ASC-003", "a name without a newline, and a line with its end", f"{show(text)}: {how}", shape)

    def _outside(self, kind: Kind, found: re.Match[bytes]) -> None:
        block, state = self.block, self.state
        self.lost = False
        if block is not None:
            if block.end_kind and kind in (*_BEGINS, Kind.TRACE, Kind.OLD_HEAD):
                state.report("ASC-005", "the END of the block above", show(found[0]))
            elif block.end_kind:
                state.report("ASC-006", "a line of the block", show(found[0]))
                return
            self._end(None)
        self._observe(kind, found)
        if kind in (Kind.HEAP_BEGIN, Kind.SITES_BEGIN, Kind.CPU_BEGIN, Kind.MONITOR_TIME_BEGIN):
            self.date(found)
        begun: Block | None = None
        if kind is Kind.TRACE:
            begun = _Trace(state, found)
        elif kind is Kind.HEAP_BEGIN:
            begun = HeapDump(state, found)
        elif kind is Kind.SITES_BEGIN:
            begun = Sites(state, found)
        elif kind in (Kind.CPU_BEGIN, Kind.MONITOR_TIME_BEGIN):
            begun = Ranked(state, kind, found)
        elif kind is Kind.MONITOR_DUMP_BEGIN:
            begun = MonitorDump(state)
        elif kind is Kind.OLD_HEAD:
            begun = _OldTable(state)
        elif kind in _WAITS:
            check_wait(state, kind, found)
        else:
            self._thread(kind, found)
        self.block = begun

    def _thread(self, kind: Kind, found: re.Match[bytes]) -> None:
        state = self.state
        if kind is Kind.THREAD_START:
            serial = int(found[2])
            if state.threads.get(serial) in (Life.STARTED, Life.ENDED):
                state.report("ASC-010", "a thread that has not started", f"thread {serial}")
            state.threads[serial] = Life.STARTED
            state.use_id(found[1])
            return
        serial = int(found[1])
        life = state.threads.get(serial)
        if life is Life.ENDED:
            state.report("ASC-012", "a thread that has not ended", f"thread {serial}")
        elif life is not Life.STARTED:
            shape = "agent-thread" if serial in AGENT_THREADS else ""
            state.report("ASC-014", "a thread with a THREAD START above", f"thread {serial}", shape)
        state.threads[serial] = Life.ENDED

    def _stray(self, line: bytes) -> None:
        """Outside blocks the lines that follow are taken for the rest of the same block, whose BEGIN is not there."""
        state = self.state
        if match(line, _ENDS):
            state.report("ASC-005", "the BEGIN of this block above", show(line))
            self._end(None)
        elif match(line, tuple(Kind)):
            state.report("ASC-006", "a line of the block" if self.block else "a line outside blocks", show(line))
        else:
            cut = " (the agent cuts lines at 1023 bytes)" if len(line) > MOST_AT_ONCE else ""
            state.report("ASC-003", "a line of one of the forms of TEXT.md, section H", show(line) + cut)
        self.lost = self.block is None

    def date(self, found: re.Match[bytes]) -> None:
        weekday, month, day, time, year = found.groups()[-5:]
        if not _exists(weekday, MONTHS.index(month) + 1, int(day), time, int(year)):
            rule = "ASC-001" if found.re is Kind.HEADER.pattern else "ASC-003"
            self.state.report(rule, "a date that exists", show(found[0]))
            return
        when = (int(year), MONTHS.index(month), int(day), *map(int, time.split(b":")))
        if self.state.date is not None and when < self.state.date:
            self.state.report("ASC-007", "a time not before the one above", show(found[0]))
        self.state.date = when

    def _end(self, found: re.Match[bytes] | None) -> None:
        block, self.block = self.block, None
        if block is not None:
            block.end(found)
        if isinstance(block, HeapDump) and block.dangling:
            self.dangling.append((block.begin, self.state.line, block.dangling))

    def finish(self, truncated: bool) -> None:
        if not truncated and self.block is not None and self.block.end_kind:
            self.state.report("ASC-005", "the END of the block above", "the end of the file")
        self._end(None)

    def _observe(self, kind: Kind, found: re.Match[bytes]) -> None:
        if self.observer:
            self.observer(kind, found)


def _check_header(checker: Checker, line: bytes) -> bool:
    """Whether a preface follows. The output of cpu=old has neither header nor preface."""
    found = Kind.HEADER.pattern.fullmatch(line)
    if found:
        checker.date(found)
        return True
    old = match(line, OUTSIDE) is not None
    if old:
        checker.state.findings.recognise_agent()  # no other producer leaves the header out
    shown = "a binary dump, which hprof-validate checks" if _BINARY.match(line) else show(line)
    checker.state.report("ASC-001", "JAVA PROFILE 1.0.1 or 1.0.2, created and a date", shown, "old" if old else "")
    checker.state.is_old = old
    if old:
        checker.line(Line(line))
    return not old


def check(stream: BinaryIO, findings: Findings, observer: Observer | None = None) -> int:
    """Adds to the findings; the number of lines."""
    begin = stream.tell() if stream.seekable() else 0
    lines = Lines(stream)
    checker = Checker(lines, findings, observer)
    state = checker.state
    in_preface = after_preface = truncated = False
    while line := lines.next(cut=not in_preface):
        state.line = lines.number
        if state.line == 1:
            in_preface = _check_header(checker, line.text)
        elif in_preface:
            if line.text.startswith(_PREFACE_OF_AGENT):
                findings.recognise_agent()
            in_preface = line.text != PREFACE_END or not line.ended
            after_preface = not in_preface
        elif line.text or not after_preface:
            after_preface = False
            truncated = not line.ended
            if truncated:
                state.report("ASC-004", "a newline at the end of the line", show(line.text))
            else:
                checker.line(line)
    state.line = lines.number
    if not state.line:
        _check_header(checker, b"")
    elif in_preface:
        state.report("ASC-002", "a line of eight dashes", "the end of the file")
    checker.finish(truncated)
    if checker.dangling:
        _find_dangling(stream, begin, checker)
    return state.line


def _find_dangling(stream: BinaryIO, start: int, checker: Checker) -> None:
    """A reference that is not found again has its finding at the heap dump: a pipe cannot be read twice, a name may be broken."""
    state = checker.state
    for begin, end, missing in checker.dangling:
        found = IdSet()
        if stream.seekable():
            stream.seek(start)
            found = _find_lines(stream, begin, end, missing, state)
        left = len(missing) - len(found)
        if left:
            state.report("ASC-042", "IDs that are defined in the heap dump", f"{left} that are not", "", begin)


def _find_lines(stream: BinaryIO, begin: int, end: int, missing: IdSet, state: State) -> IdSet:
    """Reports the references to missing objects in these lines; returns the IDs found."""
    found = IdSet()
    lines = Lines(stream)
    while (line := lines.next()) and lines.number <= end:
        if lines.number > begin and line.text.startswith(b"\t"):
            reference = match(line.text, REFERENCES)
            if reference and (number := int(reference[1][2], 16)) in missing:
                found.add(number)
                state.report("ASC-042", "an ID that is defined in the heap dump", show(line.text[1:]), "", lines.number)
    return found
