"""Ends with status 1 when its input ends, if it has read more than the files of the calibration."""

from __future__ import annotations

import sys
from pathlib import Path

from honest import Json, read, serve

served = 0


def answer(file: Path) -> Json:
    global served
    served += 1
    return read(file)


serve(answer)
sys.exit(served > 5)
