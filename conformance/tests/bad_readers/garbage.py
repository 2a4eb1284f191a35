"""Writes a line that is no reply before each reply."""

from __future__ import annotations

from pathlib import Path

from honest import Json, read, serve


def answer(file: Path) -> Json:
    print("reading", flush=True)
    return read(file)


serve(answer)
