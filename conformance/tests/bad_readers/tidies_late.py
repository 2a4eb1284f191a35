"""Right, and busy: a thread of it makes and removes files beside the dump and in its own folder, which the runner clears."""

from __future__ import annotations

import itertools
import threading
from contextlib import suppress
from pathlib import Path

from honest import Json, read, serve

OWN = Path.cwd()
beside = [OWN]  # the last is the folder of the dump


def tidy() -> None:
    for number in itertools.count():
        for place in (OWN, beside[-1]):
            with suppress(OSError):
                file = place / f"cache.{number}"
                file.touch()
                file.unlink()


def answer(file: Path) -> Json:
    beside.append(file.parent)
    return read(file)


threading.Thread(target=tidy, daemon=True).start()
serve(answer)
