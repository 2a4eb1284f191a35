"""Files of the project and of earlier runs. A malformed one ends the run with one sentence."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from hprof_conformance.command import RefusedError


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise RefusedError(f"{path}: {error}") from error


def read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise RefusedError(f"{path}: {error}") from error
