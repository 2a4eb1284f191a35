"""report.json: the whole run. Everything else that is written is made from it."""

from __future__ import annotations

import datetime
import json
import platform
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

from hprof_conformance import __version__, readers, steps
from hprof_conformance.cases import Case
from hprof_conformance.expectations import Expectations, Surprise
from hprof_conformance.explain import in_words
from hprof_conformance.matrix import Cell, Row
from hprof_conformance.outcomes import (
    COUNTS_ONLY,
    COUNTS_RIGHT,
    CRASHED,
    HUNG,
    NOT_COMPARED,
    NOTICED,
    OUT_OF_MEMORY,
    REJECTED,
    RIGHT,
    SILENT_LOSS,
    TOLERATED,
    UNREPORTED,
    UNSUPPORTED,
    WRONG_CONTENT,
    WRONG_COUNTS,
    Difference,
    Verdict,
)

SCHEMA = Path(__file__).parent / "report.schema.json"
Json = dict[str, Any]


def scores(row: Row) -> Json:
    """Of a reader. `valid` are the dumps that it should accept, `invalid` those that it should reject or report; without
    unsupported ones, of which only crashes and losses are counted, apart."""
    supported = [cell for cell in row.cells if cell.verdict.outcome != UNSUPPORTED]
    by_should = {
        should: Counter(cell.verdict.outcome for cell in supported if cell.case.should == should)
        for should in ("accept", "reject", "report", "either")
    }
    everywhere = Counter(cell.verdict.outcome for cell in supported)
    beneath = Counter(cell.verdict.beneath for cell in row.cells if cell.verdict.beneath)
    accept, reject = by_should["accept"], by_should["reject"] + by_should["report"]
    with_objects = [cell for cell in supported if cell.case.should == "accept" and cell.case.has_objects]
    real = Counter(cell.verdict.outcome for cell in supported if cell.case.is_real and cell.case.should == "accept")
    return {
        "cases": len(row.cells),
        "unsupported": len(row.cells) - len(supported),
        "unsupported_crashes": beneath[CRASHED],
        "unsupported_losses": beneath[SILENT_LOSS] + beneath[WRONG_COUNTS] + beneath[WRONG_CONTENT],
        "real": real.total(),
        "real_right": real[RIGHT],
        "real_counts_right": real[COUNTS_RIGHT],
        "valid": accept.total(),
        "valid_right": accept[RIGHT],
        "valid_counts_right": accept[COUNTS_RIGHT],
        "valid_not_compared": accept[NOT_COMPARED],
        "content": len(with_objects),
        "content_right": sum(cell.verdict.outcome == RIGHT for cell in with_objects),
        "invalid": reject.total(),
        "invalid_rejected": reject[REJECTED] + reject[NOTICED],
        "invalid_tolerated": reject[TOLERATED],
        "invalid_counts_only": reject[COUNTS_ONLY],
        "invalid_not_compared": reject[NOT_COMPARED],
        "unreported": reject[UNREPORTED],
        "silent_losses": reject[SILENT_LOSS],
        "crashes": everywhere[CRASHED],
        "hangs": everywhere[HUNG],
        "out_of_memory": everywhere[OUT_OF_MEMORY],
        "seconds": round(sum(cell.seconds for cell in row.cells), 1),
    }


def outcome_and_differences(verdict: Verdict) -> tuple[str, dict[str, str]]:
    """As an expectation pins them. A count and an entry may have one name."""
    pinned: dict[str, list[str]] = {}
    for one in [] if verdict.is_fine else verdict.differences:
        pinned.setdefault(one.what, []).append("failed" if one.is_failure else one.found)
    return verdict.outcome, {what: "; ".join(found) for what, found in pinned.items()}


def fails_calibration(one: Json) -> bool:
    """A reader that was started and does not count."""
    return not all(step["passed"] for step in one.get("calibration", []))


def _case(case: Case) -> Json:
    return {
        "name": case.name,
        "file": case.shown,
        "member": case.member or "",
        "about": case.about,
        "should": case.should,
        "real": case.is_real,
        "rules": case.rules,
        "requires": case.requires,
        "bytes": case.bytes,
        "counts": case.truth.counts,
    }


