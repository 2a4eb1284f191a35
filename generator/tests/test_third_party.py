"""The manifest's truth, recounted by a reader that others wrote: the heap library of VisualVM.

Runs where HPROF_VISUALVM names its jar and HPROF_JDK a JDK: `ci/test` sees to both.
"""

from __future__ import annotations

import gzip
import itertools
import json
import os
import subprocess
from pathlib import Path

import pytest
from gen_tool import SOURCE
from some_cases import some

from hprof_conformance import gold

GEN = os.environ["HPROF_GEN"]
JAR, JDK = os.environ.get("HPROF_VISUALVM", ""), os.environ.get("HPROF_JDK", "")
SOURCES = sorted((Path(__file__).parent / "readers").glob("*.java"))
PRIMITIVES = {"Z": "boolean", "C": "char", "F": "float", "D": "double", "B": "byte", "S": "short", "I": "int", "J": "long"}

pytestmark = pytest.mark.skipif(not (JAR and JDK), reason="HPROF_VISUALVM and HPROF_JDK say where the reader is")


@pytest.fixture(scope="session")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("classes")
    subprocess.run([f"{JDK}/bin/javac", "-cp", JAR, "-d", folder, *SOURCES], check=True)
    return folder


def dotted(name: str) -> str:
    """The name of a class as VisualVM shows it: `[I` is `int[]`, `java/lang/String` is `java.lang.String`."""
    inner = name.lstrip("[")
    depth = len(name) - len(inner)
    if depth:
        inner = inner[1:-1] if inner.startswith("L") else PRIMITIVES[inner]
    return inner.replace("/", ".") + "[]" * depth


def read(dump: Path, classes: Path) -> dict[str, int]:
    run = subprocess.run(
        [f"{JDK}/bin/java", "-cp", f"{JAR}:{classes}", "VisualVm", dump], capture_output=True, text=True, check=True
    )
    counts: dict[str, int] = {}
    for line in run.stdout.splitlines():
        count, name = line.split(" ", 1)
        counts[name] = counts.get(name, 0) + int(count)
    return {name: count for name, count in counts.items() if count}


# Left out: the shape `wide`, because this reader takes the number of fields of a class, up to 65535, as a signed number; and the
# producer `mat`, because it does not read an empty segment.
SHAPES = ["mixed", "list", "tree", "graph", "arrays", "strings", "deep", "threads"]


@pytest.mark.parametrize(("like", "shape"), some(itertools.product(["plain", "hotspot", "jdk8-agent", "sa", "graalvm"], SHAPES)))
def test_counts(like: str, shape: str, classes: Path, tmp_path: Path) -> None:
    dump, manifest = tmp_path / "dump.hprof", tmp_path / "dump.json"
    subprocess.run([GEN, "--like", like, "--shape", shape, "--objects", "20000", "-o", dump, "--manifest", manifest], check=True)
    stated = json.loads(manifest.read_text())
    truth = {f"{type}[]": count for type, count in stated["arrays"].items() if count and type != "object"}
    for each in stated["classes"]:
        if each["instances"] + each["arrays"]:
            truth[dotted(each["name"])] = each["instances"] + each["arrays"]
    assert read(dump, classes) == truth
    assert sum(truth.values()) == 20000


