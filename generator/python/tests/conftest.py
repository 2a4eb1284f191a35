from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
CORPUS = ROOT / "corpus"
RULES_DEF = ROOT / "validator/src/findings/rules.def"
RECORDS_DEF = ROOT / "validator/src/format/records.def"


def manifest_files() -> list[dict[str, Any]]:
    files: list[dict[str, Any]] = json.loads((CORPUS / "manifest.json").read_text(encoding="utf-8"))["files"]
    return files


@pytest.fixture(scope="session")
def manifest() -> list[dict[str, Any]]:
    return manifest_files()
