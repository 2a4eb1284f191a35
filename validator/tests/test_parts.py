"""Dumps in parts, as a VM that was killed while it dumped leaves them, joined and repaired."""

import gzip
import json
import os
import random
import re
import shutil
import struct
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from dumps import OBJECT, OBJECTS, VALID, dump, instance, record
from killed import Machine, check_kill, differences, expected, kills, overlap, parts_of, read_file
from losses import HEADER, read
from tool import SOURCE, run

from hprof_conformance import gold

DRAWS = 12


def generate(folder: Path, *options: str) -> Path:
    if "HPROF_GEN" not in os.environ:
        pytest.skip("needs hprof-gen")
    path = folder / "heap.hprof"
    command: list[str | Path] = [
        os.environ["HPROF_GEN"],
        "--like",
        "hotspot-25",
        "--objects",
        "4000",
        "--segment-size",
        "5k",
        *options,
        "-o",
        path,
    ]
    subprocess.run(command, check=True)
    return path


def repair(folder: Path, *options: str | Path) -> tuple[bytes, str]:
    done = run("--force", "--repair", "copy", *options, "heap.hprof", cwd=folder)
    assert (done.status, done.err) == (0, "")
    check = run("--allow-incomplete", "copy", cwd=folder)
    assert check.status == 0, check.out
    return (folder / "copy").read_bytes(), done.out


