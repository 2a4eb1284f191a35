"""The lines of the text output, one pattern each (TEXT.md H.2 to H.7)."""

from __future__ import annotations

import re
from enum import Enum

DATE = (
    rb"(Mon|Tue|Wed|Thu|Fri|Sat|Sun) (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) ([ 123]\d)"
    rb" (\d\d:\d\d:\d\d) (\d{4,10})"
)
# Numbers of 64 bits, so that neither memory nor time depends on their length.
_ID = rb"([0-9a-f]{1,16})"
_NUMBER = rb"(\d{1,20})"
_SIGNED = rb"(-?\d{1,20})"
_SHARE = rb"(-?\d{1,20}\.\d\d)%"
_THREAD = rb"(?:<unknown thread>|thread (\d{1,20}))"
_FIELD_NAME = rb"([^\t\[]+)"
_SIGNATURE = rb"(\[*(?:L.+;|[BCDFIJSZ]))"
# Class, method and descriptor. Names may have parentheses, too. A callee ends where it first may, and is tried once: the time for a
# line is in proportion to its length.
_DESCRIPTOR_END = rb"\)(?:\[*[BCDFIJSVZ]|[^);]*;)"
_CALLEE = rb".[^(]*\(.*?" + _DESCRIPTOR_END + rb"(?= )"
_CALLER = rb".[^(]*\(.*" + _DESCRIPTOR_END
_SOURCE_LINE = rb":(Unknown line|Compiled method|Native method|\d+)\)"
_THREADS = rb"((?: (?:<unknown thread>|thread \d{1,20}),?)*)"  # commas are checked apart: the line is known without them


