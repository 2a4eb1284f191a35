"""The rules of the text output, and the quirks of the agent that writes it (TEXT.md H.8 and H.9)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Severity(Enum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Rule:
    """`requires` completes the sentence: in a valid file ..."""

    id: str
    name: str
    severity: Severity
    clause: str
    requires: str


@dataclass(frozen=True)
class Quirk:
    """A known deviation of the agent: in the profile jdk8-agent a finding of this rule and shape is a note."""

    rule: str
    shape: str
    says: str
    evidence: str


_E, _W = Severity.ERROR, Severity.WARNING

RULES = [
    Rule("ASC-001", "header", _E, "H.2", "the first line names the format, its version and when the file was made"),
    Rule("ASC-002", "preface-unended", _E, "H.2", "a line of eight dashes ends the preface"),
    Rule("ASC-003", "line-unknown", _E, "H.1", "every line after the preface has one of the forms of section H"),
    Rule("ASC-004", "line-truncated", _E, "H.1", "every line ends with a newline, the last one too"),
    Rule("ASC-005", "block-unbalanced", _E, "H.1", "every BEGIN has its END, and blocks do not overlap"),
    Rule("ASC-006", "line-misplaced", _E, "H.1", "a line is in the block to which it belongs"),
    Rule("ASC-007", "date-backwards", _W, "H.1", "no block is older than the file or than the block before it"),
    Rule("ASC-008", "head-missing", _E, "H.5", "the lines that name the columns precede the rows of a table"),
    Rule("ASC-010", "thread-start-twice", _E, "H.3", "a thread starts once"),
    Rule("ASC-011", "thread-undefined", _E, "H.3", "a thread that a line names is defined on an earlier line"),
    Rule("ASC-012", "thread-end-twice", _E, "H.3", "a thread ends once"),
    Rule("ASC-013", "waited-without-wait", _W, "H.7", "a thread that has waited for a monitor began to wait for it"),
    Rule("ASC-014", "thread-end-unstarted", _E, "H.3", "a thread that ends has started"),
    Rule("ASC-020", "trace-twice", _E, "H.3", "a trace is defined once"),
    Rule("ASC-021", "trace-undefined", _E, "H.3", "a trace that a line names is defined on an earlier line"),
    Rule("ASC-022", "trace-without-frames", _E, "H.3", "a trace has frames, or the line `<empty>` and no frame"),
    Rule("ASC-030", "rank-order", _E, "H.5", "the rows of a table are ranked 1, 2, 3 and so on"),
    Rule("ASC-031", "row-order", _E, "H.5", "the rows of a table are in the order that the table names"),
    Rule("ASC-032", "share", _E, "H.5", "the share of a row is that of its count or bytes in the total, within rounding"),
    Rule("ASC-033", "accumulated-share", _E, "H.5", "the accumulated share is the sum of the shares so far, within rounding"),
    Rule("ASC-034", "total-exceeded", _E, "H.5", "the rows of a table add up to no more than its total, which is not negative"),
    Rule("ASC-035", "site-counts", _E, "H.5", "no more is live at a site than was allocated there"),
    Rule("ASC-036", "method-of-trace", _E, "H.5", "the method of a row is the first frame of its trace"),
    Rule("ASC-040", "heap-totals", _E, "H.4", "HEAP DUMP BEGIN counts the OBJ, ARR and CLS lines, and at least their bytes"),
    Rule("ASC-041", "id-twice", _E, "H.4", "an ID is defined once in a heap dump"),
    Rule("ASC-042", "reference-dangling", _E, "H.4", "what a reference names is defined in the same heap dump"),
    Rule("ASC-043", "root-dangling", _E, "H.4", "what a root names is defined in the same heap dump"),
    Rule("ASC-044", "class-undefined", _E, "H.4", "the class of an object is a CLS of the same heap dump"),
    Rule("ASC-045", "class-name", _E, "H.4", "a class has one name"),
    Rule("ASC-046", "element-index", _E, "H.4", "the indexes of elements ascend and are below nelems"),
    Rule("ASC-047", "instance-size", _E, "H.4", "all instances of a class have the same size"),
    Rule("ASC-048", "id-width", _E, "H.1", "all object IDs but 0 have the same number of digits"),
    Rule("ASC-049", "super-not-class", _E, "H.4", "a superclass is a CLS of the same heap dump"),
    Rule("ASC-050", "array-size", _E, "H.4", "the elements of an array of a primitive type fit in its size"),
    Rule("ASC-051", "id-null", _E, "H.4", "no object, class or reference has the ID 0"),
    Rule("ASC-052", "root-details", _E, "H.4", "a root has the details of its kind"),
    Rule("ASC-053", "class-reference-twice", _E, "H.4", "a class has one `super`, `loader`, `signers` and `domain` line at most"),
    Rule("ASC-054", "super-cycle", _E, "H.4", "no class is its own superclass, nor that of its superclasses"),
    Rule("ASC-060", "monitor-thread-twice", _E, "H.6", "a monitor dump names the state of a thread once"),
    Rule("ASC-061", "monitor-thread-unlisted", _E, "H.6", "owners and waiting threads have a THREAD line in the same monitor dump"),
    Rule("ASC-062", "monitor-lines", _E, "H.6", "an owned monitor has an owner line, each monitor both lines of waiting threads"),
    Rule("ASC-063", "monitor-state", _W, "H.6", "a thread that waits to enter or to be notified has the status MW or CW"),
]  # fmt: skip

BY_ID = {rule.id: rule for rule in RULES}

_SEEN = "seen in all runs of 8u504 that"
_STARTED = "98 runs of 8u504 that wrote sites on a command just after the start"
_SAMPLED = "tables of 8u504 that were written on commands, with a sample each millisecond"
_SOME = "seen in most runs of 8u504 that"
_COLLECTED = "112 runs of 8u504 that collected and wrote sites, on commands of the socket"

QUIRKS = [
    Quirk("ASC-001", "old", "cpu=old writes neither header nor preface", f"{_SEEN} had cpu=old, alone and with heap=sites"),
    Quirk(
        "ASC-003",
        "newline",
        "names are not escaped: one with a newline takes two lines, or more",
        f"{_SEEN} had a thread or a class named 'two\\nlines'",
    ),
    Quirk(
        "ASC-003",
        "cut",
        "at most 1023 bytes are written at a time: a line with a longer name has no end, and the next line follows at once",
        f"{_SEEN} had a thread or a class with a name of 1200 bytes",
    ),
    Quirk(
        "ASC-011",
        "old",
        "cpu=old writes no start of a thread, though waits and traces name threads",
        f"{_SEEN} had cpu=old and thread=y, or cpu=old, monitor=y and a wait",
    ),
    Quirk(
        "ASC-014",
        "agent-thread",
        "a thread of the agent itself ends, serial 200002 or 200003, whose start is left out",
        f"{_SOME} wrote threads: 200002, 'HPROF gc_finish watcher'; with net= 200003 too, the thread that reads commands",
    ),
    Quirk(
        "ASC-031",
        "freed-above",
        "objects are freed while sites are sorted and written: a row may have more live bytes than the row above, which lost some",
        f"seen in 60 of {_COLLECTED}, of up to 92 rows",
    ),
    Quirk(
        "ASC-031",
        "allocated-since",
        "objects are allocated after the sites are sorted: a row may have up to two of its objects more than the row above allows",
        f"seen in 22 of {_STARTED}: 960 bytes of 30 objects after 920",
    ),
    Quirk(
        "ASC-031",
        "sampled-since",
        "samples are taken after the rows are sorted: a row may have any number more than the row above",
        f"seen in {_SAMPLED}: up to 1 more with 1 busy thread, 31 with 4, 110 with 16",
    ),
    Quirk(
        "ASC-032",
        "total-falls",
        "objects are freed while sites are written: the shares that follow are of a smaller total",
        f"seen in 2 of {_COLLECTED}: of 619 kB up to rank 516, then of 376 kB",
    ),
    Quirk(
        "ASC-032",
        "sampled-since",
        "samples are taken after the share of a row is computed: its count may be any number higher than its share says",
        f"seen in {_SAMPLED}: up to 1 more with 1 busy thread, 17 with 4, 364 with 16",
    ),
    Quirk(
        "ASC-033",
        "total-falls",
        "the same, seen first in the accumulated shares, where those of the rows are too small to show it",
        f"seen in 1 of {_COLLECTED}, in the last 0.6 %",
    ),
    Quirk(
        "ASC-033",
        "total-rises",
        "objects are allocated while sites are written: the accumulated shares that follow are of a larger total, by up to 1 %",
        f"seen in 2 of {_STARTED}",
    ),
    Quirk(
        "ASC-033",
        "sampled-since",
        "the same, seen first in the accumulated shares, where those of the rows are too small to show it",
        f"seen in {_SAMPLED}, with any number of busy threads",
    ),
    Quirk(
        "ASC-034",
        "sampled-since",
        "samples are taken after the total is computed: the rows may add up to any number more",
        f"seen in {_SAMPLED}: up to 6 more with 1 busy thread, 90 with 4, 1955 with 16",
    ),
    Quirk(
        "ASC-040",
        "fewer-objects",
        "fewer objects are counted than written: those from before the agent was ready are found by a walk of the heap, later",
        f"{_SEEN} dumped a heap: 6969 objects in the header, 10187 lines",
    ),
    Quirk(
        "ASC-040",
        "freed-since",
        "more objects are counted than written, of a heap dump on a command just after a collection: some are counted off later",
        "seen in 2 of 15 runs of 8u504 that collected and dumped on commands of the socket: 8544 objects in the header, 6180 lines",
    ),
    Quirk(
        "ASC-047",
        "array-as-class",
        "an array of a class that the agent has not met is an OBJ of java.lang.Class, with the size of the array",
        "seen in a run of 8u504 that dumped on a command of the socket: a ProtectionDomain[] of 24 bytes",
    ),
    Quirk(
        "ASC-051",
        "unknown-thread",
        "the first root is a thread with object 0 and the serial of the unknown thread, 200000",
        f"{_SEEN} dumped a heap",
    ),
    Quirk(
        "ASC-063",
        "waits-for-notify",
        "a thread that waits to be notified is listed among those that wait to enter, too",
        f"{_SEEN} had monitor=y and a SIGQUIT while a thread was in Object.wait",
    ),
]
