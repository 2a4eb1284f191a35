"""The tools beside the targets: what campaign, trial and corpus-update compute; that each planted bug still applies; fuzz_text."""

import importlib.machinery
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

FUZZ = Path(__file__).resolve().parent
PATCHES = sorted((FUZZ / "planted").glob("*.patch"))


def load(name: str) -> ModuleType:
    """A program without a suffix, as a module."""
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(FUZZ / name))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    sys.modules[loader.name] = module  # dataclasses look their module up
    loader.exec_module(module)
    return module


campaign, trial, corpus_update, fuzz_text = load("campaign"), load("trial"), load("corpus-update"), load("fuzz_text")


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)
def test_a_planted_bug_applies_to_the_tree(patch: Path) -> None:
    sentence = patch.read_text(encoding="utf-8").split("\n\n")[0]
    assert sentence.endswith("."), "the first line says what the bug is"
    command = ["patch", "-p1", "--dry-run", "--forward", "--fuzz=0", "-i", str(patch)]
    done = subprocess.run(command, cwd=FUZZ.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_twelve_bugs_are_planted() -> None:
    assert len(PATCHES) >= 12


ASAN = """corpus/x ==17==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000018
READ of size 8 at 0x602000000018 thread T0
    #0 0x55f in memcpy (/lib/x.so+0x5)
    #1 0x561 in character /src/validator/src/base/utf8.c:14:3
    #2 0x562 in utf8_valid /src/validator/src/base/utf8.c:60:3
    #3 0x563 in LLVMFuzzerTestOneInput /src/fuzz/fuzz_paths.c:100:5
"""


def test_finds_of_one_kind_have_one_name() -> None:
    assert campaign.kind_of(ASAN) == "heap-buffer-overflow < character < utf8_valid"
    assert campaign.kind_of(ASAN.replace("0x602000000018", "0x7")) == campaign.kind_of(ASAN)
    first, second = "memory and a pipe differ: OBJ-004 at 0x3b\n", "memory and a pipe differ: OBJ-004 at 0x17\nstatus -6"
    assert campaign.kind_of(first) == campaign.kind_of(second) == "memory and a pipe differ: OBJ-N at N"
    ubsan = "/src/validator/src/findings/findings.c:9:2: runtime error: index 9 out of bounds"
    assert campaign.kind_of(ubsan) == "index N out of bounds"


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_a_fleet_has_one_main_instance(jobs: int) -> None:
    names = ["main", "sanitized", "cmplog", "fast0", "explore1"][:jobs]
    programs = {name: Path(name) for name in ("plain", "sanitized", "cmplog")}
    fleet = campaign.afl_fleet(programs, jobs)
    assert [name for name, _, _ in fleet] == names
    assert [options[0] for _, options, _ in fleet] == ["-M"] + ["-S"] * (jobs - 1)
    assert all((program == Path("sanitized")) == (name == "sanitized") for name, _, program in fleet)


def test_seeds_are_named_by_their_bytes(tmp_path: Path) -> None:
    for name, data in (("a/x", b"1"), ("b/x", b"2"), ("c/y", b"2")):
        file = tmp_path / name
        file.parent.mkdir()
        file.write_bytes(data)
    campaign.add_files((file for file in tmp_path.rglob("*") if file.is_file()), tmp_path / "seeds")
    assert sorted(file.read_bytes() for file in (tmp_path / "seeds").iterdir()) == [b"1", b"2"]


def test_mann_whitney_is_exact() -> None:
    assert trial.mann_whitney([6, 7, 8, 9, 10], [1, 2, 3, 4, 5]) == 1 / 252
    assert trial.mann_whitney([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]) == 1
    assert trial.mann_whitney([1, 1], [1, 1]) == 1
    assert trial.mann_whitney([3, 1], [2, 0]) == 2 / 6


def test_statistics_of_all_processes_are_added() -> None:
    summary = campaign.Summary("fuzz_oracle", "mutants", "abc", False, "2026-01-01 00:00", 2)
    for heap, median in ((60, 7), (80, 9)):
        report = f"100 inputs without a difference\n{heap} with a heap dump, 60.0 %\n"
        campaign.add_statistics(f"{report}median of those with a heap dump: {median} sub-records\nREC-001 5\n", summary)
    assert summary.rules == {"REC-001": 10}
    about = "Inputs compared: 200, 70.0 % with a heap dump; the median of those with a heap dump is 7 sub-records."
    assert campaign.describe_inputs(summary.inputs, summary.medians) == about
    assert campaign.describe_inputs({}, []) == ""


def test_results_add_up_by_commit_and_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_update, "FUZZ", tmp_path)
    (tmp_path / "results").mkdir()
    row = {"commit": "abc", "changed": False, "cpu_seconds": 1800, "executions": 1000, "edges": 5, "finds": []}
    first: dict[str, object] = {"target": "t", "date": "2026-01-01"}
    later: dict[str, object] = {"target": "t", "date": "2026-01-02", "edges": 7}
    for i, more in enumerate((first, later, {**first, "target": "u"})):
        (tmp_path / "results" / f"{i}.json").write_text(json.dumps({**row, **more}), encoding="utf-8")
    assert corpus_update.table()[2:] == [
        "| 2026-01-02 | abc | all | 1.50 | 3,000 |  | 0 |",
        "| 2026-01-02 | abc | t | 1.00 | 2,000 | 7 | 0 |",
        "| 2026-01-02 | abc | u | 0.50 | 1,000 | 5 | 0 |",
    ]