def _words(rows: list[Row], jobs: int) -> dict[tuple[str, str, str], str]:
    """By reader, case and count or entry: what is wrong. A dump is read once for all readers."""
    asked: dict[str, list[tuple[Row, Cell, Difference]]] = {}
    for row in rows:
        for cell in row.cells if row.hello else ():
            if cell.verdict.outcome != UNSUPPORTED:
                asked.setdefault(cell.case.name, []).extend((row, cell, one) for one in cell.verdict.differences)
    asked = {name: some for name, some in asked.items() if some}
    hellos = {row.reader.name: row.hello for row in rows if row.hello}
    wrong = [(some[0][1].case, [(hellos[row.reader.name], one) for row, _, one in some]) for some in asked.values()]
    found: dict[tuple[str, str, str], str] = {}
    all_words = steps.in_processes("differences in words", in_words, wrong, jobs)
    for (name, some), words in zip(asked.items(), all_words, strict=True):
        found |= {(row.reader.name, name, one.what): each for (row, _, one), each in zip(some, words, strict=True) if each}
    return found


def _differs(one: Difference, words: str) -> Json:
    known = {"what": one.what, "found": one.found, "expected": one.expected}
    return {**known, "words": words} if words else known


def _row(row: Row, expectations: Expectations, surprises: list[Surprise], words: dict[tuple[str, str, str], str]) -> Json:
    reader = row.reader
    found: Json = {
        "name": reader.name,
        "title": reader.title,
        "version": row.hello.version if row.hello else reader.version,
        "family": reader.family,
        "home": reader.home,
        "bugs": reader.bugs,
        "ran": row.ran,
        "why_not": row.why_not,
        "by_hand": row.by_hand,
        "needs": readers.environment(reader),
        "unsupported": row.hello.unsupported if row.hello else reader.unsupported,
        "says": reader.says,
        "asks": reader.asks,
        "not_asked": reader.not_asked,
        "counts": row.hello.counts if row.hello else [],
        "digests": row.hello.digests if row.hello else [],
        "references": row.hello.references if row.hello else "",
        "calibration": [{"what": one.what, "passed": one.passed, "found": one.found} for one in row.calibration],
        "starts": row.starts,
        "surprises": [{"case": one.case, "what": one.what} for one in surprises],
        "results": [],
    }
    if row.ran:
        found["scores"] = scores(row)
    for cell in row.cells:
        result: Json = {"case": cell.case.name, "outcome": cell.verdict.outcome, "fine": cell.verdict.is_fine}
        if cell.verdict.detail:
            result["detail"] = cell.verdict.detail
        if cell.verdict.beneath:
            result["beneath"] = cell.verdict.beneath
        if cell.reply.counts:
            result["counts"] = cell.reply.counts
        if cell.verdict.differences:
            result["differs"] = [
                _differs(one, words.get((reader.name, cell.case.name, one.what), "")) for one in cell.verdict.differences
            ]
        expected = expectations.cases.get(cell.case.name)
        if expected is not None and expected.allows(*outcome_and_differences(cell.verdict)):
            result["reason"] = expected.reason
            if expected.finding:
                result["finding"] = expected.finding
        found["results"].append(result)
    return found


def _version_of(command: list[str]) -> str:
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return (run.stdout or run.stderr).strip().partition("\n")[0]


def make(
    rows: list[Row],
    cases: list[Case],
    expectations: dict[str, Expectations],
    surprises: dict[str, list[Surprise]],
    producers: list[Json],
    jobs: int = 1,
    versions: dict[str, str] | None = None,
) -> Json:
    """`versions`: those that the expectations name. Differences of another version fail nothing, but that of a reader of the user's
    own is the one under test."""
    now = datetime.datetime.now(datetime.UTC)
    words = _words(rows, jobs)
    readers_now = [
        _row(row, expectations.get(row.reader.name, Expectations()), surprises.get(row.reader.name, []), words) for row in rows
    ]
    for one in (*readers_now, *producers):
        expected = (versions or {}).get(one["name"], "")
        one["another_version"] = one["ran"] and expected not in ("", one["version"])
    return {
        "format": 2,
        "run": {
            "date": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "tool": __version__,
            "machine": f"{platform.system()} {platform.machine()}",
            "python": platform.python_version(),
            "java": _version_of(["java", "-version"]),
        },
        "cases": [_case(case) for case in cases],
        "readers": readers_now,
        "producers": producers,
    }


def text(report: Json) -> str:
    return json.dumps(report, indent=1, ensure_ascii=False) + "\n"
