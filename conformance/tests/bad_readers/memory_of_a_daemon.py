"""Lets a daemon hold 600 MB for each dump of more than 100 KB: a process whose parent has ended, in a session of its own."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from honest import Json, read, serve

CHILD = "import time; held = bytearray(600 << 20); time.sleep(3)"


def answer(file: Path) -> Json:
    if file.stat().st_size > 100_000:
        start = f"import subprocess; subprocess.Popen([{sys.executable!r}, '-c', {CHILD!r}], start_new_session=True)"
        subprocess.run([sys.executable, "-c", start], check=False)
        time.sleep(2)
    return read(file)


serve(answer)
