"""What all parts of a check share: findings, and the threads and traces defined so far."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from hashlib import blake2b
from typing import Protocol

from hprof_corpus.ascii.findings import Findings, show
from hprof_corpus.ascii.grammar import Kind


class Life(Enum):
    """What is known of a thread. A thread may be listed, by a root or a monitor dump, that never started or ended."""

    KNOWN = 1
    STARTED = 2
    ENDED = 3


# Threads that the agent starts: its watcher of collections, and with net= its reader of commands.
AGENT_THREADS = (200002, 200003)

_LONGEST_NAME, _SHOWN = 64, 48


def brief(name: bytes) -> bytes:
    """What is kept of a name, so that memory does not depend on its length."""
    return name if len(name) <= _LONGEST_NAME else name[:_SHOWN] + b"\0" + blake2b(name, digest_size=15).digest()


def show_brief(name: bytes) -> str:
    return show(name, _SHOWN)


Observer = Callable[[Kind, "re.Match[bytes]"], None]


@dataclass
class State:
    findings: Findings
    line: int = 0
    threads: dict[int, Life] = field(default_factory=dict)
    traces: dict[int, bytes | None] = field(default_factory=dict)  # first frame, as brief() keeps it; None if not known
    waits: dict[int, bytes] = field(default_factory=dict)  # the monitor for which a thread waits
    width: int = 0  # of object IDs
    is_old: bool = False  # the text of cpu=old, which has no header
    date: tuple[int, ...] | None = None

    def report(self, rule: str, expected: str, found: str, shape: str = "", line: int = 0) -> None:
        self.findings.add(rule, line or self.line, expected, found, shape)

    def use_id(self, digits: bytes) -> None:
        if not digits.strip(b"0"):
            return
        if not self.width:
            self.width = len(digits)
        elif len(digits) != self.width:
            self.report("ASC-048", f"an ID of {self.width} digits", digits.decode())

    def use_trace(self, serial: bytes | None) -> None:
        if serial is not None and int(serial) not in self.traces:
            self.report("ASC-021", "a trace that is defined above", f"trace {serial.decode()}")

    def use_thread(self, serial: bytes | None) -> None:
        if serial is not None and int(serial) not in self.threads:
            self.report("ASC-011", "a thread that is defined above", f"thread {serial.decode()}", "old" if self.is_old else "")


class Block(Protocol):
    """From BEGIN to END. `line` takes the lines between them."""

    kinds: tuple[Kind, ...]
    end_kind: Kind | None

    def line(self, kind: Kind, match: re.Match[bytes]) -> None: ...

    def end(self, match: re.Match[bytes] | None) -> None: ...
