"""Dumps of any size through a pipe into hprof-validate: nothing is found, what is counted is what the manifest says, and the
generator takes no more memory for a large one than for a small one. HPROF_BIG=1 tries those of a size that takes minutes.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

GENERATOR, VALIDATOR = os.environ["HPROF_GEN"], os.environ["HPROF_VALIDATE"]
IS_SANITIZED = "HPROF_SANITIZED" in os.environ
IS_SLOW = "HPROF_SLOW" in os.environ
MIB, GIB = 1 << 20, 1 << 30
BIG = [10 * GIB, 100 * GIB] if "HPROF_BIG" in os.environ else []
SIZES = [20 * MIB] if IS_SLOW else [200 * MIB, 2 * GIB, *BIG]


IN_64_MIB = ("sh", "-c", 'ulimit -d 65536; exec "$0" "$@"')


@pytest.mark.parametrize("size", SIZES)
def test_any_size_through_a_pipe(size: int, tmp_path: Path) -> None:
    manifest, report = tmp_path / "truth.json", tmp_path / "report.json"
    generate = [*(() if IS_SANITIZED else IN_64_MIB), GENERATOR, f"--bytes={size}", f"--manifest={manifest}"]
    validate = [VALIDATOR, "--profile=strict", "--format=json", f"--max-memory={size // 25 + 32 * MIB}", f"--output={report}", "-"]
    with subprocess.Popen(generate, stdout=subprocess.PIPE) as generator:
        checked = subprocess.run(validate, stdin=generator.stdout, check=False)
        assert generator.stdout
        generator.stdout.close()
    assert (generator.returncode, checked.returncode) == (0, 0)

    truth, reported = json.loads(manifest.read_text()), json.loads(report.read_text())["files"][0]
    assert reported["totals"] == {}
    assert reported["bytes"] == truth["bytes"] > 0.99 * size
    for name in ("strings", "instances", "object_arrays", "primitive_arrays", "references"):
        assert reported["counts"][name] == truth[name], name
