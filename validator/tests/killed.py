"""Kills a VM of JDK 22 or later while it dumps, joins and repairs what it leaves, and compares the copy with the files.

A VM that dumps with several threads writes FILE, FILE.p0, FILE.p1, ..., and then appends the parts to FILE one after the other.
The reader here is independent of the validator.

    killed.py [--times N] [--seed N] [--root ROOT] [--oom] [--visualvm JAR] JDK...     prints what each kill left

With --oom the OOM killer of a cgroup kills the VM, as in a container that is too small. Before JDK 22, one thread writes one file.
With --visualvm the heap library of VisualVM opens each repaired dump whose classes had all reached the disk.
"""

import argparse
import contextlib
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from losses import CLASS, HEADER, HEAP_DUMP, INSTANCE, OBJECTS, RECORD_HEADER, SEGMENT, Shapes
from tool import TOOL

UTF8, LOAD_CLASS, END = 1, 2, 0x2C
PARALLEL_SINCE = 22  # the JDK from which on several threads dump
STAND_IN = re.compile(rb"\[*L?unknown([/.]Class(_0x[0-9a-f]+)?;?)?|unknown(_0x[0-9a-f]+|\d+)|\[[ZCFDBSIJ]|java/lang/Object|\(\)V")

PROGRAM = """
import java.util.*;

public class Fill {
    static List<Object> kept = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
            kept.add(new long[] {i});
            if (i % 4 == 0)
                kept.add("text " + i);
            if (i % 9 == 0)
                kept.add(new Object[] {kept.get(i / 2), new HashMap<>()});
        }
        System.out.println("ready");
        System.out.flush();
        Thread.sleep(1000000);
    }
}
"""


# ---- What files hold -------------------------------------------------------------------------------------------------


@dataclass
class Content:
    """Whole records and sub-records."""

    records: Counter[bytes] = field(default_factory=Counter)  # without their headers
    roots: Counter[bytes] = field(default_factory=Counter)
    objects: dict[int, bytes] = field(default_factory=dict)  # also classes
    again: int = 0  # objects that are defined twice


def inflate(data: bytes) -> bytes:
    """All that can be inflated."""
    found = b""
    while data[:2] == b"\x1f\x8b":
        inflater = zlib.decompressobj(31)
        try:
            found += inflater.decompress(data)
        except zlib.error:
            break
        data = inflater.unused_data
    return found


def read_file(path: Path) -> bytes:
    data = path.read_bytes()
    return inflate(data) if data[:2] == b"\x1f\x8b" else data


def subrecords(data: bytes, at: int, end: int, shapes: Shapes) -> Iterator[bytes]:
    """Those that are whole, up to the end of their record or of the data."""
    while at < end:
        try:
            size = shapes.size(data, at)
        except (struct.error, IndexError):
            return
        if at + size > min(end, len(data)):
            return
        yield data[at : at + size]
        at += size


def read_content(data: bytes, id_size: int, to: Content, part: bool) -> None:
    shapes, at = Shapes(id_size), 0 if part else HEADER
    while at + RECORD_HEADER <= len(data):
        tag, _, length = struct.unpack_from(">BII", data, at)
        body, end = at + RECORD_HEADER, at + RECORD_HEADER + length
        if tag in {HEAP_DUMP, SEGMENT}:
            for one in subrecords(data, body, end, shapes):
                if 0x20 <= one[0] <= 0x23:
                    key = int.from_bytes(one[1 : 1 + id_size], "big")
                    to.again += key in to.objects
                    to.objects[key] = one
                else:
                    to.roots[one] += 1
        elif end <= len(data) and tag != END:
            to.records[bytes([tag]) + data[body:end]] += 1
        at = end


def overlap(files: list[bytes]) -> int:
    """How many bytes at the end of the first file are the beginning of another: the VM was killed while it appended that."""
    first, at = files[0], HEADER
    while at + RECORD_HEADER <= len(first):
        for part in files[1:] if first[at] == SEGMENT else []:
            if part[:RECORD_HEADER] == first[at : at + RECORD_HEADER] and part.startswith(first[at:]):
                return len(first) - at
        at += RECORD_HEADER + int.from_bytes(first[at + 5 : at + 9], "big")
    return 0