def test_what_is_whole_in_any_file_is_in_the_copy_once(tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    for i in range(DRAWS):
        folder = tmp_path / str(i)
        folder.mkdir()
        how = f"parts:{dice.randrange(1, 7)}@{dice.random():.4f}"
        path = generate(folder, "--seed", str(dice.randrange(1 << 30)), "--damage", how)
        if dice.randrange(2):
            cut_parts(dice, [path, *parts_of(path)])
        if dice.randrange(2):
            for one in [path, *parts_of(path)]:
                one.write_bytes(gzip.compress(one.read_bytes(), 1))
        files = [read_file(one) for one in [path, *parts_of(path)]]
        done = run("--force", "--repair", "copy", "heap.hprof", cwd=folder)
        if len(files[0]) < HEADER:
            assert (done.status, (folder / "copy").exists()) == (1, False)
            continue
        assert done.status == 0, f"seed {seed}, draw {i}, {how}: {done.err}"
        wrong = differences(files, (folder / "copy").read_bytes())
        assert not wrong, f"seed {seed}, draw {i}, {how}, {[len(data) for data in files]}: {wrong}"
        check = run("--allow-incomplete", "copy", cwd=folder)
        assert check.status == 0, f"seed {seed}, draw {i}, {how}: {check.out}"


def cut_parts(dice: random.Random, files: list[Path]) -> None:
    """Not only at pages. A part that the VM was appending to FILE is whole."""
    if overlap([read_file(path) for path in files]):
        return
    for path in files[1:]:
        data = path.read_bytes()
        path.write_bytes(data[: dice.randrange(len(data) + 1)])


def test_a_part_that_is_in_the_file_already_is_kept_once(tmp_path: Path) -> None:
    """A kill while the VM appends a part: all of the part is still there."""
    whole = generate(tmp_path).read_bytes()
    seed = random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    segments = [at for at in record_offsets(whole) if whole[at] == 0x1C]
    for i in range(DRAWS):
        first, second = sorted(dice.sample(segments[1:], 2))
        end = dice.choice([first, second, dice.randrange(first, second + 1), dice.randrange(first, min(first + 40, second))])
        files = [whole[:end], whole[first:second], whole[second : -len(record(0x2C, b""))]]
        for name, data in zip(["", ".p3", ".p11"], files, strict=True):
            (tmp_path / f"heap.hprof{name}").write_bytes(data)
        copy, text = repair(tmp_path)
        assert copy == whole, f"seed {seed}, draw {i}: {first:#x} to {second:#x}, {end:#x}: {text}"
        assert "joined with: heap.hprof.p3, heap.hprof.p11\n" in text
        assert ("taken once" in text) == (end >= first + 9)


@pytest.mark.parametrize("part", [0, 1])
def test_roots_that_are_left_out_of_any_part_are_counted(part: int, tmp_path: Path) -> None:
    """A root that alone names its thread."""
    whole = generate(tmp_path).read_bytes()
    segments = [at for at in record_offsets(whole) if whole[at] == 0x1C]
    content = expected([whole])
    frames = [one for one in content.roots if one[0] == 3]
    dice = random.Random(seed := random.SystemRandom().randrange(1 << 32))
    one = dice.choice(frames)
    data = whole.replace(one, one[:9] + struct.pack(">I", 0x7777) + one[13:])
    at = data.index(struct.pack(">I", 0x7777))
    first = next(segment for segment in segments if (segment > at if part == 0 else segment > segments[0]))
    files = [data[: segments[0]], data[segments[0] : first], data[first : -len(record(0x2C, b""))]]
    for name, file in zip(["", ".p0", ".p1"], files, strict=True):
        (tmp_path / f"heap.hprof{name}").write_bytes(file)
    done = run("--force", "--format", "json", "--repair", "copy", "heap.hprof", cwd=tmp_path)
    roots = json.loads(done.out)["roots"]
    kinds = Counter(one[0] for one in content.roots.elements())
    assert {kind: one["lost"] for kind, one in roots.items() if one["lost"]} == {"ROOT_JAVA_FRAME": 1}, f"seed {seed}"
    assert sum(one["kept"] + one["lost"] for one in roots.values()) == kinds.total(), f"seed {seed}"


@pytest.mark.parametrize("damage", ["zeros", "noise", "zeros follow", "noise follows", "another part follows"])
def test_a_part_that_is_in_the_file_is_kept_once_though_its_end_is_damaged(damage: str, tmp_path: Path) -> None:
    """The last page was not written, or what follows the part is no dump."""
    whole = generate(tmp_path).read_bytes()
    dice = random.Random(seed := random.SystemRandom().randrange(1 << 32))
    segments = [at for at in record_offsets(whole) if whole[at] == 0x1C]
    for i in range(DRAWS // 2):
        first, second = sorted(dice.sample(segments[1:], 2))
        if second - first < 5000:
            continue
        lost = dice.randrange(1, min(4096, second - first - 4096))
        more = dice.randrange(1, 5000)
        file = {
            "zeros": whole[: second - lost] + bytes(lost),
            "noise": whole[: second - lost] + dice.randbytes(lost),
            "zeros follow": whole[:second] + bytes(more),
            "noise follows": whole[:second] + b"\xaa" + dice.randbytes(more),
            "another part follows": whole[: min(second + more, len(whole) - 10)],
        }[damage]
        files = [file, whole[first:second], whole[second : -len(record(0x2C, b""))]]
        for name, data in zip(["", ".p3", ".p11"], files, strict=True):
            (tmp_path / f"heap.hprof{name}").write_bytes(data)
        copy, text = repair(tmp_path)
        assert copy == whole, f"seed {seed}, draw {i}: {first:#x} to {second:#x}, {lost} or {more}: {text}"
        assert "joined with: heap.hprof.p3, heap.hprof.p11\n" in text and "taken once" in text


def record_offsets(data: bytes) -> list[int]:
    found, at = list[int](), HEADER
    while at < len(data):
        found.append(at)
        at += 9 + int.from_bytes(data[at + 5 : at + 9], "big")
    return found


def divide(data: bytes, folder: Path, names: tuple[str, str] = ("heap.hprof.p0", "heap.hprof.p1")) -> None:
    """FILE with the records before the objects, and two parts."""
    segments = [at for at in record_offsets(data) if data[at] == 0x1C]
    middle = segments[len(segments) // 2]
    (folder / "heap.hprof").write_bytes(data[: segments[0]])
    (folder / names[0]).write_bytes(data[segments[0] : middle])
    (folder / names[1]).write_bytes(data[middle:-9])


def test_parts_that_lie_elsewhere_are_named(tmp_path: Path) -> None:
    whole = generate(tmp_path).read_bytes()
    (tmp_path / "elsewhere").mkdir()
    divide(whole, tmp_path, ("elsewhere/one", "elsewhere/two"))
    copy, _ = repair(tmp_path, "--parts", "elsewhere/one,elsewhere/two")
    assert copy == whole
    done = run("--parts", "elsewhere/one", "heap.hprof", cwd=tmp_path)
    assert (done.status, "--parts goes with --repair" in done.err) == (2, True)
    done = run("--parts", "elsewhere/one,elsewhere/../elsewhere/one", "--repair", "copy", "heap.hprof", cwd=tmp_path)
    assert (done.status, "--parts: 'elsewhere/../elsewhere/one' is named twice" in done.err) == (2, True)
    done = run("--parts", ",", "--repair", "copy", "heap.hprof", cwd=tmp_path)
    assert done.status == 2
    done = run("--parts", "nowhere", "--repair", "copy", "heap.hprof", cwd=tmp_path)
    assert (done.status, done.err) == (3, "hprof-validate: nowhere: No such file or directory\n")
    done = run("--parts", "elsewhere/one", "--repair", "elsewhere/one", "heap.hprof", cwd=tmp_path)
    assert (done.status, "would overwrite the input" in done.err) == (2, True)


def test_a_truncated_part_takes_no_bytes_of_the_next(tmp_path: Path) -> None:
    array = b"\x23" + (1 << 20).to_bytes(8, "big") + bytes(4) + (1000).to_bytes(4, "big") + b"\x08" + bytes(1000)
    objects = [instance(0x2000 + 8 * i, OBJECT) for i in range(40)]
    start = dump()[:-9]
    (tmp_path / "heap.hprof").write_bytes(start)
    (tmp_path / "heap.hprof.p0").write_bytes(record(0x1C, objects[0] + array)[:-600])
    (tmp_path / "heap.hprof.p1").write_bytes(record(0x1C, b"".join(objects[1:])))
    copy, text = repair(tmp_path, "--no-stand-ins")
    assert copy == start + record(0x1C, objects[0]) + record(0x1C, b"".join(objects[1:])) + record(0x2C, b"")
    assert "418 bytes   1 PRIMITIVE_ARRAY_DUMP byte[]\n" in text


def test_parts_of_another_dump_are_refused(tmp_path: Path) -> None:
    whole = generate(tmp_path, "--seed", "1").read_bytes()
    other = generate(tmp_path, "--seed", "2").read_bytes()
    divide(other, tmp_path)
    segments = [at for at in record_offsets(whole) if whole[at] == 0x1C]
    (tmp_path / "heap.hprof").write_bytes(whole[: segments[len(segments) // 2]])
    done = run("--force", "--repair", "copy", "heap.hprof", cwd=tmp_path)
    assert (done.status, done.out) == (1, "")
    assert re.fullmatch(r"hprof-validate: heap\.hprof\.p[01]: belongs to another dump: .*\n", done.err)
    assert not (tmp_path / "copy").exists()
    (tmp_path / "heap.hprof.p0").write_bytes(VALID)
    done = run("--force", "--repair", "copy", "heap.hprof", cwd=tmp_path)
    assert (done.status, done.err.startswith("hprof-validate: heap.hprof.p0: has a header")) == (1, True)


def test_parts_of_another_program_are_refused(tmp_path: Path) -> None:
    """They were left by a VM that was killed before, with the same number, as in a container: the same IDs are not in both, but the
    classes of one are not loaded in the other."""
    whole, other = gold.read(SOURCE, "jdk17"), read(gold.read(SOURCE, "sa28"))  # at other addresses
    (tmp_path / "heap.hprof").write_bytes(whole[: -(len(whole) // 8)])
    (tmp_path / "heap.hprof.p0").write_bytes(record(0x1C, b"".join(other.data[s.at : s.end] for s in other.heap)))
    done = run("--force", "--repair", "copy", "heap.hprof", cwd=tmp_path)
    assert (done.status, done.out) == (1, "")
    assert done.err == (
        "hprof-validate: heap.hprof.p0: belongs to another dump: most of its classes are not loaded in FILE; to repair FILE alone, "
        "move its parts elsewhere\n"
    )


def test_an_object_of_a_part_is_no_class_of_the_file(tmp_path: Path) -> None:
    """One ID that is a class in FILE and an object in the part says that they are of different dumps."""
    (tmp_path / "heap.hprof").write_bytes(dump(instance(0x20, OBJECT))[:-9])
    (tmp_path / "heap.hprof.p0").write_bytes(record(0x1C, instance(0x30, OBJECT) + instance(OBJECTS, OBJECT)))
    done = run("--force", "--repair", "copy", "heap.hprof", cwd=tmp_path)
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("hprof-validate: heap.hprof.p0: belongs to another dump: it has an object of FILE with other ")


@pytest.mark.parametrize("way", ["file", "pipe", "gzip"])
def test_a_part_alone_is_repaired(way: str, tmp_path: Path) -> None:
    """Its FILE is lost. Beside FILE, that is what is to be repaired."""
    original = read(gold.read(SOURCE, "jdk28"))
    whole = original.data
    starts = [at for at in record_offsets(whole) if whole[at] == 0x1C]
    part = whole[starts[1] : -9]
    (tmp_path / "heap.hprof.p0").write_bytes(gzip.compress(part) if way == "gzip" else part)
    source = "-" if way == "pipe" else "heap.hprof.p0"
    check = run(source, cwd=tmp_path, stdin=part)
    assert check.status == 1 and f"  try: hprof-validate --repair fixed.hprof {source}\n" in check.out
    done = run("--repair", "copy", source, cwd=tmp_path, stdin=part)
    assert done.status == 0 and "made: a header, because the file is a part of a dump; " in done.out
    copy = read((tmp_path / "copy").read_bytes())
    there = {copy.data[s.at : s.end] for s in copy.heap}
    assert {whole[s.at : s.end] for s in original.heap if s.at > starts[1]} <= there
    if way == "file":
        (tmp_path / "heap.hprof").write_bytes(whole[: starts[1] - 100])
        done = run("--repair", "copy", "heap.hprof.p0", cwd=tmp_path)
        expected = "hprof-validate: heap.hprof.p0: is a part of heap.hprof: repair that, and its parts are joined with it\n"
        assert (done.status, done.err) == (1, expected)


def test_a_pipe_with_the_name_of_a_part_is_read_once(tmp_path: Path) -> None:
    """Whether it is a part is not asked of its first bytes, which would be lost."""
    (tmp_path / "heap.hprof").write_bytes(VALID[:-9])
    os.mkfifo(tmp_path / "heap.hprof.p0")
    with subprocess.Popen(["sh", "-c", "cat > heap.hprof.p0"], cwd=tmp_path, stdin=subprocess.PIPE) as writer:
        assert writer.stdin
        writer.stdin.write(VALID)
        writer.stdin.close()
        done = run("--repair", "copy", "heap.hprof.p0", cwd=tmp_path)
    assert (done.status, (tmp_path / "copy").read_bytes()) == (0, VALID)


def test_an_empty_file_gives_no_copy(tmp_path: Path) -> None:
    divide(generate(tmp_path).read_bytes(), tmp_path)
    (tmp_path / "heap.hprof").write_bytes(b"")
    done = run("--force", "--repair", "copy", "heap.hprof", cwd=tmp_path)
    assert (done.status, done.out, (tmp_path / "copy").exists()) == (1, "", False)


def test_parts_beside_a_complete_dump_are_not_used(tmp_path: Path) -> None:
    whole = generate(tmp_path).read_bytes()
    (tmp_path / "heap.hprof.p0").write_bytes(record(0x1C, instance(0x7777777777778, OBJECT)))
    copy, text = repair(tmp_path)
    assert copy == whole
    assert "not used, because FILE is complete: heap.hprof.p0\n" in text


def fixes(folder: Path, name: str) -> list[str]:
    return re.findall(r"^  fix: hprof-validate (.*)$", run(name, cwd=folder).out, re.MULTILINE)


def test_a_file_that_ends_after_the_definitions_is_repaired_with_its_parts(tmp_path: Path) -> None:
    """One part may be empty: its thread had written nothing yet. If all are, there is nothing to repair."""
    whole = generate(tmp_path).read_bytes()
    command = "--repair fixed.hprof heap.hprof"
    divide(whole, tmp_path)
    assert [fixes(tmp_path, name) for name in ("heap.hprof", "heap.hprof.p0", "heap.hprof.p1")] == 3 * [[command]]
    (tmp_path / "heap.hprof.p2").write_bytes(b"")
    for name in ("heap.hprof", "heap.hprof.p1", "heap.hprof.p2"):
        done = run(name, cwd=tmp_path)
        assert (done.status, ": incomplete" in done.out, "INVALID" in done.out) == (1, True, False)
        assert run("--allow-incomplete", name, cwd=tmp_path).status == 0
    assert "likely: the VM was killed while it dumped, and this is an empty part of the dump" in done.out
    assert fixes(tmp_path, "heap.hprof.p2") == []
    assert run(*command.split(), cwd=tmp_path).status == 0
    assert (tmp_path / "fixed.hprof").read_bytes() == whole
    for name in ("p0", "p1"):
        (tmp_path / f"heap.hprof.{name}").write_bytes(b"")
    assert fixes(tmp_path, "heap.hprof") == []
    assert "before there was anything in the parts of the dump: heap.hprof.p0," in run("heap.hprof", cwd=tmp_path).out
    (tmp_path / "heap.hprof").write_bytes(b"")
    (tmp_path / "heap.hprof.p1").write_bytes(record(0x1C, instance(0x20, OBJECT)))  # FILE gives no copy
    assert fixes(tmp_path, "heap.hprof.p1") == []


@pytest.mark.parametrize("size", [0, 1, 20, 30, 31, 500, -1])
def test_a_file_with_parts_is_incomplete_wherever_it_is_cut(size: int, tmp_path: Path) -> None:
    """--stats says the same. A cut header gives no copy."""
    divide(generate(tmp_path).read_bytes(), tmp_path)
    data = (tmp_path / "heap.hprof").read_bytes()
    (tmp_path / "heap.hprof").write_bytes(data[:size])
    done = run("heap.hprof", cwd=tmp_path)
    assert (done.status, done.out.count("heap.hprof: incomplete, ")) == (1, 1), done.out
    assert "the dump is in parts; the rest is in heap.hprof.p0, heap.hprof.p1\n" in done.out
    assert run("--allow-incomplete", "heap.hprof", cwd=tmp_path).status == 0
    assert fixes(tmp_path, "heap.hprof") == (["--repair fixed.hprof heap.hprof"] if size not in range(31) else [])
    if size not in range(31):
        stats = run("--stats", "heap.hprof", cwd=tmp_path)
        assert (stats.status, stats.out.splitlines()[0].startswith("heap.hprof: incomplete, ")) == (1, True), stats.out
        assert json.loads(run("--stats", "--format", "json", "heap.hprof", cwd=tmp_path).out)["verdict"]["incomplete"] is True
        assert run("--stats", "--allow-incomplete", "heap.hprof", cwd=tmp_path).status == 0


@pytest.mark.parametrize(
    ("names", "missing"),
    [
        (("p0", "p1"), ""),
        (("p3", "p4"), ""),  # those before them were joined
        (("p0", "p2"), "heap.hprof.p1 is not there"),
        (("p5", "p11"), "heap.hprof.p6 to p10 are not there"),
    ],
)
def test_a_part_that_is_missing_between_others_is_named(names: tuple[str, str], missing: str, tmp_path: Path) -> None:
    divide(generate(tmp_path).read_bytes(), tmp_path, (f"heap.hprof.{names[0]}", f"heap.hprof.{names[1]}"))
    rest = f"the rest is in heap.hprof.{names[0]}, heap.hprof.{names[1]}"
    assert rest + f"; {missing}" * bool(missing) + "\n" in run("heap.hprof", cwd=tmp_path).out
    _, text = repair(tmp_path)
    assert [line for line in text.splitlines() if line.startswith("not there")] == [
        f"not there: {missing.split(' is ')[0].split(' are ')[0]}"
    ] * bool(missing)


def test_reports_say_which_parts_there_are(tmp_path: Path) -> None:
    whole = generate(tmp_path).read_bytes()
    divide(whole, tmp_path)
    names = ["heap.hprof.p0", "heap.hprof.p1"]

    def facts() -> dict[str, object]:
        found = json.loads(run("--format", "json", "heap.hprof", cwd=tmp_path).out)["files"][0]
        assert "heap.hprof.p0" in run("--format", "sarif", "heap.hprof", cwd=tmp_path).out
        junit = run("--format", "junit", "heap.hprof", cwd=tmp_path).out
        properties = [f'<property name="{"stale_" * found["parts"]["stale"]}part" value="{name}"/>' for name in names]
        assert all(one in junit for one in properties)
        return {"complete": found["complete"], **found["parts"]}

    assert facts() == {"complete": False, "files": names, "stale": False}
    (tmp_path / "heap.hprof").write_bytes(whole)
    assert facts() == {"complete": True, "files": names, "stale": True}
    found = json.loads(run("--format", "json", "-", cwd=tmp_path, stdin=whole).out)["files"][0]
    assert found["parts"] is None


JDK = next((home for home in sorted(Path("/usr/lib/jvm").glob("*")) if (home / "bin/jcmd").exists() and
            (release := home / "release").exists() and
            (found := re.search(r'JAVA_VERSION="(\d+)', release.read_text())) and int(found[1]) >= 22), None)  # fmt: skip


@pytest.mark.skipif(JDK is None or "HPROF_SLOW" in os.environ, reason="no JDK of 22 or later")
def test_what_a_killed_vm_leaves(tmp_path: Path) -> None:
    """Some moments; ci/full has more."""
    seed = random.SystemRandom().randrange(1 << 32)
    machine = Machine(str(JDK), "", tmp_path)
    for how, path in kills(machine, 3, random.Random(seed), 60_000):
        wrong, found = check_kill(path)
        assert not wrong, f"seed {seed}, {how}, {found}: {wrong}"
    shutil.rmtree(tmp_path, ignore_errors=True)
