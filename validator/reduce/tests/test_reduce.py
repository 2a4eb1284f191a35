"""hprof-reduce with readers that have planted crashes (planted.c), which share no code with it."""

import gzip
import os
import random
import re
import signal
import struct
import subprocess
import time
from pathlib import Path

import pytest

TOOL = os.environ["HPROF_REDUCE"]
VALIDATOR = os.environ["HPROF_VALIDATE"]
GENERATOR = os.environ.get("HPROF_GEN", "")
HERE = Path(__file__).resolve().parent
OBJECTS = 300 if "HPROF_SLOW" in os.environ else 1000
needs_generator = pytest.mark.skipif(not GENERATOR, reason="there is no hprof-gen in this build")


class Done:
    def __init__(self, process: "subprocess.CompletedProcess[str]") -> None:
        self.status = process.returncode
        self.out = process.stdout
        self.err = process.stderr


def reduce(*args: str | Path, cwd: Path, timeout: float = 1500) -> Done:
    return Done(
        subprocess.run(
            [TOOL, *args], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, check=False
        )
    )


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("planted") / "planted"
    flags = os.environ.get("HPROF_C_FLAGS", "").split() if "--coverage" not in os.environ.get("HPROF_C_FLAGS", "") else []
    flags = [flag for flag in flags if "sanitize" not in flag]  # its crash must be a signal
    subprocess.run([os.environ.get("CC", "cc"), "-O1", *flags, "-o", program, HERE / "planted.c"], check=True)
    return program


def made(folder: Path, *args: str) -> Path:
    """A dump as HotSpot writes it; the seed is drawn and printed."""
    seed = random.SystemRandom().randrange(1 << 32)
    print("seed", seed)
    dump = folder / "in.hprof"
    subprocess.run(
        [GENERATOR, "--like", "hotspot", f"--objects={OBJECTS}", f"--seed={seed}", "--quiet", *args, "-o", dump], check=True
    )
    return dump


def ends(program: Path, mode: str, dump: Path) -> int:
    return subprocess.run([program, mode, dump], stdout=subprocess.DEVNULL, check=False).returncode


# ---- A reader of boundaries, for the test alone -------------------------------------------------------------------

SIZES = {4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}
ROOTS = {0xFF: 0, 0x01: 1, 0x02: 0, 0x03: 0, 0x04: 0, 0x05: 0, 0x06: 0, 0x07: 0, 0x08: 0}
ROOT_REST = {0x02: 8, 0x03: 8, 0x04: 4, 0x06: 4, 0x08: 8}


def subrecord_end(data: bytes, at: int, width: int) -> int:
    def u(size: int, position: int) -> int:
        return int.from_bytes(data[position : position + size], "big")

    tag = data[at]
    if tag in ROOTS:
        return at + 1 + width + ROOTS[tag] * width + ROOT_REST.get(tag, 0)
    if tag == 0x21:
        return at + 1 + 2 * width + 8 + u(4, at + 1 + 2 * width + 4)
    if tag == 0x22:
        return at + 1 + 2 * width + 8 + width * u(4, at + 1 + width + 4)
    if tag == 0x23:
        return at + 1 + width + 9 + SIZES[data[at + 1 + width + 8]] * u(4, at + 1 + width + 4)
    assert tag == 0x20, hex(tag)
    at += 1 + width + 4 + 6 * width + 4
    for before, has_value in ((2, True), (width, True), (width, False)):
        count, at = u(2, at), at + 2
        for _ in range(count):
            kind = data[at + before]
            at += before + 1 + ((width if kind == 2 else SIZES[kind]) if has_value else 0)
    return at


def parts(data: bytes) -> list[tuple[int, int, int]]:
    """Start and end of each record and sub-record, and where the length of the record around it is; 0 for a record."""
    width = int.from_bytes(data[19:23], "big")
    found, at = [], 31
    while at < len(data):
        end = at + 9 + int.from_bytes(data[at + 5 : at + 9], "big")
        found.append((at, end, 0))
        inner = at + 9
        while data[at] in (0x0C, 0x1C) and inner < end:
            after = subrecord_end(data, inner, width)
            found.append((inner, after, at + 5))
            inner = after
        at = end
    return found


