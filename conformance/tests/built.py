"""The tool that this tree built, for tests that run it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from hprof_conformance import cases

ROOT = Path(__file__).resolve().parents[2]
TRUTH = cases.work_folder(ROOT) / "truth"  # computed once, by whatever run or test is the first to need it
NAME = Path("validator") / "hprof-validate"
PLACES = (ROOT / "build" / "release" / NAME, ROOT / "build" / "conformance" / "tools" / NAME)  # the second by conformance/run
TOOL = Path(os.environ.get("HPROF_VALIDATE") or next(filter(Path.exists, PLACES), PLACES[0]))


def reads_records(path: Path, refuses: str = "no such bytes") -> Path:
    """A program that is given a file, and ends with status 0 if its records follow each other to its end and these bytes are not in
    it."""
    path.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT / 'generator' / 'python')!r})\n"
        "from hprof_corpus.walk import read_header, records\n"
        "data = memoryview(open(sys.argv[1], 'rb').read())\n"
        "header = read_header(data)\n"
        f"if header is None or not header.format.startswith(b'JAVA PROFILE') or {refuses.encode()!r} in bytes(data):\n"
        "    sys.exit('no dump')\n"
        "end = header.size\n"
        "for one in records(data, end):\n"
        "    end = len(data) + 1 if one.is_cut else one.end\n"
        "sys.exit(0 if end == len(data) else 'truncated')\n",
        encoding="utf-8",
    )
    path.chmod(0o755)
    return path


needs_tool = pytest.mark.skipif(not TOOL.exists(), reason="hprof-validate is not built")
