"""Dumps made to cost time or memory: both must stay in proportion to the size of the dump.

Each shape is checked in two sizes, the second four times the first. The difference in cost must be in proportion to the
difference in size, so that a constant cannot hide a slope. HPROF_HOSTILE_MB is the larger size in MB (12, or 8 in builds with
sanitizers or coverage, which are slow and whose memory is meaningless). HPROF_HOSTILE_TABLE names a file for a table of all
shapes, each in three sizes.
"""

import dataclasses
import functools
import itertools
import json
import math
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import hostile_threads
import pytest
from hostile_rows import Draw
from hostile_shapes import EIGHT, END, FOUR, LAYOUTS, OBJECT, SHAPES, Bytes, Layout, Shape, numbers, record, segment, table, u4
from some_cases import any_one, some

TOOL = os.environ["HPROF_VALIDATE"]
DIFF = os.environ["HPROF_DIFF"]
IS_SANITIZED = "HPROF_SANITIZED" in os.environ
IS_SLOW = "HPROF_SLOW" in os.environ
SIZE = int(os.environ.get("HPROF_HOSTILE_MB", "8" if IS_SLOW else "12")) << 20
STEP = 4  # The larger dump is this many times as large,
SLOWER = 8  # and may take this many times as long.
AS_PLAIN = 48  # Any dump may take so many times as long as a valid one of its size,
READS = 16  # and be read so many times,
READ_ALWAYS = 8 << 20  # with so many bytes in addition.
TRIES = 5
NOISE = 0.3  # Seconds of CPU time that are noise.
# Bytes of memory that each byte of a dump may take. In large ones tables of IDs grow in step, and malloc cannot use all again.
PER_BYTE = 2.5 if SIZE > 16 << 20 else 2
CONSTANT = 32 << 20  # Bytes of memory that any dump may take in addition,
FILLED = 6 << 20  # which dumps of at least this size have taken, if they need it.
STEPS = max(2 << 20, SIZE // 32)  # Bytes by which memory grows at a time.
TABLE = os.environ.get("HPROF_HOSTILE_TABLE")

MEASURE = """
import json, os, resource, sys
out = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
def read():
    with open("/proc/self/io") as io:
        return int(io.readline().split()[1])
before = read()
child = os.fork()
if not child:
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
    resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 30, 4 << 30))
    os.dup2(out, 1)
    os.execv(sys.argv[2], sys.argv[2:])
_, status, used = os.wait4(child, 0)
own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
seconds = used.ru_utime + used.ru_stime
print(json.dumps([os.waitstatus_to_exitcode(status), seconds, used.ru_maxrss * 1024, own * 1024, read() - before]))
"""


@dataclasses.dataclass(frozen=True)
class Cost:
    status: int
    seconds: float
    memory: int
    least: int  # Memory of the process that measured: no child can have less.
    read: int  # Bytes, as often as they were.


def measure(path: Path, *arguments: str, pipe: bool = False) -> Cost:
    """The status, time and memory of a run. A small process measures it, because a child starts with the memory of its parent.
    Many shapes have no heap dump."""
    options = ["--profile=strict", "--allow-incomplete", *arguments]
    return measure_command([TOOL, *options, "-" if pipe else str(path)], path, pipe=pipe)


def measure_command(measured: list[str], path: Path, *, pipe: bool = False, output: str | Path = os.devnull) -> Cost:
    command = [sys.executable, "-S", "-c", MEASURE, str(output), *measured]
    with path.open("rb") as dump:
        if pipe:
            with subprocess.Popen(["cat"], stdin=dump, stdout=subprocess.PIPE) as cat:
                run = subprocess.run(command, stdin=cat.stdout, capture_output=True, text=True, check=True)
        else:
            run = subprocess.run(command, capture_output=True, text=True, check=True)
    return Cost(*json.loads(run.stdout))


def cost(path: Path, *arguments: str, pipe: bool = False, enough: float = math.inf) -> Cost:
    """The quickest of some runs, because the machine may have been busy during a slow one."""
    costs = [measure(path, *arguments, pipe=pipe)]
    while costs[-1].seconds > enough and len(costs) < TRIES:
        costs.append(measure(path, *arguments, pipe=pipe))
    return min(costs, key=lambda c: c.seconds)


def write(path: Path, parts: Iterable[Bytes]) -> int:
    with path.open("wb") as out:
        for part in parts:
            out.write(part)
    return path.stat().st_size


@functools.cache
def seconds_per_plain_byte() -> float:
    """Of the check of a valid dump."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plain.hprof"
        size = write(path, next(s for s in SHAPES if s.name == "ids-scattered-8").make(SIZE))
        return min(measure(path).seconds for _ in range(3)) / size


def most_seconds(size: int) -> float:
    return math.inf if IS_SLOW else AS_PLAIN * seconds_per_plain_byte() * size + NOISE


@pytest.mark.parametrize("hostile", some(SHAPES), ids=lambda s: s.name)
def test_time_and_memory_follow_the_bytes(hostile: Shape, tmp_path: Path) -> None:
    costs: list[tuple[int, Cost]] = []
    path = tmp_path / "dump.hprof"
    for size in (SIZE // STEP**2, SIZE // STEP, SIZE) if TABLE else (SIZE // STEP, SIZE):
        there = write(path, hostile.make(size))
        counted = size if hostile.gzip else there
        enough = most_seconds(counted)
        if costs:
            enough = min(enough, SLOWER * costs[-1][1].seconds + NOISE)
        costs.append((counted, cost(path, *hostile.arguments, pipe=hostile.pipe, enough=enough)))
    path.unlink()
    report = [
        f"{n / 1e6:.1f} MB: status {c.status}, {c.seconds:.2f} s, {c.memory / 1e6:.0f} MB, {c.read / 1e6:.0f} MB read"
        for n, c in costs
    ]
    print(hostile.name, *report, sep="; ")
    if TABLE:
        write_row(hostile, costs)
    assert {c.status for _, c in costs} == {0 if hostile.valid else 1}, report
    for (before, small), (there, large) in itertools.pairwise(costs):
        assert large.seconds <= SLOWER * small.seconds + NOISE, report
        if not IS_SANITIZED and "--max-errors" not in hostile.arguments:  # All findings may cost more.
            assert large.memory <= PER_BYTE * there + CONSTANT, report
            if before >= FILLED:
                assert large.memory - small.memory <= PER_BYTE * (there - before) + STEPS, report
    for there, each in costs:
        assert each.read <= READS * there + READ_ALWAYS, report
        assert each.seconds <= most_seconds(there), report


FULL_OF_ERRORS = (
    "smallest-root-native-stack",
    "smallest-class-with-a-boolean",
    "arrays-in-an-array",
    "large-classes-of-missing-classes",
    "chain-of-classes-that-their-instances-contradict",
    "gzip-of-members-without-data",
)
REPAIRED = [shape for shape in SHAPES if shape.name.removesuffix("-8") in FULL_OF_ERRORS]
PER_BYTE_OF_REPAIR = 12


@pytest.mark.parametrize("hostile", any_one(REPAIRED), ids=lambda s: s.name)
def test_time_and_memory_of_a_repair_follow_the_bytes(hostile: Shape, tmp_path: Path) -> None:
    """A repair takes many passes, or looks for what is missing; the copy may be larger, with stand-ins for what is lost."""
    costs: list[Cost] = []
    path = tmp_path / "dump.hprof"
    for size in (SIZE // STEP, SIZE):
        there = write(path, hostile.make(size))
        enough = SLOWER * costs[-1].seconds + NOISE if costs else math.inf
        costs.append(cost(path, "--force", "--repair", str(tmp_path / f"{size}.hprof"), enough=enough))
    small, large = costs
    assert (small.status, large.status) == (0, 0)
    assert large.seconds <= SLOWER * small.seconds + NOISE, costs
    if not IS_SANITIZED:
        copied = (tmp_path / f"{SIZE}.hprof").stat().st_size
        assert large.memory <= PER_BYTE_OF_REPAIR * there + PER_BYTE * copied + CONSTANT, costs


LOST = [shape for shape in SHAPES if shape.name.startswith(("damage-after-each", "chains-that-cross"))]
CHECKS = 8


@pytest.mark.parametrize("hostile", any_one(LOST), ids=lambda s: s.name)
def test_a_repair_that_looks_for_lost_objects_takes_as_long_as_some_checks(hostile: Shape, tmp_path: Path) -> None:
    """A window of the dump must not be read for each item: that is linear, but a thousand times as long."""
    path = tmp_path / "dump.hprof"
    write(path, hostile.make(SIZE // 2))
    check = cost(path, enough=0)
    enough = CHECKS * check.seconds + NOISE
    repair = cost(path, "--force", "--repair", str(tmp_path / "copy.hprof"), enough=enough)
    assert repair.status == 0
    assert repair.seconds <= enough, (check, repair)


LOST_CLASSES = 4  # checks of the same dump with its classes


@pytest.mark.parametrize("layout", LAYOUTS, ids=["4", "8"])
def test_instances_of_lost_classes_cost_little_more_than_others(layout: Layout, tmp_path: Path) -> None:
    """Each class is reported once, however its instances take turns with those of others."""
    classes = [OBJECT + 8 * n for n in range(1, 9)]
    fields = layout.ids(1) + b"\x02" + layout.ids(1) + b"\x0a"
    unit = b"".join(layout.instance(0, c, bytes(layout.id_size + 4)) for c in classes)
    count, width = 4 * SIZE // len(unit), len(unit) // len(classes)
    columns = [(n * width + 1, layout.id_size, numbers(count, 8 * len(classes), 0x100000 + 8 * n)) for n in range(len(classes))]
    instances = table(unit, count, *columns)
    dumps = b"".join(layout.class_dump(c, OBJECT, layout.id_size + 4, fields=fields) for c in classes)
    costs: list[Cost] = []
    for name, known in (("whole", dumps), ("lost", b"")):
        path = tmp_path / name
        names = layout.utf8(1, b"java/lang/Object") + b"".join(layout.load_class(n, c, 1) for n, c in enumerate(classes, 2))
        parts = [layout.header(), names, layout.load_class(1, OBJECT, 1), segment(layout.class_dump(OBJECT), known, instances), END]
        write(path, parts)
        enough = LOST_CLASSES * costs[0].seconds + NOISE if costs else 0
        costs.append(cost(path, enough=enough))
    whole, lost = costs
    assert lost.status == 1
    assert lost.seconds <= LOST_CLASSES * whole.seconds + NOISE, costs


PARTS: dict[str, Callable[[int], tuple[Bytes, Bytes]]] = {
    "other-records": lambda size: (smallest_strings(size), segment(EIGHT.array(0x30))),
    "records-alike": lambda size: (EIGHT.utf8(1) * (size // 17), EIGHT.utf8(1) * 240 + segment(EIGHT.array(0x30))),
}


def smallest_strings(size: int) -> Bytes:
    row = EIGHT.utf8(0)
    return table(row, size // len(row), (9, 8, numbers(size // len(row))))


@pytest.mark.parametrize("kind", PARTS)
def test_a_repair_with_many_parts_takes_as_long_as_some_with_one(kind: str, tmp_path: Path) -> None:
    """Any record of FILE may be the beginning of any part."""
    path, copy = tmp_path / "dump.hprof", tmp_path / "copy.hprof"
    records, part = PARTS[kind](SIZE // 2)
    write(path, [EIGHT.header(), records])
    costs: list[Cost] = []
    for i in range(64):
        (tmp_path / f"dump.hprof.p{i}").write_bytes(part.replace(EIGHT.array(0x30), EIGHT.array(0x30 + 8 * i)))
        if i in (0, 63):
            enough = SLOWER * costs[0].seconds + NOISE if costs else 0
            costs.append(cost(path, "--force", "--repair", str(copy), enough=enough))
    one, many = costs
    assert (one.status, many.status) == (0, 0)
    assert many.seconds <= SLOWER * one.seconds + NOISE, costs
    assert many.read <= READS * path.stat().st_size + READ_ALWAYS, costs


OTHERS = {
    "stats": [TOOL, "--stats", "--format=html"],
    "by id": [DIFF, "--jobs=1", "--by=id"],
    "by content": [DIFF, "--jobs=1", "--by=content"],
    "redacted": [DIFF, "--jobs=1", "--assert-redacted"],
}
PER_BYTE_OF_A_DIFFERENCE = 40  # most where each instance has a class of its own, whose fields take a byte each


@pytest.mark.parametrize("hostile", any_one(SHAPES), ids=lambda s: s.name)
@pytest.mark.parametrize("other", OTHERS)
def test_time_and_memory_of_other_tools_follow_the_bytes(other: str, hostile: Shape, tmp_path: Path) -> None:
    costs: list[Cost] = []
    path = tmp_path / "dump.hprof"
    for size in (3 << 20, 12 << 20):
        there = write(path, hostile.make(size))
        command = [*OTHERS[other], *[str(path)] * (1 if other == "stats" else 2)]
        tries = [measure_command(command, path)]
        while costs and len(tries) < TRIES and tries[-1].seconds > SLOWER * costs[0].seconds + NOISE:
            tries.append(measure_command(command, path))
        costs.append(min(tries, key=lambda c: c.seconds))
    small, large = costs
    assert {small.status, large.status} <= {0, 1, 2}, costs
    assert large.seconds <= SLOWER * small.seconds + NOISE, costs
    if not IS_SANITIZED:
        assert large.memory <= PER_BYTE_OF_A_DIFFERENCE * 2 * max(there, 12 << 20) + CONSTANT, costs


PER_BYTE_OF_STATS = 12  # bytes of memory
PRINTED_PER_BYTE = 20  # for a thread in JSON
PAGE = 1 << 20  # of the threads that it shows
PROGRAM = 8 << 20  # what a program takes that keeps nothing
REPORTS = {"text": [], "threads": ["--threads"], "json": ["--format=json"], "html": ["--format=html"]}


@pytest.mark.parametrize("layout", LAYOUTS, ids=["4", "8"])
@pytest.mark.parametrize("name", hostile_threads.SHAPES)
@pytest.mark.parametrize("form", any_one([*REPORTS]))
def test_stats_of_threads_follow_the_bytes(form: str, name: str, layout: Layout, tmp_path: Path) -> None:
    costs: list[Cost] = []
    path, report = tmp_path / "dump.hprof", tmp_path / "report"
    for size in (SIZE // 8, SIZE // 2):
        there = write(path, hostile_threads.SHAPES[name](layout, size))
        command = [TOOL, "--stats", *REPORTS[form], str(path)]
        tries = [measure_command(command, path, output=report)]
        assert report.stat().st_size <= PRINTED_PER_BYTE * there + PAGE
        while costs and len(tries) < TRIES and tries[-1].seconds > SLOWER * costs[0].seconds + NOISE:
            tries.append(measure_command(command, path, output=report))
        costs.append(min(tries, key=lambda c: c.seconds))
    small, large = costs
    assert {small.status, large.status} <= {0, 1}, costs
    assert large.seconds <= SLOWER * small.seconds + NOISE, costs
    assert IS_SANITIZED or large.memory <= PER_BYTE_OF_STATS * there + PROGRAM, costs


@pytest.mark.parametrize("layout", LAYOUTS, ids=["4", "8"])
@pytest.mark.parametrize("name", hostile_threads.SHAPES)
@pytest.mark.parametrize("pipe", [False, True], ids=["file", "pipe"])
def test_a_memory_limit_holds_for_stats(pipe: bool, name: str, layout: Layout, tmp_path: Path) -> None:
    """For all of it: the check, the reader, and what is counted."""
    path = tmp_path / "dump.hprof"
    there = write(path, hostile_threads.SHAPES[name](layout, SIZE // 4))
    statuses = []
    for limit in (1 << 17, 1 << 20, 4 << 20, 16 << 20, 2 * PER_BYTE_OF_STATS * there + PROGRAM):
        command = [TOOL, "--stats", "--max-memory", str(limit), "-" if pipe else str(path)]
        took = measure_command(command, path, pipe=pipe)
        assert IS_SANITIZED or took.memory <= max(limit + PROGRAM, took.least), (limit, took)
        statuses.append(took.status)
    assert statuses[0] == 4 and statuses[-1] in (0, 1), statuses
    command = [TOOL, "--stats", "--max-memory", "128K", str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (4, "") and "the memory limit of 131072 bytes was met" in run.stderr, run


@pytest.mark.parametrize("draw", range(4 if IS_SLOW else 8))
def test_rows_that_are_drawn_and_repeated_end_no_tool(draw: int, tmp_path: Path) -> None:
    """Each has 60 seconds. A stack holds what is nested thousands of times; under the sanitizers, hundreds."""
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    path, copy = tmp_path / "dump.hprof", tmp_path / "copy.hprof"
    path.write_bytes(Draw(seed).dump((1 << 18) if IS_SLOW else 1_200_000))
    for command in ([TOOL], [TOOL, "--stats"], [TOOL, "--force", "--repair", str(copy)], [DIFF, str(path)]):
        assert measure_command([*command, str(path)], path).status in (0, 1, 2), command


def write_row(hostile: Shape, costs: list[tuple[int, Cost]]) -> None:
    assert TABLE
    table = Path(TABLE)
    if not table.exists():
        table.write_text(f"| Shape |{' MB | s | MB of memory |' * 3}\n|{' --- |' * 10}\n", encoding="utf-8")
    cells = [f"{n / 1e6:.1f} | {c.seconds:.2f} | {c.memory / 1e6:.0f}" for n, c in costs]
    with table.open("a", encoding="utf-8") as out:
        out.write(f"| {hostile.name} | {' | '.join(cells)} |\n")


MOST = 0xFFFFFFFF
COUNTS = {
    "string": record(0x01, b"abcd", MOST),
    "segment": record(0x1C, FOUR.array(0x20), MOST),
    "heap-dump": record(0x0C, FOUR.array(0x20), MOST),
    "unknown": record(0x77, b"", MOST),
    "trace": record(0x05, u4(1) + u4(0) + u4(MOST)),
    "trace-and-length": record(0x05, u4(1) + u4(0) + u4(MOST), MOST),
    "sites-count": record(0x06, bytes(30) + u4(MOST)),
    "sites-count-and-length": record(0x06, bytes(30) + u4(MOST), MOST),
    "samples": record(0x0D, u4(0) + u4(MOST)),
    "samples-and-length": record(0x0D, u4(0) + u4(MOST), MOST),
    "instance": segment(b"\x21" + u4(0x20) + u4(0) + u4(0x10) + u4(MOST)),
    "object-array": segment(b"\x22" + u4(0x20) + u4(0) + u4(MOST) + u4(0x10)),
    "object-array-and-length": record(0x1C, b"\x22" + u4(0x20) + u4(0) + u4(MOST) + u4(0x10), MOST),
    "long-array": segment(b"\x23" + u4(0x20) + u4(0) + u4(MOST) + b"\x0b"),
    "long-array-and-length": record(0x1C, b"\x23" + u4(0x20) + u4(0) + u4(MOST) + b"\x0b", MOST),
    "constants": segment(FOUR.class_dump(0x20)[:-6] + b"\xff" * 6),
    "statics": segment(FOUR.class_dump(0x20)[:-4] + b"\xff" * 4),
    "fields": segment(FOUR.class_dump(0x20)[:-2] + b"\xff" * 2),
}


@pytest.mark.parametrize("pipe", [False, True], ids=["file", "pipe"])
@pytest.mark.parametrize("what", COUNTS)
def test_a_count_without_data_costs_nothing(what: str, pipe: bool, tmp_path: Path) -> None:
    path = tmp_path / "dump.hprof"
    write(path, [FOUR.header(), COUNTS[what], END])
    took = cost(path, pipe=pipe, enough=0.2)
    assert took.status == 1
    if not IS_SANITIZED:
        assert took.seconds <= 0.2 and took.memory <= CONSTANT, took


def test_a_string_of_4_gb_is_not_kept(tmp_path: Path) -> None:
    """Written into a pipe as it is read: 600 MB, or with HPROF_HOSTILE_HUGE the largest length."""
    length = MOST if os.environ.get("HPROF_HOSTILE_HUGE") else 600 << 20
    command = [sys.executable, "-S", "-c", MEASURE, os.devnull, TOOL, "--allow-incomplete", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=False) as run:
        assert run.stdin and run.stdout
        run.stdin.write(FOUR.header() + record(0x01, u4(1), length))
        left, block = length - 4, b"x" * (1 << 20)
        while left:
            left -= run.stdin.write(block[:left])
        run.stdin.close()
        took = Cost(*json.loads(run.stdout.read()))
    assert took.status == 0
    assert IS_SANITIZED or took.memory <= CONSTANT, took


@pytest.mark.parametrize("limit", ["1", "64K", "1M", "4M"])
@pytest.mark.parametrize("name", ["missing-elements-scattered-8", "load-class-8", "instances-before-their-class-pipe-8"])
def test_a_memory_limit_ends_the_run(name: str, limit: str, tmp_path: Path) -> None:
    hostile = next(s for s in SHAPES if s.name == name)
    path = tmp_path / "dump.hprof"
    write(path, hostile.make(SIZE))
    took = cost(path, "--max-memory", limit, pipe=hostile.pipe)
    assert took.status == 4
    assert IS_SANITIZED or took.memory <= CONSTANT, took
    with path.open("rb") as dump:
        by = ["cat"] if hostile.pipe else ["true"]
        with subprocess.Popen(by, stdin=dump, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as cat:
            command = [TOOL, "--max-memory", limit, "-" if hostile.pipe else str(path)]
            run = subprocess.run(command, stdin=cat.stdout, capture_output=True, text=True, check=False)
    assert "memory limit" in run.stdout + run.stderr