def test_a_repaired_dump_is_read(classes: Path, tmp_path: Path) -> None:
    """A truncated dump is refused. The reader finds the content of the copy."""
    dump, fixed, again, manifest = (tmp_path / name for name in ("dump.hprof", "fixed.hprof", "again.hprof", "again.json"))
    subprocess.run([GEN, "--like", "hotspot", "--objects", "20000", "-o", dump], check=True)
    dump.write_bytes(dump.read_bytes()[: dump.stat().st_size * 9 // 10])
    with pytest.raises(subprocess.CalledProcessError):
        read(dump, classes)
    subprocess.run([os.environ["HPROF_VALIDATE"], "--repair", fixed, dump], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([GEN, "--from", dump, "-o", again, "--manifest", manifest], check=True)
    found = read(fixed, classes)
    assert found == read(again, classes)
    assert sum(found.values()) == json.loads(manifest.read_text())["objects"] > 5000


@pytest.mark.parametrize("share", [0.05, 0.2, 0.4])
@pytest.mark.parametrize("like", ["hotspot", "sa", "jdk8-agent"])
def test_a_dump_with_stand_ins_is_read(like: str, share: float, classes: Path, tmp_path: Path) -> None:
    """Some KB are missing in the definitions, or in what follows them. The reader finds each object of the copy."""
    dump, fixed = tmp_path / "dump.hprof", tmp_path / "fixed.hprof"
    subprocess.run([GEN, "--like", like, "--objects", "3000", "-o", dump], check=True)
    whole = dump.read_bytes()
    at = int(len(whole) * share)
    dump.write_bytes(whole[:at] + whole[at + 3000 :])
    done = subprocess.run(
        [os.environ["HPROF_VALIDATE"], "--format", "json", "--repair", fixed, dump], check=True, capture_output=True, text=True
    )
    assert sum(read(fixed, classes).values()) == json.loads(done.stdout)["kept"]["objects"] > 1000


def properties_of(dump: Path, classes: Path) -> str:
    java: list[str | Path] = [f"{JDK}/bin/java", "-cp", f"{JAR}:{classes}", "OpenHeap", dump]
    return subprocess.run(java, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("name", some(["jdk11", "jdk17", "jdk21", "jdk25", "jdk28"]))
def test_twins_are_opened(name: str, classes: Path, tmp_path: Path) -> None:
    """The properties of the system, too, which are a map without a table by chance."""
    data = gold.read(SOURCE, name)
    (tmp_path / "real.hprof").write_bytes(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    subprocess.run([GEN, "-q", "--fit", tmp_path / "real.hprof", "-o", tmp_path / "profile"], check=True)
    count, live, _ = properties_of(tmp_path / "real.hprof", classes).split()
    for seed in range(1, 9):
        twin = tmp_path / f"twin{seed}.hprof"
        subprocess.run([GEN, "-q", "--from-profile", tmp_path / "profile", "--seed", str(seed), "-o", twin], check=True)
        assert properties_of(twin, classes).split()[:2] == [count, live], seed


# ---- How much memory it needs ------------------------------------------------------------------------------------------


def dump_of(classes: Path, dump: Path, *arguments: int) -> None:
    """A dump of the program Holds."""
    command: list[str | Path] = [f"{JDK}/bin/java", "-Xmx1g", "-cp", classes, "Holds", *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as java:
        assert java.stdin and java.stdout and java.stdout.readline() == b"ready\n"
        subprocess.run([f"{JDK}/bin/jcmd", str(java.pid), "GC.heap_dump", dump], check=True, stdout=subprocess.DEVNULL)
        java.stdin.close()


def opens(dump: Path, classes: Path, megabytes: int) -> bool:
    java = [f"{JDK}/bin/java", "-XX:+UseG1GC", f"-Xmx{megabytes}m", "-cp", f"{JAR}:{classes}"]
    command: list[str | Path] = [*java, "OpenHeap", dump]
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


@pytest.mark.parametrize("holds", some([(0, 0, 5), (20_000, 0, 0), (60_000, 500, 0), (0, 2000, 50), (5000, 6000, 0)]))
def test_the_memory_that_it_needs_is_that_of_stats(holds: tuple[int, int, int], classes: Path, tmp_path: Path) -> None:
    """Within a quarter: that much less does not suffice, and that much more does."""
    dump = tmp_path / "heap.hprof"
    dump_of(classes, dump, *holds)
    command: list[str | Path] = [os.environ["HPROF_VALIDATE"], "--stats", "--format", "json", dump]
    found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["visualvm_heap_mb"]
    assert found >= 5
    assert opens(dump, classes, -(-found * 4 // 3))
    assert not opens(dump, classes, found * 4 // 5 // 2 * 2)  # the JVM takes the next even number


def test_no_memory_is_said_of_a_dump_that_it_refuses(tmp_path: Path) -> None:
    dump = tmp_path / "dump.hprof"
    subprocess.run([GEN, "--like", "hotspot", "--objects", "2000", "-o", dump], check=True)
    dump.write_bytes(dump.read_bytes()[:-2000])
    command: list[str | Path] = [os.environ["HPROF_VALIDATE"], "--stats", dump]
    done = subprocess.run([*command, "--format", "json"], check=False, capture_output=True)
    assert json.loads(done.stdout)["visualvm_heap_mb"] is None
    assert b"VisualVM" not in subprocess.run(command, check=False, capture_output=True).stdout
