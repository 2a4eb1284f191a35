"""What `--explain` shows as an example of each rule assembles, and its fault is that rule's."""

from __future__ import annotations

import re

import pytest

from hprof_corpus import layouts
from hprof_corpus.assembler import assemble
from hprof_corpus.notation import parse
from hprof_corpus.rules import read_rules
from tests.conftest import ROOT, RULES_DEF

_STRING = r'"(?:[^"\\]|\\.)*"'
_EXPLAIN = re.compile(rf"EXPLAIN\((\w+?)(?:_|, ?)(\d+),((?:\s|,|{_STRING})*)\)")
_EXPLANATIONS = ROOT / "validator/src/findings/explanations.def"
_HEADER = 'hprof "JAVA PROFILE 1.0.2" id-size 8 time 2026-01-01T00:00:00Z\n'


def examples() -> dict[str, str]:
    found: dict[str, str] = {}
    for family, number, arguments in _EXPLAIN.findall(_EXPLANATIONS.read_text(encoding="utf-8")):
        last = re.split(r'"\s*,\s*"', arguments)[-1]
        joined = re.sub(r'"\s*\n\s*"', "", last).strip().removesuffix('"')
        found[f"{family}-{number}"] = joined.replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\")
    return found


def whole(example: str) -> str:
    """The example with what it leaves out: a header, a segment around sub-records."""
    words = {statement.word for statement in parse(example)}
    if words & {"hprof", "gzip"}:
        return example
    if words & set(layouts.SUBRECORDS_BY_WORD):
        return f"{_HEADER}segment {{\n{example}\n}}\n"
    return _HEADER + example


def test_every_rule_has_one() -> None:
    assert set(examples()) == set(read_rules(RULES_DEF))


@pytest.mark.parametrize(("rule", "example"), examples().items())
def test_example(rule: str, example: str) -> None:
    assert [fault.rule for fault in assemble(whole(example)).faults] == [rule]


def test_the_program_in_the_readme_runs() -> None:
    readme = (ROOT / "generator/python/README.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"^```python\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    exec(compile(program, "README.md", "exec"), {})
