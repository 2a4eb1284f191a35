"""What is not as it should be, known and explained: conformance/expectations/<who>.toml, a line a case."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from hprof_conformance.files import read_toml


@dataclass(frozen=True)
class Expected:
    case: str
    outcome: str  # several, with " or " between them, where load decides
    reason: str

    def allows(self, outcome: str) -> bool:
        return outcome in self.outcome.split(" or ")


@dataclass
class Expectations:
    version: str = ""
    cases: dict[str, Expected] = field(default_factory=dict)


def read(path: Path) -> Expectations:
    if not path.exists():
        return Expectations()
    found = read_toml(path)
    cases = [Expected(**one) for one in found.get("cases", [])]
    return Expectations(found["version"], {one.case: one for one in cases})


def write(path: Path, title: str, expectations: Expectations) -> None:
    """JSON's strings are TOML's basic strings."""
    lines = [
        f"# {title}: the cases that are not as they should be. `conformance/run --update` rewrites this file; reasons stay.",
        f"version = {json.dumps(expectations.version)}",
        "cases = [",
    ]
    for one in sorted(expectations.cases.values(), key=lambda one: one.case):
        words = ", ".join(
            f"{name} = {json.dumps(value, ensure_ascii=False)}"
            for name, value in (("case", one.case), ("outcome", one.outcome), ("reason", one.reason))
        )
        lines.append(f"  {{ {words} }},")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*lines, "]"]) + "\n", encoding="utf-8")


def outcome_of_dump(dump: dict[str, Any]) -> str:
    """Of a dump in report.json, in words that do not change with the number of findings and the moment of an interruption."""
    if dump["fine"]:
        return "fine"
    if not dump["bytes"]:
        return "no dump"
    differs = "content differs" if dump["content"] and not dump["content"].startswith("complete") else ""
    if dump["valid"] and differs and not dump["content"].startswith("sound"):
        return differs  # without the rules: whether references to lost objects dangle varies
    words = ("" if dump["valid"] else "invalid", ", ".join(dump["in_profile"]), differs)
    return "; ".join(filter(None, words)) or "neither error nor warning though interrupted"


class Seen(NamedTuple):
    """What became of a case in this run."""

    outcome: str
    fine: bool  # as it should be
    detail: str


@dataclass(frozen=True)
class Surprise:
    case: str
    what: str


def compare(expectations: Expectations, seen: dict[str, Seen], all_cases: set[str], complete: bool) -> list[Surprise]:
    """A line whose case no longer exists is a surprise if the run was `complete`."""
    found = []
    for case, (outcome, fine, _) in seen.items():
        expected = expectations.cases.get(case)
        if expected is None and not fine:
            found.append(Surprise(case, f"{outcome}, and no line expects it"))
        elif expected is not None and not expected.allows(outcome):
            found.append(Surprise(case, f"{outcome}, and {expected.outcome} was expected"))
    if complete:
        found += [Surprise(case, "is expected, but no such case exists") for case in expectations.cases if case not in all_cases]
    return found


def updated(before: Expectations, version: str, seen: dict[str, Seen], all_cases: set[str]) -> Expectations:
    """Lines for all that is not fine. A reason stays while its outcome does; a new one says what came back."""
    cases = {case: one for case, one in before.cases.items() if case in all_cases and case not in seen}
    for case, (outcome, fine, detail) in seen.items():
        if not fine:
            old = before.cases.get(case)
            cases[case] = old if old is not None and old.allows(outcome) else Expected(case, outcome, detail or outcome)
    return Expectations(version, cases)
