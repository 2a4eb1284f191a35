"""No files of the library need each other, nor do its folders: says ci/circles, which generator/tests/test_circles.py tests."""

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
