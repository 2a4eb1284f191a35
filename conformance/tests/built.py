"""The tool that this tree built, for tests that run it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAME = Path("validator") / "hprof-validate"
PLACES = (ROOT / "build" / "release" / NAME, ROOT / "build" / "conformance" / "tools" / NAME)  # the second by conformance/run
TOOL = Path(os.environ.get("HPROF_VALIDATE") or next(filter(Path.exists, PLACES), PLACES[0]))

needs_tool = pytest.mark.skipif(not TOOL.exists(), reason="hprof-validate is not built")
