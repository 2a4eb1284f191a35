"""The tools beside the targets: what campaign, trial and corpus-update compute; that each planted bug still applies; fuzz_text."""

import importlib.machinery
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

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


def test_every_target_in_c_runs_under_memory_sanitizer() -> None:
    script = (FUZZ.parent / "ci/test").read_text(encoding="utf-8")
    (built,) = re.findall(r"--target fuzz_\{(.*)\}$", script, re.MULTILINE)
    (run,) = re.findall(r"for target in (.*); do$", script, re.MULTILINE)
    names = {target.removeprefix("fuzz_") for target in campaign.C_TARGETS}
    assert set(built.split(",")) == names == set(run.split())


def new_summary(target: str, engine: str, jobs: int, **more: int) -> Any:
    now = "2026-01-01 00:00"
    return campaign.Summary(target, engine, "abc", False, "c0de", now, now, jobs, 60, **more)


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
    assert campaign.kind_of(first) == campaign.kind_of(second) == "memory and a pipe differ: OBJ-004 at N"
    assert campaign.kind_of("  library: REC-013 at 0x3b\n") == "library: REC-013 at N"
    ubsan = "/src/validator/src/findings/findings.c:9:2: runtime error: index 9 out of bounds"
    assert campaign.kind_of(ubsan) == "index N out of bounds"
    assert campaign.kind_of("U+009E reaches the report") == campaign.kind_of("U+007F reaches the report")
    stack = "    #1 0x561 in character /src/validator/src/base/utf8.c:14:3\nSUMMARY: AddressSanitizer: ABRT in fail_target\n"
    aborted = f"{first}AddressSanitizer:DEADLYSIGNAL\n==1==ERROR: AddressSanitizer: ABRT on unknown address\n{stack}"
    assert campaign.kind_of(aborted) == campaign.kind_of(first)


@pytest.mark.parametrize(
    ("oracle", "library", "kind"),
    [
        ("REF-001 at 0x9", "STR-002 at 0x3", "oracle: REF-001 at N"),
        ("", "STR-002 at 0x3", "library: STR-002 at N"),
        ("REF-001 at 0x9", "REF-001 at 0x9", ""),
        ("", "", ""),
    ],
)
def test_a_difference_is_named_by_the_first_finding_of_one_side_alone(oracle: str, library: str, kind: str) -> None:
    """What both sides have says nothing about the bug."""
    both = "REC-002 at 0x1f"
    lines = ["oracle and library differ: a finding", "  oracle: reading failed; read until 0x9, heap dumps closed until 0x3"]
    lines += [f"  oracle : {both}"]
    lines += [f"  oracle, for the failure: {oracle}"] if oracle else []
    lines += [f"  library: {library}"] if library else []
    lines += [f"  library: {both}", "status -6"]
    expected = "oracle and library differ: a finding"
    assert campaign.kind_of("\n".join(lines)) == (f"{expected}, {kind}" if kind else expected)


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_a_fleet_has_one_main_instance(jobs: int) -> None:
    names = ["main", "sanitized", "cmplog", "explore0", "coe1"][:jobs]
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
    summary = new_summary("fuzz_oracle", "mutants", 2)
    for heap, median in ((60, 7), (80, 9)):
        report = f"100 inputs without a difference\n{heap} with a heap dump, 60.0 %\n"
        campaign.add_statistics(f"{report}median of those with a heap dump: {median} sub-records\nREC-001 5\n", summary)
    assert summary.rules == {"REC-001": 10}
    about = "Inputs compared: 200, 70.0 % with a heap dump; the median of those with a heap dump is 7 sub-records."
    assert campaign.describe_inputs(summary.inputs, summary.medians) == about
    assert campaign.describe_inputs({}, []) == ""


