"""What files of the library need: not each other, nor do its folders, says ci/circles, which generator/tests/test_circles.py
tests; and memory of the caller's allocator alone."""

import os
import subprocess
from pathlib import Path

CIRCLES = Path(__file__).resolve().parents[2] / "ci/circles"
OBJECTS = os.environ["HPROF_OBJECTS"].split(":")


def test_the_library_has_no_circle() -> None:
    assert len(OBJECTS) > 50
    for more in ([], ["--folders"]):
        done = subprocess.run([CIRCLES, *more, *OBJECTS], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# Of the C library, and known to allocate, qsort in some versions of it.
ALLOCATES = {"malloc", "calloc", "realloc", "aligned_alloc", "strdup", "strndup", "asprintf", "vasprintf", "getline", "getdelim"}
ALLOCATES |= {"qsort", "fopen", "fdopen", "open_memstream", "fopencookie", "opendir", "fdopendir", "realpath", "tmpfile"}


def test_memory_comes_from_one_place() -> None:
    """A limit of memory, and a caller's allocator, hold for what base/memory.c gives."""
    listed = subprocess.run(["nm", "-A", "-u", *OBJECTS], capture_output=True, text=True, check=True).stdout
    used = {(Path(line.split(":")[0]).name, line.split()[-1].partition("@")[0]) for line in listed.splitlines()}
    assert {(name, what) for name, what in used if what in ALLOCATES} == {("memory.c.o", "malloc")}
