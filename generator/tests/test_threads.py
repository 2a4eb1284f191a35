"""The report of a dump does not depend on the number of threads that check it."""

import os
import subprocess
from pathlib import Path

import pytest

VALIDATE, GEN = os.environ["HPROF_VALIDATE"], os.environ["HPROF_GEN"]
OBJECTS = "80000"  # 5 MB and more: several jobs

DUMPS = {
    "plain": [],
    "hotspot": ["--like", "hotspot"],
    "instances before classes": ["--like", "jdk8-agent"],
    "one heap dump record": ["--like", "sa"],
    "version 1.0.1": ["--version", "1.0.1"],
    "small segments": ["--segment-size", "2K"],
    "heap dumps": ["--heap-dumps", "3"],
    "wide classes": ["--shape", "deep"],
    "a graph": ["--shape", "graph", "--id-size", "4", "--objects", "200000"],
    "duplicates": ["--violate", "OBJ-004", "--violations", "3"],
    "an object with the ID of a class": ["--violate", "OBJ-005"],
    "undefined objects": ["--violate", "REF-002", "--violations", "30"],
    "undefined classes": ["--violate", "OBJ-002"],
    "wrong lengths of instances": ["--violate", "OBJ-006", "--violations", "30"],
    "undefined stack traces": ["--violate", "STK-012", "--violations", "3"],
    "an undefined sub-record": ["--violate", "REC-013"],
}


def report(path: Path, threads: int) -> bytes:
    command: list[str | Path] = [
        VALIDATE,
        "--profile=strict",
        "--format",
        "lines",
        "--max-errors",
        "0",
        "--jobs",
        str(threads),
        path,
    ]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False).stdout


def generate(path: Path, *options: str) -> None:
    subprocess.run([GEN, "--quiet", "--objects", OBJECTS, *options, "-o", path], check=True, timeout=120)
    assert path.stat().st_size > 4 << 20


def compare_threads(path: Path) -> None:
    expected = report(path, 1)
    for threads in (2, 3, 8):
        assert report(path, threads) == expected


@pytest.mark.parametrize("name", DUMPS)
def test_any_number_of_threads_reports_the_same(name: str, tmp_path: Path) -> None:
    generate(tmp_path / "dump.hprof", *DUMPS[name])
    compare_threads(tmp_path / "dump.hprof")


def test_of_a_truncated_dump_too(tmp_path: Path) -> None:
    path = tmp_path / "dump.hprof"
    generate(path)
    os.truncate(path, path.stat().st_size - 1234567)
    compare_threads(path)