class Kind(Enum):
    """What a line is. The value is the pattern of the whole line, without its end."""

    HEADER = rb"JAVA PROFILE 1\.0\.[12], created " + DATE
    THREAD_START = rb"THREAD START \(obj=" + _ID + rb", id = " + _NUMBER + rb', name="(.*)", group="(.*)"\)'
    THREAD_END = rb"THREAD END \(id = " + _NUMBER + rb"\)"

    TRACE = rb"TRACE " + _NUMBER + rb":(?: \(thread=(\d{1,20})\))?(?: \(from (.+) phase of JVM\))?"
    FRAME = rb"\t(.+)\.([^.\t]+)\((.*)" + _SOURCE_LINE
    NO_FRAMES = rb"\t<empty>"

    HEAP_BEGIN = rb"HEAP DUMP BEGIN \(" + _NUMBER + rb" objects, " + _NUMBER + rb" bytes\) " + DATE
    HEAP_END = rb"HEAP DUMP END"
    ROOT = rb"ROOT " + _ID + rb" \(kind=<([^<>]+)>(?:, name=(.+)|((?:, (?:id|thread|frame|trace)=-?[0-9a-f]{1,20})*))\)"
    CLASS = rb"CLS " + _ID + rb" \(name=(.+), trace=" + _NUMBER + rb"\)"
    CLASS_REFERENCE = rb"\t(super|loader|signers|domain)\t\t" + _ID
    STATIC = rb"\tstatic (.+)\t" + _ID
    CONSTANT = rb"\tconstant pool entry " + _NUMBER + rb"\t" + _ID
    OBJECT = rb"OBJ " + _ID + rb" \(sz=" + _NUMBER + rb", trace=" + _NUMBER + rb", class=(.+)@" + _ID + rb"\)"
    FIELD = rb"\t" + _FIELD_NAME + rb"\t\t?" + _ID
    ARRAY = (
        rb"ARR " + _ID + rb" \(sz=" + _NUMBER + rb", trace=" + _NUMBER + rb", nelems=" + _NUMBER
        + rb", elem type=(.+?)(?:@" + _ID + rb")?\)"
    )  # fmt: skip
    ELEMENT = rb"\t\[" + _NUMBER + rb"\]\t\t" + _ID

    SITES_BEGIN = rb"SITES BEGIN \(ordered by (live bytes|allocated bytes)\) " + DATE
    SITES_HEAD_1 = rb" +percent +live +alloc'ed +stack class"
    SITES_HEAD_2 = rb" *rank +self +accum +bytes +objs +bytes +objs trace name"
    SITE = (
        rb" *" + _NUMBER + rb" +" + _SHARE + rb" +" + _SHARE + rb" +" + _NUMBER + rb" +" + _NUMBER + rb" +" + _NUMBER
        + rb" +" + _NUMBER + rb" +" + _NUMBER + rb" (.+)"
    )  # fmt: skip
    SITES_END = rb"SITES END"

    CPU_BEGIN = rb"CPU (SAMPLES|TIME \(ms\)) BEGIN \(total = " + _SIGNED + rb"\) " + DATE
    CPU_HEAD = rb"rank +self +accum +count trace method"
    MONITOR_TIME_BEGIN = rb"MONITOR TIME BEGIN \(total = " + _SIGNED + rb" ms\) " + DATE
    MONITOR_HEAD = rb"rank +self +accum +count trace monitor"
    RANKED = rb" *" + _NUMBER + rb" +" + _SHARE + rb" +" + _SHARE + rb" +" + _NUMBER + rb" +" + _NUMBER + rb" (.+)"
    CPU_END = rb"CPU (SAMPLES|TIME \(ms\)) END"
    MONITOR_TIME_END = rb"MONITOR TIME END"

    MONITOR_DUMP_BEGIN = rb"MONITOR DUMP BEGIN"
    THREAD_STATE = (
        rb"    THREAD " + _NUMBER + rb", trace " + _NUMBER
        + rb", status: ((?:S\|)?(?:intr\|)?(?:native\|)?(?:ZO|NS|SL|MW|CW|R|UN))"
    )  # fmt: skip
    MONITOR = rb"    MONITOR " + _SIGNATURE + rb"( unowned)?"
    OWNER = rb"\towner: thread " + _NUMBER + rb", entry count: " + _NUMBER
    WAITING_TO_ENTER = rb"\twaiting to enter:" + _THREADS
    WAITING_FOR_NOTIFY = rb"\twaiting to be notified:" + _THREADS
    MONITOR_DUMP_END = rb"MONITOR DUMP END"

    SLEEP = rb"SLEEP: timeout=" + _SIGNED + rb", " + _THREAD
    WAIT = rb"WAIT: MONITOR " + _SIGNATURE + rb", timeout=" + _SIGNED + rb", " + _THREAD
    WAITED = rb"WAITED: MONITOR " + _SIGNATURE + rb", time_waited=" + _SIGNED + rb", " + _THREAD
    EXIT = rb"EXIT: MONITOR " + _SIGNATURE + rb", " + _THREAD

    OLD_HEAD = rb"count callee caller time"
    OLD_CALL = _NUMBER + rb" ((?><unknown callee>|" + _CALLEE + rb")) (<unknown caller>|" + _CALLER + rb") " + _SIGNED

    @property
    def pattern(self) -> re.Pattern[bytes]:
        return _PATTERNS[self]

    @property
    def open(self) -> re.Pattern[bytes] | None:
        """Of a line whose end is lost, in a name or after it: the groups have the same numbers, those that are lost are None."""
        return _OPEN.get(self)


# A line that lacks the end of its pattern would be tried at each place where its names may end.
_ENDS = {Kind.THREAD_START: rb'(?=.*"\)\Z)', Kind.FRAME: rb"(?=.*" + _SOURCE_LINE.replace(b"(", b"(?:", 1) + rb"\Z)"}
_PATTERNS = {kind: re.compile(_ENDS.get(kind, b"") + kind.value, re.DOTALL) for kind in Kind}

_LOST = rb"((?!))?"
_OPEN_ROOT = rb"ROOT " + _ID + rb" \(kind=<(system class)>, name=(.+)" + _LOST
_NAMES = (_SIGNATURE, _FIELD_NAME, rb"(.*)", rb"(.+)", rb"(.+?)", rb"((?><unknown callee>")


