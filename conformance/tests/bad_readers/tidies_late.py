"""Right, and busy: a thread of it makes and removes files beside the dump, while the runner removes what is left there."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path

from honest import Json, read, serve

places: list[Path] = [Path.cwd()]


def tidy() -> None:
    number = 0
    while True:
        number += 1
        with suppress(OSError):
            file = places[-1] / f"cache.{number}"
            file.touch()
            file.unlink()


def answer(file: Path) -> Json:
    places[:] = [Path.cwd(), file.parent][number_of_dump() % 2 :][:1]
    return read(file)


def number_of_dump() -> int:
    number_of_dump.calls = getattr(number_of_dump, "calls", 0) + 1  # type: ignore[attr-defined]
    return int(number_of_dump.calls)  # type: ignore[attr-defined]


threading.Thread(target=tidy, daemon=True).start()
serve(answer)
