"""Says of each dump that a call failed, gives what the call would give, and takes each damaged dump for an empty one."""

from __future__ import annotations

from pathlib import Path

from honest import COUNTS, DIGESTS, Json, read, serve

KEPT = [one for one in DIGESTS if one != "classes"]


def answer(file: Path) -> Json:
    reply = read(file)
    if reply["outcome"] == "rejected":
        nothing = {"count": 0, "sum": "0" * 32}
        reply = {"outcome": "accepted", "counts": dict.fromkeys(COUNTS, 0), "digests": dict.fromkeys(DIGESTS, nothing)}
    digests = {name: one for name, one in reply["digests"].items() if name in KEPT}
    return {**reply, "digests": digests, "failed": {"classes": "no such call"}}


serve(answer, digests=KEPT)
