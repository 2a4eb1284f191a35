"""Lets a child hold 600 MB for each dump of more than 100 KB."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from honest import Json, read, serve

CHILD = "import time; held = bytearray(600 << 20); time.sleep(1.5)"


def answer(file: Path) -> Json:
    if file.stat().st_size > 100_000:
        subprocess.run([sys.executable, "-c", CHILD], check=False)
    return read(file)


serve(answer)
