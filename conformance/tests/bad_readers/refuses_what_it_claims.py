"""Claims gzip, and rejects each gzip file as unsupported."""

from __future__ import annotations

from pathlib import Path

from honest import Json, read, serve


def answer(file: Path) -> Json:
    if file.suffix == ".gz":
        return {"outcome": "rejected", "message": "unsupported: gzip"}
    return read(file)


serve(answer)