def test_only_sources_of_targets_change_the_code(tmp_path: Path) -> None:
    def code_after(name: str, text: str) -> str:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return str(campaign.code_of(tmp_path, "fuzz_paths"))

    first = code_after("validator/src/base/hash.c", "1")
    same = ["SPEC.md", "fuzz/README.md", "fuzz/corpora/fuzz_paths/1234", "conformance/reader.c", "validator/tests/test_hash.c"]
    same += ["validator/cli/report.c", "validator/src/repair/repair.c", "validator/src/show/show.c", "fuzz/test_faults.c"]
    same += [
        "generator/src/heap/model.c",
        "fuzz/mutator.c",
        "fuzz/mutants.c",
        "fuzz/oracle.c",
        "fuzz/oracle_failure.h",
        "fuzz/fuzz_records.c",
        "fuzz/expect_manifest.c",
        "fuzz/fuzz_text",
        "generator/python/hprof_corpus/walk.py",
    ]
    assert {code_after(name, "x") for name in same} == {first}
    others = ["validator/src/base/hash.c", "validator/src/rules.def", "validator/include/hprof.h"]
    others += ["fuzz/fuzz_paths.c", "fuzz/target.h"]
    assert len({first, *(code_after(name, "2") for name in others)}) == 1 + len(others)
    before = code_after("validator/src/base/hash.c", 'int a; /* one */ char *b = "/* two */ ";')
    assert code_after("validator/src/base/hash.c", '// new\nint a;\n/* a\n * b */\tchar *b = "/* two */ ";') == before
    assert code_after("validator/src/base/hash.c", 'int a; char *b = "/* 2 */ ";') != before
    assert code_after("validator/src/base/hash.c", 'int a; char *b = "/* two */";') != before
    (tmp_path / "fuzz/target.h").rename(tmp_path / "fuzz/other.h")
    assert code_after("SPEC.md", "y") != code_after("fuzz/target.h", "2")
    text = campaign.code_of(tmp_path, "fuzz_text")
    code_after("fuzz/fuzz_paths.c", "3")
    assert campaign.code_of(tmp_path, "fuzz_text") == text
    code_after("generator/python/hprof_corpus/walk.py", "half = whole // 2")
    text = campaign.code_of(tmp_path, "fuzz_text")
    code_after("generator/python/hprof_corpus/walk.py", "half = whole // 3")
    assert campaign.code_of(tmp_path, "fuzz_text") != text
    assert campaign.code_of(tmp_path, "fuzz_oracle") != campaign.code_of(tmp_path, "fuzz_records") != campaign.code_of(tmp_path)


def test_results_add_up_by_code_commit_and_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What two commits of the same code ran is one sum; another code is another."""
    monkeypatch.setattr(corpus_update, "FUZZ", tmp_path)
    monkeypatch.setattr(corpus_update, "ALL_TARGETS", ["t", "u", "v", "fuzz_text"])
    monkeypatch.setattr(corpus_update, "code_of", lambda _, target: "c0de" if target == "t" else "new")
    (tmp_path / "results").mkdir()
    row: dict[str, object] = {"target": "t", "engine": "afl", "commit": "abc", "changed": False, "code": "c0de"}
    row |= {"date": "2026-01-01", "cpu_seconds": 1800, "executions": 1000, "edges": 5, "finds": []}
    later: dict[str, object] = {"date": "2026-01-03", "commit": "def", "edges": 7, "finds": [{}], "not_reproduced": ["a", "b"]}
    older: dict[str, object] = {"code": "01d", "date": "2026-01-02", "changed": True}
    runs: list[dict[str, object]] = [later, {}, {"target": "u", "compiler": "clang"}, {"target": "v", "code": "new"}, older]
    for i, more in enumerate(runs):
        (tmp_path / "results" / f"{i}.json").write_text(json.dumps({**row, **more}), encoding="utf-8")
    assert corpus_update.of_present_code()[2:] == [
        "| t | c0de | 1.00 | 2,000 | 1 | 2 |",
        "| u | new | 0.00 | 0 | 0 | 0 |",
        "| v | new | 0.50 | 1,000 | 0 | 0 |",
        "| fuzz_text | new | 0.00 | 0 | 0 | 0 |",
        "| **all** | | 1.50 | 3,000 | 1 | 2 |",
    ]
    assert corpus_update.by_commit()[2:] == [
        "| 2026-01-01 | abc | 1.50 | 3,000 | 0 | 0 |",
        "| 2026-01-02 | abc and changes | 0.50 | 1,000 | 0 | 0 |",
        "| 2026-01-03 | def | 0.50 | 1,000 | 1 | 2 |",
    ]
    assert corpus_update.by_target()[2:] == [
        "| c0de | u | afl | clang | 0.50 | 1,000 | 5 | 0 | 0 |",
        "| new | v | afl |  | 0.50 | 1,000 | 5 | 0 | 0 |",
        "| 01d | t | afl |  | 0.50 | 1,000 | 5 | 0 | 0 |",
        "| c0de | t | afl |  | 1.00 | 2,000 | 7 | 1 | 2 |",
    ]


def test_a_rule_that_no_mutant_broke_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If it is compared."""
    monkeypatch.setattr(corpus_update, "FUZZ", tmp_path)
    states = {"A-001": "compared", "A-002": "compared", "A-003": "excluded"}
    table = [f"| {rule} | `1.2` | {state} |" for rule, state in states.items()]
    (tmp_path / "ORACLE.md").write_text("\n".join(table), encoding="utf-8")
    (tmp_path / "results").mkdir()
    run = {"date": "2026-01-01", "commit": "abc", "executions": 1000, "finds": [], "rules": {"A-001": 7, "A-003": 0}}
    (tmp_path / "results/1.json").write_text(json.dumps(run), encoding="utf-8")
    lines = corpus_update.rules()
    assert lines[0] == "1,000 mutants of the corpus at commit abc broke 1 rules;"
    assert lines[-2:] == ["| A-002 | 0 |", "| A-001 | 7 |"]