def without(data: bytes, part: tuple[int, int, int]) -> bytes:
    start, end, length_at = part
    changed = bytearray(data)
    if length_at:
        length = int.from_bytes(data[length_at : length_at + 4], "big") - (end - start)
        changed[length_at : length_at + 4] = length.to_bytes(4, "big")
    del changed[start:end]
    return bytes(changed)


def assert_minimal(program: Path, mode: str, dump: Path, scratch: Path) -> int:
    """The crash is there, and goes with any one record or sub-record. Returns how many there are."""
    assert ends(program, mode, dump) == -signal.SIGABRT
    data = dump.read_bytes()
    candidate = scratch / "candidate"
    for part in parts(data):
        candidate.write_bytes(without(data, part))
        assert ends(program, mode, candidate) != -signal.SIGABRT, part
    return len(parts(data))


# ---- What comes out ------------------------------------------------------------------------------------------------


@needs_generator
def test_the_result_is_minimal_and_does_not_depend_on_jobs(tmp_path: Path, planted: Path) -> None:
    dump = made(tmp_path)
    assert ends(planted, "array", dump) == -signal.SIGABRT
    results = []
    for jobs in ("1", "3"):
        done = reduce(dump, "-o", f"out{jobs}.hprof", "--jobs", jobs, "--", planted, "array", cwd=tmp_path)
        assert done.status == 0, done.err
        results.append((tmp_path / f"out{jobs}.hprof").read_bytes())
        assert "signal 6" in done.err
    # A segment, a root, an instance and an array of two elements.
    assert assert_minimal(planted, "array", tmp_path / "out1.hprof", tmp_path) == 4
    width = int.from_bytes(results[0][19:23], "big")
    assert len(results[0]) <= 31 + 9 + (9 + width) + (9 + 2 * width + 8) + (9 + 4 * width)
    assert results[0] == results[1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["candidate", "in.hprof", "out1.hprof", "out3.hprof"]


@needs_generator
def test_keep_valid_tries_valid_dumps_alone(tmp_path: Path, planted: Path) -> None:
    dump = made(tmp_path, "--threads=2")
    script = tmp_path / "command"
    check = f'"{VALIDATOR}" -q "$1" >/dev/null; echo $? >>"{tmp_path}/statuses"'
    script.write_text(f'#!/bin/sh\n{check}\nexec "{planted}" array "$1"\n')
    script.chmod(0o755)
    done = reduce(dump, "-o", "out.hprof", "--keep-valid", "--", script, cwd=tmp_path)
    assert done.status == 0, done.err
    assert set((tmp_path / "statuses").read_text().split()) == {"0"}
    assert (tmp_path / "out.hprof").stat().st_size < 1000
    assert_minimal_valid(planted, tmp_path / "out.hprof", tmp_path)


def assert_minimal_valid(program: Path, dump: Path, scratch: Path) -> None:
    """Without any one part the dump is not valid or has not the crash."""
    assert ends(program, "array", dump) == -signal.SIGABRT
    data = dump.read_bytes()
    candidate = scratch / "candidate"
    for part in parts(data):
        candidate.write_bytes(without(data, part))
        crashes = ends(program, "array", candidate) == -signal.SIGABRT
        assert not crashes or subprocess.run([VALIDATOR, "-q", candidate], capture_output=True, check=False).returncode, part


def test_keep_valid_refuses_a_dump_that_is_not(tmp_path: Path) -> None:
    (tmp_path / "in.hprof").write_bytes(chain(3)[:-3])
    done = reduce("in.hprof", "-o", "out", "--keep-valid", "--", "true", cwd=tmp_path)
    assert (done.status, "not valid" in done.err) == (2, True)


def record(tag: int, body: bytes) -> bytes:
    return struct.pack(">BII", tag, 5, len(body)) + body


def chain(length: int) -> bytes:
    """A root, arrays that each refer to the next one, and a byte[7]; strings with secrets."""
    header = b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 8, 1700000000000)
    names = b"".join(record(1, struct.pack(">Q", 100 + i) + b"secret%02d/Name" % i) for i in range(5))
    loads = record(2, struct.pack(">IQIQ", 1, 900, 0, 100))
    heap = struct.pack(">BQIQQQQQQIHHH", 0x20, 900, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    heap += struct.pack(">BQ", 5, 1000)
    for i in range(length):
        after = 1001 + i if i + 1 < length else 5000
        heap += struct.pack(">BQIIQQQ", 0x22, 1000 + i, 0, 2, 900, 0, after)
    heap += struct.pack(">BQIIB", 0x23, 5000, 0, 7, 8) + b"PRIVATE"
    return header + names + loads + record(0x1C, heap) + record(0x2C, b"")


def test_links_are_mended(tmp_path: Path, planted: Path) -> None:
    (tmp_path / "in.hprof").write_bytes(chain(20))
    done = reduce("in.hprof", "-o", "out.hprof", "--", planted, "path", cwd=tmp_path)
    assert done.status == 0, done.err
    # The root refers to the byte[7] at once: the arrays between are gone.
    assert assert_minimal(planted, "path", tmp_path / "out.hprof", tmp_path) == 3


def test_names_and_payload_are_blanked(tmp_path: Path, planted: Path) -> None:
    (tmp_path / "in.hprof").write_bytes(chain(2))
    assert b"secret" in chain(2) and b"PRIVATE" in chain(2)
    for mode in ("names", "path"):
        done = reduce("in.hprof", "-o", f"{mode}.hprof", "--", planted, mode, cwd=tmp_path)
        assert done.status == 0, done.err
        data = (tmp_path / f"{mode}.hprof").read_bytes()
        assert ends(planted, mode, tmp_path / f"{mode}.hprof") == -signal.SIGABRT
        assert b"secret" not in data and b"Name" not in data and b"PRIVATE" not in data, data
        names = [data[start + 17 : end] for start, end, _ in parts(data) if data[start] == 1]
        assert len(set(names)) == len(names) == (3 if mode == "names" else 0), names


def test_a_class_loses_what_it_does_not_need(tmp_path: Path, planted: Path) -> None:
    """Constants, static fields, fields and the class loader, which is an object that goes."""
    heap = struct.pack(">BQIQQQQQQI", 0x20, 900, 0, 0, 2000, 0, 0, 0, 0, 8)
    heap += struct.pack(">HHBIHBQ", 2, 1, 10, 7, 2, 11, 8)
    heap += struct.pack(">HQBIQBQQBB", 3, 100, 10, 7, 101, 11, 8, 102, 8, 9)
    heap += struct.pack(">HQBQB", 2, 103, 10, 104, 10)
    heap += struct.pack(">BQIQIII", 0x21, 901, 0, 900, 8, 1, 2)
    heap += struct.pack(">BQIIB", 0x23, 2000, 0, 3, 8) + b"abc"
    (tmp_path / "in.hprof").write_bytes(chain(1)[:31] + record(0x1C, heap) + record(0x2C, b""))
    done = reduce("in.hprof", "-o", "out.hprof", "--", planted, "class", cwd=tmp_path)
    assert done.status == 0, done.err
    data = (tmp_path / "out.hprof").read_bytes()
    assert assert_minimal(planted, "class", tmp_path / "out.hprof", tmp_path) == 2
    static_field = struct.pack(">HHQBQH", 0, 1, 101, 11, 0, 0)
    assert data[-len(static_field) :] == static_field
    assert int.from_bytes(data[40 + 1 + 8 + 4 + 8 : 40 + 1 + 8 + 4 + 8 + 8], "big") == 0  # the class loader
    assert len(data) == 31 + 9 + 1 + 8 + 4 + 6 * 8 + 4 + len(static_field)
    assert runs_in(done) < 300, done.err


def test_a_long_chain_of_classes_takes_no_longer(tmp_path: Path) -> None:
    """Classes go after their subclasses: how many superclasses each has is not counted anew for each."""
    count = 60000
    classes = (struct.pack(">BQI6QIHHH", 0x20, 900 + i, 0, 899 + i if i else 0, *[0] * 9) for i in range(count))
    (tmp_path / "in.hprof").write_bytes(chain(1)[:31] + record(0x1C, b"".join(classes)) + record(0x2C, b""))
    whole = f'test "$(wc -c < "$1")" -ge {(tmp_path / "in.hprof").stat().st_size}'
    done = reduce("in.hprof", "-o", "out.hprof", "--runs", "400", "--", "sh", "-c", whole, "sh", cwd=tmp_path, timeout=100)
    assert done.status in (0, 1) and "\nclasses " in done.err, done.err


def test_constants_are_values_and_references_like_others(tmp_path: Path, planted: Path) -> None:
    """A constant that the command needs loses its value, and the object that it names goes."""
    heap = struct.pack(">BQI6QI", 0x20, 900, 0, 0, 0, 0, 0, 0, 0, 0)
    heap += struct.pack(">HHBIHBQ", 2, 1, 10, 7, 2, 2, 2000) + struct.pack(">HH", 0, 0)
    heap += struct.pack(">BQIIB", 0x23, 2000, 0, 3, 8) + b"abc"
    names = record(0x01, struct.pack(">Q", 100) + b"java/lang/Object") + record(0x02, struct.pack(">IQIQ", 1, 900, 0, 100))
    (tmp_path / "in.hprof").write_bytes(chain(1)[:31] + names + record(0x1C, heap) + record(0x2C, b""))
    done = reduce("in.hprof", "-o", "out.hprof", "--keep-valid", "--", planted, "constants", cwd=tmp_path)
    assert done.status == 0, done.err
    data = (tmp_path / "out.hprof").read_bytes()
    assert [data[start] for start, _, length_at in parts(data) if length_at] == [0x20], data
    assert struct.pack(">HHBIHBQHH", 2, 1, 10, 0, 2, 2, 0, 0, 0) in data


def test_damage_is_kept_if_it_is_the_cause(tmp_path: Path) -> None:
    """Status 9 of a reader that finds the dump malformed: a length that leads past the end stays wrong."""
    data = bytearray(chain(20))
    at = data.index(b"\x1c\0\0\0\5")
    data[at + 5 : at + 9] = b"\x7f\0\0\0"
    (tmp_path / "in.hprof").write_bytes(data)
    command = 'import sys; d = open(sys.argv[1], "rb").read(); a = d.find(b"\\x1c\\0\\0\\0\\5"); '
    command += 'sys.exit(7 if a >= 0 and int.from_bytes(d[a + 5 : a + 9], "big") > len(d) > a + 8 else 0)'
    done = reduce("in.hprof", "-o", "out.hprof", "--", "python3", "-S", "-c", command, "{}", cwd=tmp_path)
    assert done.status == 0, done.err
    assert len((tmp_path / "out.hprof").read_bytes()) <= 9


def test_damage_shrinks_with_the_length_around_it(tmp_path: Path, planted: Path) -> None:
    """The reader insists on the lengths of records, and crashes for one byte of a long damage within one."""
    noise = bytes(byte for byte in os.urandom(3000) if byte != 0xDE)
    data = chain(3)
    at = data.index(b"\x1c\0\0\0\5")
    end = at + 9 + int.from_bytes(data[at + 5 : at + 9], "big")
    damage = b"\xee" + noise[:2000] + b"\xde" + noise[2000:]
    heap = data[at + 9 : end] + damage if random.SystemRandom().randrange(2) else damage + data[at + 9 : end]
    (tmp_path / "in.hprof").write_bytes(data[:at] + record(0x1C, heap) + data[end:])
    done = reduce("in.hprof", "-o", "out.hprof", "--", planted, "damage", cwd=tmp_path)
    assert done.status == 0, done.err
    out = (tmp_path / "out.hprof").read_bytes()
    assert (len(out), out[-10], out[-5:]) == (41, 0x1C, b"\0\0\0\1\xde"), out
    assert runs_in(done) < 400, done.err


# ---- The command --------------------------------------------------------------------------------------------------


def test_a_command_that_changes_its_mind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "in.hprof").write_bytes(chain(2))
    script = 'if [ -e seen ]; then exit 3; fi; touch seen; exit 4'
    done = reduce("in.hprof", "-o", "out", "--", "sh", "-c", script, cwd=tmp_path)
    assert (done.status, "exit status 4, then exit status 3" in done.err) == (2, True)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("does", ['echo more >> "$1"', 'rm "$1"', 'cp "$1" new; echo >> new; mv new "$1"'])