def test_planted_bugs_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_update, "FUZZ", tmp_path)
    (tmp_path / "results").mkdir()
    found = {"name": "a", "found_by": "fuzz_paths", "seconds": 2.4, "kind": "x | y"}
    bugs = [found, {"name": "b", "found_by": "", "seconds": 9, "kind": ""}]
    run = {"date": "2026-01-01", "commit": "abc", "seconds_for_each_target": 9, "unpatched": {"found_by": ""}, "planted": bugs}
    (tmp_path / "results/planted.json").write_text(json.dumps(run), encoding="utf-8")
    lines = corpus_update.planted()
    assert " ".join(lines[:2]).endswith("at most: 1 of 2 bugs are found; the unpatched tree is silent.")
    assert lines[-2:] == ["| a | fuzz_paths | 2 | x \\| y |", "| b | none | 9 |  |"]
    assert corpus_update.campaigns() == []


@pytest.mark.parametrize("data", [b"", b"\x1f\x8b", b"JAVA PROFILE 1.0.2\0\0\0\0\x08", bytes(range(256))])
def test_text_is_inverted(data: bytes) -> None:
    fuzz_text.check(data)


def test_other_bytes_are_a_find(monkeypatch: pytest.MonkeyPatch) -> None:
    assemble = fuzz_text.assemble
    monkeypatch.setattr(fuzz_text, "assemble", lambda text: assemble(text.replace("1.0.2", "1.0.1")))
    with pytest.raises(fuzz_text.DifferenceError):
        fuzz_text.check(b"JAVA PROFILE 1.0.2\0")


def test_inputs_that_fail_no_more_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of those that fail, there is one find for each kind: the smallest."""
    raw = tmp_path / "raw"
    raw.mkdir()
    for name, data in (("crash-1", "large"), ("crash-2", "tiny"), ("timeout-3", "")):
        (raw / name).write_text(data, encoding="utf-8")
    for name in ("build_replay", "build_libfuzzer"):
        monkeypatch.setattr(campaign, name, lambda *_: tmp_path)
    monkeypatch.setattr(campaign, "minimise", lambda _, file, to: to.write_bytes(file.read_bytes()))
    monkeypatch.setattr(campaign, "reproduce", lambda _, file: "7 bytes differ" if file.stat().st_size else None)
    summary = campaign.Summary("fuzz_paths", "libfuzzer", "abc", False, "2026-01-01 00:00", 2)
    campaign.sort_finds(tmp_path, "fuzz_paths", "clang", summary)
    assert [(find.kind, find.inputs) for find in summary.finds] == [("N bytes differ", 2)]
    assert (tmp_path / "finds" / summary.finds[0].file).read_text(encoding="utf-8") == "tiny"
    assert campaign.as_markdown(summary).endswith("Not reproduced: timeout-3 in raw/\n")


def test_finds_and_seeds_are_taken_into_the_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The smallest files that are no seeds, at most as many as wanted; each find; the summary."""
    monkeypatch.setattr(corpus_update, "FUZZ", tmp_path / "fuzz")
    monkeypatch.setattr(corpus_update, "ROOT", tmp_path)
    (tmp_path / "corpus/valid").mkdir(parents=True)
    (tmp_path / "corpus/valid/x.hprof").write_bytes(b"1")
    out = tmp_path / "out"
    for name, data in (("corpus/a", b"1"), ("corpus/b", b"22"), ("corpus/c", b"333"), ("finds/d", b"4")):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(data)
    summary = {"target": "t", "engine": "afl", "date": "2026-01-01 00:00", "finds": [{"file": "d"}]}
    (out / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    corpus_update.take(out, 1)
    taken = {kind: [file.read_bytes() for file in (tmp_path / "fuzz" / kind / "t").iterdir()] for kind in ("corpora", "finds")}
    assert taken == {"corpora": [b"22"], "finds": [b"4"]}
    assert (tmp_path / "fuzz/results/2026-01-01-00-00-t-afl.json").exists()