def expected(files: list[bytes]) -> Content:
    """All that is whole in any file, once."""
    id_size = int.from_bytes(files[0][HEADER - 12 : HEADER - 8], "big")
    content = Content()
    read_content(files[0][: len(files[0]) - overlap(files)], id_size, content, part=False)
    for part in files[1:]:
        read_content(part, id_size, content, part=True)
    return content


TRACE, START_THREAD = 5, 10
THREAD_OBJECT, ROOTS_OF_THREADS = 8, (2, 3, 4, 6, 0x8E)  # JNI_LOCAL, JAVA_FRAME, NATIVE_STACK, THREAD_BLOCK, JNI_MONITOR


def serial_of(root: bytes, id_size: int) -> int:
    return int.from_bytes(root[1 + id_size : 5 + id_size], "big")


def threads_of(roots: Counter[bytes], id_size: int, tags: tuple[int, ...]) -> set[int]:
    return {serial_of(one, id_size) for one in roots if one[0] in tags}


def roots_alone(content: Content, id_size: int) -> Counter[bytes]:
    """Roots of a thread that nothing else names. They are left out, as the manual says."""
    named = Counter(serial_of(one, id_size) for one in content.roots.elements() if one[0] in (THREAD_OBJECT, *ROOTS_OF_THREADS))
    traced = {int.from_bytes(one[5:9], "big") for one in content.records if one[0] == TRACE}
    started = {int.from_bytes(one[1:5], "big") for one in content.records if one[0] == START_THREAD}
    alone = {serial for serial, count in named.items() if count == 1} - traced - started - {0}
    return Counter(one for one in content.roots if one[0] in ROOTS_OF_THREADS and serial_of(one, id_size) in alone)


def differences(files: list[bytes], copy: bytes) -> list[str]:
    """What the copy lacks of the files, and what it has that they lack, apart from stand-ins."""
    right, found, wrong = expected(files), Content(), []
    id_size = int.from_bytes(copy[HEADER - 12 : HEADER - 8], "big")
    read_content(copy, id_size, found, part=False)
    right.roots -= roots_alone(right, id_size)
    lost = [key for key, one in right.objects.items() if found.objects.get(key) != one]
    if lost:
        wrong.append(f"{len(lost)} objects lost or changed, such as {lost[0]:#x}")
    if found.again or right.again:
        wrong.append(f"{found.again} objects twice, in the files {right.again}")
    new = [key for key, one in found.objects.items() if key not in right.objects and one[0] != CLASS]
    if new:
        wrong.append(f"{len(new)} objects are new, such as {new[0]:#x}")
    lost_threads = threads_of(right.roots, id_size, ROOTS_OF_THREADS) - threads_of(right.roots, id_size, (THREAD_OBJECT,))
    without_object = Counter(one for one in found.roots if one[0] == THREAD_OBJECT and not any(one[1 : 1 + id_size]))
    stand_ins = Counter(one for one in without_object if serial_of(one, id_size) in lost_threads)
    if found.roots - stand_ins != right.roots:
        wrong.append(f"roots: {(right.roots - found.roots).total()} lost, {(found.roots - stand_ins - right.roots).total()} new")
    if right.records - found.records:
        wrong.append(f"{(right.records - found.records).total()} records lost")
    for record in found.records - right.records:
        if record[0] == UTF8 and not STAND_IN.fullmatch(record[1 + id_size :]):
            wrong.append(f"a new name: {record!r}")
    return wrong


# ---- Kills -----------------------------------------------------------------------------------------------------------


