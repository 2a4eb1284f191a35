"""What is not as it should be, known and explained: conformance/expectations/<who>.toml, a line a case."""

from __future__ import annotations

import fnmatch
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hprof_conformance.command import NAME
from hprof_conformance.files import read_toml
from hprof_conformance.protocol import Hello
from hprof_corpus.truth import FEATURES


@dataclass(frozen=True)
class Expected:
    case: str
    outcome: str  # several, with " or " between them, where load decides
    reason: str
    finding: int = 0  # of FINDINGS.md; 0: none, as in a file of --failures
    differs: dict[str, str] = field(default_factory=dict)  # each count or entry of a digest, with the reader's value
    varies: dict[str, int] = field(default_factory=dict)  # what loses objects, other ones in each run, with the right number

    def allows(self, outcome: str, differs: dict[str, str]) -> bool:
        """`differs` is pinned for one outcome; where load decides, nothing came back that could differ. Where a loss `varies`, all
        or nothing of `differs` is lost."""
        pinned = self.pinned(differs)
        return outcome in self.outcome.split(" or ") and (pinned == self.differs or (bool(self.varies) and not pinned))

    def pinned(self, differs: dict[str, str]) -> dict[str, str]:
        """Without those that vary: a number below the right one."""
        return {what: found for what, found in differs.items() if not (found.isdecimal() and int(found) < self.varies.get(what, 0))}


@dataclass
class Expectations:
    version: str = ""
    cases: dict[str, Expected] = field(default_factory=dict)
    compared: list[str] = field(default_factory=list)  # in a file of --failures: counts and digests that the reader has given
    supported: list[str] = field(default_factory=list)  # likewise: features
    references: list[str] = field(default_factory=list)  # likewise: the form of its digests


_GIVEN = ("compared", "supported", "references")


@dataclass(frozen=True)
class Accept:
    """What `--update` may add and change: cases whose name matches a pattern, for one finding."""

    patterns: list[str] = field(default_factory=list)
    finding: int = 0
    reason: str = ""

    def takes(self, case: str) -> bool:
        return any(fnmatch.fnmatchcase(case, pattern) for pattern in self.patterns)


def read(path: Path) -> Expectations:
    if not path.exists():
        return Expectations()
    found = read_toml(path)
    cases = [Expected(**one) for one in found.get("cases", [])]
    named = {one.case: one for one in cases}
    return Expectations(found["version"], named, *(found.get(name, []) for name in _GIVEN))


