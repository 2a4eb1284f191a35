"""hprof/read.h against the truth of the generator: programs print what they read, and from that the digests are computed that the
manifest has; and the number of objects of each class. However the bytes come, the same is read."""

import json
import os
import random
import shlex
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from gen_tool import IS_SLOW, LIKES, SHAPES, SOURCE, run, truth
from some_cases import some

from hprof_corpus import digest

CC = os.environ.get("CC", "cc")
C_FLAGS = shlex.split(os.environ.get("HPROF_C_FLAGS", ""))
BUILD = Path(os.environ["HPROF_BUILD"])
WAYS = ["file", "memory", "pipe", "read_at"]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of validator/tests/consumer, which use hprof/read.h."""
    folder = tmp_path_factory.mktemp("programs")
    (library,) = [file for file in (BUILD / "validator").glob("libhprof.*") if file.suffix in (".a", ".so")]
    isal = subprocess.run(["pkg-config", "--libs", "libisal"], capture_output=True, text=True, check=True).stdout.split()
    strict: list[str | Path] = [
        "-std=c17",
        "-D_POSIX_C_SOURCE=200809L",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-I",
        SOURCE / "validator/include",
    ]
    for name in ("histogram", "values"):
        source = SOURCE / f"validator/tests/consumer/{name}.c"
        libraries: list[str | Path] = [library, f"-Wl,-rpath,{library.parent}", *isal, "-pthread"]
        subprocess.run([CC, *C_FLAGS, *strict, "-o", folder / name, source, *libraries], check=True)
    return folder


def output(*command: str | Path) -> list[str]:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), (done.returncode, done.stderr)
    return done.stdout.splitlines()


# ---- Items as conformance/PROTOCOL.md defines them -------------------------------------------------------------------


def text(word: str) -> bytes:
    return digest.units(digest.text_of(bytes.fromhex(word.removeprefix("'"))))


def ident(word: str) -> bytes:
    return digest.number(int(word, 16))


def parts_of(line: str) -> tuple[str, list[bytes]]:
    """The entry that a line of values.c belongs to, and the parts of its item."""
    kind, *words = line.split(" ")
    if kind == "string":
        return "strings", [b"string", ident(words[0]), text(words[1])]
    if kind == "static":
        return "statics", [b"static", ident(words[0]), text(words[1]), bytes([int(words[2])]), bytes.fromhex(words[3])]
    if kind == "instance":
        parts = [b"instance", ident(words[0]), ident(words[1])]
        for at in range(2, len(words), 4):
            parts += [ident(words[at]), text(words[at + 1]), bytes([int(words[at + 2])]), bytes.fromhex(words[at + 3])]
        return "instances", parts
    body = bytes.fromhex(words[2].removeprefix("'"))
    if kind == "objects":
        return "object_arrays", [b"object array", ident(words[0]), ident(words[1]), body]
    assert kind == "primitives", line
    return "primitive_arrays", [b"primitive array", ident(words[0]), bytes([int(words[1])]), body]


def sums(lines: list[str]) -> dict[str, dict[str, Any]]:
    found = {kind: [0, 0] for kind in ("strings", "statics", "instances", "object_arrays", "primitive_arrays")}
    strings = set()
    for line in lines:
        kind, parts = parts_of(line)
        if kind == "strings" and parts[1] in strings:
            continue  # the first definition counts
        strings.update(parts[1:2] if kind == "strings" else [])
        entry = found[kind]
        entry[0] += 1
        entry[1] += int.from_bytes(digest.hash_of(b"".join(map(digest.part, parts))), "big")
    return {kind: {"count": count, "sum": f"{total % (1 << 128):032x}"} for kind, (count, total) in found.items()}


def check(programs: Path, folder: Path, *args: str, ways: list[str] = WAYS) -> None:
    manifest = truth("--digests", *args, folder=folder)
    expected = manifest["digests"]["exact"]
    lines = {way: output(programs / "values", folder / "dump.hprof", way) for way in ways}
    found = sums(lines["file"])
    assert found == {kind: expected[kind] for kind in found}
    assert all(lines[way] == lines["file"] for way in ways), args
    classes = Counter[str]()
    for line in output(programs / "histogram", folder / "dump.hprof"):
        objects, _, name = line.split(maxsplit=2) if len(line.split()) > 2 else [*line.split(), ""]
        classes[name] += int(objects)
    assert classes.total() == manifest["instances"] + manifest["object_arrays"]


@pytest.mark.parametrize("like", ["plain", "hotspot", "sa", "graalvm", "mat"])
def test_values_of_producers(programs: Path, like: str, tmp_path: Path) -> None:
    assert like in LIKES
    check(programs, tmp_path, f"--like={like}", "--objects=2000", f"--seed={random.randrange(1 << 30)}")


def test_values_before_their_classes(programs: Path, tmp_path: Path) -> None:
    """The agent writes the instances first: on a pipe, their classes are not known yet."""
    ways = ["file", "memory", "read_at"]
    manifest = truth("--digests", "--like=jdk8-agent", "--objects=2000", folder=tmp_path)
    expected = manifest["digests"]["exact"]
    lines = {way: output(programs / "values", tmp_path / "dump.hprof", way) for way in ways}
    found = sums(lines["file"])
    assert found == {kind: expected[kind] for kind in found}
    assert lines["file"] == lines["memory"] == lines["read_at"]


@pytest.mark.parametrize("shape", some(SHAPES.replace(" or ", ", ").split(", ")))
@pytest.mark.parametrize("id_size", ["4", "8"])
def test_values_of_shapes(programs: Path, shape: str, id_size: str, tmp_path: Path) -> None:
    if IS_SLOW and id_size == "4":
        pytest.skip("slow build")
    check(programs, tmp_path, f"--shape={shape}", f"--id-size={id_size}", "--objects=500", f"--seed={random.randrange(1 << 30)}")


def test_values_of_a_compressed_dump(programs: Path, tmp_path: Path) -> None:
    check(programs, tmp_path, "--gz=3", "--objects=30000")


def test_number_of_objects_by_class(programs: Path, tmp_path: Path) -> None:
    manifest = truth("--like=hotspot", "--objects=5000", folder=tmp_path)
    found = Counter[str]()
    for line in output(programs / "histogram", tmp_path / "dump.hprof"):
        objects, _, name = line.split(maxsplit=2)
        found[name] += int(objects)
    expected = Counter[str]()
    for entry in manifest["classes"]:
        if not entry["name"].startswith("["):
            expected[entry["name"].replace("/", ".")] += entry["instances"]
    assert {name: n for name, n in expected.items() if n} == {name: n for name, n in found.items() if n and "[]" not in name}


def test_damage_is_what_the_check_skips(programs: Path, tmp_path: Path) -> None:
    """What is not damage is read, and damage is as many bytes as the check skips; what a file that is cut ends with, which the
    check reports but does not count, is damage too."""
    made = tmp_path / "dump.hprof"
    for kind in ("lose:1000", "zero-page:1", "lose:20", "count:1", "tag:2"):
        seed = f"--seed={random.randrange(1 << 30)}"
        assert run("-o", made, "--like=hotspot", "--objects=3000", seed, f"--damage={kind}").status == 0, seed
        if not made.read_bytes().startswith(b"JAVA PROFILE"):
            continue  # the page of zeros was the first: nothing is read then
        report = subprocess.run([os.environ["HPROF_VALIDATE"], "--format=json", made], capture_output=True, text=True, check=False)
        skipped = json.loads(report.stdout)["files"][0]["skipped"]
        lines = output(programs / "values", made, "file")
        damage = [tuple(map(int, line.split()[1:])) for line in lines if line.startswith("damage")]
        if damage and sum(damage[-1]) == made.stat().st_size and sum(size for _, size in damage) != skipped:
            damage.pop()
        assert sum(size for _, size in damage) == skipped, seed
        assert lines == output(programs / "values", made, "memory"), seed
