"""Each program of bad_readers spoils something on purpose, and the runner must find it. The honest one must pass."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from built import ROOT, TRUTH
from some_cases import some

from hprof_conformance import cases, expectations, main, matrix, outcomes
from hprof_conformance.cases import Case
from hprof_conformance.readers import Reader
from hprof_conformance.session import Limits

BAD = Path(__file__).parent / "bad_readers"
HELPERS = {"honest", "nan", "tidies_late"}
READERS = sorted(path.stem for path in BAD.glob("*.py") if path.stem not in HELPERS)
CASES = [
    *("valid/arrays-all-types-102-id8", "valid/fields-all-types-102-id8", "valid/statics-all-types-102-id8"),
    *(
        "valid/gzip-one-member-101-id4",
        "valid/two-dumps-same-ids-102-*",
        "invalid/REC-002/segment*",
        "gold/jdk8",
        "gold/agent8-odd-nan",
    ),
]


@pytest.fixture(scope="module")
def fed() -> matrix.Cases:
    chosen = cases.read_cases(ROOT, TRUTH, CASES)
    assert {one.should for one in chosen} == {"accept", "reject"} and sum(one.is_real for one in chosen) == 2
    assert any("several-heap-dumps" in one.requires for one in chosen)
    return matrix.Cases(chosen, cases.read_controls(ROOT, TRUTH, chosen), cases.needs(ROOT))


def run(name: str, fed: matrix.Cases, folder: Path) -> matrix.Row:
    program = folder / name
    package = ROOT / "generator" / "python"
    program.write_text(f'#!/bin/sh\nPYTHONPATH={package}:{BAD} exec {sys.executable} -B {BAD / name}.py "$@"\n')
    program.chmod(0o755)
    reader = Reader(name, name, "unknown", name, "", "", "own", program, {})
    return matrix.run_reader(ROOT, folder, reader, fed, Limits(memory=500 << 20))


def surprises(row: matrix.Row, all_cases: list[Case]) -> list[str]:
    """What the run reports of a reader whose faults nobody expects."""
    seen = {cell.case.name: main.seen(cell) for cell in row.cells}
    found = expectations.compare(expectations.Expectations(), seen, {one.name for one in all_cases}, complete=False)
    return [row.why_not, row.unasked, *(f"{one.case}: {one.what}" for one in found)]


def test_the_honest_reader_passes(fed: matrix.Cases, tmp_path: Path) -> None:
    row = run("honest", fed, tmp_path)
    assert not any(surprises(row, fed.chosen))
    assert {cell.verdict.outcome for cell in row.cells} == {outcomes.RIGHT, outcomes.REJECTED}


def test_a_reader_that_tidies_up_late_passes(fed: matrix.Cases, tmp_path: Path) -> None:
    before = {*Path(tempfile.gettempdir()).glob("hprof-tidies_late-*")}
    assert not any(surprises(run("tidies_late", fed, tmp_path), fed.chosen))
    assert {*Path(tempfile.gettempdir()).glob("hprof-tidies_late-*")} <= before


@pytest.mark.parametrize("name", some(READERS))
def test_a_bad_reader_is_found(name: str, fed: matrix.Cases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hprof_conformance.session._PATIENCE", 3.0)
    row = run(name, fed, tmp_path)
    assert any(surprises(row, fed.chosen)), [cell.verdict for cell in row.cells]


@pytest.mark.parametrize("name", [name for name in READERS if "notice" in name])
def test_a_notice_for_all_dumps_reports_nothing(name: str, fed: matrix.Cases, tmp_path: Path) -> None:
    row = run(name, fed, tmp_path)
    assert not [cell for cell in row.cells if cell.verdict.outcome == outcomes.NOTICED]


def test_a_notice_reports_nothing_even_if_no_valid_dump_was_chosen(fed: matrix.Cases, tmp_path: Path) -> None:
    """The controls show that the reader says the same of valid dumps."""
    row = run("one_notice", replace(fed, chosen=[one for one in fed.chosen if not one.is_control]), tmp_path)
    assert row.cells and not [cell for cell in row.cells if cell.verdict.outcome == outcomes.NOTICED]


def test_a_real_dump_shows_what_is_left_out_of_it_alone(fed: matrix.Cases, tmp_path: Path) -> None:
    for name in ("instance_left_out", "field_zeroed", "reference_zeroed", "element_zeroed", "root_of_another_object"):
        found = {cell.case.name for cell in run(name, fed, tmp_path).cells if not cell.verdict.is_fine}
        assert found == {"gold/jdk8", "gold/agent8-odd-nan"}, name
