"""Accepts the start of each dump, and gives a notice that differs by a number, for every one, valid or not."""

from __future__ import annotations

import random
from pathlib import Path

from honest import COUNTS, DIGESTS, Json, read, serve


def answer(file: Path) -> Json:
    reply = read(file)
    if reply["outcome"] == "rejected":
        nothing = {"count": 0, "sum": "0" * 32}
        reply = {"outcome": "accepted", "counts": dict.fromkeys(COUNTS, 0), "digests": dict.fromkeys(DIGESTS, nothing)}
    return {**reply, "notices": [f"object {random.getrandbits(32):#x} may be damaged"]}


serve(answer)
