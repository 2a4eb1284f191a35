"""index.html: the whole report on one page that needs nothing else."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hprof_conformance.texts import COLUMNS, LEGEND, score_cells

TEMPLATE = Path(__file__).parent / "page.html"
_MARK = "/*REPORT*/"


def _table(report: dict[str, Any]) -> str:
    """The rows of the scores, which are there without JavaScript, too."""
    rows = [(one["title"], one["version"], *score_cells(one)) for one in report["readers"] if one["ran"]]

    def cells(some: Iterable[str], name: str) -> str:
        return "".join(f"<{name}>{html.escape(cell)}</{name}>" for cell in some)

    body = "".join(f'<tr><th scope="row">{html.escape(reader)}</th>{cells(values, "td")}</tr>' for reader, *values in rows)
    return f"<thead><tr>{cells(COLUMNS, 'th')}</tr></thead><tbody>{body}</tbody>"


def _legend() -> str:
    return re.sub(r"[*](.+?)[*]", r"<em>\1</em>", "".join(f"<li>{html.escape(line)}</li>" for line in LEGEND))


def _script(value: Any) -> str:
    """`<` is escaped, so that nothing in a message can end the script or begin a tag."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")


def make(report: dict[str, Any]) -> str:
    scores = _table(report)
    page = TEMPLATE.read_text(encoding="utf-8")
    page = page.replace("<!--LEGEND-->", _legend())
    page = page.replace("<!--SCORES-->", f"<table>{scores}</table>").replace('/*SCORES*/""', _script(scores))
    return page.replace(_MARK, _script(report))