@dataclass
class Machine:
    """A JDK, in a root of its own or not, and a folder that both see."""

    home: str
    root: str
    folder: Path

    def command(self, program: str, *arguments: str) -> list[str]:
        return (["chroot", self.root] if self.root else []) + [f"{self.home}/bin/{program}", *arguments]

    def inside(self, path: Path) -> str:
        return "/" + str(path.relative_to(self.root)) if self.root else str(path)

    def release(self) -> int:
        home = f"{self.root}{os.path.realpath(f'{self.root}{self.home}').removeprefix(self.root)}"
        found = re.search(r'JAVA_VERSION="(\d+)', Path(home, "release").read_text())
        assert found is not None
        return int(found[1])


class Group:
    """A cgroup whose OOM killer kills a VM, as soon as another process in it takes memory."""

    def __init__(self) -> None:
        self.path = next(path for path in self.possible() if self.make(path))

    @staticmethod
    def possible() -> list[Path]:
        return [Path(base) / f"hprof-{os.getpid()}" for base in ("/sys/fs/cgroup/memory", "/sys/fs/cgroup")]

    @staticmethod
    def make(path: Path) -> bool:
        """Whether cgroups can be made there that limit memory."""
        try:
            path.mkdir()
        except OSError:
            return False
        if any((path / name).exists() for name in ("memory.max", "memory.limit_in_bytes")):
            return True
        path.rmdir()
        return False

    @staticmethod
    def can_be_made() -> bool:
        for path in Group.possible():
            if Group.make(path):
                path.rmdir()
                return True
        return False

    def file(self, *names: str) -> Path:
        """By its name in either version of cgroups."""
        return next(self.path / name for name in names if (self.path / name).exists())

    def kills(self) -> int:
        found = re.search(r"^oom_kill (\d+)", self.file("memory.events", "memory.oom_control").read_text(), re.MULTILINE)
        return int(found[1]) if found else 0

    def add(self, vm: "subprocess.Popen[bytes]") -> "subprocess.Popen[bytes]":
        """The VM, which may take a little more memory than it has, and is the first to be killed. Returns the other process."""
        hog = "import sys; sys.stdin.readline(); held = [bytearray(b'1') * (1 << 20) for _ in range(4096)]"
        other = subprocess.Popen([sys.executable, "-c", hog], stdin=subprocess.PIPE)
        (self.path / "cgroup.procs").write_text(str(other.pid))
        (self.path / "cgroup.procs").write_text(str(vm.pid))
        Path(f"/proc/{vm.pid}/oom_score_adj").write_text("1000")
        resident = int(Path(f"/proc/{vm.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        self.file("memory.max", "memory.limit_in_bytes").write_text(str(resident + (64 << 20)))
        return other

    def end(self) -> None:
        for _ in range(100):
            with contextlib.suppress(OSError):
                self.path.rmdir()
                return
            time.sleep(0.05)
        self.path.rmdir()


def start(machine: Machine, objects: int, threads: int) -> "subprocess.Popen[bytes]":
    options = [f"-XX:ParallelGCThreads={threads}", "-XX:+UseParallelGC", "-Xmx600m"]
    vm = subprocess.Popen(
        machine.command("java", *options, "-cp", machine.inside(machine.folder), "Fill", str(objects)), stdout=subprocess.PIPE
    )
    assert vm.stdout is not None
    if vm.stdout.readline() != b"ready\n":
        raise RuntimeError("the program did not start")
    return vm


def written(dump: Path, most: dict[Path, int]) -> int:
    """Bytes that the VM has written so far; parts that are gone count, too."""
    for path in dump.parent.glob(dump.name + "*"):
        with contextlib.suppress(FileNotFoundError):
            most[path] = max(most.get(path, 0), path.stat().st_size)
    return sum(most.values())


def run_out_of_memory(group: Group, vm: "subprocess.Popen[bytes]", other: "subprocess.Popen[bytes]") -> None:
    """Returns when the VM is gone. Until then it does not go on, so that the moment is the one that was drawn."""
    before = group.kills()
    vm.send_signal(signal.SIGSTOP)
    assert other.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        other.stdin.write(b"\n")
        other.stdin.close()
    vm.wait(300)
    if group.kills() == before:
        raise RuntimeError("the OOM killer did not kill the VM")


def dump_and_kill(
    machine: Machine, objects: int, threads: int, gz: bool, share: float | None, total: int, oom: bool = False
) -> tuple[Path, int]:
    """Kills the VM once it has written this share; or lets it end. The dump, and how much was written."""
    dump, vm, most = machine.folder / "heap.hprof", start(machine, objects, threads), dict[Path, int]()
    group = Group() if oom else None
    other = group.add(vm) if group else None
    for old in machine.folder.glob("heap.hprof*"):
        old.unlink()
    more = ([f"-parallel={threads}"] if machine.release() >= PARALLEL_SINCE else []) + (["-gz=1"] if gz else [])
    command = machine.command("jcmd", str(vm.pid), "GC.heap_dump", *more, machine.inside(dump))
    jcmd = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 300
    while jcmd.poll() is None and time.monotonic() < deadline:
        if share is not None and written(dump, most) >= share * total > 0:
            break
        if share is None:
            written(dump, most)
        time.sleep(0.0005)
    if group and other and share is not None and jcmd.poll() is None:
        run_out_of_memory(group, vm, other)
    vm.send_signal(signal.SIGKILL)
    vm.wait()
    jcmd.wait()
    if group and other:
        other.kill()
        other.wait()
        group.end()
    return dump, written(dump, most)


def kills(machine: Machine, times: int, dice: random.Random, objects: int, oom: bool = False) -> Iterator[tuple[str, Path]]:
    """What each kill left."""
    (machine.folder / "Fill.java").write_text(PROGRAM)
    subprocess.run(machine.command("javac", machine.inside(machine.folder / "Fill.java")), check=True)
    totals = dict[tuple[int, bool], int]()
    for _ in range(times):
        how = (dice.choice([2, 4]), bool(dice.randrange(2)))
        if how not in totals:
            totals[how] = dump_and_kill(machine, objects, *how, None, 0)[1]
        share = dice.random()
        dump, _ = dump_and_kill(machine, objects, *how, share, totals[how], oom)
        yield f"{how[0]} threads, {'gzip' if how[1] else 'plain'}, {'out of memory' if oom else 'killed'} at {share:.0%}", dump


def parts_of(dump: Path) -> list[Path]:
    found = [path for path in dump.parent.glob(dump.name + ".p*") if path.name.rpartition(".p")[2].isdigit()]
    return sorted(found, key=lambda path: int(path.name.rpartition(".p")[2]))


def is_whole(files: list[bytes]) -> bool:
    """Whether the dump has its end, so that nothing is missing."""
    return files[0][-RECORD_HEADER:-8] == bytes([END]) and files[0].endswith(bytes(4))


def has_all_classes(files: list[bytes]) -> bool:
    """Whether each object is of a class whose LOAD_CLASS, name and CLASS_DUMP were written, and its superclasses too."""
    id_size = int.from_bytes(files[0][HEADER - 12 : HEADER - 8], "big")
    content = expected(files)
    loaded = {one[5 : 5 + id_size]: one[9 + id_size : 9 + 2 * id_size] for one in content.records if one[0] == LOAD_CLASS}
    strings = {one[1 : 1 + id_size] for one in content.records if one[0] == UTF8}
    dumped = {one[1 : 1 + id_size] for one in content.objects.values() if one[0] == CLASS}
    used = {one[5 + id_size : 5 + 2 * id_size] for one in content.objects.values() if one[0] == INSTANCE}
    used |= {one[9 + id_size : 9 + 2 * id_size] for one in content.objects.values() if one[0] == OBJECTS}
    supers = {one[5 + id_size : 5 + 2 * id_size] for one in content.objects.values() if one[0] == CLASS} - {bytes(id_size)}
    return bool(used) and used | supers <= dumped and dumped <= set(loaded) and set(loaded.values()) <= strings


def opens_in_visualvm(jar: str, copy: Path, folder: Path) -> str:
    """Why not; else nothing."""
    source = Path(__file__).resolve().parents[2] / "generator/tests/readers/VisualVm.java"
    subprocess.run(["javac", "-cp", jar, "-d", folder, source], check=True)
    done = subprocess.run(
        ["java", "-Xmx2g", "-cp", f"{jar}:{folder}", "VisualVm", copy], capture_output=True, text=True, check=False
    )
    if done.returncode:
        return "VisualVM refuses the copy: " + (done.stderr.strip().splitlines() or ["no reason"])[0]
    return "" if sum(int(line.split(" ", 1)[0]) for line in done.stdout.splitlines()) else "VisualVM finds no instance"


def check_verdict(dump: Path, files: list[bytes]) -> list[str]:
    """A dump that lacks something is not complete, and the exit status says so."""
    done = subprocess.run([TOOL, "--format", "json", dump], capture_output=True, text=True, check=False, timeout=600)
    found = json.loads(done.stdout)["files"][0]
    if is_whole(files) and len(files) == 1:
        return []
    if done.returncode != 1 or found["complete"]:
        return [f"the check says: status {done.returncode}, complete: {found['complete']}"]
    return []


def check_kill(dump: Path) -> tuple[list[str], str]:
    """What is wrong with the repaired dump, and what was found."""
    copy = dump.with_name("copy.hprof")
    copy.unlink(missing_ok=True)
    if not dump.exists():
        return [], "there is no file yet"
    files = [read_file(path) for path in [dump, *parts_of(dump)]]
    sizes = ", ".join(str(len(data)) for data in files)
    done = subprocess.run([TOOL, "--force", "--repair", copy, dump], capture_output=True, text=True, check=False, timeout=600)
    if len(files[0]) < HEADER:
        return ([] if done.returncode == 1 and not copy.exists() else [f"status {done.returncode}"]), f"no header: {sizes}"
    if done.returncode:
        return [f"status {done.returncode}: {done.stderr}"], sizes
    wrong = differences(files, copy.read_bytes()) + check_verdict(dump, files)
    check = subprocess.run([TOOL, "--allow-incomplete", copy], capture_output=True, text=True, check=False, timeout=600)
    if check.returncode:
        wrong.append(check.stdout)
    count = re.search(r"class lost: (\d+)", done.stdout)
    return wrong, f"{sizes}; overlap {overlap(files)}; class lost: {count.group(1) if count else 0}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--objects", type=int, default=200_000)
    parser.add_argument("--root", default="", help="a root that has the JDK and /proc")
    parser.add_argument("--keep", type=Path, help="a folder for the repaired dumps")
    parser.add_argument("--oom", action="store_true", help="the OOM killer of a cgroup kills")
    parser.add_argument("--visualvm", default="", metavar="JAR", help="opens repaired dumps with this library")
    parser.add_argument("jdk", nargs="+", help="its home, in the root")
    given = parser.parse_args()
    print(f"seed {given.seed}")
    if given.oom and not Group.can_be_made():
        print("killed.py: no cgroup that limits memory can be made here: nothing was tried", file=sys.stderr)
        return 2
    failed = 0
    for home in given.jdk:
        with tempfile.TemporaryDirectory(dir=f"{given.root}/tmp" if given.root else None) as folder:
            machine = Machine(home, given.root, Path(folder))
            dice = random.Random(f"{given.seed} {home}")
            for i, (how, dump) in enumerate(kills(machine, given.times, dice, given.objects, given.oom)):
                wrong, found = check_kill(dump)
                copy = dump.with_name("copy.hprof")
                if given.visualvm and copy.exists() and has_all_classes([read_file(path) for path in [dump, *parts_of(dump)]]):
                    refused = opens_in_visualvm(given.visualvm, copy, Path(folder))
                    wrong += [refused] if refused else []
                    found += "" if refused else "; opens in VisualVM"
                failed += bool(wrong)
                print(f"{home}: {how}: {found}{''.join(f'{chr(10)}    {one}' for one in wrong)}", flush=True)
                if given.keep and copy.exists():
                    shutil.copy(copy, given.keep / f"{Path(home).name}-{os.getpid()}-{i}.hprof")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
