"""Accepts the start of each damaged dump without a notice."""

from __future__ import annotations

from pathlib import Path

from honest import COUNTS, DIGESTS, Json, read, serve


def answer(file: Path) -> Json:
    reply = read(file)
    if reply["outcome"] == "rejected":
        nothing = {"count": 0, "sum": "0" * 32}
        reply = {"outcome": "accepted", "counts": dict.fromkeys(COUNTS, 0), "digests": dict.fromkeys(DIGESTS, nothing)}
    return reply


serve(answer)
