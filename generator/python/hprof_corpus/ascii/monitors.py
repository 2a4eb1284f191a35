"""MONITOR DUMP (TEXT.md H.6) and the lines of waiting (H.7)."""

from __future__ import annotations

import re

from hprof_corpus.ascii.findings import show
from hprof_corpus.ascii.grammar import Kind
from hprof_corpus.ascii.state import Life, State, brief

_SERIAL = re.compile(rb"thread (\d+)")
_WITH_COMMAS = re.compile(rb"(?: (?:<unknown thread>|thread \d+)(?:, (?:<unknown thread>|thread \d+))*)?")
_MONITOR_LINES = (Kind.OWNER, Kind.WAITING_TO_ENTER, Kind.WAITING_FOR_NOTIFY)


class MonitorDump:
    kinds: tuple[Kind, ...] = (Kind.THREAD_STATE, Kind.MONITOR, *_MONITOR_LINES)
    end_kind: Kind | None = Kind.MONITOR_DUMP_END

    def __init__(self, state: State) -> None:
        self.state = state
        self.states: dict[int, bytes] = {}
        self.wanted: tuple[Kind, ...] = ()  # the lines that the monitor still needs
        self.cut = False  # the line of the monitor is cut, which may have lost that nobody owns it

    def line(self, kind: Kind, match: re.Match[bytes]) -> None:
        if kind in _MONITOR_LINES:
            self._detail(kind, match)
            return
        self._complete()
        if kind is Kind.MONITOR:
            self.cut = match.re is kind.open
            self.wanted = _MONITOR_LINES[1:] if match[2] else _MONITOR_LINES
            return
        serial = int(match[1])
        if serial in self.states:
            self.state.report("ASC-060", "a thread that is not yet listed", f"thread {serial}")
        self.states.setdefault(serial, match[3].rsplit(b"|", 1)[-1])
        self.state.threads.setdefault(serial, Life.KNOWN)
        self.state.use_trace(match[2])

    def _detail(self, kind: Kind, match: re.Match[bytes]) -> None:
        if self.cut and kind is not Kind.OWNER:
            self.wanted = _MONITOR_LINES[1:]
        self.cut = False
        if not self.wanted or kind is not self.wanted[0]:
            self.state.report("ASC-062", "a line of a monitor, in order", show(match[0]))
        self.wanted = self.wanted[self.wanted.index(kind) + 1 :] if kind in self.wanted else ()
        if kind is Kind.OWNER:
            self._thread(match[1], b"")
            return
        if not _WITH_COMMAS.fullmatch(match[1]):
            self.state.report("ASC-003", "a comma between two threads", show(match[1].strip()))
        for serial in _SERIAL.findall(match[1]):
            self._thread(serial, b"MW" if kind is Kind.WAITING_TO_ENTER else b"CW")

    def _thread(self, serial: bytes, wanted: bytes) -> None:
        state = self.states.get(int(serial))
        if state is None:
            self.state.report("ASC-061", "a thread with a THREAD line in this monitor dump", f"thread {serial.decode()}")
        elif wanted and state != wanted:
            shape = "waits-for-notify" if (wanted, state) == (b"MW", b"CW") else ""
            self.state.report("ASC-063", f"the status {wanted.decode()}", f"thread {serial.decode()} with {state.decode()}", shape)

    def _complete(self) -> None:
        if self.wanted:
            names = dict(zip(_MONITOR_LINES, ("owner", "waiting to enter", "waiting to be notified"), strict=True))
            self.state.report("ASC-062", f"the line '{names[self.wanted[0]]}'", "none")
        self.wanted = ()

    def end(self, match: re.Match[bytes] | None) -> None:
        if match:
            self._complete()


def check_wait(state: State, kind: Kind, match: re.Match[bytes]) -> None:
    """WAIT and WAITED enclose a thread's wait for one monitor."""
    thread = match[match.re.groups]
    state.use_thread(thread)
    if thread is None or kind in (Kind.SLEEP, Kind.EXIT):
        return
    serial = int(thread)
    if kind is Kind.WAIT:
        state.waits[serial] = brief(match[1])
        return
    if state.waits.pop(serial, None) != brief(match[1]):
        state.report("ASC-013", "a WAIT of this thread and monitor before", show(match[0]))