def test_a_command_that_writes_into_the_dump_is_refused(does: str, tmp_path: Path) -> None:
    """Else the dump got what the command wrote, and the reduction never came to an end."""
    (tmp_path / "in.hprof").write_bytes(chain(2))
    only_candidates = f'case $1 in in.hprof) ;; *) {does};; esac; exit 1'
    done = reduce("in.hprof", "-o", "out", "--", "sh", "-c", only_candidates, "sh", cwd=tmp_path, timeout=20)
    assert (done.status, "out.1.hprof: COMMAND has changed or removed it" in done.err) == (3, True), done.err
    assert not (tmp_path / "out").exists()
    (tmp_path / "out.reduce").unlink()
    done = reduce("in.hprof", "-o", "out", "--", "sh", "-c", f"{does}; exit 1", "sh", cwd=tmp_path, timeout=20)
    assert (done.status, "in.hprof: COMMAND has changed or removed it" in done.err) == (2, True), done.err


def test_a_command_that_is_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "in.hprof").write_bytes(chain(2))
    done = reduce("in.hprof", "-o", "out", "--", "./no-such-command", cwd=tmp_path)
    assert (done.status, "No such file" in done.err) == (2, True)


def test_a_command_that_fails_for_every_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "in.hprof").write_bytes(chain(2))
    done = reduce("in.hprof", "-o", "out.hprof", "--", "sh", "-c", "exit 3", cwd=tmp_path)
    assert done.status == 0 and (tmp_path / "out.hprof").stat().st_size == 0, done.err
    assert "empty file: is {} where it reads" in done.err


