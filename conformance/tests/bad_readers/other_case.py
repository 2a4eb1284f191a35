"""Answers for another case."""

from __future__ import annotations

from pathlib import Path

from honest import Json, read, serve


def answer(file: Path) -> Json:
    return {**read(file), "case": "another"}


serve(answer)
