"""index.html: the whole report on one page that needs nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TEMPLATE = Path(__file__).parent / "page.html"
_MARK = "/*REPORT*/"


def make(report: dict[str, Any]) -> str:
    """`<` is escaped, so that nothing in a message can end the script or begin a tag."""
    data = json.dumps(report, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
    return TEMPLATE.read_text(encoding="utf-8").replace(_MARK, data)