def test_the_name_takes_the_place_of_braces(tmp_path: Path) -> None:
    (tmp_path / "in.hprof").write_bytes(chain(2))
    script = 'test "$2" = last && test -s "${1#dump=}"'
    done = reduce("in.hprof", "-o", "out", "--", "sh", "-c", script, "sh", "dump={}", "last", cwd=tmp_path)
    assert done.status == 0, done.err
    assert len((tmp_path / "out").read_bytes()) == 1  # not empty: the command needs no more


def test_match_keeps_to_one_crash(tmp_path: Path) -> None:
    """Two crashes with the same status; --match is for one of them. Without it the result is smaller and shows the other one."""
    (tmp_path / "in.hprof").write_bytes(chain(3))
    script = 'if grep -q PRIVATE "$1"; then echo first crash; exit 5; fi; echo other crash; exit 5'
    assert reduce("in.hprof", "-o", "any", "--", "sh", "-c", script, "sh", cwd=tmp_path).status == 0
    assert (tmp_path / "any").read_bytes() == b""
    done = reduce("in.hprof", "-o", "one", "--match", "first crash", "--", "sh", "-c", script, "sh", cwd=tmp_path)
    assert done.status == 0, done.err
    assert (tmp_path / "one").read_bytes() == b"PRIVATE"
    done = reduce("in.hprof", "-o", "two", "--match", "third", "--", "sh", "-c", script, "sh", cwd=tmp_path)
    assert (done.status, "--match" in done.err) == (2, True)