def _open_pattern(kind: Kind) -> re.Pattern[bytes] | None:
    """All that precedes the first name; what follows the name is taken for a part of it."""
    if kind is Kind.ROOT:
        return re.compile(_OPEN_ROOT, re.DOTALL)
    starts = [at for name in _NAMES if (at := kind.value.find(name)) >= 0]
    if not starts or kind is Kind.TRACE:
        return None
    head = kind.value[: min(starts)] + (rb"([^\t]+)" if kind is Kind.FIELD else rb"(.*)")
    return re.compile(head + _LOST * (_PATTERNS[kind].groups - re.compile(head).groups), re.DOTALL)


_OPEN = {kind: pattern for kind in Kind if (pattern := _open_pattern(kind))}

PREFACE_END = b"--------"

# What each root says of itself, in this order.
ROOT_DETAILS: dict[bytes, tuple[bytes, ...]] = {
    b"thread": (b"id", b"trace"),
    b"unknown": (),
    b"JNI global ref": (b"id", b"trace"),
    b"JNI local ref": (b"thread", b"frame"),
    b"system class": (b"name",),
    b"busy monitor": (),
    b"thread block": (b"thread",),
    b"Java stack": (b"thread", b"frame"),
    b"native stack": (b"thread",),
}

# Lines of these kinds are outside all blocks.
OUTSIDE = (
    Kind.THREAD_START,
    Kind.THREAD_END,
    Kind.TRACE,
    Kind.HEAP_BEGIN,
    Kind.SITES_BEGIN,
    Kind.CPU_BEGIN,
    Kind.MONITOR_TIME_BEGIN,
    Kind.MONITOR_DUMP_BEGIN,
    Kind.SLEEP,
    Kind.WAIT,
    Kind.WAITED,
    Kind.EXIT,
    Kind.OLD_HEAD,
)


# Callee and caller of a row of cpu=old are written one by one: either may lose its end, and the blank after it.
_CUT_CALL = re.compile(
    rb"\d+ (?:.{1023}|<unknown callee> |(?>" + _CALLEE + rb") )(?:.{1023}|<unknown caller> |" + _CALLER + rb" )-?\d+", re.DOTALL
)

# Their last part is a name, which no other part ends.
ROWS = (Kind.SITE, Kind.RANKED)

_BEGIN = re.compile(
    rb"THREAD (?:START|END) \(|TRACE \d+:|HEAP DUMP (?:BEGIN|END)|ROOT [0-9a-f]+ \(|(?:CLS|OBJ|ARR) [0-9a-f]+ \("
    rb"|SITES (?:BEGIN|END)|CPU (?:SAMPLES|TIME)|MONITOR (?:TIME|DUMP) | +(?:THREAD \d|MONITOR )|SLEEP: |WAIT(?:ED)?: MONITOR "
    rb"|EXIT: MONITOR |count callee caller| *\d+ +-?\d+\.\d\d%"
)
_INDENTED = tuple(kind for kind in Kind if kind.value.startswith(rb"\t"))


def begins_line(data: bytes) -> bool:
    """Whether it begins as a line does that is not indented."""
    return _BEGIN.match(data) is not None


def is_indented_line(line: bytes) -> bool:
    return match(line, _INDENTED) is not None


def is_cut_call(line: bytes) -> bool:
    return _CUT_CALL.fullmatch(line) is not None and match(line, (Kind.OLD_CALL,)) is None


def match_open(line: bytes, kinds: tuple[Kind, ...] = tuple(Kind)) -> tuple[Kind, re.Match[bytes]] | None:
    """The first of the kinds of which the line is one without its end."""
    for kind in kinds:
        found = kind.open and kind.open.fullmatch(line)
        if found:
            return kind, found
    return None


def kinds_that_begin(line: bytes) -> tuple[Kind, ...]:
    """Those of which the line is one up to a newline in a name."""
    return tuple(kind for kind in Kind if kind.open and kind.open.fullmatch(line + b"\n"))


def match(line: bytes, kinds: tuple[Kind, ...]) -> tuple[Kind, re.Match[bytes]] | None:
    """The first of the kinds that the line is."""
    for kind in kinds:
        found = _PATTERNS[kind].fullmatch(line)
        if found:
            return kind, found
    return None