def test_planted_bugs_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_update, "FUZZ", tmp_path)
    (tmp_path / "results").mkdir()
    found = {"name": "a", "found_by": "fuzz_paths", "stage": "seeds", "seconds": 2.4, "kind": "x | y"}
    bugs = [found, {"name": "b", "found_by": "", "stage": "", "seconds": 9, "kind": ""}]
    run: dict[str, object] = {"date": "2026-01-01", "commit": "abc", "code": "c0de", "seconds_for_each_target": 9}
    run |= {"unpatched": {"found_by": "", "kind": ""}, "planted": bugs}
    (tmp_path / "results/planted.json").write_text(json.dumps(run), encoding="utf-8")
    lines = corpus_update.planted()
    assert " ".join(lines[:2]).endswith("at most: 1 of 2 bugs are found; the unpatched tree is silent.")
    assert lines[-2:] == ["| a | fuzz_paths | seeds | 2 | x \\| y |", "| b | none |  | 9 |  |"]
    assert corpus_update.campaigns() == []


def test_results_that_are_out_of_date_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A campaign that RESULTS.md does not count, and a patch that planted.json does not have."""
    (tmp_path / "ORACLE.md").touch()
    for name, value in (("FUZZ", tmp_path), ("RESULTS", tmp_path / "RESULTS.md")):
        monkeypatch.setattr(corpus_update, name, value)
    monkeypatch.setattr(corpus_update, "code_of", lambda *_: "c0de")
    for folder in ("results", "planted"):
        (tmp_path / folder).mkdir()
    (tmp_path / "planted/a.patch").touch()
    run: dict[str, object] = {"date": "2026-01-01", "commit": "abc", "code": "c0de", "seconds_for_each_target": 9}
    bug = {"name": "a", "found_by": "fuzz_paths", "stage": "seeds", "seconds": 2.4, "kind": "x"}
    run |= {"unpatched": {"found_by": "", "kind": ""}, "planted": [bug]}
    (tmp_path / "results/planted.json").write_text(json.dumps(run), encoding="utf-8")
    parts = ("present", "commits", "targets", "rules", "planted")
    empty = "".join(f"<!-- computed: {part} -->\n<!-- /computed -->\n" for part in parts)
    (tmp_path / "RESULTS.md").write_text(corpus_update.with_tables(empty), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["corpus-update", "--check"])
    with pytest.raises(SystemExit) as good:
        corpus_update.main()
    assert not good.value.code

    row: dict[str, object] = {"target": "fuzz_gzip", "engine": "afl", "commit": "abc", "changed": False, "code": "c0de"}
    row |= {"date": "2026-01-01", "cpu_seconds": 1800, "executions": 1000, "edges": 5, "finds": []}
    (tmp_path / "results/1.json").write_text(json.dumps(row), encoding="utf-8")
    (tmp_path / "planted/b.patch").touch()
    with pytest.raises(SystemExit, match=r"(?s)RESULTS.md does not agree .*do not have the same bugs.*: b\.$"):
        corpus_update.main()


def write_script(file: Path, script: str) -> Path:
    file.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    file.chmod(0o755)
    return file


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        ("echo 1..2; echo ok 1 - a; echo ok 2 - b", ""),
        ("echo ok 1 - a; echo 7 bytes differ >&2; echo not ok 2 - b; while sleep 1; do echo ok 3 - c; done", "N bytes differ"),
        ("echo 1..1; echo ok 1 - a; echo LeakSanitizer: detected memory leaks >&2; echo Bail out!; exit 1", "leaks"),
        ("echo 7 bytes differ >&2; kill -ABRT $$", "N bytes differ"),
        ("kill -SEGV $$", "status -N"),
        ("echo ok 1 - a; exec sleep 60", "timeout: sending signal TERM to command"),
    ],
)
def test_the_first_input_that_fails_is_the_find(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, kind: str) -> None:
    """The other inputs are not run."""
    monkeypatch.setattr(campaign, "TURN", 2)
    found = campaign.first_failure([write_script(tmp_path / "program", script)], tmp_path)
    assert found.startswith(kind) if kind else not found


@pytest.mark.parametrize("stage", ["seeds", "mutants", "fuzzing", ""])
def test_a_planted_bug_is_hunted_in_stages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str) -> None:
    """Seeds of all targets, then mutants, then fuzzing. What comes after the find is not built."""
    built = []

    def build(kind: str, targets: list[str]) -> Path:
        built.append((kind, *targets))
        return Path(kind)

    def find(program: Path) -> str:
        at = "mutants" if program.name.endswith("-mutants") else {"replay": "seeds", "libfuzzer": "fuzzing"}[str(program.parent)]
        return "7 bytes differ" if at == stage and program.name.startswith("fuzz_repair") else ""

    monkeypatch.setattr(campaign, "build_replay", lambda _, __, targets, ___: build("replay", targets))
    monkeypatch.setattr(campaign, "build_libfuzzer", lambda _, __, targets, ___: build("libfuzzer", targets))
    monkeypatch.setattr(campaign, "first_failure", lambda command, _: find(command[0]))
    monkeypatch.setattr(campaign, "fuzz", lambda program, *_: find(program))
    found = campaign.hunt("a", tmp_path, tmp_path, 60, "clang")
    expected = ("fuzz_repair", stage, "7 bytes differ") if stage else ("", "", "")
    assert (found.found_by, found.stage, found.kind) == expected
    everything = [("replay", target) for target in campaign.ALL_TARGETS]
    everything += [("replay", f"{target}-mutants") for target in campaign.MUTANT_TARGETS]
    everything += [("libfuzzer", target) for target in campaign.C_TARGETS]
    last = {"seeds": "fuzz_repair", "mutants": "fuzz_repair-mutants", "fuzzing": "fuzz_repair", "": campaign.C_TARGETS[-1]}[stage]
    kind = "libfuzzer" if stage in ("fuzzing", "") else "replay"
    assert built == everything[: everything.index((kind, last)) + 1]


@pytest.mark.parametrize("data", [b"", b"\x1f\x8b", b"JAVA PROFILE 1.0.2\0\0\0\0\x08", bytes(range(256))])
def test_text_is_inverted(data: bytes) -> None:
    fuzz_text.check(data)


def test_other_bytes_are_a_find(monkeypatch: pytest.MonkeyPatch) -> None:
    assemble = fuzz_text.assemble
    monkeypatch.setattr(fuzz_text, "assemble", lambda text: assemble(text.replace("1.0.2", "1.0.1")))
    with pytest.raises(fuzz_text.DifferenceError):
        fuzz_text.check(b"JAVA PROFILE 1.0.2\0")


def test_a_replay_of_text_goes_on_after_a_find(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_bytes(b"JAVA PROFILE 1.0.2\0")
    second.write_bytes(b"")
    assert fuzz_text.replay([first, second])
    capsys.readouterr()
    assemble = fuzz_text.assemble
    monkeypatch.setattr(fuzz_text, "assemble", lambda text: assemble(text.replace("1.0.2", "1.0.1")))
    assert not fuzz_text.replay([first, second])
    assert capsys.readouterr().out == f"1..2\nnot ok 1 - {first}\nok 2 - {second}\n"


def test_a_campaign_of_other_sources_does_not_go_on(tmp_path: Path) -> None:
    settings = campaign.Settings("libfuzzer", 1, "clang")
    (tmp_path / "summary.json").write_text(json.dumps({"code": "of a time before"}), encoding="utf-8")
    with pytest.raises(campaign.StartError, match="the sources of fuzz_gzip were changed"):
        campaign.campaign(tmp_path, tmp_path, "fuzz_gzip", settings, 60, 60)


def test_a_folder_with_a_space_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """libFuzzer hands it to a shell."""
    command = ["campaign", "--target", "fuzz_gzip", "--engine", "libfuzzer", "--out", str(tmp_path / "a b")]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit, match="2"):
        campaign.main()


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
    summary = new_summary("fuzz_paths", "libfuzzer", 2)
    (tmp_path / "finds").mkdir()
    (tmp_path / "finds/former").touch()
    campaign.sort_finds(tmp_path, tmp_path, "fuzz_paths", "clang", summary)
    assert (tmp_path / "finds/former").exists(), "the saved summary names it"
    campaign.remove_former_finds(tmp_path, summary.finds)
    assert {file.name for file in (tmp_path / "finds").iterdir()} == {summary.finds[0].file, f"{summary.finds[0].file}.txt"}
    assert [(find.kind, find.inputs) for find in summary.finds] == [("N bytes differ", 2)]
    assert (tmp_path / "finds" / summary.finds[0].file).read_text(encoding="utf-8") == "tiny"
    assert campaign.as_markdown(summary).endswith("Not reproduced: timeout-3 in raw/\n")


def test_a_target_that_fails_all_the_time_keeps_few_inputs(tmp_path: Path) -> None:
    """The smallest: sorting takes up to SLOWEST seconds for each slow one."""
    for i in range(300):
        (tmp_path / f"crash-{i}").write_bytes(bytes(i))
        (tmp_path / f"timeout-{i}").write_bytes(bytes(i))
    campaign.trim(tmp_path)
    left = {kind: sorted(file.stat().st_size for file in tmp_path.glob(f"{kind}-*")) for kind in ("crash", "timeout")}
    assert left == {"crash": list(range(campaign.RAW_FILES)), "timeout": list(range(campaign.RAW_SLOW_FILES))}


class Fake:
    """Replaces a campaign of one target: it finds what it is given, cannot run, or saves seconds."""

    def __init__(self) -> None:
        self.runs: list[tuple[str, int]] = []
        self.fails = ""
        self.killed_after = 1000
        self.longer = 0  # seconds that each run takes longer than asked

    def __call__(self, out: Path, _: Path, target: str, settings: object, seconds: int, asked: int) -> object:
        if len(self.runs) == self.killed_after:
            raise KeyboardInterrupt
        self.runs.append((target, seconds))
        if target == self.fails:
            raise campaign.BuildError("no jansson")
        out.mkdir(parents=True, exist_ok=True)
        summary = campaign.new_summary(target, settings, asked)
        before = campaign.saved_in(out)
        summary.seconds = before.get("seconds", 0) + seconds + self.longer
        summary.cpu_seconds, summary.executions = 2 * seconds, 1000
        campaign.save(summary, out)
        return summary


def test_all_targets_take_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the same time each, in turns that are not long; a target that does not run takes no time of others."""
    fake = Fake()
    fake.fails = "fuzz_report"
    monkeypatch.setattr(campaign, "campaign", fake)
    settings = campaign.Settings("libfuzzer", 2, "clang")
    turn = 500
    assert not campaign.run_campaign(tmp_path, "all", settings, 2 * turn * len(campaign.C_TARGETS), {})
    others = [target for target in campaign.C_TARGETS if target != "fuzz_report"]
    assert turn < campaign.TURN < 2 * turn
    assert fake.runs == [(target, turn) for target in campaign.C_TARGETS] + [(target, turn) for target in others]
    saved = campaign.saved_in(tmp_path)
    assert (saved["target"], saved["seconds"], saved["executions"]) == ("all", len(others) * 2 * turn, len(others) * 1000)