# A child, one in another session, and one whose parent has ended.
LEAVES = "sleep 321 & setsid sleep 321 & (setsid sleep 321 &)"


def sleepers() -> list[Path]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes() == b"sleep\x00321\x00":
                found.append(path)
        except OSError:
            continue
    return found


def test_a_command_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    (tmp_path / "in.hprof").write_bytes(chain(1))
    script = f'grep -q PRIVATE "$1" && {{ {LEAVES}; wait; }}; true'
    done = reduce("in.hprof", "-o", "out", "--timeout", "1", "--jobs", "8", "--", "sh", "-c", script, "sh", cwd=tmp_path)
    assert done.status == 0, done.err
    assert "the timeout" in done.err
    assert (tmp_path / "out").read_bytes() == b"PRIVATE"
    assert not sleepers()


@pytest.mark.parametrize(
    ("ends", "says"), [("exit 3", "exit status 3"), ("kill -SEGV $$", "signal 11"), ("kill -TERM 0; wait", "signal 15")]
)
def test_what_a_command_leaves_running_is_ended(ends: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "in.hprof").write_bytes(chain(1))
    done = reduce("in.hprof", "-o", "out", "--", "sh", "-c", f"{LEAVES}; {ends}", cwd=tmp_path)
    assert done.status == 0, done.err
    assert says in done.err
    assert not sleepers()


def test_nothing_goes_on_after_sigkill(tmp_path: Path) -> None:
    (tmp_path / "in.hprof").write_bytes(chain(1))
    process = subprocess.Popen([TOOL, "in.hprof", "-o", "out", "--", "sh", "-c", f"{LEAVES}; wait"], cwd=tmp_path)
    until = time.monotonic() + 60
    while len(sleepers()) < 3 and time.monotonic() < until:
        time.sleep(0.01)
    assert len(sleepers()) == 3
    process.kill()
    process.wait()
    while sleepers() and time.monotonic() < until:
        time.sleep(0.01)
    assert not sleepers()


