"""Takes the roots of threads for sticky classes. The number of all roots stays right."""

from __future__ import annotations

from pathlib import Path

from honest import Json, read, serve


def answer(file: Path) -> Json:
    reply = read(file)
    if counts := reply.get("counts"):
        counts["ROOT_STICKY_CLASS"] += counts["ROOT_THREAD_OBJECT"]
        counts["ROOT_THREAD_OBJECT"] = 0
    return reply


serve(answer)
