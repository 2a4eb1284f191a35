"""Whether the oracle would notice a mistake: each rule that it compares is patched in the library, and fuzz_oracle must abort. And
that mutants of the corpus break each of these rules often."""

import os
import re
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1]
CORPUS = SOURCE / "corpus"
TARGET = os.environ["HPROF_FUZZ_ORACLE"]
PATCHED = os.environ["HPROF_FUZZ_ORACLE_PATCHED"]
MUTANTS = os.environ["HPROF_FUZZ_ORACLE_MUTANTS"]
TOOL = os.environ["HPROF_VALIDATE"]
MUTANT_COUNT = int(os.environ.get("HPROF_MUTANTS", "20000"))

TABLE = (SOURCE / "fuzz/ORACLE.md").read_text()
ROWS = re.findall(r"^\| ([A-Z]+-\d{3}) \| `[a-z0-9.-]+` \| (compared|excluded)", TABLE, re.M)
COMPARED = [rule for rule, state in ROWS if state == "compared"]


def dumps(folder: Path) -> list[Path]:
    files = sorted(folder.rglob("*.hprof"))
    assert files
    return files


def replay(program: str, *paths: Path, **environment: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run([program, *paths], env=os.environ | environment, capture_output=True, timeout=300, check=False)


def test_every_rule_is_listed_once() -> None:
    listed = subprocess.run([TOOL, "--list-rules"], capture_output=True, check=True, text=True).stdout
    assert [rule for rule, _ in ROWS] == re.findall(r"^([A-Z]+-\d{3})\b", listed, re.M)
    assert len(COMPARED) >= 85


def test_the_corpus_makes_no_difference() -> None:
    done = replay(TARGET, *dumps(CORPUS))
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize("rule", COMPARED)
@pytest.mark.parametrize("patch", ["suppressed", "renamed"])
def test_a_patched_rule_makes_a_difference(rule: str, patch: str) -> None:
    files = [file for file in dumps(CORPUS) if file.parent.name == rule]
    done = replay(PATCHED, *files, PATCHED_RULE=rule, PATCH=patch)
    assert done.returncode, done.stderr.decode()
    assert b"oracle and library differ" in done.stderr


def test_without_a_patch_there_is_no_difference() -> None:
    """What the patched build shows comes from the patch."""
    done = replay(PATCHED, *dumps(CORPUS))
    assert done.returncode == 0, done.stderr.decode()


def test_mutants_show_each_rule() -> None:
    """One mutant in a thousand breaks any given rule, and is compared. Most mutants have several kinds of sub-records."""
    environment = os.environ | {"FUZZ_ORACLE_STATISTICS": "1"}
    done = subprocess.run([MUTANTS, str(MUTANT_COUNT), *dumps(CORPUS)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    print(done.stdout, done.stderr)
    by_rule = {rule: int(inputs) for rule, inputs in re.findall(r"^([A-Z]+-\d{3}) (\d+)$", done.stderr, re.M)}
    assert {rule: by_rule[rule] for rule in COMPARED if by_rule[rule] < MUTANT_COUNT / 1000} == {}
    share = {which: float(percent) for which, percent in re.findall(r"^\d+ with (.*), ([\d.]+) %$", done.stderr, re.M)}
    assert share["a heap dump"] >= 50
    assert share["three kinds of sub-records or more"] >= 40
    median = re.search(r"^median of those with a heap dump: (\d+) sub-records$", done.stderr, re.M)
    assert median and int(median[1]) >= 5
