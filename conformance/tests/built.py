"""The tool that this tree built, for tests that run it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = Path(os.environ.get("HPROF_VALIDATE") or ROOT / "build" / "release" / "validator" / "hprof-validate")

needs_tool = pytest.mark.skipif(not TOOL.exists(), reason="hprof-validate is not built")