def test_who_ignores_its_children_may_start_it(tmp_path: Path) -> None:
    (tmp_path / "in.hprof").write_bytes(chain(1))
    command = ["env", "--ignore-signal=CHLD", TOOL, "in.hprof", "-o", "out", "--", "true"]
    assert subprocess.run(command, cwd=tmp_path, stdin=subprocess.DEVNULL, check=False, timeout=60).returncode == 0


def test_a_compressed_dump_is_reduced_without_compression(tmp_path: Path) -> None:
    (tmp_path / "in.hprof.gz").write_bytes(gzip.compress(chain(3)[:40]) + gzip.compress(chain(3)[40:]))
    script = '{ gzip -dc "$1" 2>/dev/null || cat "$1"; } | grep -q PRIVATE'
    done = reduce("in.hprof.gz", "-o", "out", "--", "sh", "-c", script, "sh", cwd=tmp_path)
    assert done.status == 0, done.err
    assert (tmp_path / "out").read_bytes() == b"PRIVATE"


def test_a_link_stays_and_leads_to_the_result(tmp_path: Path) -> None:
    """Also one such as /dev/stdout, which may lead to a file, or to a pipe."""
    (tmp_path / "in.hprof").write_bytes(chain(3))
    for name, target in (("out", "there"), ("stdout", "/proc/self/fd/1"), ("nowhere", "absent/there")):
        (tmp_path / name).symlink_to(target)
    command = [TOOL, "in.hprof", "-o", "stdout", "--", "grep", "-q", "PRIVATE"]
    with (tmp_path / "log").open("wb") as log:
        assert subprocess.run(command, cwd=tmp_path, stdout=log, stderr=log, check=False, timeout=60).returncode == 0
    (tmp_path / "there").touch()
    assert reduce("in.hprof", "-o", "out", "--", "grep", "-q", "PRIVATE", cwd=tmp_path).status == 0
    assert (tmp_path / "log").read_bytes() == (tmp_path / "there").read_bytes() == b"PRIVATE"
    into_pipe = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert (into_pipe.returncode, "stdout: it is not a regular file" in into_pipe.stderr) == (2, True), into_pipe.stderr
    done = reduce("in.hprof", "-o", "nowhere", "--", "grep", "-q", "PRIVATE", cwd=tmp_path)
    assert (done.status, "nowhere: No such file" in done.err) == (3, True), done.err
    assert all((tmp_path / name).is_symlink() for name in ("out", "stdout", "nowhere"))


# ---- Stopping and going on ------------------------------------------------------------------------------------------


def runs_in(done: Done) -> int:
    found = re.search(r"; (\d+) runs? of the command", done.err)
    assert found, done.err
    return int(found[1])


def test_it_stops_after_runs_and_goes_on(tmp_path: Path, planted: Path) -> None:
    (tmp_path / "in.hprof").write_bytes(chain(20))
    command = ("--", planted, "path")
    sizes = []
    for most in (8, 16, 24):
        done = reduce("in.hprof", "-o", "out.hprof", "--runs", str(most), *command, cwd=tmp_path)
        assert (done.status, runs_in(done)) == (1, most)
        sizes.append((tmp_path / "out.hprof").stat().st_size)
    assert sizes == sorted(sizes, reverse=True)
    done = reduce("in.hprof", "-o", "out.hprof", "--", planted, "array", cwd=tmp_path)
    assert (done.status, "another reduction" in done.err) == (2, True)
    assert reduce("in.hprof", "-o", "out.hprof", *command, cwd=tmp_path).status == 0
    assert assert_minimal(planted, "path", tmp_path / "out.hprof", tmp_path) == 3
    assert not (tmp_path / "out.hprof.reduce").exists()


