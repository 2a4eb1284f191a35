"""The smallest dumps that still crash a reader, which hprof-reduce made of damaged real ones."""

from __future__ import annotations

import os
import re
import subprocess

import pytest
from built import ROOT

FOLDER = ROOT / "conformance/findings/reduced"
ROW = r"^\| \[(\S+)\.hprof\]\(\1\.hprof\) \| (\d+) \| [^|]* \| ([\d,]+) \| `(.*)` \|$"
ROWS = re.findall(ROW, (FOLDER / "README.md").read_text(), re.MULTILINE)
MATRIX = os.environ.get("HPROF_MATRIX", "")


def test_each_file_is_in_the_table_with_its_size() -> None:
    assert {name for name, *_ in ROWS} == {path.stem for path in FOLDER.glob("*.hprof")}
    for name, finding, size, _ in ROWS:
        assert (FOLDER / f"{name}.hprof").stat().st_size == int(size.replace(",", ""))
        assert f"\n### {finding} " in (ROOT / "conformance/FINDINGS.md").read_text()


@pytest.mark.skipif(not MATRIX, reason="HPROF_MATRIX names no report: ci/test pastes its commands when the matrix has run")
@pytest.mark.parametrize(("name", "printed"), [(name, printed) for name, _, _, printed in ROWS])
def test_each_file_crashes_its_reader_as_ever_of_real_readers(name: str, printed: str) -> None:
    if not (ROOT / "build/conformance/readers" / name).is_dir():
        pytest.skip(f"{name} is not installed")
    command = [str(ROOT / "conformance/findings/show"), name, str(FOLDER / f"{name}.hprof")]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode != 0 and printed in done.stdout