def kill_and_resume(out: Path, target: str, seconds: int, killed_after: int, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """A campaign that is killed in one of its runs, and goes on to its end."""
    fake = Fake()
    fake.killed_after = killed_after
    monkeypatch.setattr(campaign, "campaign", fake)
    settings = campaign.Settings("libfuzzer", 2, "clang")
    with pytest.raises(KeyboardInterrupt):
        campaign.run_campaign(out, target, settings, seconds, {})
    fake.killed_after = 1000
    assert campaign.run_campaign(out, target, settings, None, campaign.saved_in(out))
    with pytest.raises(SystemExit, match="has run for its time"):
        campaign.run_campaign(out, target, settings, None, campaign.saved_in(out))
    return fake


def test_one_target_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = kill_and_resume(tmp_path, "fuzz_show", 3600, 2, monkeypatch)
    assert fake.runs == [("fuzz_show", 900)] * 4


def test_all_targets_go_on_where_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count = len(campaign.C_TARGETS)
    fake = kill_and_resume(tmp_path, "all", count * 1080, count + 3, monkeypatch)
    assert fake.runs == [(target, 540) for _ in range(2) for target in campaign.C_TARGETS]
    settings = campaign.Settings("libfuzzer", 2, "clang")
    assert campaign.run_campaign(tmp_path, "all", settings, count * 60, campaign.saved_in(tmp_path))
    assert fake.runs[2 * count :] == [(target, 60) for target in campaign.C_TARGETS]


def test_a_target_that_takes_longer_takes_no_time_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The total is that of all turns so far, also while the campaign goes on, and its beginning stays."""
    count = len(campaign.C_TARGETS)
    fake = Fake()
    fake.longer, fake.killed_after = 60, count - 1
    monkeypatch.setattr(campaign, "campaign", fake)
    settings = campaign.Settings("libfuzzer", 2, "clang")
    with pytest.raises(KeyboardInterrupt):
        campaign.run_campaign(tmp_path, "all", settings, count * 540, {})
    killed = campaign.saved_in(tmp_path)
    assert killed["seconds"] == (count - 1) * 600
    (tmp_path / "summary.json").write_text(json.dumps(killed | {"commit": "abc", "began": "before"}), encoding="utf-8")
    fake.killed_after = count
    assert campaign.run_campaign(tmp_path, "all", settings, None, campaign.saved_in(tmp_path))
    assert fake.runs[-1] == (campaign.C_TARGETS[-1], 540)
    saved = campaign.saved_in(tmp_path)
    assert (saved["seconds"], saved["commit"], saved["began"]) == (count * 600, "abc", "before")


def test_the_time_of_orphans_counts() -> None:
    busy = "import time; end = time.process_time() + 0.5\nwhile time.process_time() < end: pass"
    script = """import sys; sys.path[:0] = sys.argv[1:2]
import subprocess, test_campaign
test_campaign.campaign.adopt_orphans()
subprocess.run(["sh", "-c", '"$1" -c "$2" & exit', "sh", sys.executable, sys.argv[2]])
print(test_campaign.campaign.children_seconds())"""
    done = subprocess.run([sys.executable, "-c", script, FUZZ, busy], capture_output=True, text=True, check=True)
    assert float(done.stdout) >= 0.5


@pytest.mark.parametrize("printed", ["#100: cov: 7 ft", ""])
def test_executions_of_an_earlier_run_are_not_added_again(tmp_path: Path, printed: str) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho '{printed}'\n", encoding="utf-8")
    program.chmod(0o755)
    (tmp_path / "libfuzzer.log").write_text("#50: cov: 5 ft\n", encoding="utf-8")
    summary = new_summary("fuzz_paths", "libfuzzer", 2, executions=50, edges=5)
    campaign.run_libfuzzer(tmp_path, program, 1, 1, summary)
    assert (summary.executions, summary.edges) == ((150, 7) if printed else (50, 5))


def test_a_target_that_does_not_start_is_no_success(tmp_path: Path) -> None:
    summary = new_summary("fuzz_paths", "libfuzzer", 2)
    with pytest.raises(campaign.StartError):
        campaign.run_libfuzzer(tmp_path, Path("/bin/false"), 1, 1, summary)


@pytest.mark.parametrize("script", ["kill -SEGV $$", "echo x >mutant; echo seed 7, in the file mutant; kill -ABRT $$"])
def test_a_mutants_run_that_crashes_is_no_success(tmp_path: Path, script: str) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    (tmp_path / "mutants-0").mkdir()
    (tmp_path / "mutants-0/mutant").write_text("of an earlier run", encoding="utf-8")
    summary = new_summary("fuzz_show", "mutants", 1)
    if "mutant" in script:
        campaign.run_mutants(tmp_path, program, 1, 60, 1, summary)
        assert [file.read_bytes() for file in (tmp_path / "raw").iterdir()] == [b"x\n"]
        assert summary.executions == 8
    else:
        with pytest.raises(campaign.StartError, match="left no input"):
            campaign.run_mutants(tmp_path, program, 1, 60, 1, summary)


def test_a_mutant_that_crashes_a_target_is_left(tmp_path: Path) -> None:
    dump = FUZZ.parent / "corpus/valid/all-roots-102-id8.hprof"
    command: list[str | Path] = [os.environ["HPROF_CRASHING_MUTANTS"], "5", dump]
    no_handler = os.environ | {"ASAN_OPTIONS": "handle_segv=0"}
    done = subprocess.run(command, cwd=tmp_path, env=no_handler, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (-signal.SIGSEGV, b"")
    assert done.stderr == b"seed 0, in the file mutant\n"
    assert (tmp_path / "mutant").read_bytes() not in (b"", dump.read_bytes())
    assert campaign.first_failure(command, tmp_path)


def test_a_replay_goes_on_after_a_crash(tmp_path: Path) -> None:
    program, crashing, harmless = os.environ["HPROF_CRASHING_REPLAY"], tmp_path / "crashing", tmp_path / "harmless"
    crashing.write_bytes(b"x")
    harmless.write_bytes(b"")
    done = subprocess.run([program, crashing, harmless, crashing], capture_output=True, text=True, check=False)
    assert done.stdout == f"1..3\nnot ok 1 - {crashing}\nok 2 - {harmless}\nnot ok 3 - {crashing}\n"
    assert done.returncode == 1
    done = subprocess.run([program, harmless, harmless], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"1..2\nok 1 - {harmless}\nok 2 - {harmless}\n")
    assert campaign.first_failure([program, harmless, crashing], tmp_path)
    assert not campaign.first_failure([program, harmless, harmless], tmp_path)


@pytest.mark.parametrize("wrong", [["--jobs", "0"], ["--corpus", "no/such/folder"]])
def test_wrong_options_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: list[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["campaign", "--target", "fuzz_gzip", "--out", str(tmp_path / "out"), *wrong])
    with pytest.raises(SystemExit, match="2"):
        campaign.main()
    assert not (tmp_path / "out").exists()


def test_another_compiler_does_not_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CMake would keep the first."""
    settings = campaign.Settings("libfuzzer", 1, "clang-14")
    campaign.save(campaign.new_summary("fuzz_gzip", settings, 60), tmp_path)
    monkeypatch.setattr(sys, "argv", ["campaign", "--resume", str(tmp_path), "--cc", "clang-15"])
    with pytest.raises(SystemExit, match="--cc clang-14 goes on with it"):
        campaign.main()


def test_an_interrupted_campaign_says_how_it_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(campaign, "run_campaign", interrupt)
    monkeypatch.setattr(sys, "argv", ["campaign", "--target", "fuzz_gzip", "--out", str(tmp_path)])
    with pytest.raises(SystemExit, match=f"interrupted: fuzz/campaign --resume {tmp_path} goes on"):
        campaign.main()


@pytest.mark.parametrize("failing", [[], ["sanitized"], ["main", "sanitized"]])
def test_the_finds_of_a_fleet_are_kept_if_an_instance_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: list[str]
) -> None:
    """Only if all fail, afl-fuzz did not run. Instances of an earlier, larger fleet do not matter."""
    script = """while [ "$1" != -- ]; do case $1 in -M | -S) name=$2 ;; -o) out=$2 ;; esac; shift; done
mkdir -p "$out/$name/crashes" && echo "$name" >"$out/$name/crashes/id:1"
printf 'execs_done : 5\\nedges_found : 7\\n' >"$out/$name/fuzzer_stats"
case " $FAILING " in *" $name "*) exit 1 ;; esac"""
    write_script(tmp_path / "afl-fuzz", script)
    write_script(tmp_path / "afl-cmin", "exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("FAILING", " ".join(failing))
    (tmp_path / "afl/cmplog").mkdir(parents=True)
    (tmp_path / "afl/cmplog/fuzzer_stats").write_text("execs_done : 1\nedges_found : 1\n", encoding="utf-8")
    (tmp_path / "raw").mkdir()
    programs = {name: Path(name) for name in ("plain", "sanitized", "cmplog")}
    summary = new_summary("fuzz_gzip", "afl", 2)
    if len(failing) == 2:
        with pytest.raises(campaign.StartError):
            campaign.run_afl(tmp_path, programs, None, 2, 5, summary)
        return
    campaign.run_afl(tmp_path, programs, None, 2, 5, summary)
    assert {file.read_text(encoding="utf-8") for file in (tmp_path / "raw").iterdir()} == {"main\n", "sanitized\n"}
    assert (summary.executions, summary.edges) == (11, 7)


def test_a_time_too_short_to_run_anything_is_refused(tmp_path: Path) -> None:
    settings = campaign.Settings("libfuzzer", 2, "clang")
    for target, seconds in (("all", 49), ("fuzz_paths", 4)):
        with pytest.raises(SystemExit, match="--time must be at least"):
            campaign.run_campaign(tmp_path, target, settings, seconds, {})


def test_targets_build_without_tests_and_generator(tmp_path: Path) -> None:
    """As ci/bench --fuzz builds them: nothing else then looks for zlib."""
    command = ["cmake", "-S", str(FUZZ.parent), "-B", str(tmp_path), "-G", "Ninja", "-DHPROF_FUZZ=ON"]
    command += ["-DHPROF_TESTS=OFF", "-DHPROF_GENERATOR=OFF"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_finds_and_seeds_are_taken_into_the_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each target the smallest files that are no seeds, at most as many as wanted; each find; the summary."""
    monkeypatch.setattr(corpus_update, "FUZZ", tmp_path / "fuzz")
    monkeypatch.setattr(corpus_update, "ROOT", tmp_path)
    (tmp_path / "corpus/valid").mkdir(parents=True)
    (tmp_path / "corpus/valid/x.hprof").write_bytes(b"1")
    out = tmp_path / "out"
    for name, data in (("corpus/a", b"1"), ("corpus/b", b"22"), ("corpus/c", b"333"), ("finds/d", b"4")):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(data)
    summary = {"target": "t", "engine": "afl", "began": "2026-01-01 00:00", "date": "2026-01-02", "finds": [{"file": "d"}]}
    (out / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    (tmp_path / "all").mkdir()
    (tmp_path / "all/summary.json").write_text('{"target": "all"}', encoding="utf-8")
    out.rename(tmp_path / "all/fuzz_t")
    corpus_update.take(tmp_path / "all", 1)
    taken = {kind: [file.read_bytes() for file in (tmp_path / "fuzz" / kind / "t").iterdir()] for kind in ("corpora", "finds")}
    assert taken == {"corpora": [b"22"], "finds": [b"4"]}
    assert (tmp_path / "fuzz/results/2026-01-01-00-00-t-afl.json").exists()