def test_it_goes_on_after_sigkill(tmp_path: Path, planted: Path) -> None:
    """It is killed each time that its notes have some more lines, until it comes to an end."""
    (tmp_path / "in.hprof").write_bytes(chain(20))
    command = [TOOL, "in.hprof", "-o", "out.hprof", "-j2", "--", str(planted), "path", "{}", "20"]
    notes = tmp_path / "out.hprof.reduce"

    def lines() -> int:
        try:
            return notes.read_bytes().count(b"\n")
        except FileNotFoundError:  # not there yet, or the end
            return 0

    kills = 0
    while True:
        until = lines() + random.SystemRandom().randrange(5, 25)
        process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and lines() < until:
            time.sleep(0.01)
        if process.poll() is not None:
            break
        process.kill()
        process.communicate()
        kills += 1
        (tmp_path / "out.hprof.64.hprof").touch()  # a candidate of many jobs
        if (tmp_path / "out.hprof").exists():
            assert ends(planted, "path", tmp_path / "out.hprof") == -signal.SIGABRT
    _, err = process.communicate()
    assert process.returncode == 0, err
    assert kills >= 2
    assert assert_minimal(planted, "path", tmp_path / "out.hprof", tmp_path) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["candidate", "in.hprof", "out.hprof"]


def test_an_interrupt_leaves_the_smallest_dump_and_no_candidate(tmp_path: Path, planted: Path) -> None:
    (tmp_path / "in.hprof").write_bytes(chain(20))
    command = [TOOL, "in.hprof", "-o", "out.hprof", "--", str(planted), "path", "{}", "30"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "out.hprof").exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == -signal.SIGINT
    assert "goes on from here" in err
    assert ends(planted, "path", tmp_path / "out.hprof") == -signal.SIGABRT
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.hprof", "out.hprof", "out.hprof.reduce"]


# ---- Usage ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ([], "which dump"),
        (["in.hprof", "-o", "out"], "no command"),
        (["in.hprof", "--", "true"], "-o OUT"),
        (["in.hprof", "-o", "in.hprof", "--", "true"], "is the dump that is reduced"),
        (["in.hprof", "-o", ".", "--", "true"], "not a regular file"),
        (["in.hprof", "-o", "pipe", "--", "true"], "not a regular file"),
        (["pipe", "-o", "out", "--", "true"], "not a regular file"),
        (["in.hprof", "-o", "out", "--jobs", "0", "--", "true"], "--jobs"),
        (["in.hprof", "-o", "out", "--timeout", "never", "--", "true"], "--timeout"),
        (["in.hprof", "-o", "out", "--match", "", "--", "true"], "--match"),
        (["in.hprof", "-o", "out", "--runz", "3", "--", "true"], "did you mean '--runs'"),
    ],
)
def test_wrong_usage(args: list[str], says: str, tmp_path: Path) -> None:
    (tmp_path / "in.hprof").write_bytes(chain(1))
    os.mkfifo(tmp_path / "pipe")
    done = reduce(*args, cwd=tmp_path)
    assert (done.status, says in done.err) == (2, True), done.err
    assert (tmp_path / "in.hprof").read_bytes() == chain(1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.hprof", "pipe"]
    assert (tmp_path / "pipe").is_fifo()


def test_names_are_escaped(tmp_path: Path) -> None:
    (tmp_path / "in\n.hprof").write_bytes(chain(1))
    done = reduce("in\n.hprof", "-o", "out\x1b", "--", "true", cwd=tmp_path)
    assert (done.status, "in\\n.hprof: " in done.err, "out\\x1b: " in done.err) == (0, True, True), done.err


@pytest.mark.parametrize("name", ["out.1.hprof", "out.3.hprof", "out.reduce"])
def test_a_dump_that_would_be_overwritten_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(chain(1))
    done = reduce(name, "-o", "out", "--jobs", "3", "--", "true", cwd=tmp_path)
    assert (done.status, "another -o OUT" in done.err) == (2, True), done.err
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [(name, chain(1))]


def test_what_cannot_be_written_is_said_before_the_command_runs(tmp_path: Path) -> None:
    (tmp_path / "in.hprof").write_bytes(chain(1))
    done = reduce("in.hprof", "-o", "no/such/folder", "--", "touch", "ran", cwd=tmp_path)
    assert (done.status, "No such file" in done.err) == (3, True), done.err
    assert [path.name for path in tmp_path.iterdir()] == ["in.hprof"]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    done = reduce("none.hprof", "-o", "out", "--", "true", cwd=tmp_path)
    assert (done.status, "No such file" in done.err) == (3, True)