def _toml(value: object) -> str:
    """JSON's strings and numbers are TOML's."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{json.dumps(key)} = {_toml(one)}' for key, one in value.items())} }}"
    return json.dumps(value, ensure_ascii=False)


def write(path: Path, title: str, expectations: Expectations) -> None:
    lines = [
        f"# {title}: what is not as it should be. `{NAME} --update` removes lines; with `--accept` it adds them.",
        f"version = {json.dumps(expectations.version)}",
        *(f"{name} = {_toml(words)}" for name in _GIVEN if (words := getattr(expectations, name))),
        "cases = [",
    ]
    for one in sorted(expectations.cases.values(), key=lambda one: one.case):
        words = {"case": one.case, "outcome": one.outcome, "reason": one.reason, "finding": one.finding, "differs": one.differs}
        words["varies"] = one.varies
        some = ", ".join(f"{name} = {_toml(value)}" for name, value in words.items() if value)
        lines.append(f"  {{ {some} }},")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*lines, "]"]) + "\n", encoding="utf-8")


_DANGLING = ("REF-001", "REF-002")


def outcome_of_dump(dump: dict[str, Any]) -> str:
    """Of a dump in report.json, in words that do not change with the number of findings and the moment of an interruption."""
    if dump["fine"]:
        return "fine"
    if not dump["bytes"]:
        return "no dump"
    differs = "content differs" if dump["differs"] or dump["content"].startswith(("sound", "the Python")) else ""
    varies = _DANGLING if dump["valid"] and dump["differs"] else ()  # whether references to lost objects dangle
    rules = [rule for rule in dump["in_profile"] if rule not in varies]
    words = ("" if dump["valid"] else "invalid", ", ".join(rules), differs)
    return "; ".join(filter(None, words)) or "neither error nor warning though interrupted"


@dataclass(frozen=True)
class Seen:
    """What became of a case in this run."""

    outcome: str
    fine: bool  # as it should be
    detail: str
    differs: dict[str, str] = field(default_factory=dict)  # as in Expected


@dataclass(frozen=True)
class Surprise:
    case: str
    what: str


def _unlike(expected: Expected, seen: Seen) -> str:
    """What is not as the line says, in words."""
    if seen.outcome not in expected.outcome.split(" or "):
        return f"{seen.outcome}, and {expected.outcome} was expected"
    pinned = expected.pinned(seen.differs)
    words = [
        f"{name} is {pinned.get(name, 'right')}, and {expected.differs.get(name, 'right')} was expected"
        for name in sorted({*expected.differs, *pinned})
        if pinned.get(name) != expected.differs.get(name)
    ]
    return f"{seen.outcome}, as expected, but {'; '.join(words)}"


def also_compared(expectations: Expectations, hello: Hello) -> Expectations:
    """With what the reader gives and supports now; what it gave before stays."""
    compared = dict.fromkeys([*expectations.compared, *hello.counts, *hello.digests])
    supported = dict.fromkeys([*expectations.supported, *(one for one in FEATURES if one not in hello.unsupported)])
    references = expectations.references or ([hello.references] if hello.digests else [])
    return replace(expectations, compared=[*compared], supported=[*supported], references=references)


def no_longer(expectations: Expectations, hello: Hello) -> list[Surprise]:
    """What was compared once, and the reader does not give or support now."""
    found = {
        "no longer compared": [one for one in expectations.compared if one not in (*hello.counts, *hello.digests)],
        "no longer supported": [one for one in expectations.supported if one in hello.unsupported],
        "no longer the form of references": [one for one in expectations.references if one != hello.references],
    }
    return [Surprise("the hello", f"{what}: {', '.join(names)}") for what, names in found.items() if names]


def compare(expectations: Expectations, seen: dict[str, Seen], all_cases: set[str], complete: bool) -> list[Surprise]:
    """A line whose case no longer exists is a surprise if the run was `complete`."""
    found = []
    for case, one in seen.items():
        expected = expectations.cases.get(case)
        if expected is None and not one.fine:
            found.append(Surprise(case, f"{one.outcome}, and no line expects it{f': {one.detail}' if one.detail else ''}"))
        elif expected is not None and not expected.allows(one.outcome, one.differs):
            found.append(Surprise(case, _unlike(expected, one)))
    if complete:
        found += [Surprise(case, "is expected, but no such case exists") for case in expectations.cases if case not in all_cases]
    return found


def updated(before: Expectations, version: str, seen: dict[str, Seen], all_cases: set[str], accept: Accept) -> Expectations:
    """Without the lines of cases that are as they should be, or are gone. What `accept` does not take stays as it was."""
    cases = {case: one for case, one in before.cases.items() if case in all_cases and not (case in seen and seen[case].fine)}
    for case, one in seen.items():
        if one.fine or not accept.takes(case):
            continue
        outcome, differs = one.outcome, one.differs
        old = cases.get(case)
        if old is None or not old.allows(outcome, differs) or old.finding != accept.finding:
            kept = old.reason if old is not None and outcome in old.outcome.split(" or ") else ""
            words = old.outcome if old is not None and kept else outcome
            why, varies = accept.reason or kept or one.detail or outcome, old.varies if old is not None else {}
            pinned = old.pinned(differs) if old is not None else differs
            cases[case] = Expected(case, words, why, accept.finding, pinned, varies)
    return replace(before, version=version, cases=cases)
